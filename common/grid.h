/* SPDX-License-Identifier: MIT */
/*
 * Tables of several axes as text: "h=14,w=14,columns=wh,grouped=yes". An axis is LETTER=POSITIONS. Axes are in the
 * order of the grid's dimensions, of which the last changes from row to row. POSITIONS is
 *
 *   RUN[/DIVISOR]        a RUN is SIZE[:FIRST[:STEP]]: SIZE positions FIRST, FIRST + STEP …, divided by DIVISOR
 *                        (defaults 0, 1, 1)
 *   RUN+RUN…[/DIVISOR]   a list, one run after the other
 *   @FILE                such a list in a file
 *
 * If an axis has a list, rows are not places of a grid: each axis has a position for each row, and all lists have the
 * same length.
 */
#ifndef POSENC_COMMON_GRID_H
#define POSENC_COMMON_GRID_H

#include "posenc.h"

#include <stdio.h>

/* The words for `order` and `frequencies`, by number, followed by a null pointer. */
extern const char *const grid_orders[], *const grid_frequencies[];

/* Returns the letters of `count` axes, in the order of the grid's dimensions: "hw". */
const char *grid_letters(int count);

/* Returns the letter of an axis, the a-th one of the columns. */
char grid_letter(const posenc_axes *axes, int a);

/* Computes first + step n; returns false if that is not exact in double. */
bool grid_step(double first, double step, int64_t n, double *position);

/* Returns how many of these positions, one or more, are a run from the first on, and its step. The last of them is left
   to the next run if that would be longer with it. */
int64_t grid_run(const double *positions, int64_t count, double *step);

/* Prints the value of --grid for the axes of a table with `dim` columns, without keys that have their defaults: axes of
   a grid whose positions are runs, or lists with a position for each row, of stride 1. */
void grid_write(const posenc_axes *axes, int64_t dim, FILE *out);

/* Returns the value of --grid as a new string; null if memory runs out. */
char *grid_text(const posenc_axes *axes, int64_t dim);

/* Whether the positions of an axis are *first, *first + *step, …; sets both. */
bool grid_steps(const posenc_axis *axis, double *first, double *step);

/* Whether axes have lists: if positions are not runs, or places are not a grid. */
bool grid_has_lists(const posenc_axes *axes);

#endif
