/* SPDX-License-Identifier: MIT */
/* Tests rounding and ulp of reference/format.h, by values that can be checked by hand, and all 16-bit encodings. */
#include "reference/format.h"
#include "lib/exact/round.h"
#include "reference/accuracy.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

/* Returns the exact sum of the terms, rounded to the format. */
static double rounded(const format *f, double big, double small, double smaller) {
  mpfr_t x;
  mpfr_init2(x, 3000);
  mpfr_set_d(x, big, MPFR_RNDN);
  mpfr_add_d(x, x, small, MPFR_RNDN);
  mpfr_add_d(x, x, smaller, MPFR_RNDN);
  const double result = format_round(f, x);
  mpfr_clear(x);
  return result;
}

static void same(double got, double want, const char *what) {
  ok(same_double(got, want), "%s: got %a, want %a", what, got, want);
}

static double ulp(const format *f, double high, double low) {
  return format_ulp(f, &(exact){high, low, 0.0});
}

static void test_round(void) {
  same(rounded(&format_f32, 1.0, 0x1p-24, 0.0), 1.0, "f32: a tie goes to even, down");
  same(rounded(&format_f32, 1.0 + 0x1p-23, 0x1p-24, 0.0), 1.0 + 0x1p-22, "f32: a tie goes to even, up");
  same(rounded(&format_f32, 1.0, 0x1p-24, 0x1p-900), 1.0 + 0x1p-23,
       "f32: a hair above the tie goes up, without rounding twice");
  same(rounded(&format_f32, 1.0, 0x1p-24, -0x1p-900), 1.0, "f32: a hair below the tie goes down");
  same(rounded(&format_f32, -1.0, -0x1p-24, -0x1p-900), -1.0 - 0x1p-23, "f32: negative, a hair beyond the tie");
  same(rounded(&format_f32, 1.0, -0x1p-26, 0.0), 1.0, "f32: just below a power of two, to it");
  same(rounded(&format_f32, 1.0, -0x1p-24, 0.0), 1.0 - 0x1p-24, "f32: the last number below a power of two");
  same(rounded(&format_f32, 0x1p-149, 0.0, 0.0), 0x1p-149, "f32: the smallest subnormal");
  same(rounded(&format_f32, 0x1p-150, 0.0, 0.0), 0.0, "f32: half of it is a tie and goes to zero");
  same(rounded(&format_f32, 0x1p-150, 0x1p-300, 0.0), 0x1p-149, "f32: more than half of it does not");
  same(rounded(&format_f32, -0x1p-151, 0.0, 0.0), -0.0, "f32: a quarter of it is a zero with its sign");
  same(rounded(&format_f32, 0x1.8p-148, 0.0, 0.0), 0x1.8p-148, "f32: three of it");
  same(rounded(&format_f32, 0x1.4p-148, 0.0, 0.0), 0x1p-148, "f32: two and a half of it is a tie, to even");
  same(rounded(&format_f64, 1.0, 0x1p-53, 0x1p-1000), 1.0 + 0x1p-52, "f64: a hair above the tie");
  same(rounded(&format_f64, 0x1p-1074, 0.0, 0.0), 0x1p-1074, "f64: the smallest subnormal");
  same(rounded(&format_f16, 1.0, 0x1p-11, 0x1p-40), 1.0 + 0x1p-10, "f16: a hair above the tie");
  same(rounded(&format_f16, 0x1p-24, 0.0, 0.0), 0x1p-24, "f16: the smallest subnormal");
  same(rounded(&format_bf16, 1.0, 0x1p-8, 0x1p-40), 1.0 + 0x1p-7,
       "bf16: a hair above the tie that f32 would make a tie");
}

/* Whether a sum is rounded as by MPFR. */
static bool as_mpfr(const format *f, double high, double low) {
  return same_double(format_nearest_sum(f, high, low), rounded(f, high, low, 0.0));
}

/* Tests all numbers of a format from 0 to 1, all midpoints, and the doubles next to these. */
static void test_nearest(const format *f, const char *name) {
  int64_t numbers = 0, wrong = 0;
  for (double x = 0.0, next; x < 1.0; x = next, numbers++) {
    next = x + format_ulp(f, &(exact){x, 0.0, x});
    const double midpoint = (x + next) / 2.0,
                 here[] = {x, nextafter(midpoint, 0.0), midpoint, nextafter(midpoint, 1.0)};
    for (size_t n = 0; n < sizeof here / sizeof *here; n++) {
      const double plus = rounded(f, here[n], 0.0, 0.0);
      wrong += !same_double(format_nearest(f, here[n]), plus) || !same_double(format_nearest(f, -here[n]), -plus);
    }
    wrong += !as_mpfr(f, midpoint, next * 0x1p-60) + !as_mpfr(f, midpoint, next * -0x1p-60);
    wrong += !as_mpfr(f, -midpoint, next * 0x1p-60) + !as_mpfr(f, -midpoint, next * -0x1p-60);
  }
  ok(numbers > 0 && wrong == 0, "%s: %ld numbers and the ties after them, %ld not as MPFR rounds them", name,
     (long)numbers, (long)wrong);
}

static void test_nearest_f32(void) {
  int wrong = 0;
  for (int n = 0; n < 200000; n++) {
    const float x = (float)ldexp((double)(random_bits() >> 40), n % 160 - 149 - 24);
    const double midpoint = ((double)x + (double)nextafterf(x, 2.0f)) / 2.0,
                 low = (n % 2 ? 0x1p-58 : -0x1p-58) * midpoint;
    wrong += format_nearest(&format_f32, midpoint) != (double)(float)midpoint || !as_mpfr(&format_f32, midpoint, low) ||
             !as_mpfr(&format_f32, -midpoint, low) || !as_mpfr(&format_f64, midpoint, low);
  }
  ok(wrong == 0, "f32: 200000 ties of all sizes, %d not as the compiler and MPFR round them", wrong);
  ok(isnan(format_nearest(&format_f16, (double)NAN)), "NaN stays NaN");
}

static void test_ulp(void) {
  same(ulp(&format_f32, 1.0, 0.0), 0x1p-23, "ulp(1)");
  same(ulp(&format_f32, 1.0, -0x1p-80), 0x1p-24, "ulp just below 1: the double is 1, the value is not");
  same(ulp(&format_f32, 1.0, 0x1p-80), 0x1p-23, "ulp just above 1");
  same(ulp(&format_f32, -1.0, 0x1p-80), 0x1p-24, "ulp just inside -1");
  same(ulp(&format_f32, 1.0 - 0x1p-53, 0.0), 0x1p-24, "ulp of the double before 1");
  same(ulp(&format_f32, 0x1p-126, 0.0), 0x1p-149, "ulp of the smallest normal");
  same(ulp(&format_f32, 0x1p-140, 0.0), 0x1p-149, "ulp of a subnormal");
  same(ulp(&format_f32, 0.0, 0.0), 0x1p-149, "ulp(0)");
  same(ulp(&format_f64, 0.75, 0.0), 0x1p-53, "f64: ulp(0.75)");
  same(ulp(&format_f16, 1.0, 0.0), 0x1p-10, "f16: ulp(1)");
  same(ulp(&format_bf16, 1.0, 0.0), 0x1p-7, "bf16: ulp(1)");
}

static void test_error(void) {
  const exact third = {0x1.5555555555555p-2, 0x1.5555555555555p-56, (float)0x1.5555555555555p-2};
  same(exact_error(&third, 0x1.5555555555555p-2), 0x1.5555555555555p-56, "the error of the double nearest 1/3");
  accuracy a = {0};
  accuracy_add(&a, &format_f32, NULL, &third, third.rounded, (element_place){3, 1, true});
  ok(a.misrounded == 0 && a.max_ulp.ulp > 0.33 && a.max_ulp.ulp < 0.34,
     "1/3 rounded: a third of an ulp, not misrounded (%.17g)", a.max_ulp.ulp);
  accuracy_add(&a, &format_f32, NULL, &third, nextafterf((float)third.rounded, 1.0f), (element_place){4, 1, true});
  ok(a.misrounded == 1 && a.max_ulp.position == 4 && a.max_ulp.cosine, "its neighbour is misrounded, and the witness");
  const exact zero = {0.0, 0.0, 0.0};
  accuracy_add(&a, &format_f32, NULL, &zero, -0.0, (element_place){0, 0, false});
  ok(a.misrounded == 2, "-0 for 0 is misrounded");
  const posenc_bound half = {.ulp = 0.5};
  accuracy_add(&a, &format_f32, &half, &third, third.rounded, (element_place){5, 0, false});
  ok(a.beyond == 0 && a.held == 1, "the rounded value keeps half an ulp");
  ok(a.worst_share > 0.66 && a.worst_share < 0.67 && a.worst.position == 5, "which is two thirds of its bound (%.17g)",
     a.worst_share);
  ok(fabs(a.sum_abs - (2.0 * exact_error(&third, third.rounded) +
                       exact_error(&third, nextafterf((float)third.rounded, 1.0f)))) < 1e-20 &&
         fabs(a.sum_ulp - (1.0 / 3 + 4.0 / 3 + 1.0 / 3)) < 1e-6,
     "the sums of errors: %g, %g ulp", a.sum_abs, a.sum_ulp);
  accuracy_add(&a, &format_f32, &half, &third, (double)NAN, (element_place){6, 0, false});
  ok(a.beyond == 1 && isinf(a.max_ulp.ulp) && a.max_abs.position == 6 && a.worst.position == 6,
     "NaN is an infinite error and breaks every bound");
  ok(isinf(a.most[0].abs) && a.most[1].abs == 0.0, "which is that of its range of positions");
  int64_t binned = 0;
  for (int b = 0; b < ACCURACY_BINS; b++) binned += a.bins[b];
  ok(binned == a.elements && a.elements == 5, "every element is in one bin");
}

static void test_ranges(void) {
  static const int64_t positions[] = {0, 15, -15, 16, 255, -256, 4095, INT64_C(1) << 60, INT64_MAX, INT64_MIN};
  static const int ranges[] = {0, 0, 0, 1, 1, 2, 2, 15, 15, 15};
  int64_t wrong = 0;
  for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++) wrong += accuracy_range(positions[i]) != ranges[i];
  for (int r = 0; r < ACCURACY_RANGES; r++) {
    wrong += accuracy_range(accuracy_range_begin(r)) != r;
    wrong += r > 0 && accuracy_range(accuracy_range_begin(r) - 1) != r - 1;
  }
  ok(!wrong, "ranges of positions begin at powers of 16 (%ld do not)", (long)wrong);
  accuracy a = {.most = {[2] = {3.0, 0.5}, [4] = {1.0, 0.75}}}, b = {.elements = 1, .most = {[4] = {2.0, 0.25}}};
  accuracy_merge(&a, &b);
  ok(a.most[2].ulp == 3.0 && a.most[4].ulp == 2.0 && a.most[4].abs == 0.75, "the largest errors of two are merged");
  const witness far = {.ulp = 2.0, .abs = 0.5, .position = -32}, near = {.ulp = 1.0, .abs = 0.5, .position = 16};
  accuracy_note(&a, &far, true);
  accuracy_note(&b, &near, true);
  ok(a.rest[1].most == 0.375 && a.rest[1].per_position == 0.375 / 32 && a.rest[0].most == 0.0,
     "an error's part beyond half an ulp, also for each position");
  accuracy_merge(&a, &b);
  ok(a.rest[1].most == 0.375 && a.rest[1].per_position == 0.25 / 16, "of two the larger ones");
  accuracy_move(&a, -20);
  ok(a.rest[1].most == 0.375 && a.rest[1].per_position == 0.375 / 20, "moved with the others");
  ok(a.most[1].ulp == 3.0 && a.most[1].abs == 0.75 && a.most[2].ulp == 0.0, "and moved to one range");
}

/* ---- 16 bits ------------------------------------------------------------------------------------- */

/* Tables have one element, but memory for any dtype, as the compiler would warn of reads beyond the end. */
enum { ROOM = 4 };

typedef struct short_format {
  posenc_dtype dtype;
  const char *name;
  int fraction_bits, bias;
} short_format;

static const short_format short_formats[] = {{POSENC_F16, "f16", 10, 15}, {POSENC_BF16, "bf16", 7, 127}};

/* Returns the value of an encoding by IEEE 754. */
static double value_of(const short_format *s, unsigned encoding) {
  const int fraction = (int)(encoding & ((1u << s->fraction_bits) - 1)), ones = (1 << (15 - s->fraction_bits)) - 1;
  const int exponent = (int)(encoding >> s->fraction_bits) & ones;
  const double sign = encoding & 0x8000 ? -1.0 : 1.0;
  if (exponent == ones) return fraction ? (double)NAN : sign * (double)INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - s->bias - s->fraction_bits);
  return sign * ldexp((1 << s->fraction_bits) + fraction, exponent - s->bias - s->fraction_bits);
}

static void test_decode(const short_format *s) {
  int64_t wrong = 0;
  for (unsigned n = 0; n < 1u << 16; n++) {
    const uint16_t table[ROOM] = {(uint16_t)n};
    wrong += !same_double(format_element(s->dtype, table, 0), value_of(s, n));
  }
  ok(wrong == 0, "%s: %ld of 65536 encodings read wrongly", s->name, (long)wrong);
}

/* Returns the nearest number. -0 stays -0, unlike in a sum. */
static double nearest(const format *f, double number) {
  mpfr_t x;
  mpfr_init2(x, 53);
  mpfr_set_d(x, number, MPFR_RNDN);
  const double result = format_round(f, x);
  mpfr_clear(x);
  return result;
}

/* Whether the kernels' rounding gives the number of MPFR's. */
static bool rounds_well(const short_format *s, double x) {
  uint16_t table[ROOM] = {0};
  round_to(s->dtype, table, 0, x);
  return same_double(format_element(s->dtype, table, 0), nearest(format_of(s->dtype), x));
}

/* Tests every number up to 2, every midpoint, and the doubles next to each. All doubles between these round alike. */
static void test_rounding_to(const short_format *s) {
  int64_t wrong = 0, tried = 0;
  for (unsigned n = 0; value_of(s, n) < 2.0; n++) {
    const double number = value_of(s, n), midpoint = 0.5 * (number + value_of(s, n + 1));
    const double around[] = {number,   nextafter(number, 0.0),   nextafter(number, 2.0),
                             midpoint, nextafter(midpoint, 0.0), nextafter(midpoint, 2.0)};
    for (size_t i = 0; i < sizeof around / sizeof *around; i++, tried += 2)
      wrong += !rounds_well(s, around[i]) + !rounds_well(s, -around[i]);
  }
  ok(wrong == 0 && tried > 150000, "%s: %ld of %ld doubles rounded wrongly", s->name, (long)wrong, (long)tried);
  ok(rounds_well(s, 2.0) && rounds_well(s, 0x1p-1022) && rounds_well(s, -0x1p-1074), "%s: the ends", s->name);
  uint16_t table[ROOM] = {0};
  round_to(s->dtype, table, 0, (double)NAN);
  ok(isnan(format_element(s->dtype, table, 0)), "%s: NaN stays one", s->name);
}

/* Tests the distance from a midpoint in ulp, from 0 to a half. */
static void test_from_midpoint(void) {
  static const struct {
    double high, low, want;
    const char *name;
  } cases[] = {{1.5, 0.0, 0.5, "a number"},
               {1.5, 0x1p-55, 0.5 - 0x1p-32, "just above a number"},
               {1.5, -0x1p-55, 0.5 - 0x1p-32, "just below it"},
               {-1.5, 0x1p-55, 0.5 - 0x1p-32, "and below 0"},
               {1.5 + 0x1p-24, 0.0, 0.0, "a tie"},
               {1.5 + 0x1p-24, -0x1p-55, 0x1p-32, "just below a tie"},
               {-1.5 - 0x1p-24, -0x1p-55, 0x1p-32, "just beyond one below 0"},
               {1.5 + 0x1p-25, 0.0, 0.25, "a quarter of the way"}};
  for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
    const exact value = {cases[n].high, cases[n].low, 0.0};
    const double got = format_from_midpoint(&format_f32, &value);
    ok(fabs(got - cases[n].want) <= 0x1p-50, "%s is %g ulp from a tie", cases[n].name, got);
  }
}

/* Tests that an error of the bound is within it, and an error larger by a last bit is not. */
static void test_bound(void) {
  static const posenc_bound bound = {.ulp = 0.5, .abs = 0x1p-30, .growth = 0x1p-40};
  static const double limit = 0x1p-24 + 0x1p-30 + 0x1p-38; /* for 1.25 at position 4 or -4 */
  const exact value = {1.25, 0.0, 1.25};
  for (int64_t position = -4; position <= 4; position += 8) {
    accuracy a = {0};
    accuracy_add(&a, &format_f32, &bound, &value, 1.25 + limit, (element_place){position, 0, false});
    accuracy_add(&a, &format_f32, &bound, &value, 1.25 - limit, (element_place){position, 0, false});
    ok(a.held == 2 && a.beyond == 0, "errors of the limit itself, at %d", (int)position);
    accuracy_add(&a, &format_f32, &bound, &value, 1.25 + limit + 0x1p-52, (element_place){position, 0, false});
    accuracy_add(&a, &format_f32, &bound, &value, (double)NAN, (element_place){position, 0, false});
    ok(a.held == 4 && a.beyond == 2, "a last bit more, and NaN, are beyond");
  }
}

/* Tests that the witness of equal errors is the first in the table: by position, then index, the sine before the
   cosine. */
static void test_first(void) {
  static const struct {
    int64_t position, index;
    bool cosine;
  } places[] = {{2, 1, true}, {2, 1, false}, {2, 0, true}, {1, 5, true}, {1, 5, false}, {3, 0, false}};
  enum { COUNT = sizeof places / sizeof *places, FIRST = 4 };
  static const posenc_bound bound = {.ulp = 0.5};
  const exact value = {1.25, 0.0, 1.25};
  for (int from = 0; from < COUNT; from++) {
    accuracy a = {0};
    for (int n = 0; n < COUNT; n++) {
      const int at = (from + n) % COUNT;
      accuracy_add(&a, &format_f32, &bound, &value, 1.5,
                   (element_place){places[at].position, places[at].index, places[at].cosine});
    }
    const witness *shown[] = {&a.max_ulp, &a.max_abs, &a.worst};
    bool first = true;
    for (int n = 0; n < 3; n++)
      first = first && shown[n]->position == places[FIRST].position && shown[n]->index == places[FIRST].index &&
              shown[n]->cosine == places[FIRST].cosine;
    ok(first, "the witness of equal errors is the first in the table, in any order of arrival");
  }
}

int main(void) {
  test_round();
  test_nearest(&format_f16, "f16");
  test_nearest(&format_bf16, "bf16");
  test_nearest_f32();
  test_ulp();
  test_from_midpoint();
  test_error();
  test_ranges();
  test_bound();
  test_first();
  for (size_t i = 0; i < sizeof short_formats / sizeof *short_formats; i++) {
    test_decode(&short_formats[i]);
    test_rounding_to(&short_formats[i]);
  }
  return tap_done();
}
