/* SPDX-License-Identifier: MIT */
/* Finds the formula of frequencies: base, denominator, scale, scaling. */
#ifndef POSENC_IDENTIFY_FORMULA_H
#define POSENC_IDENTIFY_FORMULA_H

#include "common/number.h"
#include "inspect/identify/window.h"

#include <stdbool.h>

/* ---- plain numbers ------------------------------------------------------------------------------- */

static inline bool number_is_one(double x) {
  return x >= 1.0 && x <= 1.0;
}

/* A number above 0 and its relative error. 0 digits: the number is measured, and not plain. */
typedef struct plain_number {
  double value, error;
  int digits;
} plain_number;

/* Returns the number within a factor of e^±error that has the fewest digits, or x if that takes 17 digits. */
plain_number plainest(double x, double error);

/* Returns x in the fewest digits that are within its relative error; an exact number in up to 15 digits. */
number_text number_within(double x, double error);

/* ---- formulas ------------------------------------------------------------------------------------ */

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

/* ---- the scaling of frequencies, with its parameters (scalings.c) -------------------------------- */

/* Returns the scaled frequency of that index, as posenc.h defines it; w: the frequency before scaling. Linear and
   dynamic scalings are represented by a scale and a base instead. */
long double scalings_frequency(const posenc_scaling *s, double base, int64_t pairs, int64_t index, long double w);

/* Computes w[i] of all pairs of the formula. */
void formula_frequencies(const formula *f, int64_t pairs, long double *w);

/* Finds formulas with a scaling other than longrope that explain the frequencies, the most frequent first. Returns how
   many. Parameters are those of models, or else are read from the ramp. */
size_t scalings_find(const formula *plain, const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* Computes the factors of longrope, by which frequencies are slower than the formula's. Factors near plain numbers get
   these. Returns false unless they are such as models have: of two decimals (`of_decimals`), or else growing from near
   1. */
bool scalings_find_factors(const formula *plain, const estimate *frequencies, int64_t pairs, bool of_decimals,
                           double *factors);

/* Ranges of the parameters of a yarn or llama3 scaling, the least and the most that make the same frequencies. */
typedef struct scaling_ranges {
  double low[2], high[2]; /* with the given original length */
  double original[2];     /* with the given low and high; the least is above the most if there is none */
} scaling_ranges;

/* Returns the ranges that make the frequencies of a scaling `s`, for the original length, low and high of `other`. */
scaling_ranges scalings_ranges(const posenc_scaling *s, const posenc_scaling *other, double base, int64_t pairs);

/* Returns the number of the range that people write: a power of 2, or else the one of the fewest digits. */
double scalings_usual(const double range[2]);

/* Returns " (13.9 to 21 fit)", "" for a range without a width. */
typedef struct fit_text {
  char text[64];
} fit_text;
fit_text scalings_fit(const double range[2]);

/* Returns the attention factor of the scaling's formula if the amplitude equals it within the error, else 0. For
   longrope, it is the nearest one of usual factors and lengths. `told` is the scaling with that factor and length, or
   with the amplitude as its attention factor if none fits. */
double scalings_attention(const posenc_scaling *s, double amplitude, double error, posenc_scaling *told);

/* Whether models were trained on that length, so that it is no guess. */
bool scalings_is_length(int64_t length);

#endif
