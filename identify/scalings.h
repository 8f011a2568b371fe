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

/* Returns the attention factor of the scaling's formula if the amplitude equals it within the error, else 0. For
   longrope, it is the nearest one of usual factors and lengths. `told` is the scaling with that factor and length, or
   with the amplitude as its attention factor if none fits. */
double scalings_attention(const posenc_scaling *s, double amplitude, double error, posenc_scaling *told);

#endif
