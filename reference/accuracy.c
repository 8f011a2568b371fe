/* SPDX-License-Identifier: MIT */
#include "reference/accuracy.h"

#include <math.h>

double accuracy_bin_end(int bin) {
  return bin + 1 < ACCURACY_BINS ? ldexp(1.0, bin + ACCURACY_FIRST_EXPONENT) : INFINITY;
}

int accuracy_bin(int exponent) {
  const int bin = exponent - ACCURACY_FIRST_EXPONENT;
  if (bin < 0) return 0;
  return bin < ACCURACY_BINS ? bin : ACCURACY_BINS - 1;
}

int accuracy_range(int64_t position) {
  const uint64_t distance = position < 0 ? -(uint64_t)position : (uint64_t)position;
  return (63 - __builtin_clzll(distance | 1)) / 4;
}

int64_t accuracy_range_begin(int range) {
  return range ? INT64_C(1) << 4 * range : 0;
}

static int bin_of(double ulp) {
  int exponent;
  if (!isfinite(ulp)) return ACCURACY_BINS - 1;
  if (ulp == 0.0) return 0;
  frexp(ulp, &exponent);
  return accuracy_bin(exponent);
}

/* Returns the bound at this element as an absolute error. */
static double allowed(const posenc_bound *bound, double ulp, int64_t position) {
  const double distance = position < 0 ? -(double)position : (double)position;
  return bound->ulp * ulp + bound->abs + bound->growth * distance;
}

/* Whether a is before b: ordered by position, then index, sine before cosine. */
static bool earlier(const witness *a, const witness *b) {
  if (a->position != b->position) return a->position < b->position;
  if (a->index != b->index) return a->index < b->index;
  return a->cosine < b->cosine;
}

static bool worse(double error, const witness *at, double known, const witness *known_at) {
  return error > known || (error == known && earlier(at, known_at));
}

/* Replaces the largest errors if the new ones are worse. The first element always replaces them. */
static void keep_worst(accuracy *a, const witness *ulp, const witness *abs) {
  if (a->elements == 0 || worse(ulp->ulp, ulp, a->max_ulp.ulp, &a->max_ulp)) a->max_ulp = *ulp;
  if (a->elements == 0 || worse(abs->abs, abs, a->max_abs.abs, &a->max_abs)) a->max_abs = *abs;
}

static void keep_most(element_error *most, element_error found) {
  if (found.ulp > most->ulp) most->ulp = found.ulp;
  if (found.abs > most->abs) most->abs = found.abs;
}

static void keep_rest(element_rest *rest, element_rest found) {
  if (found.most > rest->most) rest->most = found.most;
  if (found.per_position > rest->per_position) rest->per_position = found.per_position;
}

/* Returns what an error has beyond half an ulp. */
static element_rest rest_of(const witness *here) {
  if (!(here->ulp > 0.5)) return (element_rest){0.0, 0.0};
  const double rest = isfinite(here->abs) ? here->abs * (1.0 - 0.5 / here->ulp) : INFINITY;
  return (element_rest){rest, rest / fmax(1.0, fabs((double)here->position))};
}

void accuracy_move(accuracy *a, int64_t position) {
  element_error most = {0.0, 0.0};
  element_rest rest = {0.0, 0.0};
  for (int r = 0; r < ACCURACY_RANGES; r++) {
    keep_most(&most, a->most[r]);
    keep_rest(&rest, a->rest[r]);
    a->most[r] = (element_error){0.0, 0.0};
    a->rest[r] = (element_rest){0.0, 0.0};
  }
  rest.per_position = rest.most / fmax(1.0, fabs((double)position));
  a->most[accuracy_range(position)] = most;
  a->rest[accuracy_range(position)] = rest;
}

static void keep_worst_share(accuracy *a, double share, const witness *at) {
  if (a->held > 0 && !worse(share, at, a->worst_share, &a->worst)) return;
  a->worst_share = share;
  a->worst = *at;
}

void accuracy_note(accuracy *a, const witness *here, bool misrounded) {
  keep_worst(a, here, here);
  const int range = accuracy_range(here->position);
  keep_most(&a->most[range], (element_error){here->ulp, here->abs});
  keep_rest(&a->rest[range], rest_of(here));
  a->elements++;
  a->bins[bin_of(here->ulp)]++;
  if (misrounded) a->misrounded++;
}

void accuracy_hold(accuracy *a, const witness *here, double tolerance) {
  double share = tolerance > 0.0 ? here->abs / tolerance : INFINITY;
  if (!(tolerance < 0.0) && here->abs == 0.0) share = 0.0;
  keep_worst_share(a, share, here);
  a->held++;
  if (!(here->abs <= tolerance)) a->beyond++;
}

element_error accuracy_count(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                             element_place at) {
  const double unit = format_ulp(f, value), difference = exact_error(value, got);
  const double abs_error = isfinite(got) ? difference : INFINITY, ulp_error = abs_error / unit;
  const witness here = {ulp_error, abs_error, at.position, at.index, at.cosine, value->high, value->low, got};

  /* Bits are compared, not values: -0 is not 0. */
  accuracy_note(a, &here, !(got == value->rounded && signbit(got) == signbit(value->rounded)));
  if (bound) {
    /* An exact zero must have the right sign, with any bound. */
    const bool wrong_zero = value->high == 0.0 && got == 0.0 && signbit(got) != signbit(value->rounded);
    accuracy_hold(a, &here, wrong_zero ? -1.0 : allowed(bound, unit, at.position));
  }
  return (element_error){ulp_error, abs_error};
}

void accuracy_add(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                  element_place at) {
  const element_error d = accuracy_count(a, f, bound, value, got, at);
  a->sum_ulp += d.ulp;
  a->sum_abs += d.abs;
}

void accuracy_merge(accuracy *into, const accuracy *from) {
  if (from->held > 0) keep_worst_share(into, from->worst_share, &from->worst);
  into->held += from->held;
  into->beyond += from->beyond;
  if (from->elements == 0) return;
  keep_worst(into, &from->max_ulp, &from->max_abs);
  into->elements += from->elements;
  into->misrounded += from->misrounded;
  into->sum_ulp += from->sum_ulp;
  into->sum_abs += from->sum_abs;
  for (int b = 0; b < ACCURACY_BINS; b++) into->bins[b] += from->bins[b];
  for (int r = 0; r < ACCURACY_RANGES; r++) {
    keep_most(&into->most[r], from->most[r]);
    keep_rest(&into->rest[r], from->rest[r]);
  }
}
