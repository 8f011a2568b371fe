/* SPDX-License-Identifier: MIT */
/* Products and quotients of a number and an integer of 64 bits, rounded to nearest. MPFR's own take a long, which may
   have 32. */
#ifndef POSENC_REFERENCE_INTEGER_H
#define POSENC_REFERENCE_INTEGER_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include <mpfr.h>

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
