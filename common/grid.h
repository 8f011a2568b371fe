/* SPDX-License-Identifier: MIT */
/*
 * Tables of several axes as text: "h=14,w=14,columns=wh,grouped=yes". An axis is LETTER=POSITIONS, in the order of the
 * grid's dimensions, of which the last changes from row to row; its positions are
 *
 *   RUN[/DIVISOR]          a RUN is SIZE[:FIRST[:STEP]]: FIRST, FIRST + STEP …, SIZE of them; divided by DIVISOR
 *                          (0, 1, 1)
 *   RUN+RUN…[/DIVISOR]     a list, one run after the other
 *   @FILE                  the same from a file
 *
 * If an axis has a list, rows are no places of a grid: each axis has a position of each row, and all are as long.
 */
#ifndef POSENC_COMMON_GRID_H
#define POSENC_COMMON_GRID_H

#include "posenc.h"

#include <stdio.h>

/* The words of `order` and `frequencies`, by number, and then a null pointer. */
extern const char *const grid_orders[], *const grid_frequencies[];

/* The letters of so many axes, in the order of the grid's dimensions: "hw". */
const char *grid_letters(int count);

/* first + step n; false if that is not exact in double. */
bool grid_step(double first, double step, int64_t n, double *position);

/* How many of these positions, one or more, are a run from the first on, and its step. A run that follows, and would
   be longer with the last of them, has that. */
int64_t grid_run(const double *positions, int64_t count, double *step);

/* Prints the value of --grid for the axes of a table of so many columns, without keys that have their defaults: axes of
   a grid whose positions are runs, or lists of positions of each row, with stride 1. */
void grid_write(const posenc_axes *axes, int64_t dim, FILE *out);

/* The same as a new string; null when memory runs out. */
char *grid_text(const posenc_axes *axes, int64_t dim);

/* Whether axes have lists: where positions are no runs, or places no grid. */
bool grid_has_lists(const posenc_axes *axes);

#endif
