/* SPDX-License-Identifier: MIT */
/* Scalings behind frequencies: which of posenc.h's, with which parameters. */
#ifndef POSENC_IDENTIFY_SCALINGS_H
#define POSENC_IDENTIFY_SCALINGS_H

#include "identify/formula.h"

/* What the scaling makes of frequency w of that index, as posenc.h has it; not of linear and dynamic ones, which are a scale
   and a base. */
long double scalings_frequency(const posenc_scaling *s, double base, int64_t pairs, int64_t index, long double w);

/*
 * Formulas with a scaling that explain the frequencies, the most usual first; how many. Parameters are those that models have,
 * or else are read from the ramp. `factors`, room for `pairs` numbers, is what a longrope's point at.
 */
size_t scalings_find(const formula *plain, const estimate *frequencies, int64_t pairs, double *factors,
                     formula formulas[FORMULAS_MAX]);

/* The factors by which frequencies w are slower than the formula's that were read from the table are made plain where they
   are near plain numbers; `errors` are of the frequencies. */
void scalings_read_factors(const formula *plain, const estimate *frequencies, int64_t pairs, double *factors);

/* The attention factor of the scaling's formula, if the amplitude is that, within an error, else 0; of longrope, where some
   usual factor and length make it so. `told` is the scaling with these, and with the amplitude as attention if there are none. */
double scalings_attention(const posenc_scaling *s, double amplitude, double error, posenc_scaling *told);

#endif
