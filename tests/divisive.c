/* SPDX-License-Identifier: MIT */
/* Tests E-divisive: changes that are known, p of a division against counting, and false alarms. */
#include "records/statistics.h"
#include "tests/numbers.h"
#include "tests/tap.h"

#include <math.h>
#include <string.h>

enum { MOST = 120 };

static size_t find(const double *x, size_t n, double level, divisive_change *found) {
  return divisive_find(x, n, level, 1, found);
}

/* A sum of four uniform numbers, of standard deviation 1. */
static double noise(void) {
  return sqrt(3.0) * (random_fraction() + random_fraction() + random_fraction() + random_fraction() - 2.0);
}

static void make(double *x, size_t n, size_t at, double step, double widening) {
  for (size_t i = 0; i < n; i++) x[i] = (i < at ? noise() : step + widening * noise());
}

static void test_none(void) {
  divisive_change found[MOST];
  double x[MOST] = {0};
  ok(find(x, MOST, 0.01, found) == 0, "equal numbers have no change");
  ok(find(x, 0, 0.01, found) == 0, "nor have none");
  for (size_t i = 4; i < MOST; i++) x[i] = 1.0;
  ok(find(x, 7, 0.5, found) == 0, "seven are too few, four and three");
  ok(find(x, 8, 0.5, found) == 1 && found[0].at == 4, "eight are not, four and four");
  ok(find(x, 12, 0.01, found) == 1 && found[0].at == 4, "four at the beginning are told from others");
}

static void test_steps(void) {
  divisive_change found[MOST];
  double x[MOST];
  int exact = 0, tried = 0;
  for (size_t at = 20; at < 100; at += 20, tried++) {
    make(x, MOST, at, 6.0, 1.0);
    exact += find(x, MOST, 0.01, found) == 1 && found[0].at == at && found[0].p <= 0.01 && found[0].p > 0.0;
  }
  ok(exact == tried, "a large step is found at its place, %d of %d times, and no other", exact, tried);
  for (size_t i = 0; i < MOST; i++) x[i] = noise() + (i < 40 || i >= 80 ? 0.0 : 8.0);
  ok(find(x, MOST, 0.01, found) == 2 && found[0].at == 40 && found[1].at == 80, "a step and the step back, in order");
  for (size_t i = 0; i < MOST; i++) x[i] = noise() + 8.0 * (double)(i / 40);
  ok(find(x, MOST, 0.01, found) == 2 && found[0].at == 40 && found[1].at == 80, "two steps up");
  make(x, MOST, 60, 0.0, 8.0);
  ok(find(x, MOST, 0.01, found) >= 1, "a wider spread is a change, too");
}

/* The clarity of a division of the first `end` numbers, by its definition. Distances above `farthest` count as it. */
static double clarity(const double *x, size_t at, size_t end, double farthest) {
  double sums[3] = {0.0}; /* of distances within the first part, between both, and within the second */
  const double n = (double)at, m = (double)(end - at);
  for (size_t i = 0; i < end; i++)
    for (size_t j = 0; j < i; j++) sums[(i >= at) + (j >= at)] += fmin(fabs(x[i] - x[j]), farthest);
  const double first = sums[0], between = sums[1], second = sums[2];
  return n * m / (n + m) * (2.0 / (n * m) * between - 2.0 / (n * (n - 1.0)) * first - 2.0 / (m * (m - 1.0)) * second);
}

static double clearest(const double *x, size_t n, double farthest) {
  double most = -INFINITY;
  for (size_t end = 2 * DIVISIVE_LEAST; end <= n; end++)
    for (size_t at = DIVISIVE_LEAST; at + DIVISIVE_LEAST <= end; at++) most = fmax(most, clarity(x, at, end, farthest));
  return most;
}

/* Nine numbers, four of 0 and four of 1, have 9 C(8, 4) orders, all of which can be counted: a change of that p is
   found. The ninth is 1 as well, or so far away that its distances count as 6, six times the median distance to the
   median. */
static void test_p(double ninth) {
  const double x[] = {0, 0, 0, 0, 1, 1, 1, 1, ninth}, most = clearest(x, 9, 6.0);
  int as_clear = 0, ways = 0;
  for (unsigned chosen = 0; chosen < 1u << 8; chosen++)
    for (int place = 0; place < 9 && __builtin_popcount(chosen) == 4; place++, ways++) {
      double order[9];
      for (int i = 0; i < 9; i++) order[i] = i == place ? ninth : chosen >> (i - (i > place)) & 1;
      as_clear += clearest(order, 9, 6.0) >= most - 1e-9;
    }
  const double p = (double)as_clear / ways;
  divisive_change found[2], again[2];
  ok(find(x, 9, 0.7, found) == 1 && found[0].at == 4, "nine numbers, one of them %g, are divided between two values",
     ninth);
  ok(fabs(found[0].p - p) < 0.012, "p is %.4f, and %.4f by counting all %d orders", found[0].p, p, ways);
  divisive_find(x, 9, 0.7, 1, again);
  ok(memcmp(found, again, sizeof *found) == 0, "equal seeds find equal changes");
}

/* Tests that the level is the share of false alarms. At 0.1, the binomial distribution gives more than 48 or fewer than
   14 alarms in 300 series without a change with a probability of 0.001. */
static void test_level(void) {
  enum { SERIES = 300, LENGTH = 30 };
  int alarms = 0;
  for (int i = 0; i < SERIES; i++) {
    divisive_change found[LENGTH];
    double x[LENGTH];
    make(x, LENGTH, LENGTH, 0.0, 1.0);
    if (i % 2) x[i % LENGTH] *= 20.0; /* an outlier is no change */
    alarms += divisive_find(x, LENGTH, 0.1, (uint64_t)i, found) > 0;
  }
  ok(alarms <= 48 && alarms >= 14, "of %d series without a change %d have one at the level 0.1", SERIES, alarms);
}

int main(void) {
  test_none();
  test_steps();
  test_p(1.0);
  test_p(100.0);
  test_level();
  return tap_done();
}
