/* SPDX-License-Identifier: MIT */
#include "records/divisive.h"

#include "common/memory.h"
#include "common/random.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Orders tried: so many that five of them may be as clear as a change, and at least 999. */
enum { LEAST_ORDERS = 999, AS_CLEAR = 5 };

typedef struct division {
  size_t at;
  double clarity;
} division;

/* A search for changes, and its arrays, which have room for the whole series. */
typedef struct search {
  double level;
  uint64_t random;
  double *order;   /* numbers in another order */
  double *inverse; /* 1 / k */
  double *within;  /* for each begin: the sum of distances of the pairs from there to the current end */
  double *before;  /* for each end: the sum of distances of the pairs before it */
  divisive_change *found;
  size_t count;
} search;

/* Adds the distances of the last number before `end` to the sums within. */
static void extend(search *s, const double *x, size_t end) {
  double sum = 0.0;
  for (size_t begin = end - 1; begin-- > 0;) {
    sum += fabs(x[begin] - x[end - 1]);
    s->within[begin] += sum;
  }
  s->before[end] = s->within[0];
}

/* Finds the clearest division of the numbers up to any end, so that a change back later does not hide it. */
static division divide(search *s, const double *x, size_t n) {
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

static void shuffle(search *s, size_t n) {
  for (size_t i = n; i > 1; i--) {
    const size_t other = random_below(&s->random, i);
    const double moved = s->order[i - 1];
    s->order[i - 1] = s->order[other];
    s->order[other] = moved;
  }
}

/* Returns p of a division. Ends as soon as it must be above the level. */
static double test(search *s, const double *x, size_t n, const division *one) {
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

/* Finds the changes from `begin` to `end`, in order. */
static void find(search *s, const double *x, size_t begin, size_t end) {
  const size_t n = end - begin;
  if (n < 2 * DIVISIVE_LEAST) return;
  const division one = divide(s, x + begin, n);
  if (!(one.clarity > 0.0)) return; /* equal numbers */
  const double p = test(s, x + begin, n, &one);
  if (!(p <= s->level)) return;
  find(s, x, begin, begin + one.at);
  s->found[s->count++] = (divisive_change){begin + one.at, p};
  find(s, x, begin + one.at, end);
}

size_t divisive_find(const double *x, size_t n, double level, uint64_t seed, divisive_change *found) {
  search s = {.level = level,
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
