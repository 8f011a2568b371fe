/* SPDX-License-Identifier: MIT */
/* Computes exact values by MPFR: a frequency, and all pairs of a table. */
#ifndef POSENC_TESTS_EXACT_H
#define POSENC_TESTS_EXACT_H

#include "reference/oracle.h"

#include <stdlib.h>

/* Sets w to base^(-index / denominator), to some bits less than the precision of w. */
static inline void exact_frequency(mpfr_t w, double base, int64_t index, double denominator) {
  mpfr_t exponent;
  mpfr_init2(exponent, mpfr_get_prec(w));
  mpfr_set_d(exponent, denominator, MPFR_RNDN);
  mpfr_si_div(exponent, (long)-index, exponent, MPFR_RNDN);
  mpfr_set_d(w, base, MPFR_RNDN);
  mpfr_pow(w, w, exponent, MPFR_RNDN);
  mpfr_clear(exponent);
}

/* Returns rows × dim/2 pairs of the MPFR reference, to be freed. */
static inline exact_pair *exact_table(const posenc_problem *problem) {
  const int64_t pairs = problem->dim / 2, count = problem->rows * pairs;
  oracle *o = oracle_create(problem);
  place *places = calloc((size_t)count + 1, sizeof *places);
  exact_pair *values = calloc((size_t)count + 1, sizeof *values);
  if (!o || !places || !values) abort();
  for (int64_t n = 0; n < count; n++) places[n] = (place){problem->first + n / pairs, n % pairs};
  oracle_pairs(o, places, (size_t)count, values);
  free(places);
  oracle_destroy(o);
  return values;
}

#endif
