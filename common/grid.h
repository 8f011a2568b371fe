/* SPDX-License-Identifier: MIT */
/*
 * Tables of several axes as text: "h=14,w=14,columns=wh,grouped=yes". An axis is LETTER=POSITIONS, in the order of the
 * grid's dimensions, of which the last changes from row to row; its positions are
 *
 *   SIZE[:FIRST[:STEP]][/DIVISOR]   FIRST, FIRST + STEP …, SIZE of them, divided by DIVISOR (0, 1, 1)
 *   @FILE[/DIVISOR]                 a list; of all axes or none, and all as long: a position of each row
 */
#ifndef POSENC_COMMON_GRID_H
#define POSENC_COMMON_GRID_H

#include "posenc.h"

#include <stdio.h>

/* The words of `order` and `frequencies`, by number, and then a null pointer. */
extern const char *const grid_orders[], *const grid_frequencies[];

/* Prints the value of --grid for the axes of a table of so many columns, without keys that have their defaults. Lists
   that are no steps are files of their axes' letters, @h. */
void grid_write(const posenc_axes *axes, int64_t dim, FILE *out);

/* The same as a new string; null when memory runs out. */
char *grid_text(const posenc_axes *axes, int64_t dim);

/* Whether the positions of an axis are *first, *first + *step … */
bool grid_steps(const posenc_axis *axis, double *first, double *step);

/* Whether the text has files: where positions are no steps, or places no grid. */
bool grid_has_lists(const posenc_axes *axes);

#endif
