/* SPDX-License-Identifier: MIT */
/* Tests fixed-point frequencies, the short sine inside the library, and the rounding test, against MPFR. */
#include "lib/exact/angle.h"
#include "impls/cr/cr.h"
#include "lib/exact/fixed.h"
#include "reference/scaling.h"
#include "tests/exact.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* floor(2^192 × base^(-i/(dim/2-shift)) / 2π), highest part first. */
static void want_turn(const posenc_problem *problem, int64_t index, uint64_t want[3]) {
  mpfr_t w, part;
  mpfr_inits2(700, w, part, (mpfr_ptr)0);
  exact_frequency(w, problem->base, index, (double)problem->dim / 2 - problem->shift);
  mpfr_const_pi(part, MPFR_RNDN);
  mpfr_div(w, w, part, MPFR_RNDN);
  mpfr_div_2ui(w, w, 1, MPFR_RNDN);
  for (int n = 0; n < 3; n++) {
    mpfr_mul_2ui(w, w, 64, MPFR_RNDN);
    mpfr_floor(part, w);
    want[n] = mpfr_get_uj(part, MPFR_RNDN);
    mpfr_sub(w, w, part, MPFR_RNDN);
  }
  mpfr_clears(w, part, (mpfr_ptr)0);
}

static void test_turns(int64_t dim, double base, double shift) {
  posenc_problem problem = posenc_table(1, dim);
  problem.base = base;
  problem.shift = shift;
  uint64_t *high = calloc((size_t)dim / 2 * 4, sizeof *high), *low = high + dim / 2, *rest = low + dim / 2,
           *last = rest + dim / 2;
  int64_t wrong = 0;
  angle_turns(&problem, high, low, rest, last);
  for (int64_t i = 0; i < dim / 2; i++) {
    uint64_t want[3];
    want_turn(&problem, i, want);
    const u128 got_low = u128_of(low[i], rest[i]), want_low = u128_of(want[1], want[2]), one = u128_of(0, 1);
    /* 0, 1 or 2, unless a carry reaches the highest part */
    const u128 distance = u128_add(u128_subtract(got_low, want_low), one);
    if (high[i] != want[0] || u128_high(distance) || u128_low(distance) > 2) wrong++;
  }
  ok(wrong == 0, "dim %ld, base %g, shift %g: %ld of %ld frequencies off by more than 2^-192 turns", (long)dim, base,
     shift, (long)wrong, (long)dim / 2);
  free(high);
}

/* Returns |(cos, sin) - exact| in units of 2^-53. */
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

/* Compares Taylor's coefficients with the nearest doubles. The first ones left out are below 2^-63 as they are used. */
static void test_coefficients(void) {
  static const double coefficients[] = {ANGLE_C2,  ANGLE_S3,  ANGLE_C4,  ANGLE_S5,  ANGLE_C6,  ANGLE_S7,
                                        ANGLE_C8,  ANGLE_S9,  ANGLE_C10, ANGLE_S11, ANGLE_C12, ANGLE_S13,
                                        ANGLE_C14, ANGLE_S15, ANGLE_C16, ANGLE_S17, ANGLE_C18};
  enum { COUNT = sizeof coefficients / sizeof *coefficients };
  int right = 0;
  mpfr_t x;
  mpfr_init2(x, 300);
  for (int n = 0; n < COUNT; n++) {
    mpfr_fac_ui(x, (unsigned long)n + 2, MPFR_RNDN);
    mpfr_si_div(x, n / 2 % 2 ? 1 : -1, x, MPFR_RNDN);
    right += mpfr_get_d(x, MPFR_RNDN) == coefficients[n];
  }
  mpfr_const_pi(x, MPFR_RNDN);
  mpfr_div_2ui(x, x, 63, MPFR_RNDN);
  ok(right == COUNT, "%d of %d coefficients of sine and cosine are nearest to theirs", right, COUNT);
  ok(mpfr_get_d(x, MPFR_RNDN) == ANGLE_TURN, "2 pi / 2^64 is nearest to its value");
  mpfr_clear(x);
}

static void test_sincos(void) {
  double worst = 0.0, sine, cosine;
  uint64_t at = 0;
  for (int n = 0; n < 200000; n++) {
    const uint64_t drawn = random_bits(),
                   turn = n % 4 ? drawn : drawn % 4096 + ((uint64_t)n << 61); /* a quarter near eighths of a turn */
    const double here = distance(turn);
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

/* Computes |wide_sine - sin| and |wide_cosine - cos| at a place, in units of 2^-122, and whether both round to
   nearest. */
static double wide_distance(const angle_constants *angles, const mpfr_t frequency, int64_t index, int64_t position,
                            bool *rounded) {
  mpfr_t x, want, got;
  mpfr_inits2(400, x, want, got, (mpfr_ptr)0);
  double worst = 0.0;
  for (int cosine = 0; cosine < 2; cosine++) {
    const u128 turn = wide_turn(angles, index, position);
    const wide value = cosine ? wide_cosine(turn) : wide_sine(turn);
    integer_times(x, frequency, position);
    if (cosine)
      mpfr_cos(want, x, MPFR_RNDN);
    else
      mpfr_sin(want, x, MPFR_RNDN);
    mpfr_set_uj_2exp(got, u128_high(value.magnitude), 64, MPFR_RNDN);
    mpfr_set_uj(x, u128_low(value.magnitude), MPFR_RNDN);
    mpfr_add(got, got, x, MPFR_RNDN);
    mpfr_div_2ui(got, got, 127, MPFR_RNDN);
    if (value.negative) mpfr_neg(got, got, MPFR_RNDN);
    if ((float)wide_round(value, 24, -149) != mpfr_get_flt(want, MPFR_RNDN)) *rounded = false;
    mpfr_sub(want, want, got, MPFR_RNDN);
    mpfr_mul_2ui(want, want, 122, MPFR_RNDN);
    worst = fmax(worst, fabs(mpfr_get_d(want, MPFR_RNDN)));
  }
  mpfr_clears(x, want, got, (mpfr_ptr)0);
  return worst;
}

static void test_wide(double base) {
  enum { DIM = 64, PLACES = 20000 };
  posenc_problem problem = posenc_table(1, DIM);
  void *table;
  double worst = 0.0;
  bool rounded = true;
  problem.base = base;
  angle_prepare(&problem, NULL, &table);
  mpfr_t w;
  mpfr_init2(w, 400);
  for (int n = 0; n < PLACES; n++) {
    const int64_t index = (int64_t)(random_bits() % (DIM / 2)), sign = n & 1 ? -1 : 1;
    const int64_t position = sign * (int64_t)(random_bits() >> (2 + n % 60)); /* of every size to 2^62 */
    exact_frequency(w, base, index, DIM / 2);
    worst = fmax(worst, wide_distance(table, w, index, position, &rounded));
  }
  ok(worst > 0.0 && worst <= 1.0, "base %g: worst of %d wide values %.3f × 2^-122", base, 2 * PLACES, worst);
  ok(rounded, "each wide value rounds to the f32 nearest to the exact value");
  mpfr_clear(w);
  angle_release(table);
}

/* Tests that wide_twice_cosine gives the bits of wide_cosine at every frequency of a table. */
static void test_twice_cosine(double base, int64_t dim) {
  posenc_problem problem = posenc_table(1, dim);
  void *table;
  int64_t wrong = 0;
  problem.base = base;
  angle_prepare(&problem, NULL, &table);
  for (int64_t i = 0; i < dim / 2; i++)
    wrong += wide_twice_cosine(table, i) != 2.0 * wide_round(wide_cosine(wide_turn(table, i, 1)), 53, -1074);
  ok(wrong == 0, "base %g: %ld of %ld twice a cosine not rounded to nearest", base, (long)wrong, (long)dim / 2);
  angle_release(table);
}

static void test_wide_quarters(void) {
  bool right = true;
  for (unsigned quarter = 0; quarter < 4; quarter++) {
    static const double sines[] = {0.0, 1.0, 0.0, -1.0};
    const u128 turn = u128_of((uint64_t)quarter << 62, 0);
    right &= wide_round(wide_sine(turn), 24, -149) == sines[quarter] &&
             wide_round(wide_cosine(turn), 24, -149) == sines[(quarter + 1) % 4];
  }
  ok(right, "whole quarters of a turn are exact");
  const wide eighth = wide_sine(u128_of(UINT64_C(1) << 61, 0));
  ok(wide_round(eighth, 53, -1074) == 0x1.6a09e667f3bcdp-1, "an eighth of a turn, where the quarters meet");
  ok(wide_round((wide){u128_of(UINT64_C(3) << 38, 0), true}, 11, -24) ==
             -0x1p-23 && /* 1.5 × 2^-24: half way, to the larger */
         wide_round((wide){u128_of(UINT64_C(1) << 37, 0), false}, 11, -24) == 0.0,
     "below the smallest normal numbers are multiples of the smallest");
}

/* Returns |got - exact| of the longest sines and cosines, in units of 2^-248. */
static double wider_error(fixed turn) {
  mpfr_t x, want[2], got;
  double worst = 0.0;
  mpfr_inits2(400, x, want[0], want[1], got, (mpfr_ptr)0);
  mpfr_set_zero(x, 1);
  for (int n = 0; n < 4; n++) {
    mpfr_set_uj_2exp(got, turn.limb[n], 64 * (n - 4), MPFR_RNDN);
    mpfr_add(x, x, got, MPFR_RNDN);
  }
  mpfr_sinu(want[0], x, 1, MPFR_RNDN);
  mpfr_cosu(want[1], x, 1, MPFR_RNDN);
  for (int cosine = 0; cosine < 2; cosine++) {
    const wider made = cosine ? wider_cosine(turn) : wider_sine(turn);
    mpfr_set_uj_2exp(x, made.magnitude.limb[4], 0, MPFR_RNDN);
    for (int n = 0; n < 4; n++) {
      mpfr_set_uj_2exp(got, made.magnitude.limb[n], 64 * (n - 4), MPFR_RNDN);
      mpfr_add(x, x, got, MPFR_RNDN);
    }
    if (made.negative) mpfr_neg(x, x, MPFR_RNDN);
    mpfr_sub(x, x, want[cosine], MPFR_RNDN);
    worst = fmax(worst, fabs(ldexp(mpfr_get_d(x, MPFR_RNDN), 248)));
  }
  mpfr_clears(x, want[0], want[1], got, (mpfr_ptr)0);
  return worst;
}

static void test_wider(void) {
  double worst = 0.0;
  for (int n = 0; n < 4000; n++) {
    fixed turn = {{random_bits(), random_bits(), random_bits(), random_bits(), 0}};
    if (n % 4 == 0) turn = fixed_shifted_right(turn, (int)(random_bits() % 250));
    if (n % 4 == 1) turn.limb[3] = random_bits() % 8 << 61; /* near the eighths */
    worst = fmax(worst, wider_error(turn));
  }
  for (uint64_t n = 0; n < 8; n++) worst = fmax(worst, wider_error((fixed){{0, 0, 0, n << 61, 0}}));
  ok(worst > 0.0 && worst <= 1.0, "4000 turns in 256 bits: sin and cos within %.4f × 2^-248 of MPFR", worst);
  const wider whole = wider_sine((fixed){{0, 0, 0, UINT64_C(3) << 62, 0}});
  ok(wider_round(whole, 24, -149) == -1.0, "three quarters of a turn: -1");
}

/* Tests midpoints, values next to a midpoint, and numbers below the smallest normal one. */
static void test_wider_rounding(void) {
  static const struct {
    fixed x;
    int bits, least;
    double want;
  } tries[] = {{{{0, 0, 0, UINT64_C(0x8000008000000000), 0}}, 24, -149, 0x1p-1},
               {{{1, 0, 0, UINT64_C(0x8000008000000000), 0}}, 24, -149, 0x1.000002p-1},
               {{{~UINT64_C(0), ~UINT64_C(0), ~UINT64_C(0), UINT64_C(0x8000007fffffffff), 0}}, 24, -149, 0x1p-1},
               {{{0, 0, 0, UINT64_C(0x8000018000000000), 0}}, 24, -149, 0x1.000004p-1},
               {{{0, 0, 0, UINT64_C(0xffffffffffffffff), 0}}, 53, -1074, 1.0},
               {{{0, 0, UINT64_C(0x8000000000000400), 0, 0}}, 53, -1074, 0x1p-65},
               {{{0, 0, UINT64_C(0x8000000000000c00), 0, 0}}, 53, -1074, 0x1.0000000000002p-65},
               {{{0, 0, 0, UINT64_C(0x18000000000), 0}}, 11, -24, 0x1p-23},
               {{{0, 0, 0, UINT64_C(0x8000000000), 0}}, 11, -24, 0.0},
               {{{1, 0, 0, UINT64_C(0x8000000000), 0}}, 11, -24, 0x1p-24},
               {{{0, 0, 0, 0, 0}}, 24, -149, 0.0}};
  int wrong = 0;
  for (size_t n = 0; n < sizeof tries / sizeof *tries; n++)
    wrong += wider_round((wider){tries[n].x, false}, tries[n].bits, tries[n].least) != tries[n].want ||
             wider_round((wider){tries[n].x, true}, tries[n].bits, tries[n].least) != -tries[n].want;
  ok(wrong == 0, "%d of %zu numbers of 256 bits misrounded", wrong, sizeof tries / sizeof *tries);
}

/* Tests wide_decides on both sides of a midpoint of f32. */
static void test_decides(void) {
  const u128 midpoint = u128_of(UINT64_C(0x1000001) << 38, 0);
  int wrong = 0;
  for (int off = -200; off <= 200; off++) {
    const bool decides =
        wide_decides((wide){u128_add(midpoint, u128_of(off < 0 ? UINT64_MAX : 0, (uint64_t)off)), false}, 24, -149);
    wrong += abs(off) <= 64 ? decides : abs(off) >= 65 && !decides;
  }
  ok(wrong == 0, "of %d values next to a midpoint, %d are not told apart as they should", 401, wrong);
}

static void test_positions(void) {
  /* The product of turn and position wraps: position and its negative add up to whole turns, except for the
     truncation. */
  const uint64_t high = UINT64_C(0x28be60db9391054a), low = UINT64_C(0x7f09d5f47d4d3770);
  bool fine = angle_at(high, low, 0) == 0 && angle_at(high, low, 1) == high;
  for (int64_t p = 1; p > 0 && p < INT64_C(1) << 61; p *= 3) {
    const uint64_t sum = angle_at(high, low, p) + angle_at(high, low, -p);
    if (sum != 0 && sum != UINT64_MAX) fine = false;
  }
  ok(fine, "negative positions turn back");
}

/* Returns |got / exact - 1| in units of 2^-104. */
static double radians_error(uint64_t high, uint64_t low) {
  const posenc_sum got = angle_radians(high, low);
  mpfr_t x, two_pi;
  mpfr_inits2(400, x, two_pi, (mpfr_ptr)0);
  mpfr_const_pi(two_pi, MPFR_RNDN);
  mpfr_mul_2ui(two_pi, two_pi, 1, MPFR_RNDN);
  mpfr_set_uj_2exp(x, high, 64, MPFR_RNDN);
  mpfr_add_d(x, x, (double)(low >> 32) * 0x1p32, MPFR_RNDN);
  mpfr_add_d(x, x, (double)(low & 0xffffffff), MPFR_RNDN);
  mpfr_div_2ui(x, x, 128, MPFR_RNDN);
  mpfr_mul(x, x, two_pi, MPFR_RNDN);
  mpfr_set_d(two_pi, got.high, MPFR_RNDN);
  mpfr_add_d(two_pi, two_pi, got.low, MPFR_RNDN);
  mpfr_div(x, two_pi, x, MPFR_RNDN);
  mpfr_sub_ui(x, x, 1, MPFR_RNDN);
  const double result = fabs(ldexp(mpfr_get_d(x, MPFR_RNDN), 104));
  mpfr_clears(x, two_pi, (mpfr_ptr)0);
  return result;
}

/* Tests fractions of every size, down to the last bit. */
static void test_radians(void) {
  double worst = 0.0;
  for (int n = 0; n < 128 * 64; n++) {
    const u128 turn = u128_right(u128_of(random_bits() | UINT64_C(1) << 63, random_bits()), n % 128);
    worst = fmax(worst, radians_error(u128_high(turn), u128_low(turn)));
  }
  ok(worst > 0.0 && worst <= 1.0, "8192 fractions of a turn in radians: within %.3f × 2^-104 (claimed: 1)", worst);
  const posenc_sum none = angle_radians(0, 0);
  ok(none.high == 0.0 && none.low == 0.0, "no turn is 0 radians");
}

/* Whether values less than CR_ERROR from a midpoint of the format, |midpoint| <= 1, are uncertain. */
static bool is_uncertain(double midpoint, uint64_t midpoint_bits) {
  const double nearly = CR_ERROR * (1.0 - 0x1p-8);
  return cr_is_uncertain(midpoint, midpoint_bits) && cr_is_uncertain(midpoint + nearly, midpoint_bits) &&
         cr_is_uncertain(midpoint - nearly, midpoint_bits);
}

/* Tests that all midpoints of f16 and bf16 from 2^-30 to 1, and some of f32 in each binade, are uncertain. If the grid
   is finer than the format, values farther away are not. */
static void test_uncertain(posenc_dtype dtype, const char *name) {
  const int precision = cr_precision(dtype);
  const uint64_t midpoint_bits = cr_midpoint_bits(dtype), numbers = UINT64_C(1) << (precision - 1),
                 step = numbers > 4096 ? numbers / 4096 + 1 : 1;
  int64_t missed = 0, idle = 0, tried = 0;
  for (int binade = -30; binade < 0; binade++)
    for (uint64_t n = 0; n < numbers; n += step, tried++) {
      const double ulp = ldexp(1.0, binade - precision + 1), midpoint = ldexp(1.0, binade) + ((double)n + 0.5) * ulp;
      missed += !is_uncertain(midpoint, midpoint_bits) + !is_uncertain(-midpoint, midpoint_bits);
      idle += binade == -1 && cr_is_uncertain(midpoint + 3.0 * CR_ERROR, midpoint_bits);
    }
  ok(missed == 0 && tried > 3000, "%s: %ld of %ld midpoints, or values near them, not uncertain", name, (long)missed,
     (long)tried);
  ok(idle == 0, "%s: %ld values three times as far are uncertain", name, (long)idle);
}

/* Tests that, in 16 bits, a value less than CR_ERROR from a midpoint, on either side, is not rounded by way of f32. */
static void test_narrow_uncertain(posenc_dtype dtype, const char *name) {
  const int precision = cr_precision(dtype), least = dtype == POSENC_F16 ? -24 : -133;
  int64_t missed = 0, tried = 0;
  for (int binade = -30; binade < 0; binade++) {
    const int exponent = binade - precision + 1 > least ? binade - precision + 1 : least;
    const double ulp = ldexp(1.0, exponent), end = ldexp(1.0, binade + 1);
    for (double midpoint = ldexp(1.0, binade) > ulp ? ldexp(1.0, binade) + ulp / 2 : ulp / 2; midpoint < end;
         midpoint += ulp)
      for (int part = -8; part <= 8; part++, tried++) {
        const double x = midpoint + CR_ERROR * (1.0 - 0x1p-8) * part / 8;
        missed += !cr_needs_double(x, dtype) + !cr_needs_double(-x, dtype);
      }
  }
  ok(missed == 0 && tried > 50000, "%s: %ld values of %ld near a midpoint taken for certain as f32", name, (long)missed,
     (long)tried);
}

/* Returns a number with as many limbs as wanted, in which limbs often are those where carries and digits too large
   begin. */
static fixed draw_fixed(int limbs) {
  fixed made = {{0}};
  for (int i = 0; i < limbs; i++) {
    const uint64_t bits = random_bits(), edges[] = {0, UINT64_MAX, UINT64_C(1) << 63};
    const uint64_t kind = random_bits() % 6;
    made.limb[i] = kind < 3 ? edges[kind] : bits >> random_bits() % 64;
  }
  return made;
}

static void set_fixed(mpfr_t to, const fixed *x) {
  mpfr_set_ui(to, 0, MPFR_RNDN);
  for (int half = 2 * FIXED_LIMBS - 1; half >= 0; half--) { /* of a limb, as a long may have 32 bits */
    mpfr_mul_2ui(to, to, 32, MPFR_RNDN);
    mpfr_add_ui(to, to, x->limb[half / 2] >> 32 * (half % 2) & UINT32_MAX, MPFR_RNDN);
  }
}

/* Tests quotients of every length against MPFR, rounded down in two steps that no integer is between. */
static void test_quotients(void) {
  enum { TRIES = 1 << 18 };
  int wrong = 0, tried = 0;
  mpfr_t x, y, got;
  mpfr_inits2(700, x, y, got, (mpfr_ptr)0);
  for (int n = 0; n < TRIES; n++) {
    const fixed a = draw_fixed(1 + n % FIXED_LIMBS), b = draw_fixed(1 + (int)(random_bits() % FIXED_LIMBS));
    if (fixed_is_zero(b)) continue;
    set_fixed(x, &a);
    set_fixed(y, &b);
    mpfr_mul_2ui(x, x, 64 * FIXED_FRACTION_LIMBS, MPFR_RNDN);
    mpfr_div(x, x, y, MPFR_RNDD);
    if (mpfr_cmp_ui_2exp(x, 1, 64 * FIXED_LIMBS) >= 0) continue;
    mpfr_floor(x, x);
    const fixed quotient = fixed_over(a, b);
    set_fixed(got, &quotient);
    tried++;
    wrong += !mpfr_equal_p(x, got);
  }
  ok(wrong == 0 && tried > TRIES / 2, "quotients in 256 bits: %d of %d differ", wrong, tried);
  mpfr_clears(x, y, got, (mpfr_ptr)0);
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
  test_quotients();
  test_coefficients();
  test_sincos();
  test_positions();
  test_wide(10000.0);
  test_wide(1e12);
  test_twice_cosine(1.0, 2);
  test_twice_cosine(2.0, 1 << 17); /* radians from 1/2 to 1, with the largest error */
  test_twice_cosine(10000.0, 1 << 17);
  test_twice_cosine(0x1p40, 1 << 17);
  test_wide_quarters();
  test_wider();
  test_wider_rounding();
  test_decides();
  test_radians();
  test_uncertain(POSENC_F32, "f32");
  test_uncertain(POSENC_F16, "f16");
  test_uncertain(POSENC_BF16, "bf16");
  test_narrow_uncertain(POSENC_F16, "f16");
  test_narrow_uncertain(POSENC_BF16, "bf16");
  mpfr_free_cache();
  return tap_done();
}
