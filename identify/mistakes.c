/* SPDX-License-Identifier: MIT */
#include "identify/mistakes.h"

#include "common/number.h"

#include <math.h>
#include <stdio.h>

/* ---- exponents from the number of the column ------------------------------------------------------ */

/* The largest difference from columns j of sin or cos (position × base^(-j/dim)), of the first rows. */
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
  enum { DIM_LEAST = 8, ROWS_LEAST = 8 };
  const double near = 0.01; /* as values of f16 are */
  if (w->dim < DIM_LEAST || w->count < ROWS_LEAST) return false;
  for (int first = 0; first <= 1; first++)
    for (int cosine_first = 0; cosine_first <= 1; cosine_first++) {
      /* At position 1, the first sine with a frequency below 1 tells the base. */
      const int64_t j = cosine_first ? 1 : 2;
      const double sine = window_row(w, 1 - first)[j];
      if (!(sine > 0.0 && sine < 1.0)) continue;
      const double base = pow(asin(sine), -(double)w->dim / (double)j);
      if (!(base > 1.0) || !isfinite(base) || distance(w, first, base, cosine_first) > near) continue;
      const bool doubled = base > 1e6;
      /* Three digits, which bases have, and which one value tells. */
      const double told = doubled ? sqrt(base) : base, unit = pow(10.0, floor(log10(told)) - 2.0);
      snprintf(words, size,
               "the exponents are %s of the column j instead of 2i/dim of the pair i, so that the sine and the cosine "
               "of a pair have different frequencies; base %s, from position %d on",
               doubled ? "2j/dim" : "j/dim", number_of(rint(told / unit) * unit).text, first);
      return true;
    }
  return false;
}

/* ---- rows and columns exchanged -------------------------------------------------------------------- */

/* x(n+1) + x(n-1) = 2 c x(n), by least squares; NaN where what is left is no rounding. */
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
  const double fast = 0.95; /* cosine of a step: slower curves have no other shape than any smooth one */
  int64_t waves = 0, fast_waves = 0, rows = 0;
  if (w->dim < LEAST) return false;
  for (; rows < w->count && rows < ROWS; rows++) {
    const double cosine = cosine_along(w, rows);
    waves += !isnan(cosine);
    fast_waves += fabs(cosine) < fast;
  }
  return waves * 4 >= rows * 3 && fast_waves >= 3;
}
