/* SPDX-License-Identifier: MIT */
/* Tests the MPFR reference against published values, and against the same numbers computed in another way. */
#include "reference/oracle.h"
#include "reference/scaling.h"
#include "tests/exact.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

static posenc_problem table(int64_t dim, double base, double shift, posenc_dtype dtype) {
  posenc_problem problem = posenc_table(16, dim);
  problem.base = base;
  problem.shift = shift;
  problem.dtype = dtype;
  return problem;
}

static void expect(posenc_problem problem, int64_t position, int64_t index, double sine, double cosine,
                   const char *what) {
  oracle *o = oracle_create(&problem);
  const exact_pair got = oracle_pair(o, position, index);
  ok(got.sine.rounded == sine && got.cosine.rounded == cosine, "%s: sin %a (want %a), cos %a (want %a)", what,
     got.sine.rounded, sine, got.cosine.rounded, cosine);
  oracle_destroy(o);
}

static void test_known_values(void) {
  const posenc_problem f64 = table(4, 10000.0, 0.0, POSENC_F64);
  expect(f64, 0, 1, 0.0, 1.0, "position 0");
  expect(f64, 1, 0, 0x1.aed548f090ceep-1, 0x1.14a280fb5068cp-1, "sin 1, cos 1");
  expect(f64, 355, 0, -0x1.f9bd0307d1de3p-16, -0x1.fffffffc18e4cp-1, "sin 355, close to a multiple of pi");
  /* 103993/33102 is a convergent of pi */
  expect(f64, 103993, 0, sin(103993.0), cos(103993.0), "103993 against libm, whose reduction is exact");
  expect(f64, -1, 0, -0x1.aed548f090ceep-1, 0x1.14a280fb5068cp-1, "position -1");
  expect(f64, 100, 1, 0x1.aed548f090ceep-1, 0x1.14a280fb5068cp-1, "100 × 10000^(-1/2) = 1");
  expect(table(4, 10000.0, 0.0, POSENC_F32), 1, 0, (double)(float)0x1.aed548f090ceep-1,
         (double)(float)0x1.14a280fb5068cp-1, "sin 1, cos 1 in f32");
  /* Found by the exhaustive check of the Whisper table: 2^-52 from a midpoint of f32. */
  const posenc_problem whisper = table(768, 10000.0, 1.0, POSENC_F32);
  oracle *o = oracle_create(&whisper);
  const exact_pair hard = oracle_pair(o, 1019, 197);
  ok(hard.cosine.rounded == -0x1.c20112p-1 && hard.cosine.high == -0x1.c20112ffffffep-1,
     "a hard case of rounding: %a for %a", hard.cosine.rounded, hard.cosine.high);
  oracle_destroy(o);
}

static void test_subnormals(void) {
  /* w_1 = base^(-1/2) = 2^-140: sin(p w) = p w to 2^-420, a subnormal of f32. */
  const posenc_problem tiny = table(4, 0x1p280, 0.0, POSENC_F32);
  expect(tiny, 1, 1, 0x1p-140, 1.0, "a subnormal of f32");
  expect(tiny, 5, 1, 0x1.4p-138, 1.0, "another one");
  const posenc_problem tinier = table(4, 0x1p300, 0.0, POSENC_F32);
  /* Slightly below 2^-150, a midpoint: rounds to 0. Slightly below 3 × 2^-150: rounds to 2^-149. */
  expect(tinier, 1, 1, 0.0, 1.0, "less than half the smallest subnormal");
  expect(tinier, 3, 1, 0x1p-149, 1.0, "less than one and a half of it");
  /* A midpoint of f64 less 2^-495 of itself: 320 bits of a frequency do not decide that. */
  const posenc_problem tiniest = table(4, 0x1p600, 0.0, POSENC_F64);
  expect(tiniest, (INT64_C(1) << 53) + 1, 1, 0x1p-247, 1.0, "a double below a midpoint by nearly nothing");
}

/* Tests numbers just below a power of two: the double is the power, the value is not. */
static void test_power_of_two(void) {
  const posenc_problem small = table(4, 0x1p120, 0.0, POSENC_F32); /* w_1 = 2^-60 */
  oracle *o = oracle_create(&small);
  const exact_pair pair = oracle_pair(o, 1, 1);
  ok(pair.cosine.high == 1.0 && pair.cosine.low < 0.0, "cos 2^-60 is 1 and %a", pair.cosine.low);
  ok(format_ulp(oracle_format(o), &pair.cosine) == 0x1p-24, "its ulp is that of the binade below 1");
  ok(pair.sine.high == 0x1p-60 && pair.sine.low < 0.0 && format_ulp(oracle_format(o), &pair.sine) == 0x1p-84,
     "and so is that of sin 2^-60");
  oracle_destroy(o);
}

/* Tests a cosine that rounds to 1 in its precision: it is still below 1, and so is its ulp. */
static void test_next_to_one(void) {
  const posenc_problem problem = table(64, 1e30, 0.0, POSENC_F32);
  oracle *o = oracle_create(&problem);
  bool below = true;
  for (int64_t index = 1; index < 32; index++) {
    const exact_pair pair = oracle_pair(o, 1, index);
    below = below && (pair.cosine.high < 1.0 || pair.cosine.low < 0.0) &&
            format_ulp(oracle_format(o), &pair.cosine) == 0x1p-24;
  }
  ok(below, "base 1e30: every cosine of position 1 is below 1, and so is its ulp");
  oracle_destroy(o);
}

/* Tests the same number computed in another way: angle in turns, frequency from mpfr_pow instead of exp of a log. */
static void test_second_way(void) {
  static const struct way {
    int64_t dim;
    double base, shift;
  } ways[] = {{512, 10000.0, 0.0}, {128, 500000.0, 0.0}, {768, 10000.0, 1.0},
              {128, 1e7, 0.0},     {96, 12345.678, 0.5}, {6, 0.01, 0.0}};
  /* the last ones are numerators of convergents of pi: sines near zero */
  static const int64_t positions[] = {1,
                                      511,
                                      131071,
                                      INT64_C(1) << 20,
                                      (INT64_C(1) << 40) + 12345,
                                      -77,
                                      INT64_C(9007199254740993),
                                      355,
                                      833719,
                                      80143857,
                                      411557987,
                                      INT64_C(6167950454),
                                      INT64_C(21053343141),
                                      INT64_C(1783366216531),
                                      INT64_C(66627445592888887),
                                      INT64_C(430010946591069243),
                                      INT64_C(2646693125139304345)};
  mpfr_t w, turns, sine, cosine;
  mpfr_inits2(600, w, turns, sine, cosine, (mpfr_ptr)0);
  for (size_t n = 0; n < sizeof ways / sizeof *ways; n++) {
    const posenc_problem problem = table(ways[n].dim, ways[n].base, ways[n].shift, POSENC_F64);
    oracle *o = oracle_create(&problem);
    int64_t wrong = 0, compared = 0;
    for (int64_t index = 0; index < ways[n].dim / 2; index++)
      for (size_t k = 0; k < sizeof positions / sizeof *positions; k++) {
        exact_frequency(w, ways[n].base, index, (double)ways[n].dim / 2 - ways[n].shift);
        integer_times(turns, w, positions[k]);
        mpfr_const_pi(w, MPFR_RNDN);
        mpfr_div(turns, turns, w, MPFR_RNDN);
        mpfr_div_2ui(turns, turns, 1, MPFR_RNDN);
        mpfr_sinu(sine, turns, 1, MPFR_RNDN);
        mpfr_cosu(cosine, turns, 1, MPFR_RNDN);
        const exact_pair got = oracle_pair(o, positions[k], index);
        wrong += got.sine.rounded != mpfr_get_d(sine, MPFR_RNDN) || got.sine.high != got.sine.rounded;
        wrong += got.cosine.rounded != mpfr_get_d(cosine, MPFR_RNDN) || got.cosine.high != got.cosine.rounded;
        mpfr_sub_d(sine, sine, got.sine.high, MPFR_RNDN);
        wrong += mpfr_get_d(sine, MPFR_RNDN) != got.sine.low;
        compared += 3;
      }
    ok(wrong == 0 && compared > 0, "dim %ld, base %g, shift %g: %ld of %ld differ from sinu and cosu of the power",
       (long)ways[n].dim, ways[n].base, ways[n].shift, (long)wrong, (long)compared);
    oracle_destroy(o);
  }
  mpfr_clears(w, turns, sine, cosine, (mpfr_ptr)0);
}

/*
 * Tests cases that only a correct error bound decides. The angle p w, w = scale / factor, is made so that its sine is
 * within 2^-150 of a midpoint of f32 of 2^-20 or so, and near π, not 0. At the first precision, the rounding of the
 * angle alone moves the sine to the wrong side of that midpoint, by about 2^-145. The numbers are from the
 * convergents of such angles times 2^61: numerators that are a product of a position and a double, and denominators
 * that are a double.
 */
static void test_error_bound(void) {
  static const struct {
    int64_t position;
    double scale, factor;
  } cases[] = {{INT64_C(3208763818178894303), 0x1.b8246c1e60fe8p-60, 0x1.85ecdaf5bb530p+0},
               {INT64_C(3140946278790486791), 0x1.f86738abd8f40p-60, 0x1.b568e737d999cp+0},
               {INT64_C(3977978952827826873), 0x1.fcc2959118926p-61, 0x1.17615d3e2c21ep+0},
               {INT64_C(3635270090545379474), 0x1.5e8d160e00e82p-60, 0x1.5fd5cf23b609ep+0},
               {INT64_C(4389980785861239319), 0x1.1aec3796ac0d8p-60, 0x1.56e91a0dfc1a8p+0},
               {INT64_C(3069236123749394462), 0x1.c7b846e3e7dbdp-60, 0x1.822b8df7179aap+0}};
  mpfr_t sine, midpoint;
  mpfr_inits2(800, sine, midpoint, (mpfr_ptr)0);
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    posenc_problem problem = posenc_table(1, 2);
    problem.scale = cases[n].scale;
    problem.scaling.kind = POSENC_SCALING_LONGROPE;
    problem.scaling.factor = problem.scaling.attention = 1.0;
    problem.scaling.original = 4096;
    problem.scaling.factors = &cases[n].factor;
    mpfr_set_d(sine, cases[n].scale, MPFR_RNDN);
    integer_times(sine, sine, cases[n].position);
    mpfr_div_d(sine, sine, cases[n].factor, MPFR_RNDN);
    mpfr_sin(sine, sine, MPFR_RNDN);
    const double want = (double)mpfr_get_flt(sine, MPFR_RNDN);
    mpfr_set_prec(midpoint, 25);
    mpfr_set(midpoint, sine, MPFR_RNDN);
    mpfr_sub(midpoint, sine, midpoint, MPFR_RNDN);
    oracle *o = oracle_create(&problem);
    const exact_pair got = oracle_pair(o, cases[n].position, 0);
    ok(mpfr_get_exp(midpoint) < -148 && got.sine.rounded == want, "2^%ld from a midpoint: %a (want %a)",
       (long)mpfr_get_exp(midpoint), got.sine.rounded, want);
    oracle_destroy(o);
  }
  mpfr_clears(sine, midpoint, (mpfr_ptr)0);
}

/* Tests that frequencies of any precision are right to the last bit, here where the logarithm's error is largest. */
static void test_frequencies(double base, mpfr_prec_t bits) {
  enum { PAIRS = 500 };
  const posenc_problem problem = table(2 * PAIRS, base, 0.5, POSENC_F64);
  oracle *o = oracle_create(&problem);
  double worst = 0.0;
  mpfr_t got, want;
  mpfr_init2(want, 800);
  mpfr_init2(got, bits);
  for (int64_t index = 0; index < PAIRS; index++) {
    oracle_frequency(o, index, got);
    exact_frequency(want, base, index, PAIRS - 0.5);
    mpfr_div(want, got, want, MPFR_RNDN);
    mpfr_sub_ui(want, want, 1, MPFR_RNDN);
    mpfr_mul_2si(want, want, (long)bits, MPFR_RNDN);
    worst = fmax(worst, fabs(mpfr_get_d(want, MPFR_RNDN)));
  }
  ok(worst > 0.0 && worst <= 2.0, "base %g: frequencies of %ld bits, wrong by %.3g of the last", base, (long)bits,
     worst);
  mpfr_clears(got, want, (mpfr_ptr)0);
  oracle_destroy(o);
}

static void test_padding(void) {
  posenc_problem problem = posenc_table(16, 8);
  problem.padding = 3;
  oracle *o = oracle_create(&problem);
  const exact_pair in = oracle_pair(o, 3, 1), out = oracle_pair(o, 4, 1);
  ok(in.sine.rounded == 0.0 && in.cosine.rounded == 0.0 && out.cosine.rounded != 0.0,
     "the padding row is zero, and only that one");
  oracle_destroy(o);
}

/* Returns the distance of the angle from whole turns after so many positions. */
static double from_whole_turns(const oracle *o, int64_t positions, int64_t index) {
  const exact_pair pair = oracle_pair(o, positions, index);
  return fabs(atan2(pair.sine.high, pair.cosine.high));
}

/* Tests denominators of convergents: numbers of positions that are nearer to whole turns than any smaller number. */
static void test_returns(const posenc_problem *problem, int64_t index) {
  enum { SOUGHT = 20000 };
  oracle *o = oracle_create(problem);
  int64_t returns[ORACLE_RETURNS];
  const size_t few = oracle_returns(o, index, SOUGHT, returns);
  size_t found = 0;
  double nearest = INFINITY;
  for (int64_t q = 1; q <= SOUGHT; q++) {
    const double distance = from_whole_turns(o, q, index);
    if (distance >= nearest) continue;
    nearest = distance;
    if (found < few && returns[found] == q)
      found++;
    else
      found = few + 1;
  }
  ok(found == few, "base %g, scale %g, i = %d: the returns below %d are those that trying all finds", problem->base,
     problem->scale, (int)index, SOUGHT);

  const int64_t reach = INT64_C(1) << 40;
  const size_t count = oracle_returns(o, index, reach, returns);
  bool nearer = count > few && returns[count - 1] <= reach;
  for (size_t n = 0; n + 1 < count; n++)
    nearer = nearer && returns[n] < returns[n + 1] &&
             from_whole_turns(o, returns[n], index) * (double)returns[n + 1] < 6.2831853071795865;
  ok(nearer, "and the %zu below 2^40 are off by less than a turn over the next", count);
  oracle_destroy(o);
}

int main(void) {
  static const double scales[] = {0.5, 4.0, 12345.678}; /* the last one has frequencies above one turn per position */
  posenc_problem problem = table(64, 10000.0, 0.0, POSENC_F32);
  test_returns(&problem, 0);
  test_returns(&problem, 11);
  test_returns(&problem, 31);
  problem = table(128, 500000.0, 0.0, POSENC_F64);
  test_returns(&problem, 37);
  problem = table(16, 10000.0, 0.0, POSENC_F32);
  for (int n = 0; n < 3; n++) {
    problem.scale = scales[n];
    test_returns(&problem, 0);
    test_returns(&problem, 7);
  }
  test_known_values();
  test_subnormals();
  test_power_of_two();
  test_next_to_one();
  test_second_way();
  test_error_bound();
  test_frequencies(1e300, 316);
  test_frequencies(1e300, 400);
  test_frequencies(10000.0, 316);
  test_padding();
  mpfr_free_cache();
  return tap_done();
}
