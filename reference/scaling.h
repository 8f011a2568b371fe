/* SPDX-License-Identifier: MIT */
/*
 * Scaled frequencies and the factor of values as real numbers: each kind by MPFR, from its formula in posenc.h, with
 * factor s and length N.
 */
#ifndef POSENC_REFERENCE_SCALING_H
#define POSENC_REFERENCE_SCALING_H

#include "posenc.h"

#include <mpfr.h>

/* ln of the base that frequencies are made of: the problem's, or what a dynamic scaling puts in its place. Within
 * 2^(12 - its precision). */
void scaling_log_base(mpfr_t log_base, const posenc_problem *problem);

/*
 * Makes of w, base^(-i / (dim/2 - shift)), the scaled frequency of that index. Given with a relative error below
 * 2^(16 - its precision), w comes out with one below 2^-bits; false, and w is of no use, if that takes more precision.
 */
bool scaling_frequency(mpfr_t w, mpfr_prec_t bits, const posenc_problem *problem, int64_t index);

/* The factor of all values, with a relative error below 2^(3 - its precision). True if it is a double, and this one. */
bool scaling_attention(mpfr_t factor, const posenc_problem *problem);

/* The same to double precision; and whether it is 1 exactly. */
double attention_of(const posenc_problem *problem);
bool attention_is_one(const posenc_problem *problem);

#endif
