/* SPDX-License-Identifier: MIT */
/* Finds the scaling of frequencies, with its parameters. */
#ifndef POSENC_IDENTIFY_SCALINGS_H
#define POSENC_IDENTIFY_SCALINGS_H

#include "identify/formula.h"

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
