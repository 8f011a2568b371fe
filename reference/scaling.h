/* SPDX-License-Identifier: MIT */
/*
 * Scaled frequencies and attention factors as real numbers: each kind of scaling by MPFR, from its formula in posenc.h,
 * with factor s and length N.
 */
#ifndef POSENC_REFERENCE_SCALING_H
#define POSENC_REFERENCE_SCALING_H

#include "posenc.h"

#include <mpfr.h>

/* Computes ln of the base of the frequencies: the problem's, or the one by which a dynamic scaling replaces it. The
   result is within 2^(12 - its precision). */
void scaling_log_base(mpfr_t log_base, const posenc_problem *problem);

/*
 * Replaces w = base^(-i / (dim/2 - shift)) by the scaled frequency of that index. If the relative error of w is below
 * 2^(16 - its precision), that of the result is below 2^-bits. Returns false, with w unusable, if that takes more
 * precision.
 */
bool scaling_frequency(mpfr_t w, mpfr_prec_t bits, const posenc_problem *problem, int64_t index);

/* Computes the attention factor with a relative error below 2^(3 - its precision). Returns true if the factor is a
   double, and then exact. */
bool scaling_attention(mpfr_t factor, const posenc_problem *problem);

/* Return the attention factor to double precision, and whether it is exactly 1. */
double attention_of(const posenc_problem *problem);
bool attention_is_one(const posenc_problem *problem);

#endif
