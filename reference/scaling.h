/* SPDX-License-Identifier: MIT */
/*
 * Scaled frequencies and attention factors as real numbers: each kind of scaling by MPFR, from its formula in posenc.h,
 * with factor s and length N.
 */
#ifndef POSENC_REFERENCE_SCALING_H
#define POSENC_REFERENCE_SCALING_H

#include "posenc.h"

#include <limits.h>
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

/* Computes ln of the base of the frequencies: the problem's, or the one by which a dynamic scaling replaces it. The
   result is within 2^(12 - its precision). */
void scaling_log_base(mpfr_t log_base, const posenc_problem *problem);

/* An edge of YaRN's ramp: an exact column, or a number that is no column. */
typedef struct ramp_edge {
  mpfr_t at;
  bool exact;
} ramp_edge;

/* YaRN's ramp, the same for all frequencies of a problem. */
typedef struct yarn_ramp {
  ramp_edge from, to;
  bool is_known; /* false if it takes more precision */
} yarn_ramp;

/* Computes the ramp of a problem whose scaling is YaRN with that precision, until yarn_ramp_clear. */
void yarn_ramp_init(yarn_ramp *ramp, mpfr_prec_t precision, const posenc_problem *problem);
void yarn_ramp_clear(yarn_ramp *ramp);

/*
 * Replaces w = base^(-i / (dim/2 - shift)) by the scaled frequency of that index. If the relative error of w is below
 * 2^(16 - its precision), that of the result is below 2^-bits. Returns false, with w unusable, if that takes more
 * precision. ramp: the problem's, if it was computed with the precision of w; or null.
 */
bool scaling_frequency(mpfr_t w, mpfr_prec_t bits, const posenc_problem *problem, int64_t index, const yarn_ramp *ramp);

/* Computes the attention factor with a relative error below 2^(3 - its precision). Returns true if the factor is a
   double, and then exact. */
bool scaling_attention(mpfr_t factor, const posenc_problem *problem);

/* Return the attention factor to double precision, and whether it is exactly 1. */
double attention_of(const posenc_problem *problem);
bool attention_is_one(const posenc_problem *problem);

/* ---- integers -------------------------------------------------------------------------------------------- */

/* Products and quotients of a number and an integer of 64 bits, rounded to nearest. MPFR's own take a long, which may
   have 32. */

static inline bool integer_is_long(int64_t n) {
  return LONG_MIN <= n && n <= LONG_MAX;
}

/* Sets out to n x. */
static inline void integer_times(mpfr_t out, const mpfr_t x, int64_t n) {
  if (integer_is_long(n)) {
    mpfr_mul_si(out, x, (long)n, MPFR_RNDN);
    return;
  }
  mpfr_t whole;
  mpfr_init2(whole, 64);
  mpfr_set_sj(whole, n, MPFR_RNDN);
  mpfr_mul(out, x, whole, MPFR_RNDN);
  mpfr_clear(whole);
}

/* Sets out to x / n. */
static inline void integer_divides(mpfr_t out, const mpfr_t x, int64_t n) {
  mpfr_t whole;
  mpfr_init2(whole, 64);
  mpfr_set_sj(whole, n, MPFR_RNDN);
  mpfr_div(out, x, whole, MPFR_RNDN);
  mpfr_clear(whole);
}

#endif
