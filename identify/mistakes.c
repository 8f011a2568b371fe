/* SPDX-License-Identifier: MIT */
#include "identify/mistakes.h"

#include "common/number.h"
#include "identify/formula.h"

#include <math.h>
#include <stdio.h>

enum { DIM_LEAST = 8, ROWS_LEAST = 8, LAYOUTS = 4 };

static const double mistake_near = 0.01; /* the error of values of f16 is smaller */

/* ---- exponents from the number of the column ------------------------------------------------------ */

/* Returns the largest difference from columns j of sin or cos (position × base^(-j/dim)) in the first rows. */
static double distance(const window *w, double first, double base, bool cosine_first) {
  enum { ROWS = 64 };
  double most = 0.0;
  for (int64_t j = 0; j < w->dim; j++) {
    const double frequency = pow(base, -(double)j / (double)w->dim);
    const bool cosine = (j % 2 != 0) != cosine_first;
    for (int64_t r = 0; r < w->count && r < ROWS; r++) {
      const double angle = (first + (double)r) * frequency;
      most = fmax(most, fabs(window_row(w, r)[j] - (cosine ? cos(angle) : sin(angle))));
    }
  }
  return most;
}

bool mistake_of_columns(const window *w, char *words, size_t size) {
  if (w->dim < DIM_LEAST || w->count < ROWS_LEAST) return false;
  for (int first = 0; first <= 1; first++)
    for (int cosine_first = 0; cosine_first <= 1; cosine_first++) {
      /* The base follows from the first sine with a frequency below 1 at position 1. */
      const int64_t j = cosine_first ? 1 : 2;
      const double sine = window_row(w, 1 - first)[j];
      if (!(sine > 0.0 && sine < 1.0)) continue;
      const double base = pow(asin(sine), -(double)w->dim / (double)j);
      if (!(base > 1.0) || !isfinite(base) || distance(w, first, base, cosine_first) > mistake_near) continue;
      const bool doubled = base > 1e6;
      /* Bases have three digits, and one value determines as many. */
      const double told = doubled ? sqrt(base) : base, unit = pow(10.0, floor(log10(told)) - 2.0);
      snprintf(words, size,
               "the exponents are %s of the column j instead of 2i/dim of the pair i, so that the sine and the cosine "
               "of a pair have different frequencies; base %s, from position %d on",
               doubled ? "2j/dim" : "j/dim", number_of(rint(told / unit) * unit).text, first);
      return true;
    }
  return false;
}

/* ---- columns less their means ---------------------------------------------------------------------- */

/* Returns the largest difference from a table in the first rows, after subtracting each column's mean there from both.
   It is infinite if the means are equal. */
static double distance_of_changes(const window *w, const columns *at, const formula *f, double first) {
  enum { ROWS = 64 };
  const double sure = 0.1;
  double most = 0.0, constant = 0.0, change[ROWS];
  const int64_t rows = w->count < ROWS ? w->count : ROWS;
  for (int64_t c = 0; c < w->dim && most <= mistake_near; c++) {
    bool cosine;
    const int64_t i = columns_index(at, c, &cosine);
    const double frequency = pow(f->base, -(double)i / ((double)at->pairs - f->shift));
    double mean = 0.0;
    for (int64_t r = 0; r < rows; r++) {
      const double angle = (first + (double)r) * frequency;
      change[r] = window_row(w, r)[c] - (cosine ? cos(angle) : sin(angle));
      mean += change[r] / (double)rows;
    }
    constant = fmax(constant, fabs(mean));
    for (int64_t r = 0; r < rows; r++) most = fmax(most, fabs(change[r] - mean));
  }
  return constant > sure ? most : INFINITY;
}

bool mistake_of_means(const window *w, char *words, size_t size) {
  static const posenc_layout layouts[] = {POSENC_INTERLEAVED, POSENC_SPLIT, POSENC_INTERLEAVED_CS, POSENC_SPLIT_CS};
  formula usual[FORMULAS_MAX];
  const size_t count = formulas_usual(0.0, usual, w->dim / 2);
  if (w->dim < DIM_LEAST || w->dim % 2 || w->count < ROWS_LEAST) return false;
  for (size_t n = 0; n < 2 * count * LAYOUTS; n++) {
    const columns at = {layouts[n % LAYOUTS], COLUMNS_BOTH, w->dim, w->dim / 2};
    const formula *f = &usual[n / LAYOUTS % count];
    const int first = n / LAYOUTS >= count;
    if (distance_of_changes(w, &at, f, first) > mistake_near) continue;
    snprintf(words, size,
             "each column is less a constant, such as its mean: base %s, shift %g, %s, from position %d on",
             number_of(f->base).text, f->shift, columns_layout_name(&at), first);
    return true;
  }
  return false;
}

/* ---- rows and columns exchanged -------------------------------------------------------------------- */

/* Estimates c in x(n+1) + x(n-1) = 2 c x(n) by least squares. Returns NaN if the residual is more than rounding. */
static double cosine_along(const window *w, int64_t row) {
  const double *x = window_row(w, row), rounding = 1e-4;
  double products = 0.0, squares = 0.0, left = 0.0;
  for (int64_t n = 1; n + 1 < w->dim; n++) {
    products += x[n] * (x[n + 1] + x[n - 1]);
    squares += x[n] * x[n];
  }
  const double cosine = products / squares / 2.0;
  for (int64_t n = 1; n + 1 < w->dim; n++) {
    const double rest = x[n + 1] + x[n - 1] - 2.0 * cosine * x[n];
    left += rest * rest;
  }
  return squares > 0.0 && left <= rounding * squares ? cosine : (double)NAN;
}

bool mistake_is_transposed(const window *w) {
  enum { ROWS = 16, LEAST = 8 };
  const double fast = 0.95; /* cosine of a step; slower waves cannot be distinguished from other smooth curves */
  int64_t waves = 0, fast_waves = 0, rows = 0;
  if (w->dim < LEAST) return false;
  for (; rows < w->count && rows < ROWS; rows++) {
    const double cosine = cosine_along(w, rows);
    waves += !isnan(cosine);
    fast_waves += fabs(cosine) < fast;
  }
  return waves * 4 >= rows * 3 && fast_waves >= 3;
}
