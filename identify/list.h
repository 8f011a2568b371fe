/* SPDX-License-Identifier: MIT */
/* Rows at positions in any order. Each position is determined from the values of its row. */
#ifndef POSENC_IDENTIFY_LIST_H
#define POSENC_IDENTIFY_LIST_H

#include "identify/formula.h"
#include "identify/position.h"

/* Finds the formulas of the slowest columns, whose phases cover less than half a turn, and those of models. Returns how
   many. */
size_t list_formulas(const window *w, const columns *s, formula formulas[FORMULAS_MAX]);

/* Determines the position of each row of the window, NaN if there is none. Returns the number of known positions, or -1
   if memory runs out. relative: the relative error of angles. Positions from cosines alone are assumed to be
   positive. */
int64_t list_read(const window *w, const columns *s, const long double *frequencies, double amplitude, double relative,
                  double *positions);

#endif
