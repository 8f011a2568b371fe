/* SPDX-License-Identifier: MIT */
#include "identify/list.h"

#include "reference/format.h"

#include <math.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;

/* ---- phases of a row ----------------------------------------------------------------------------- */

/* Returns the unit just below 1. Rounding changes a value by at most half of it, and an angle by as much if both sine
   and cosine are known. */
static double unit_of(const window *w) {
  return ldexp(1.0, -format_of(w->held)->precision);
}

/* Returns the error of an angle that is computed from sine or cosine alone: the rounding error divided by the
   derivative, or if that is near 0, by means of the second derivative. */
static double error_of_part(double unit, double derivative) {
  return fmin(2.0 * unit / fmax(fabs(derivative), 1e-300), 2.0 * sqrt(unit));
}

/* Returns the phase of a pair in a row. Sine or cosine alone determines the angle within half a turn: cosines from 0
   on, sines around 0. */
static estimate phase_of(const window *w, const columns *s, int64_t row, int64_t i, double amplitude) {
  const double unit = unit_of(w), x = window_value(w, row, columns_of(s, i, s->part == COLUMNS_BOTH)) / amplitude;
  if (s->part == COLUMNS_BOTH)
    return (estimate){atan2(window_value(w, row, columns_of(s, i, false)) / amplitude, x), 2.0 * unit};
  const double part = fmax(-1.0, fmin(1.0, x)), angle = s->part == COLUMNS_COS ? acos(part) : asin(part);
  return (estimate){angle, error_of_part(unit, s->part == COLUMNS_COS ? sin(angle) : cos(angle))};
}

/* ---- positions ------------------------------------------------------------------------------------ */

static double wrapped(double angle) {
  return remainder(angle, 2.0 * pi);
}

/* Reads the position from the slowest phase to the fastest. One part alone allows two angles, and the nearer one is
   used. */
static bool read_part(const columns *s, const estimate *phases, const long double *frequencies, double relative,
                      start *found) {
  long double position = 0.0L;
  double error = INFINITY, bits = 0.0;
  int64_t missed = 0;
  for (int64_t i = s->pairs - 1; i >= 0; i--) {
    const double w = (double)frequencies[i], tolerance = phases[i].error + relative * fabs((double)position) * w;
    if (isinf(error)) {
      position = phases[i].value / w;
      error = tolerance / w;
      continue;
    }
    if (!(error * w + tolerance < 1.0)) continue;
    const double angle = (double)(position * frequencies[i]),
                 other = s->part == COLUMNS_COS ? -phases[i].value : pi - phases[i].value,
                 near = wrapped(phases[i].value - angle), far = wrapped(other - angle),
                 off = fabs(near) < fabs(far) ? near : far;
    if (fabs(off) > tolerance + error * w) {
      missed++;
      continue;
    }
    bits += log2(pi / (tolerance + error * w));
    const double of_this = tolerance / w, share = error * error / (error * error + of_this * of_this);
    position += (long double)(share * off / w);
    error = fmin(error, of_this);
  }
  *found = start_near(s->part == COLUMNS_COS ? fabsl(position) : position, error);
  return bits > 8.0 && missed <= columns_spare(s->pairs);
}

static bool read_pairs(const columns *s, const estimate *phases, const long double *frequencies, double relative,
                       start *found) {
  enum { STARTS = 2, PERIODS = 32 };
  start starts[STARTS];
  const phase_clock c = {phases, frequencies, s->pairs, relative, 0.0};
  const double farthest = PERIODS * 2.0 * pi / (double)frequencies[s->pairs - 1];
  const size_t count = starts_find(&c, (int64_t)fmin(farthest, 0x1p40), starts, STARTS);
  if (count) *found = starts[0];
  return count > 0;
}

static bool read_row(const window *w, const columns *s, int64_t row, const long double *frequencies, double amplitude,
                     double relative, estimate *phases, double *position) {
  start at;
  if (w->zero[row]) return false;
  for (int64_t i = 0; i < s->pairs; i++)
    phases[i] = columns_complete(s, i) ? phase_of(w, s, row, i, amplitude) : (estimate){0.0, INFINITY};
  if (!(s->part == COLUMNS_BOTH ? read_pairs : read_part)(s, phases, frequencies, relative, &at)) return false;
  *position = start_is_whole(&at) && !start_is_one(&at) ? rint(at.first) : at.first;
  return true;
}

int64_t list_read(const window *w, const columns *s, const long double *frequencies, double amplitude, double relative,
                  double *positions) {
  enum { FIRST = 12, MISSED = 2 }; /* the first rows show whether it is useful to read the others */
  estimate *phases = calloc((size_t)s->pairs, sizeof *phases);
  int64_t known = 0;
  if (!phases) return -1;
  for (int64_t row = 0; row < w->count; row++) {
    positions[row] = (double)NAN;
    known += read_row(w, s, row, frequencies, amplitude, relative, phases, &positions[row]);
    if (row + 1 == FIRST && known + MISSED < FIRST) break;
  }
  free(phases);
  return known;
}

/* ---- formulas ------------------------------------------------------------------------------------- */

/* Estimates the logarithm of the ratio of the frequencies of index i and of the slowest index, from rows in which
   neither has turned by half a turn or more. */
static estimate log_ratio(const window *w, const columns *s, int64_t i, int64_t slowest, double amplitude) {
  const double most = 2.8;
  double squares = 0.0, products = 0.0, left = 0.0;
  int64_t count = 0;
  for (int turn = 0; turn < 2; turn++)
    for (int64_t row = 0; row < w->count; row++) {
      const estimate fast = phase_of(w, s, row, i, amplitude), slow = phase_of(w, s, row, slowest, amplitude);
      if (w->zero[row] || fabs(fast.value) > most || fabs(slow.value) < slow.error) continue;
      if (turn) {
        const double rest = fast.value - products / squares * slow.value;
        left += rest * rest;
        count++;
      } else {
        squares += slow.value * slow.value;
        products += slow.value * fast.value;
      }
    }
  if (count < 3 || !(products > 0.0)) return (estimate){0.0, INFINITY};
  return (estimate){log(products / squares), sqrt(left / (double)(count - 1)) / sqrt(squares) * squares / products};
}

size_t list_formulas(const window *w, const columns *s, formula formulas[FORMULAS_MAX]) {
  static const double shifts[] = {0.0, 1.0};
  size_t count = 0;
  const int64_t slowest = s->pairs - 1 - !columns_complete(s, s->pairs - 1);
  estimate step = {0.0, INFINITY};
  for (int64_t i = slowest - 1; i >= 0; i--) {
    const double steps = (double)(slowest - i);
    const estimate ratio = log_ratio(w, s, i, slowest, w->most);
    if (ratio.error > 0.05 || (isfinite(step.error) && fabs(ratio.value / steps - step.value) > 0.1 * step.value))
      break;
    if (ratio.error / steps < step.error) step = (estimate){ratio.value / steps, ratio.error / steps};
  }
  for (size_t n = 0; isfinite(step.error) && step.value > 0.0 && n < sizeof shifts / sizeof *shifts; n++) {
    const double denominator = (double)s->pairs - shifts[n];
    const plain_number base = plainest(exp(step.value * denominator), 4.0 * step.error * denominator + 1e-6);
    if (base.digits > 6 || base.value < 2.0) continue;
    formulas[count] = formula_plain(base.value);
    formulas[count].base_error = base.error;
    formulas[count].digits = base.digits - 1;
    formulas[count++].shift = shifts[n];
  }
  return count + formulas_usual(0.0, formulas + count, s->pairs);
}
