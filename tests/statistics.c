/* SPDX-License-Identifier: MIT */
/* The rank test and its intervals, against counting all arrangements, and against published values. */
#include "records/statistics.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* The probability of a U at least as far from the middle, over all ways to choose n of the n + m ranks. */
static double counted(const double *a, int n, const double *b, int m) {
  const int all = n + m;
  int u = 0;
  long as_far = 0, ways = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) u += a[i] > b[j];
  for (unsigned chosen = 0; chosen < 1u << all; chosen++) {
    if (__builtin_popcount(chosen) != n) continue;
    int other = 0;
    for (int i = 0; i < all; i++)
      for (int j = 0; j < i; j++) other += (chosen >> i & 1) && !(chosen >> j & 1);
    ways++;
    as_far += abs(2 * other - n * m) >= abs(2 * u - n * m);
  }
  return (double)as_far / (double)ways;
}

static void test_against_counting(void) {
  int wrong = 0, tried = 0;
  for (int n = 1; n <= 6; n++)
    for (int m = 1; m <= 6; m++)
      for (int shift = 0; shift < 4; shift++, tried++) {
        double a[6], b[6];
        for (int i = 0; i < n; i++) a[i] = random_fraction();
        for (int j = 0; j < m; j++) b[j] = random_fraction() + 0.3 * shift;
        wrong += fabs(statistics_rank_test(a, (size_t)n, b, (size_t)m) - counted(a, n, b, m)) > 1e-12;
      }
  ok(wrong == 0, "%d pairs of samples: p as counted over all arrangements", tried);
}

static void test_known(void) {
  /* Tortoises and hares of the textbooks: ranks T H H H H H T T T T T H have U = 11 and 25 */
  const double t[] = {1, 7, 8, 9, 10, 11}, h[] = {2, 3, 4, 5, 6, 12};
  const double p = statistics_rank_test(t, 6, h, 6);
  ok(fabs(p - counted(t, 6, h, 6)) < 1e-12 && p > 0.3 && p < 0.32, "tortoises and hares: p = %.4f", p);
  const double low[] = {1, 2, 3, 4, 5}, high[] = {6, 7, 8, 9, 10};
  ok(fabs(statistics_rank_test(low, 5, high, 5) - 2.0 / 252) < 1e-15, "5 below 5: 2 of 252 arrangements");
  ok(statistics_rank_test(low, 5, low, 5) == 1.0, "a sample and itself");
  const double same[] = {3, 3, 3, 3};
  ok(statistics_rank_test(same, 4, same, 4) == 1.0, "all equal");
  ok(statistics_rank_test(same, 0, same, 4) == 1.0, "nothing");
}

/*
 * With ties it is the normal approximation, whose variance n m / 12 (N + 1 - sum / (N (N - 1))) they make smaller, the
 * sum of t³ - t over groups of t equal numbers; with half a unit for continuity. First U is 7.5, of 64, and the groups
 * are 3, 8 and 5; then it is 7, of 42, and they are 3, 3, 3 and 2.
 */
static void test_ties(void) {
  const double a[] = {1, 1, 1, 2, 2, 2, 2, 2}, b[] = {2, 2, 2, 3, 3, 3, 3, 3};
  const double c[] = {1, 2, 2, 3, 3, 4}, d[] = {2, 3, 4, 4, 5, 5, 6};
  const double p = statistics_rank_test(a, 8, b, 8), q = statistics_rank_test(c, 6, d, 7);
  ok(fabs(p - erfc(24.0 / sqrt(2.0 * 64.0 / 12.0 * (17.0 - 648.0 / 240.0)))) < 1e-12, "many ties: p = %.6f", p);
  ok(fabs(q - erfc(13.5 / sqrt(2.0 * 42.0 / 12.0 * (14.0 - 78.0 / 156.0)))) < 1e-12, "some ties: p = %.6f", q);
}

/* The rate of false alarms, and how often the true ratio is in the interval. */
static void test_coverage(int n, int m) {
  enum { TRIALS = 2000 };
  int alarms = 0, enclosed = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double a[30], b[30];
    for (int i = 0; i < n; i++) a[i] = exp(random_fraction() + random_fraction());
    for (int j = 0; j < m; j++) b[j] = 1.25 * exp(random_fraction() + random_fraction());
    statistics_ratio ratio;
    if (!statistics_ratio_of(a, (size_t)n, b, (size_t)m, 0.95, &ratio)) continue;
    enclosed += ratio.low <= 1.25 && 1.25 <= ratio.high;
    for (int j = 0; j < m; j++) b[j] /= 1.25;
    alarms += statistics_rank_test(a, (size_t)n, b, (size_t)m) <= 0.05;
  }
  /* 2000 trials at 5 % have a standard deviation of 0.5 %; small samples err on the safe side */
  ok(alarms <= TRIALS * 0.07 && enclosed >= TRIALS * 0.93, "%d and %d timings: %.1f %% false alarms, %.1f %% enclosed",
     n, m, 100.0 * alarms / TRIALS, 100.0 * enclosed / TRIALS);
}

static void test_small(void) {
  const double a[] = {1, 2, 3}, b[] = {2, 4, 6};
  statistics_ratio ratio = {0};
  const bool small = statistics_ratio_of(a, 3, b, 3, 0.95, &ratio);
  ok(small && ratio.low == 0.0 && ratio.high == INFINITY && ratio.estimate == 2.0,
     "three timings enclose nothing: estimate %g", ratio.estimate);
  const double c[] = {1, 1, 1, 1}, d[] = {2, 2, 2, 2};
  const bool level = statistics_ratio_of(c, 4, d, 4, 0.95, &ratio);
  ok(level && ratio.low == 2.0 && ratio.high == 2.0, "without spread: 2");
  const double e[] = {1, 1.1, 1.3, 1.7, 2.5}, g[] = {2, 2.3, 2.9, 4.1, 6.5};
  statistics_ratio there, back;
  const bool both = statistics_ratio_of(e, 5, g, 5, 0.95, &there) && statistics_ratio_of(g, 5, e, 5, 0.95, &back);
  ok(both && fabs(there.low * back.high - 1.0) < 1e-12 && fabs(there.high * back.low - 1.0) < 1e-12,
     "the interval of the inverse ratio is the inverse interval: %g to %g", there.low, there.high);
  double x[] = {3, 1, 2, 4};
  ok(statistics_median(x, 4) == 2.5 && statistics_median(x, 1) == 1.0, "medians of 4 numbers and of 1");
}

int main(void) {
  test_against_counting();
  test_known();
  test_ties();
  test_coverage(5, 5);
  test_coverage(9, 9);
  test_coverage(30, 27);
  test_small();
  return tap_done();
}
