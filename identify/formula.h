/* SPDX-License-Identifier: MIT */
/* The formula behind frequencies and phases: base, denominator, scale, first position. */
#ifndef POSENC_IDENTIFY_FORMULA_H
#define POSENC_IDENTIFY_FORMULA_H

#include "identify/waves.h"

/* angle = (first + row) × w[i], w[i] = scale × base^(-i / (pairs - shift)), or as the scaling has it */
typedef struct formula {
  double base, shift, scale;
  posenc_scaling scaling;
  double of_base, stretch; /* NTK-aware: base is of_base × stretch^(dim/(dim - 2)); stretch is 0 if it is not */
  bool tight;              /* the frequencies are its to the last bits of an f32 */
  int digits;              /* that base and scale take together, less 2: 0 is the plainest formula */
  double first;
  int64_t first_least,
      first_most; /* whole positions that row 0 can be at; the first above the last if none was found, or it is no whole one */
} formula;

/* w[i] of all pairs. */
void formula_frequencies(const formula *f, int64_t pairs, long double *w);

/* A base and a scale explain any two frequencies: fewer than three tell a formula only if its scale is 1 and its base plain. */
enum { FORMULA_EVIDENT = 3 };

enum { FORMULAS_MAX = 12 };

/* Formulas for the frequencies, the plainest first, without a position; how many. None if there are not two that one could be told from; of one
   frequency alone, which is 1 at any base, the paper's. */
size_t formulas_find(const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* The same formula with bases that explain these drifts of its frequencies, the plainest first; how many. */
size_t formulas_refined(const formula *f, const estimate *drifts, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Those that models have, near a base, or all of them, if it is 0: for tables whose frequencies cannot be told. */
size_t formulas_usual(double base, formula formulas[FORMULAS_MAX], int64_t pairs);

/* The position of row 0, at most so far from 0, from the phases that it has there; false if none explains them. The error that a recipe's angles
   may have is `relative` to them, in so many rows that the phases are from. */
bool formula_first(formula *f, const estimate *phases, const long double *w, int64_t pairs, double relative,
                   int64_t rows, int64_t farthest);

#endif
