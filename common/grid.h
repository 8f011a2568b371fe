/* SPDX-License-Identifier: MIT */
/*
 * Tables of several axes as text: "h=14,w=14,columns=wh,grouped=yes". An axis is LETTER=POSITIONS. Axes are in the
 * order of the grid's dimensions, of which the last changes from row to row. POSITIONS is
 *
 *   SIZE[:FIRST[:STEP]][/DIVISOR]   SIZE positions FIRST, FIRST + STEP …, divided by DIVISOR (defaults 0, 1, 1)
 *   @FILE[/DIVISOR]                 a list with a position for each row; for all axes or none, all of the same length
 */
#ifndef POSENC_COMMON_GRID_H
#define POSENC_COMMON_GRID_H

#include "posenc.h"

#include <stdio.h>

/* The words for `order` and `frequencies`, by number, followed by a null pointer. */
extern const char *const grid_orders[], *const grid_frequencies[];

/* Prints the value of --grid for the axes of a table with `dim` columns, without keys that have their defaults. Lists
   of other positions than steps are files named by the letters of their axes, such as @h. */
void grid_write(const posenc_axes *axes, int64_t dim, FILE *out);

/* Returns the value of --grid as a new string; null if memory runs out. */
char *grid_text(const posenc_axes *axes, int64_t dim);

/* Whether the positions of an axis are *first, *first + *step, …; sets both. */
bool grid_steps(const posenc_axis *axis, double *first, double *step);

/* Whether the text has files: if positions are not steps, or places are not a grid. */
bool grid_has_lists(const posenc_axes *axes);

#endif
