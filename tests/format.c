/* SPDX-License-Identifier: MIT */
/* Rounding and ulp of reference/format.h, by values anyone can check by hand. */
#include "reference/format.h"
#include "reference/accuracy.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

/* The sum of terms, exactly, rounded to the format. */
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
  ok(memcmp(&got, &want, sizeof got) == 0, "%s: got %a, want %a", what, got, want);
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
  accuracy_add(&a, &format_f32, NULL, &third, third.rounded, 3, 1, true);
  ok(a.misrounded == 0 && a.max_ulp.ulp > 0.33 && a.max_ulp.ulp < 0.34,
     "1/3 rounded: a third of an ulp, not misrounded (%.17g)", a.max_ulp.ulp);
  accuracy_add(&a, &format_f32, NULL, &third, nextafterf((float)third.rounded, 1.0f), 4, 1, true);
  ok(a.misrounded == 1 && a.max_ulp.position == 4 && a.max_ulp.cosine, "its neighbour is misrounded, and the witness");
  const exact zero = {0.0, 0.0, 0.0};
  accuracy_add(&a, &format_f32, NULL, &zero, -0.0, 0, 0, false);
  ok(a.misrounded == 2, "-0 for 0 is misrounded");
  const posenc_bound half = {.ulp = 0.5};
  accuracy_add(&a, &format_f32, &half, &third, third.rounded, 5, 0, false);
  ok(a.beyond == 0 && a.held == 1, "the rounded value keeps half an ulp");
  ok(a.worst_share > 0.66 && a.worst_share < 0.67 && a.worst.position == 5, "which is two thirds of its bound (%.17g)",
     a.worst_share);
  ok(fabs(a.sum_abs - (2.0 * exact_error(&third, third.rounded) +
                       exact_error(&third, nextafterf((float)third.rounded, 1.0f)))) < 1e-20 &&
         fabs(a.sum_ulp - (1.0 / 3 + 4.0 / 3 + 1.0 / 3)) < 1e-6,
     "the sums of errors: %g, %g ulp", a.sum_abs, a.sum_ulp);
  accuracy_add(&a, &format_f32, &half, &third, (double)NAN, 6, 0, false);
  ok(a.beyond == 1 && isinf(a.max_ulp.ulp) && a.max_abs.position == 6 && a.worst.position == 6,
     "NaN is an infinite error and breaks every bound");
  int64_t binned = 0;
  for (int b = 0; b < ACCURACY_BINS; b++) binned += a.bins[b];
  ok(binned == a.elements && a.elements == 5, "every element is in one bin");
}

int main(void) {
  test_round();
  test_ulp();
  test_error();
  return tap_done();
}
