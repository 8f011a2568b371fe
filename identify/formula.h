/* SPDX-License-Identifier: MIT */
/* The formula behind frequencies: base, denominator, scale, scaling. */
#ifndef POSENC_IDENTIFY_FORMULA_H
#define POSENC_IDENTIFY_FORMULA_H

#include "identify/plain.h"
#include "identify/waves.h"

/* w[i] = scale × base^(-i / (pairs - shift)), or what the scaling makes of it. */
typedef struct formula {
  double base, shift, scale;
  double base_error, scale_error; /* as shares of them */
  posenc_scaling scaling;         /* factor 1 and no kind: none. Attention is left to the amplitude */
  double of_base, stretch;        /* dynamic: base is of_base × stretch^(dim/(dim - 2)); stretch is 0 if it is not */
  bool tight;                     /* the frequencies are its to the last bits of an f32 */
  bool most;                      /* nine in ten frequencies that are known are its, or near */
  int digits;                     /* that base and scale take together, less 2: 0 is the plainest formula */
} formula;

/* A base and a scale explain any two frequencies. Fewer than three determine a formula only if its scale is 1 and
   its base plain. */
enum { FORMULA_EVIDENT = 3 };

enum { FORMULAS_MAX = 320 };

/* Digits of a formula as people write it, and of one that was measured. */
enum { FORMULA_USUAL = 3, FORMULA_UNUSUAL = 8 };

/* The paper's. */
formula formula_plain(double base);

/* Bases of shipped models, the most usual first. */
extern const double formula_bases[];
extern const size_t formula_base_count;

/* Is the frequency known well enough to have a say? */
bool formula_mark(const estimate *frequency);

/* Formulas for the frequencies, the plainest first; how many. None if there are not two that one could be told from;
   of one frequency alone, which is 1 at any base, the paper's. Without scalings. */
size_t formulas_find(const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* The same formula with bases and scales that explain these drifts of its frequencies; how many, at most 10. */
size_t formulas_refined(const formula *f, const estimate *drifts, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Formulas of models with a base near this one, or with any, and 10000 with a wrong sign, if it is 0: for tables whose
   frequencies cannot be determined, as large ones lose whole turns. */
size_t formulas_usual(double base, formula formulas[FORMULAS_MAX], int64_t pairs);

#endif
