/* SPDX-License-Identifier: MIT */
/* Finds the formula of frequencies: base, denominator, scale, scaling. */
#ifndef POSENC_IDENTIFY_FORMULA_H
#define POSENC_IDENTIFY_FORMULA_H

#include "identify/plain.h"
#include "identify/waves.h"

/* The formula w[i] = scale × base^(-i / (pairs - shift)), then changed by the scaling. */
typedef struct formula {
  double base, shift, scale;
  double base_error, scale_error; /* relative errors */
  posenc_scaling scaling;         /* factor 1 and no kind: none. The attention factor is part of the amplitude */
  double of_base, stretch;        /* dynamic: base is of_base × stretch^(dim/(dim - 2)); otherwise stretch is 0 */
  bool tight;                     /* the formula explains the frequencies to the last bits of an f32 */
  bool most;                      /* it explains nine in ten of the known frequencies approximately */
  int digits;                     /* digits of base and scale, less 2: 0 is the plainest formula */
} formula;

/* The number of frequencies that determine a formula. Two are explained by some base and scale, so fewer than three
   determine a formula only if its scale is 1 and its base plain. */
enum { FORMULA_EVIDENT = 3 };

enum { FORMULAS_MAX = 320 };

/* Digits of a formula as people write it, and of a measured one. */
enum { FORMULA_USUAL = 3, FORMULA_UNUSUAL = 8 };

/* Returns the paper's formula with that base. */
formula formula_plain(double base);

/* Bases of shipped models, the most frequent first. */
extern const double formula_bases[];
extern const size_t formula_base_count;

/* Whether the frequency is known well enough to be used. */
bool formula_mark(const estimate *frequency);

/* Finds formulas without a scaling for the frequencies, the plainest first. Returns how many: 0 if no two known
   frequencies determine one. A single pair of frequency 1, which it has at any base, gets the usual formulas. */
size_t formulas_find(const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Finds bases and scales for the formula that explain these drifts of its frequencies. Returns how many, at most 10. */
size_t formulas_refined(const formula *f, const estimate *drifts, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Finds formulas of models with a base near this one; with 0, of any base, and of 10000 with a wrong sign of the
   exponent. They are for tables whose frequencies cannot be determined, because large frequencies lose whole turns.
   Returns how many. */
size_t formulas_usual(double base, formula formulas[FORMULAS_MAX], int64_t pairs);

#endif
