/* SPDX-License-Identifier: MIT */
#include "records/statistics.h"

#include "common/memory.h"
#include "common/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double statistics_median(double *x, size_t n) {
  numbers_sort(x, n);
  return numbers_median(x, n);
}

/* ---- two samples ---- */

enum { MOST_EXACT = 25 };

/* Returns P(U <= u) for samples of n and m numbers, both at most MOST_EXACT. The number of arrangements is at most
   C(50, 25) < 2^47, which a double represents exactly. The number of arrangements with U = u is the coefficient of q^u
   in the product over i = 1 … n of (1 - q^(m + i)) / (1 - q^i). */
static double exact_tail(size_t n, size_t m, size_t u) {
  double ways[MOST_EXACT * MOST_EXACT + 1] = {1.0};
  const size_t most = n * m;
  for (size_t i = 1; i <= n; i++) {
    for (size_t k = most + 1; k-- > m + i;) ways[k] -= ways[k - m - i];
    for (size_t k = i; k <= most; k++) ways[k] += ways[k - i];
  }
  double below = 0.0, all = 0.0;
  for (size_t k = 0; k <= most; k++) {
    all += ways[k];
    if (k <= u) below += ways[k];
  }
  return below / all;
}

/* Returns P(U <= u) by the normal distribution. `ties` is the sum of t³ - t over groups of t equal numbers. */
static double normal_tail(double n, double m, double u, double ties) {
  const double all = n + m, variance = n * m / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
  if (!(variance > 0.0)) return 1.0;
  return 0.5 * erfc((n * m / 2.0 - u - 0.5) / sqrt(2.0 * variance));
}

double statistics_rank_test(const double *a, size_t n, const double *b, size_t m) {
  if (n == 0 || m == 0) return 1.0;
  double u = 0.0, ties = 0.0;
  bool tied = false;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) {
      u += 0.5 * ((a[i] > b[j]) + (a[i] >= b[j]));
      tied = tied || a[i] == b[j];
    }
  /* Each member of a group of t equal numbers adds t² - 1. */
  for (size_t i = 0; i < n + m; i++) {
    const double x = i < n ? a[i] : b[i - n];
    double equal = 0.0;
    for (size_t j = 0; j < n + m; j++) equal += (j < n ? a[j] : b[j - n]) == x;
    ties += equal * equal - 1.0;
  }
  const double least = fmin(u, (double)(n * m) - u);
  const double tail = !tied && ties == 0.0 && n <= MOST_EXACT && m <= MOST_EXACT
                          ? exact_tail(n, m, (size_t)least)
                          : normal_tail((double)n, (double)m, least, ties);
  return fmin(1.0, 2.0 * tail);
}

/* Returns the number of quotients outside the interval at either end: the largest k with P(U < k) <= (1 - confidence) /
   2. */
static size_t outside(size_t n, size_t m, double confidence) {
  const double most = (1.0 - confidence) / 2.0 * (1.0 + 1e-9); /* 90 % must be reachable with three numbers of each */
  size_t k = 0;
  while (k < n * m / 2 &&
         (n <= MOST_EXACT && m <= MOST_EXACT ? exact_tail(n, m, k)
                                             : normal_tail((double)n, (double)m, (double)k, 0.0)) <= most)
    k++;
  return k;
}

statistics_ratio statistics_ratio_of(const double *a, size_t n, const double *b, size_t m, double confidence) {
  const size_t count = n * m;
  double *quotients = memory_take(count, sizeof *quotients);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < m; j++) quotients[i * m + j] = b[j] / a[i];
  numbers_sort(quotients, count);
  const size_t k = count ? outside(n, m, confidence) : 0;
  const statistics_ratio ratio = {count ? numbers_median(quotients, count) : NAN, k ? quotients[k - 1] : 0.0,
                                  k ? quotients[count - k] : INFINITY};
  free(quotients);
  return ratio;
}

/* ---- differences ---- */

enum { MOST_SIGNED = 50, MOST_SUM = MOST_SIGNED * (MOST_SIGNED + 1) };

/* Ranks the sizes of the numbers that are not 0, as doubled ranks, which are integers. Returns their number. */
static size_t rank_sizes(const double *x, size_t n, double *ranks) {
  size_t count = 0;
  for (size_t i = 0; i < n; i++) {
    if (x[i] == 0.0) continue;
    double rank = 1.0;
    for (size_t j = 0; j < n; j++) {
      if (x[j] == 0.0) continue;
      rank += (fabs(x[j]) < fabs(x[i])) + (fabs(x[j]) <= fabs(x[i]));
    }
    ranks[count++] = rank;
  }
  return count;
}

/* Sets P(sum <= s) for s from 0 to MOST_SUM, where each doubled rank is in the sum or not. With at most MOST_SIGNED
   ranks, a double counts exactly. */
static void signed_tails(const double *ranks, size_t n, double tails[MOST_SUM + 1]) {
  memset(tails, 0, (MOST_SUM + 1) * sizeof *tails);
  tails[0] = 1.0;
  for (size_t i = 0; i < n; i++)
    for (size_t s = MOST_SUM + 1; s-- > (size_t)ranks[i];) tails[s] += tails[s - (size_t)ranks[i]];
  for (size_t s = 1; s <= MOST_SUM; s++) tails[s] += tails[s - 1];
  for (size_t s = 0; s <= MOST_SUM; s++) tails[s] = ldexp(tails[s], -(int)n);
}

/* Returns P(sum <= s) for one sum by the normal distribution. */
static double signed_normal_tail(const double *ranks, size_t n, double sum) {
  double mean = 0.0, variance = 0.0;
  for (size_t i = 0; i < n; i++) {
    mean += ranks[i] / 2.0;
    variance += ranks[i] * ranks[i] / 4.0;
  }
  return 0.5 * erfc((mean - sum - 1.0) / sqrt(2.0 * variance));
}

static double signed_tail(const double *ranks, size_t n, double sum) {
  double tails[MOST_SUM + 1];
  if (n > MOST_SIGNED) return signed_normal_tail(ranks, n, sum);
  signed_tails(ranks, n, tails);
  return tails[(size_t)sum];
}

double statistics_signed_rank(const double *x, size_t n) {
  double *ranks = memory_take(n, sizeof *ranks);
  const size_t count = rank_sizes(x, n, ranks);
  double above = 0.0, all = 0.0;
  for (size_t i = 0, k = 0; i < n; i++) {
    if (x[i] == 0.0) continue;
    if (x[i] > 0.0) above += ranks[k];
    all += ranks[k++];
  }
  const double p = count ? fmin(1.0, 2.0 * signed_tail(ranks, count, fmin(above, all - above))) : 1.0;
  free(ranks);
  return p;
}

/* Returns the number of means of pairs outside the interval at either end: the largest k with P(sum < k) <= (1 -
   confidence) / 2. `ranks` has room for n. */
static size_t outside_pairs(double *ranks, size_t n, double confidence) {
  const double most = (1.0 - confidence) / 2.0;
  double tails[MOST_SUM + 1];
  size_t k = 0;
  for (size_t i = 0; i < n; i++) ranks[i] = 2.0 * (double)(i + 1);
  if (n <= MOST_SIGNED) signed_tails(ranks, n, tails);
  while (k < n * (n + 1) / 4 &&
         (n <= MOST_SIGNED ? tails[2 * k] : signed_normal_tail(ranks, n, 2.0 * (double)k)) <= most)
    k++;
  return k;
}

statistics_ratio statistics_paired_ratio_of(const double *logs, size_t n, double confidence) {
  const size_t count = n * (n + 1) / 2;
  double *means = memory_take(count, sizeof *means);
  const size_t k = n ? outside_pairs(means, n, confidence) : 0;
  for (size_t i = 0, at = 0; i < n; i++)
    for (size_t j = 0; j <= i; j++) means[at++] = logs[i] / 2.0 + logs[j] / 2.0;
  numbers_sort(means, count);
  const statistics_ratio ratio = {count ? exp(numbers_median(means, count)) : NAN, k ? exp(means[k - 1]) : 0.0,
                                  k ? exp(means[count - k]) : INFINITY};
  free(means);
  return ratio;
}

/* ---- many tests ---- */

static int order_of_places(const void *one, const void *other) {
  return number_order(*(const double *const *)one, *(const double *const *)other);
}

void statistics_holm(double *p, size_t n) {
  double **places = memory_take(n, sizeof *places), least = 0.0;
  for (size_t i = 0; i < n; i++) places[i] = &p[i];
  qsort(places, n, sizeof *places, order_of_places);
  for (size_t i = 0; i < n; i++) *places[i] = least = fmax(least, fmin(1.0, (double)(n - i) * *places[i]));
  free(places);
}

/* ---- changes in a series --------------------------------------------------------------------------------- */

/* Orders tried: so many that five of them may be as clear as a change, and at least 999. */
enum { LEAST_ORDERS = 999, AS_CLEAR = 5 };

typedef struct division {
  size_t at;
  double clarity;
} division;

/* A search for changes, and its arrays, which have room for the whole series. */
typedef struct divisive_search {
  double level;
  uint64_t random;
  double farthest; /* distances above it count as it */
  double *order;   /* numbers in another order */
  double *inverse; /* 1 / k */
  double *within;  /* for each begin: the sum of distances of the pairs from there to the current end */
  double *before;  /* for each end: the sum of distances of the pairs before it */
  divisive_change *found;
  size_t count;
} divisive_search;

/* Adds the distances of the last number before `end` to the sums within. */
static void extend(divisive_search *s, const double *x, size_t end) {
  double sum = 0.0;
  for (size_t begin = end - 1; begin-- > 0;) {
    sum += fmin(fabs(x[begin] - x[end - 1]), s->farthest);
    s->within[begin] += sum;
  }
  s->before[end] = s->within[0];
}

/* Finds the clearest division of the numbers up to any end, so that a change back later does not hide it. */
static division divide(divisive_search *s, const double *x, size_t n) {
  division best = {0, -INFINITY};
  memset(s->within, 0, n * sizeof *s->within);
  for (size_t end = 1; end <= n; end++) {
    extend(s, x, end);
    for (size_t at = DIVISIVE_LEAST; at + DIVISIVE_LEAST <= end; at++) {
      const size_t rest = end - at;
      const double first = s->before[at], second = s->within[at], between = s->before[end] - first - second;
      const double clarity =
          2.0 * s->inverse[end] *
          (between - first * (double)rest * s->inverse[at - 1] - second * (double)at * s->inverse[rest - 1]);
      if (clarity > best.clarity) best = (division){at, clarity};
    }
  }
  return best;
}

static void shuffle(divisive_search *s, size_t n) {
  for (size_t i = n; i > 1; i--) {
    const size_t other = random_below(&s->random, i);
    const double moved = s->order[i - 1];
    s->order[i - 1] = s->order[other];
    s->order[other] = moved;
  }
}

/* Returns p of a division. Ends as soon as it must be above the level. */
static double test(divisive_search *s, const double *x, size_t n, const division *one) {
  const double orders = fmax(LEAST_ORDERS, ceil(AS_CLEAR / s->level) - 1.0);
  double as_clear = 1.0, tried = 1.0; /* the order itself is one */
  memcpy(s->order, x, n * sizeof *x);
  while (tried <= orders && as_clear <= s->level * (orders + 1.0)) {
    shuffle(s, n);
    tried++;
    as_clear += divide(s, s->order, n).clarity >= one->clarity;
  }
  return as_clear / tried;
}

/* Returns the most that a distance of two of the numbers counts: six times their median distance to their median, which
   is four standard deviations of normal noise. Any number if more than half of them are equal. */
static double farthest_distance(divisive_search *s, const double *x, size_t n) {
  memcpy(s->order, x, n * sizeof *x);
  const double middle = statistics_median(s->order, n);
  for (size_t i = 0; i < n; i++) s->order[i] = fabs(x[i] - middle);
  const double distance = statistics_median(s->order, n);
  return distance > 0.0 ? 6.0 * distance : INFINITY;
}

/* Finds the changes from `begin` to `end`, in order. */
static void find(divisive_search *s, const double *x, size_t begin, size_t end) {
  const size_t n = end - begin;
  if (n < 2 * DIVISIVE_LEAST) return;
  s->farthest = farthest_distance(s, x + begin, n);
  const division one = divide(s, x + begin, n);
  if (!(one.clarity > 0.0)) return; /* equal numbers */
  const double p = test(s, x + begin, n, &one);
  if (!(p <= s->level)) return;
  find(s, x, begin, begin + one.at);
  s->found[s->count++] = (divisive_change){begin + one.at, p};
  find(s, x, begin + one.at, end);
}

size_t divisive_find(const double *x, size_t n, double level, uint64_t seed, divisive_change *found) {
  divisive_search s = {.level = level,
                       .random = seed,
                       .order = memory_take(n + 1, sizeof *s.order),
                       .inverse = memory_take(n + 1, sizeof *s.inverse),
                       .within = memory_take(n + 1, sizeof *s.within),
                       .before = memory_take(n + 1, sizeof *s.before),
                       .found = found};
  for (size_t k = 1; k <= n; k++) s.inverse[k] = 1.0 / (double)k;
  find(&s, x, 0, n);
  free(s.order);
  free(s.inverse);
  free(s.within);
  free(s.before);
  return s.count;
}
