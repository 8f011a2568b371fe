/* SPDX-License-Identifier: MIT */
/* Scalings behind frequencies: which of posenc.h's, with which parameters. */
#ifndef POSENC_IDENTIFY_SCALINGS_H
#define POSENC_IDENTIFY_SCALINGS_H

#include "identify/formula.h"

/* The scaled frequency of that index, w before scaling, as posenc.h defines it. Linear and dynamic scalings are a
   scale and a base instead. */
long double scalings_frequency(const posenc_scaling *s, double base, int64_t pairs, int64_t index, long double w);

/* w[i] of all pairs of the formula. */
void formula_frequencies(const formula *f, int64_t pairs, long double *w);

/* Formulas with a scaling other than longrope that explain the frequencies, the most usual first; how many.
   Parameters are those that models have, or else are read from the ramp. */
size_t scalings_find(const formula *plain, const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]);

/* The factors of longrope by which frequencies are slower than the formula's, plain where they are near plain
   numbers; false if they are not such as models have: of two decimals, or else growing from near 1. */
bool scalings_find_factors(const formula *plain, const estimate *frequencies, int64_t pairs, bool of_decimals,
                           double *factors);

/* The attention factor of the scaling's formula, if the amplitude is that, within an error, else 0; of longrope,
   where a usual factor and length make it so: the nearest. `told` is the scaling with these, and with the amplitude
   as attention if there are none. */
double scalings_attention(const posenc_scaling *s, double amplitude, double error, posenc_scaling *told);

#endif
