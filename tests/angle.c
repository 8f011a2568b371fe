/* SPDX-License-Identifier: MIT */
/* The fixed-point frequencies and the short sine inside the library, against MPFR. */
#include "impls/core/angle.h"
#include "tests/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* floor(2^128 × base^(-i/(dim/2-shift)) / 2π), low and high half. */
static void want_turn(const posenc_problem *problem, int64_t index, uint64_t *high, uint64_t *low) {
  mpfr_t w, exponent, part;
  mpfr_inits2(700, w, exponent, part, (mpfr_ptr)0);
  mpfr_set_si(exponent, (long)(problem->dim / 2), MPFR_RNDN);
  mpfr_sub_d(exponent, exponent, problem->shift, MPFR_RNDN);
  mpfr_si_div(exponent, (long)-index, exponent, MPFR_RNDN);
  mpfr_set_d(w, problem->base, MPFR_RNDN);
  mpfr_pow(w, w, exponent, MPFR_RNDN);
  mpfr_const_pi(part, MPFR_RNDN);
  mpfr_div(w, w, part, MPFR_RNDN);
  mpfr_mul_2ui(w, w, 63, MPFR_RNDN);
  mpfr_floor(part, w);
  *high = mpfr_get_uj(part, MPFR_RNDN);
  mpfr_sub(w, w, part, MPFR_RNDN);
  mpfr_mul_2ui(w, w, 64, MPFR_RNDN);
  mpfr_floor(part, w);
  *low = mpfr_get_uj(part, MPFR_RNDN);
  mpfr_clears(w, exponent, part, (mpfr_ptr)0);
}

static void test_turns(int64_t dim, double base, double shift) {
  posenc_problem problem = posenc_table(1, dim);
  problem.base = base;
  problem.shift = shift;
  uint64_t *high = calloc((size_t)dim, sizeof *high), *low = high + dim / 2;
  int64_t wrong = 0;
  angle_turns(&problem, high, low);
  for (int64_t i = 0; i < dim / 2; i++) {
    uint64_t want_high, want_low;
    want_turn(&problem, i, &want_high, &want_low);
    const angle_u128 got = (angle_u128)high[i] << 64 | low[i], want = (angle_u128)want_high << 64 | want_low;
    const angle_u128 distance = got > want ? got - want : want - got;
    if (distance > 1) wrong++;
  }
  ok(wrong == 0, "dim %ld, base %g, shift %g: %ld of %ld frequencies off by more than 2^-128 turns", (long)dim, base,
     shift, (long)wrong, (long)dim / 2);
  free(high);
}

/* |(cos, sin) - exact| in units of 2^-53. */
static double distance(uint64_t turn) {
  double sine, cosine;
  mpfr_t x, s, c;
  mpfr_inits2(200, x, s, c, (mpfr_ptr)0);
  angle_sincos(turn, &sine, &cosine);
  mpfr_set_uj_2exp(x, turn, -64, MPFR_RNDN);
  mpfr_sinu(s, x, 1, MPFR_RNDN);
  mpfr_cosu(c, x, 1, MPFR_RNDN);
  mpfr_sub_d(s, s, sine, MPFR_RNDN);
  mpfr_sub_d(c, c, cosine, MPFR_RNDN);
  mpfr_hypot(s, s, c, MPFR_RNDN);
  const double result = ldexp(mpfr_get_d(s, MPFR_RNDN), 53);
  mpfr_clears(x, s, c, (mpfr_ptr)0);
  return result;
}

static void test_sincos(void) {
  double worst = 0.0, sine, cosine;
  uint64_t at = 0, turn = 1;
  for (int n = 0; n < 200000; n++) {
    turn = turn * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const double here =
        distance(n % 4 ? turn : turn % 4096 + ((uint64_t)n << 61)); /* every fourth near an eighth of a turn */
    if (here > worst) {
      worst = here;
      at = turn;
    }
  }
  ok(worst > 0.0 && worst <= 4.0, "200000 angles: worst distance %.3f × 2^-53 (claimed: 4), near turn 0x%llx", worst,
     (unsigned long long)at);
  angle_sincos(0, &sine, &cosine);
  ok(sine == 0.0 && !signbit(sine) && cosine == 1.0, "turn 0 is exact");
  angle_sincos(UINT64_C(1) << 62, &sine, &cosine);
  ok(sine == 1.0 && cosine == 0.0, "a quarter turn is exact");
}

static void test_positions(void) {
  /* turn × position wraps: position and its negative add up to whole turns, but for the truncation */
  const uint64_t high = UINT64_C(0x28be60db9391054a), low = UINT64_C(0x7f09d5f47d4d3770);
  bool fine = angle_at(high, low, 0) == 0 && angle_at(high, low, 1) == high;
  for (int64_t p = 1; p > 0 && p < INT64_C(1) << 61; p *= 3) {
    const uint64_t sum = angle_at(high, low, p) + angle_at(high, low, -p);
    if (sum != 0 && sum != UINT64_MAX) fine = false;
  }
  ok(fine, "negative positions turn back");
}

int main(void) {
  static const double bases[] = {
      1.0, 1.0000000000000002, 1.4142135623730951, 2.0, 10000.0, 500000.0, 1e6, 1e7, 12345.678, 1e300};
  for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) test_turns(128, bases[i], 0.0);
  test_turns(2, 10000.0, 0.0);
  test_turns(4096, 10000.0, 0.0);
  test_turns(768, 10000.0, 1.0);
  test_turns(512, 10000.0, 0.5);
  test_turns(64, 10000.0, -3.0);
  test_turns(64, 10000.0, 31.75);
  test_turns(2, 10000.0, 0x1.fffffffffffffp-1);
  test_sincos();
  test_positions();
  mpfr_free_cache();
  return tap_done();
}
