/* SPDX-License-Identifier: MIT */
/* Tests both references against the intervals of Arb (Johansson, 2017), which shares no code with MPFR's sine. */
#include "config.h"

#include "tests/tap.h"

#ifdef HAVE_ARB
#include "reference/fast.h"
#include "reference/oracle.h"
#include "tests/numbers.h"

#include <arb.h>
#include <math.h>
#include <stdlib.h>

enum { PLACES = 100000, MOST_PAIRS = 128, POSITIONS = 8, PRECISION = 300 };

static posenc_problem draw_problem(void) {
  static const double published[] = {10000.0, 500000.0, 1e6, 1e7};
  const int64_t pairs = 1 + (int64_t)(random_bits() % MOST_PAIRS);
  posenc_problem problem = posenc_table(1, 2 * pairs);
  problem.base = random_bits() % 2 ? published[random_bits() % 4] : exp2(50.0 * random_fraction() - 5.0);
  const double most = pairs > 1 ? 1.0 : 0.5;
  problem.shift = random_bits() % 2 ? 0.0 : random_fraction() * most;
  problem.dtype = random_bits() % 2 ? POSENC_F64 : POSENC_F32;
  return problem;
}

/* Draws a position of any size up to 2^53, of either sign. */
static int64_t draw_position(void) {
  const int64_t distance = (int64_t)(random_bits() >> (11 + random_bits() % 53));
  return random_bits() % 4 ? distance : -distance;
}

/* Computes the interval that contains base^(-i / (dim/2 - shift)). */
static void enclose(arb_t frequency, const posenc_problem *problem, int64_t index) {
  arb_t exponent;
  arb_init(exponent);
  arb_set_d(exponent, problem->shift);
  arb_sub_si(exponent, exponent, problem->dim / 2, PRECISION);
  arb_inv(exponent, exponent, PRECISION);
  arb_mul_si(exponent, exponent, index, PRECISION);
  arb_set_d(frequency, problem->base);
  arb_pow(frequency, frequency, exponent, PRECISION);
  arb_clear(exponent);
}

/* Whether high + low is within the bound of every number in the interval. */
static bool within(const arb_t interval, double high, double low, double bound) {
  arb_t difference, most;
  arb_init(difference);
  arb_init(most);
  arb_set_d(difference, high);
  arb_set_d(most, low);
  arb_add(difference, difference, most, ARF_PREC_EXACT);
  arb_sub(difference, difference, interval, PRECISION);
  arb_abs(difference, difference);
  arb_set_d(most, bound);
  const bool sure = arb_le(difference, most);
  arb_clear(difference);
  arb_clear(most);
  return sure;
}

typedef struct verdict {
  int64_t places, mpfr, rounded, fast; /* places compared; wrong values of each kind */
} verdict;

static void compare(verdict *v, const arb_t interval, const format *f, const exact *slow, const fast_value *fast) {
  v->mpfr += !within(interval, slow->high, slow->low, 0x1p-105 * fabs(slow->high));
  v->rounded += !within(interval, slow->rounded, 0.0, 0.5 * format_ulp(f, slow));
  v->fast += !within(interval, fast->high, fast->low, FAST_BOUND);
}

/* Tests all frequencies at some positions of one problem. */
static void judge(verdict *v, const posenc_problem *problem) {
  const int64_t pairs = problem->dim / 2;
  static place places[MOST_PAIRS];
  static exact_pair slow[MOST_PAIRS];
  static fast_pair fast[MOST_PAIRS];
  oracle *o = oracle_create(problem);
  fast_oracle *f = fast_create(problem, 0);
  arb_ptr frequencies = _arb_vec_init(pairs);
  arb_t angle, sine, cosine;
  arb_init(angle);
  arb_init(sine);
  arb_init(cosine);
  for (int64_t i = 0; i < pairs; i++) enclose(frequencies + i, problem, i);
  for (int n = 0; n < POSITIONS; n++) {
    const int64_t position = draw_position();
    for (int64_t i = 0; i < pairs; i++) places[i] = (place){position, i};
    oracle_pairs(o, places, (size_t)pairs, slow);
    fast_row(f, position, fast);
    for (int64_t i = 0; i < pairs; i++) {
      arb_mul_si(angle, frequencies + i, position, PRECISION);
      arb_sin_cos(sine, cosine, angle, PRECISION);
      compare(v, sine, oracle_format(o), &slow[i].sine, &fast[i].sine);
      compare(v, cosine, oracle_format(o), &slow[i].cosine, &fast[i].cosine);
      v->places++;
    }
  }
  arb_clear(angle);
  arb_clear(sine);
  arb_clear(cosine);
  _arb_vec_clear(frequencies, pairs);
  fast_destroy(f);
  oracle_destroy(o);
}

int main(void) {
  verdict v = {0, 0, 0, 0};
  while (v.places < PLACES) {
    const posenc_problem problem = draw_problem();
    judge(&v, &problem);
  }
  ok(v.mpfr == 0, "MPFR's values: %ld of %ld not within 2^-105 of Arb's interval, relative", (long)v.mpfr,
     2 * (long)v.places);
  ok(v.rounded == 0, "rounded: %ld of %ld not within half an ulp of it", (long)v.rounded, 2 * (long)v.places);
  ok(v.fast == 0, "the fast oracle's: %ld of %ld not within 2^-98 of it", (long)v.fast, 2 * (long)v.places);
  flint_cleanup();
  mpfr_free_cache();
  return tap_done();
}
#else
int main(void) {
  puts("1..0 # SKIP Arb is missing (Debian: libflint-arb-dev)");
  return 0;
}
#endif
