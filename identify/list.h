/* SPDX-License-Identifier: MIT */
/* Rows at positions in any order: each position is determined from the values of its row. */
#ifndef POSENC_IDENTIFY_LIST_H
#define POSENC_IDENTIFY_LIST_H

#include "identify/formula.h"
#include "identify/position.h"

/* Finds the formulas of the slowest columns, whose phases cover less than half a turn, and those of models; returns
   how many. */
size_t list_formulas(const window *w, const columns *s, formula formulas[FORMULAS_MAX]);

/* The position of each row of the window, NaN where there is none; how many there are. Angles may be off by a part
   of them. Of cosines alone, positions are taken to be positive. -1 when memory runs out. */
int64_t list_read(const window *w, const columns *s, const long double *frequencies, double amplitude, double relative,
                  double *positions);

#endif
