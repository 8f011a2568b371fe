/* SPDX-License-Identifier: MIT */
/* Tests the rank tests and their intervals, against counting all arrangements and against published values; and Holm's
   correction. */
#include "records/statistics.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

/* Returns the probability of a U at least as far from the middle, over all ways to choose n of the n + m ranks. */
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
  /* tortoises and hares of the textbooks: ranks T H H H H H T T T T T H have U = 11 and 25 */
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
 * Tests ties, with the normal approximation and half a unit for continuity. Ties reduce the variance n m / 12 (N + 1
 * - sum / (N (N - 1))), where sum is that of t³ - t over groups of t equal numbers. First U is 7.5, of 64, with
 * groups of 3, 8 and 5; then it is 7, of 42, with groups of 3, 3, 3 and 2.
 */
static void test_ties(void) {
  const double a[] = {1, 1, 1, 2, 2, 2, 2, 2}, b[] = {2, 2, 2, 3, 3, 3, 3, 3};
  const double c[] = {1, 2, 2, 3, 3, 4}, d[] = {2, 3, 4, 4, 5, 5, 6};
  const double p = statistics_rank_test(a, 8, b, 8), q = statistics_rank_test(c, 6, d, 7);
  ok(fabs(p - erfc(24.0 / sqrt(2.0 * 64.0 / 12.0 * (17.0 - 648.0 / 240.0)))) < 1e-12, "many ties: p = %.6f", p);
  ok(fabs(q - erfc(13.5 / sqrt(2.0 * 42.0 / 12.0 * (14.0 - 78.0 / 156.0)))) < 1e-12, "some ties: p = %.6f", q);
}

/* Tests the rate of false alarms, and how often the interval contains the true ratio. */
static void test_coverage(int n, int m) {
  enum { TRIALS = 2000 };
  int alarms = 0, enclosed = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double a[30], b[30];
    for (int i = 0; i < n; i++) a[i] = exp(random_fraction() + random_fraction());
    for (int j = 0; j < m; j++) b[j] = 1.25 * exp(random_fraction() + random_fraction());
    const statistics_ratio ratio = statistics_ratio_of(a, (size_t)n, b, (size_t)m, 0.95);
    enclosed += ratio.low <= 1.25 && 1.25 <= ratio.high;
    for (int j = 0; j < m; j++) b[j] /= 1.25;
    alarms += statistics_rank_test(a, (size_t)n, b, (size_t)m) <= 0.05;
  }
  /* 2000 trials at 5 % have a standard deviation of 0.5 %; small samples give fewer false alarms */
  ok(alarms <= TRIALS * 0.07 && enclosed >= TRIALS * 0.93, "%d and %d timings: %.1f %% false alarms, %.1f %% enclosed",
     n, m, 100.0 * alarms / TRIALS, 100.0 * enclosed / TRIALS);
}

static void test_small(void) {
  const double a[] = {1, 2, 3}, b[] = {2, 4, 6};
  statistics_ratio ratio = statistics_ratio_of(a, 3, b, 3, 0.95);
  ok(ratio.low == 0.0 && ratio.high == INFINITY && ratio.estimate == 2.0, "three timings enclose nothing: estimate %g",
     ratio.estimate);
  const double c[] = {1, 1, 1, 1}, d[] = {2, 2, 2, 2};
  ratio = statistics_ratio_of(c, 4, d, 4, 0.95);
  ok(ratio.low == 2.0 && ratio.high == 2.0, "without spread: 2");
  const double e[] = {1, 1.1, 1.3, 1.7, 2.5}, g[] = {2, 2.3, 2.9, 4.1, 6.5};
  const statistics_ratio there = statistics_ratio_of(e, 5, g, 5, 0.95), back = statistics_ratio_of(g, 5, e, 5, 0.95);
  ok(fabs(there.low * back.high - 1.0) < 1e-12 && fabs(there.high * back.low - 1.0) < 1e-12,
     "the interval of the inverse ratio is the inverse interval: %g to %g", there.low, there.high);
  double x[] = {3, 1, 2, 4};
  ok(statistics_median(x, 4) == 2.5 && statistics_median(x, 1) == 1.0, "medians of 4 numbers and of 1");
}

/* ---- differences ---- */

/* Returns the probability of a sum of positive ranks as far from the middle, over all signs; ties share their mean
   rank. */
static double counted_signs(const double *x, int n) {
  double ranks[12], sum = 0.0, all = 0.0;
  long as_far = 0;
  int some = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] == 0.0) continue;
    double below = 0.0, equal = 0.0;
    for (int j = 0; j < n; j++) {
      below += x[j] != 0.0 && fabs(x[j]) < fabs(x[i]);
      equal += fabs(x[j]) == fabs(x[i]);
    }
    ranks[some] = below + (equal + 1.0) / 2.0;
    all += ranks[some];
    if (x[i] > 0.0) sum += ranks[some];
    some++;
  }
  for (unsigned signs = 0; signs < 1u << some; signs++) {
    double other = 0.0;
    for (int i = 0; i < some; i++)
      if (signs >> i & 1) other += ranks[i];
    as_far += fabs(other - all / 2.0) >= fabs(sum - all / 2.0);
  }
  return (double)as_far / (double)(1u << some);
}

static void test_signs_against_counting(void) {
  int wrong = 0, tried = 0;
  for (int n = 1; n <= 10; n++)
    for (int shift = 0; shift < 4; shift++)
      for (int tied = 0; tied < 2; tied++, tried++) {
        double x[10];
        for (int i = 0; i < n; i++) {
          x[i] = 2.0 * random_fraction() - 1.0 + 0.4 * shift;
          if (tied) x[i] = round(3.0 * x[i]); /* with zeros too */
        }
        wrong += fabs(statistics_signed_rank(x, (size_t)n) - counted_signs(x, n)) > 1e-12;
      }
  ok(wrong == 0, "%d lists of differences: p as counted over all signs", tried);
  ok(statistics_signed_rank(NULL, 0) == 1.0 && statistics_signed_rank((const double[]){0, 0}, 2) == 1.0,
     "no differences, and none but zeros");
}

/* Returns the p of the numbers 1 to n with some negated, the largest first, so that they have this sum. */
static double p_of_sum(int n, int sum) {
  double x[50];
  for (int i = n; i >= 1; i--) {
    x[i - 1] = i <= sum ? -i : i;
    if (i <= sum) sum -= i;
  }
  return statistics_signed_rank(x, (size_t)n);
}

/* Tests critical sums of the smaller side, two-sided, from the tables of Wilcoxon and Wilcox, 1964. */
static void test_signs_against_tables(void) {
  static const struct {
    int n, five, one; /* per cent */
  } table[] = {{8, 3, 0},    {9, 5, 1},    {10, 8, 3},   {11, 10, 5},  {12, 13, 7},
               {13, 17, 9},  {14, 21, 12}, {15, 25, 15}, {16, 29, 19}, {17, 34, 23},
               {18, 40, 27}, {19, 46, 32}, {20, 52, 37}, {25, 89, 68}, {50, 434, 373}};
  for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
    const int n = table[i].n, five = table[i].five, one = table[i].one;
    ok(p_of_sum(n, five) <= 0.05 && p_of_sum(n, five + 1) > 0.05 && p_of_sum(n, one) <= 0.01 &&
           p_of_sum(n, one + 1) > 0.01,
       "%d differences: %d at 5 %%, %d at 1 %%", n, five, one);
  }
  ok(p_of_sum(10, 0) == 2.0 / 1024.0, "10 of one sign: 2 of 1024");
  const double half = p_of_sum(50, 400), beyond = erfc((637.5 - 400.5) / sqrt(2.0 * 50 * 51 * 101 / 24.0));
  ok(fabs(half / beyond - 1.0) < 0.05, "50 differences: %.5f, by the normal distribution %.5f", half, beyond);
  double x[60];
  for (int i = 0; i < 60; i++) x[i] = i % 3 ? i + 1 : -(i + 1); /* the negative ones are 1, 4 … 58: 590 of 1830 */
  ok(fabs(statistics_signed_rank(x, 60) - erfc((915 - 590.5) / sqrt(2.0 * 60 * 61 * 121 / 24.0))) < 1e-12,
     "60 differences by the normal distribution");
}

static void paired_is(const double *x, int n, double confidence, statistics_ratio want) {
  const statistics_ratio got = statistics_paired_ratio_of(x, (size_t)n, confidence);
  ok(fabs(log(got.estimate) - want.estimate) < 1e-12 &&
         (got.low > 0.0 ? fabs(log(got.low) - want.low) < 1e-12 : want.low == -INFINITY) &&
         (got.high < INFINITY ? fabs(log(got.high) - want.high) < 1e-12 : want.high == INFINITY),
     "%d differences: exp %g, %g to %g at %g", n, log(got.estimate), log(got.low), log(got.high), confidence);
}

/* Tests values computed by hand: of 1, 2, 4 the means are 1, 1.5, 2, 2.5, 3, 4. Of six differences P(sum <= 0) is 1/64,
   P(sum <= 1) 2/64, and P(sum <= 2) 3/64. */
static void test_paired(void) {
  const double three[] = {4, 1, 2}, six[] = {0.6, -0.1, 0.3, 0.2, 0.1, 0.4};
  paired_is(three, 3, 0.9, (statistics_ratio){2.25, -INFINITY, INFINITY});
  paired_is(six, 6, 0.99, (statistics_ratio){0.25, -INFINITY, INFINITY});
  paired_is(six, 6, 1.0 - 2.0 / 64, (statistics_ratio){0.25, -0.1, 0.6});
  paired_is(six, 6, 1.0 - 4.0 / 64, (statistics_ratio){0.25, 0.0, 0.5});
  paired_is(six, 6, 1.0 - 6.0 / 64, (statistics_ratio){0.25, 0.05, 0.45});
}

static void test_paired_coverage(int n) {
  enum { TRIALS = 2000 };
  int alarms = 0, enclosed = 0;
  for (int trial = 0; trial < TRIALS; trial++) {
    double x[60];
    for (int i = 0; i < n; i++) x[i] = 0.2 + (random_fraction() - 0.5) * exp(4.0 * random_fraction());
    const statistics_ratio ratio = statistics_paired_ratio_of(x, (size_t)n, 0.95);
    enclosed += ratio.low <= exp(0.2) && exp(0.2) <= ratio.high;
    for (int i = 0; i < n; i++) x[i] -= 0.2;
    alarms += statistics_signed_rank(x, (size_t)n) <= 0.05;
  }
  ok(alarms <= TRIALS * 0.07 && enclosed >= TRIALS * 0.93, "%d differences: %.1f %% false alarms, %.1f %% enclosed", n,
     100.0 * alarms / TRIALS, 100.0 * enclosed / TRIALS);
}

/* ---- many tests ---- */

/* Tests 4 × 0.005, 3 × 0.01, 2 × 0.03; 0.04 becomes at least the one before. */
static void test_holm(void) {
  double p[] = {0.01, 0.04, 0.03, 0.005}, large[] = {0.6, 0.7}, one[] = {0.02};
  statistics_holm(p, 4);
  ok(fabs(p[0] - 0.03) < 1e-15 && fabs(p[1] - 0.06) < 1e-15 && fabs(p[2] - 0.06) < 1e-15 && fabs(p[3] - 0.02) < 1e-15,
     "Holm: %g %g %g %g", p[0], p[1], p[2], p[3]);
  statistics_holm(large, 2);
  statistics_holm(one, 1);
  statistics_holm(NULL, 0);
  ok(large[0] == 1.0 && large[1] == 1.0, "no p is above 1");
  ok(one[0] == 0.02, "one test is not corrected");
}

int main(void) {
  test_against_counting();
  test_known();
  test_ties();
  test_coverage(5, 5);
  test_coverage(9, 9);
  test_coverage(30, 27);
  test_small();
  test_signs_against_counting();
  test_signs_against_tables();
  test_paired();
  test_paired_coverage(8);
  test_paired_coverage(16);
  test_paired_coverage(60);
  test_holm();
  return tap_done();
}
