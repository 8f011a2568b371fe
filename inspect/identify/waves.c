/* SPDX-License-Identifier: MIT */
/* Estimates frequencies and phases of the waves in columns, without their formula. */
#include "inspect/identify/formula.h"

#include "common/number.h"
#include "reference/format.h"

#include <complex.h>
#include <math.h>

/* A column, or two columns as one complex number: cosine + i sine. */
typedef struct view {
  const table_window *w;
  const sampled_rows *at;
  int64_t sine, cosine;
} view;

static bool there(const view *v, int64_t n) {
  return n >= 0 && n < v->at->count && !v->w->zero[v->at->first + n * v->at->step];
}

/* Returns CMPLX(real, imaginary), which glibc does not define for clang. */
static double complex complex_of(double real, double imaginary) {
  return __builtin_complex(real, imaginary);
}

static double complex point(const view *v, int64_t n) {
  const int64_t row = v->at->first + n * v->at->step;
  return complex_of(window_value(v->w, row, v->cosine), window_value(v->w, row, v->sine));
}

static double number(const view *v, int64_t n) {
  return window_value(v->w, v->at->first + n * v->at->step, v->cosine);
}

/* Returns a unit of the values' dtype just below the largest value. Rounding changes a value by at most half of it. */
static double rounding(const table_window *w) {
  return ldexp(w->most, -format_of(w->held)->precision);
}

/* ---- pairs: the angle between rows, farther and farther apart ------------------------------------ */

/* Returns the mean of the rotations from each row to the row k later. Its length shows how well they agree. */
static double complex mean_turn(const view *v, int64_t k) {
  double complex sum = 0.0;
  double length = 0.0;
  for (int64_t n = 0; n + k < v->at->count; n++) {
    if (!there(v, n) || !there(v, n + k)) continue;
    const double complex turn = point(v, n + k) * conj(point(v, n));
    sum += turn;
    length += cabs(turn);
  }
  return length > 0.0 ? sum / length : 0.0;
}

/* Returns the spread of angles whose points have a mean of that length, which is at least the effect of rounding. */
static double spread(const view *v, double length) {
  return sqrt(fmax(0.0, 2.0 * (1.0 - length))) + rounding(v->w) / v->w->most;
}

static estimate pair_frequency(const view *v) {
  /* The mean of points is meaningful only if they are within half a radian. */
  const double together = 0.9;
  estimate found = {0.0, INFINITY};
  for (int64_t k = 1; k <= v->at->count / 2 || k == 1; k *= 2) {
    const double complex turn = mean_turn(v, k);
    const double length = cabs(turn), error = spread(v, length) / (double)k;
    if (length < together || (k > 1 && found.error * (double)k > 1.0)) break;
    const double whole = k > 1 ? found.value * (double)k : carg(turn);
    if (error < found.error) found = (estimate){(whole + angle_wrapped(carg(turn) - whole)) / (double)k, error};
  }
  return found;
}

/* ---- single columns: x(n+k) + x(n-k) = 2 cos(k w) x(n) ------------------------------------------- */

/* Estimates cos(k w) by least squares. The error follows from the residuals. */
static estimate cosine_of_step(const view *v, int64_t k) {
  double products = 0.0, squares = 0.0, left = 0.0;
  for (int64_t n = k; n + k < v->at->count; n++) {
    if (!there(v, n - k) || !there(v, n) || !there(v, n + k)) continue;
    const double x = number(v, n), sum = number(v, n + k) + number(v, n - k);
    products += x * sum;
    squares += x * x;
  }
  if (!(squares > 0.0)) return (estimate){0.0, INFINITY};
  const double cosine = products / squares / 2.0;
  int64_t count = 0;
  for (int64_t n = k; n + k < v->at->count; n++) {
    if (!there(v, n - k) || !there(v, n) || !there(v, n + k)) continue;
    const double rest = number(v, n + k) + number(v, n - k) - 2.0 * cosine * number(v, n);
    left += rest * rest;
    count++;
  }
  /* Few residuals prove nothing, because one unknown fits any single equation. Large ones show that it is no wave. */
  const double no_wave = 0.02;
  if (count < 3 || left > no_wave * squares) return (estimate){cosine, INFINITY};
  const double noise = sqrt(left / (double)(count - 1)) + rounding(v->w);
  /* The sums of that many doubles have this error. */
  return (estimate){cosine, fmax(noise / 2.0 / sqrt(squares) * 2.0, 0x1p-53 * (double)count)};
}

static estimate single_frequency(const view *v) {
  const double flat = 0.2; /* least sin(k w) with which the cosine determines the angle well */
  estimate found = {0.0, INFINITY};
  for (int64_t k = 1; k <= v->at->count / 3; k *= 2) {
    const estimate c = cosine_of_step(v, k);
    if (!(fabs(c.value) < 1.0 + c.error) || c.error > 0.1) continue;
    const double angle = acos(fmax(-1.0, fmin(1.0, c.value))), sine = sin(angle);
    const double error = (sine > c.error ? c.error / sine : INFINITY) / (double)k;
    if (isinf(found.error)) { /* the first estimate; of slow waves, from a lag of less than half a turn */
      if (error * (double)k < 0.1 && (k == 1 || angle < 0.5)) found = (estimate){angle / (double)k, error};
      continue;
    }
    const double whole = found.value * (double)k;
    if (found.error * (double)k > 0.5) break;
    const double up = angle_wrapped(angle - whole), down = angle_wrapped(-angle - whole);
    if (error < found.error && sine > flat)
      found = (estimate){(whole + (fabs(up) < fabs(down) ? up : down)) / (double)k, error};
  }
  return found;
}

static const estimate unknown = {0.0, INFINITY};

static estimate frequency_of(const table_window *w, const columns *s, const sampled_rows *at, int64_t i) {
  const double step = (double)at->step;
  const view v = {w, at, columns_of(s, i, false), columns_of(s, i, true)};
  if (!columns_complete(s, i)) return unknown;
  const estimate each = s->part == TABLE_BOTH ? pair_frequency(&v) : single_frequency(&v);
  return (estimate){each.value / step, fmax(each.error, 0x1p-52 * fabs(each.value)) / step};
}

sampled_rows waves_spread(const table_window *w, const sampled_rows *at) {
  int64_t step = 1;
  while (at->count > 1 && at->step == 1 && 2 * step * (at->count - 1) < w->count) step *= 2;
  return (sampled_rows){0, step, at->count};
}

/* Returns the frequency from rows farther apart, with whole turns added; or the known one if it is more accurate or the
   two disagree. */
static estimate sharper(const estimate *known, const estimate *far, double step) {
  const double turn = whole_turn / step;
  if (!(far->error < known->error) || (isfinite(known->error) && known->error * step > 0.5)) return *known;
  const double value =
      isfinite(known->error) ? known->value + turn * remainder((far->value - known->value) / turn, 1.0) : far->value;
  if (isfinite(known->error) && fabs(value - known->value) > 3.0 * (known->error + far->error)) return *known;
  return (estimate){value, far->error};
}

void waves_frequencies(const table_window *w, const columns *s, const sampled_rows *at, estimate *frequencies) {
  const sampled_rows far = waves_spread(w, at);
  for (int64_t i = 0; i < s->pairs; i++) {
    frequencies[i] = frequency_of(w, s, at, i);
    if (far.step == 1) continue;
    const estimate slow = frequency_of(w, s, &far, i);
    frequencies[i] = sharper(&frequencies[i], &slow, (double)far.step);
  }
}

/* ---- what is added to all -------------------------------------------------------------------------- */

/* Estimates b in x(n+k) + x(n-k) = 2 c x(n) + b (2 - 2 c), by least squares, where x is a wave plus b. */
static estimate offset_of(const view *v, int64_t k) {
  double count = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, left = 0.0;
  for (int64_t n = k; n + k < v->at->count; n++) {
    if (!there(v, n - k) || !there(v, n) || !there(v, n + k)) continue;
    const double here = number(v, n), sum = number(v, n + k) + number(v, n - k);
    count++, x += here, y += sum, xx += here * here, xy += here * sum;
  }
  const double determinant = count * xx - x * x;
  if (count < 5.0 || !(determinant > 1e-9 * count * xx)) return unknown;
  const double slope = (count * xy - x * y) / determinant, height = (y - slope * x) / count, from_flat = 2.0 - slope;
  if (!(from_flat > 0.05)) return unknown;
  for (int64_t n = k; n + k < v->at->count; n++) {
    if (!there(v, n - k) || !there(v, n) || !there(v, n + k)) continue;
    const double rest = number(v, n + k) + number(v, n - k) - slope * number(v, n) - height;
    left += rest * rest;
  }
  const double noise = sqrt(left / (count - 2.0)) + rounding(v->w), found = height / from_flat;
  return (estimate){found, noise / from_flat * (sqrt(xx / determinant) + fabs(found) * sqrt(count / determinant))};
}

estimate waves_offset(const table_window *w, const sampled_rows *at) {
  enum { BEST = 9, LAGS = 8 };
  estimate best[BEST];
  double values[BEST];
  size_t count = 0;
  for (int64_t c = 0; c < w->dim; c++) {
    const view v = {w, at, c, c};
    estimate one = unknown;
    for (int64_t k = 1; k <= LAGS && k * 3 < at->count; k *= 2) {
      const estimate of_lag = offset_of(&v, k);
      if (of_lag.error < one.error) one = of_lag;
    }
    if (count == BEST && !(one.error < best[BEST - 1].error)) continue;
    size_t rank = count < BEST ? count++ : BEST - 1;
    for (; rank > 0 && one.error < best[rank - 1].error; rank--) best[rank] = best[rank - 1];
    best[rank] = one;
  }
  if (count == 0 || isinf(best[count / 2].error)) return unknown;
  for (size_t n = 0; n < count; n++) values[n] = best[n].value;
  numbers_sort(values, count);
  const double middle = numbers_median(values, count);
  size_t agree = 0;
  for (size_t n = 0; n < count; n++) agree += fabs(best[n].value - middle) <= 5.0 * best[count / 2].error;
  return agree * 2 > count ? (estimate){middle, best[count / 2].error} : unknown;
}

/* ---- phases -------------------------------------------------------------------------------------- */

static double angle_at(const view *v, long double frequency, int64_t n) {
  return (double)(frequency * (long double)(v->at->first + n * v->at->step));
}

static estimate pair_phase(const view *v, long double frequency, estimate *amplitude) {
  double complex sum = 0.0;
  double length = 0.0;
  int64_t count = 0;
  for (int64_t n = 0; n < v->at->count; n++) {
    if (!there(v, n)) continue;
    const double angle = angle_at(v, frequency, n);
    sum += point(v, n) * complex_of(cos(angle), -sin(angle));
    length += cabs(point(v, n));
    count++;
  }
  if (!(length > 0.0)) return (estimate){0.0, INFINITY};
  *amplitude = (estimate){length / (double)count, rounding(v->w) / sqrt((double)count)};
  return (estimate){carg(sum), 2.0 * spread(v, cabs(sum) / length)};
}

/* Fits a cos + b sin = A cos(angle + phase), with a = A cos(phase) and b = -A sin(phase), by least squares. */
static estimate single_phase(const view *v, long double frequency, estimate *amplitude) {
  double cc = 0.0, cs = 0.0, ss = 0.0, cx = 0.0, sx = 0.0, left = 0.0;
  int64_t count = 0;
  for (int64_t n = 0; n < v->at->count; n++) {
    if (!there(v, n)) continue;
    const double angle = angle_at(v, frequency, n), c = cos(angle), s = sin(angle), x = number(v, n);
    cc += c * c, cs += c * s, ss += s * s, cx += c * x, sx += s * x;
    count++;
  }
  const double determinant = cc * ss - cs * cs;
  if (count < 3 || !(determinant > 1e-12 * cc * ss)) return (estimate){0.0, INFINITY};
  const double a = (ss * cx - cs * sx) / determinant, b = (cc * sx - cs * cx) / determinant, square = a * a + b * b;
  for (int64_t n = 0; n < v->at->count; n++) {
    if (!there(v, n)) continue;
    const double angle = angle_at(v, frequency, n), rest = number(v, n) - a * cos(angle) - b * sin(angle);
    left += rest * rest;
  }
  /* Independent errors of size e change a function of a and b with the gradient (g, h) by e sqrt(g² ss - 2 g h cs + h²
     cc) / sqrt(determinant). Errors from rounding slow columns have the same sign, and change it by up to sqrt(count)
     times as much. */
  const double noise = sqrt(left / (double)(count - 2)) + sqrt((double)count) / 4.0 * rounding(v->w);
  const double of_phase = (b * b * ss + 2.0 * a * b * cs + a * a * cc) / determinant / (square * square),
               of_length = (a * a * ss - 2.0 * a * b * cs + b * b * cc) / determinant / square;
  *amplitude = (estimate){sqrt(square), noise * sqrt(of_length)};
  return (estimate){atan2(-b, a), 4.0 * noise * sqrt(of_phase)};
}

void waves_phases(const table_window *w, const columns *s, const sampled_rows *at, const long double *frequencies,
                  estimate *phases, estimate *amplitude) {
  double sum = 0.0, weights = 0.0;
  for (int64_t i = 0; i < s->pairs; i++) {
    const view v = {w, at, columns_of(s, i, false), columns_of(s, i, true)};
    estimate length = unknown;
    phases[i] = unknown;
    if (!columns_complete(s, i)) continue;
    phases[i] = (s->part == TABLE_BOTH ? pair_phase : single_phase)(&v, frequencies[i], &length);
    if (!isfinite(length.error) || phases[i].error > 1.0) continue;
    const double weight = 1.0 / (length.error * length.error);
    sum += weight * length.value;
    weights += weight;
  }
  *amplitude = weights > 0.0 ? (estimate){sum / weights, 4.0 / sqrt(weights)} : (estimate){0.0, INFINITY};
}

/* Estimates the slope of the angles' residuals by least squares. */
static estimate pair_drift(const view *v, long double frequency) {
  estimate amplitude;
  const double phase = pair_phase(v, frequency, &amplitude).value;
  double rows = 0.0, sum = 0.0, squares = 0.0, products = 0.0;
  for (int64_t n = 0; n < v->at->count; n++)
    if (there(v, n)) rows++, sum += (double)n;
  const double middle = sum / rows;
  for (int64_t n = 0; n < v->at->count; n++) {
    if (!there(v, n)) continue;
    const double left = angle_wrapped(carg(point(v, n)) - angle_at(v, frequency, n) - phase), from = (double)n - middle;
    squares += from * from;
    products += from * left;
  }
  if (!(squares > 0.0)) return unknown;
  return (estimate){products / squares, rounding(v->w) / v->w->most / sqrt(squares)};
}

/* Estimates the drift of a single column with three unknowns: x = a cos + b sin + drift × derivative. The derivative is
   each row's distance from the middle times -a sin + b cos of the wave that fits without drift. */
static estimate single_drift(const view *v, long double frequency) {
  estimate amplitude = unknown;
  const estimate phase = single_phase(v, frequency, &amplitude);
  const double middle = (double)(v->at->count - 1) / 2.0;
  double m[3][4] = {{0.0}};
  if (isinf(phase.error)) return unknown;
  for (int64_t n = 0; n < v->at->count; n++) {
    if (!there(v, n)) continue;
    const double angle = angle_at(v, frequency, n) + phase.value, c = cos(angle), s = sin(angle);
    const double by[4] = {c, s, -amplitude.value * ((double)n - middle) * s, number(v, n)};
    for (int row = 0; row < 3; row++)
      for (int column = 0; column < 4; column++) m[row][column] += by[row] * by[column];
  }
  /* Gaussian elimination: the last unknown is the drift, and the remainder of its square is its weight. */
  for (int k = 0; k < 2; k++)
    for (int row = k + 1; row < 3; row++) {
      if (!(m[k][k] > 0.0)) return unknown;
      const double part = m[row][k] / m[k][k];
      for (int column = k; column < 4; column++) m[row][column] -= part * m[k][column];
    }
  if (!(m[2][2] > 0.0)) return unknown;
  return (estimate){m[2][3] / m[2][2], rounding(v->w) / sqrt(m[2][2])};
}

void waves_drifts(const table_window *w, const columns *s, const sampled_rows *at, const long double *frequencies,
                  estimate *drifts) {
  const double step = (double)at->step;
  for (int64_t i = 0; i < s->pairs; i++) {
    const view v = {w, at, columns_of(s, i, false), columns_of(s, i, true)};
    drifts[i] = unknown;
    if (!columns_complete(s, i)) continue;
    const estimate each = (s->part == TABLE_BOTH ? pair_drift : single_drift)(&v, frequencies[i]);
    drifts[i] = (estimate){each.value / step, each.error / step};
  }
}

/* ---- waves at positions that are known ------------------------------------------------------------ */

/* A column as amplitude × sine or cosine of w × position. */
typedef struct known_wave {
  const table_window *w;
  int64_t column, count; /* rows from 0 on, of which every `step`th is used */
  int64_t step;
  bool cosine;
  double first, direction;
  estimate amplitude;
} known_wave;

/* Sums over rows for a step of Newton's method in w: the residuals, their gradient, and the effect of roundings on
   w. */
typedef struct slope {
  double products, squares, left, noise, of_amplitude;
  int64_t count;
} slope;

/* Returns the largest error of a value: a unit of its binade, and the effect of an angle in f32. */
static double value_noise(const table_window *w, double x, double amplitude, double angle) {
  const format *f = format_of(w->held);
  int exponent;
  frexp(x, &exponent);
  const int unit = exponent - f->precision;
  return hypot(ldexp(1.0, unit > f->least ? unit : f->least), 0x1p-23 * amplitude * angle);
}

/* Sums over rows, weighted by their noise or all alike; without weights, Newton's method converges from farther away.
   Roundings of equal values in succession have the same sign; those of different values are independent. */
static slope slope_at(const known_wave *k, double w, int64_t rows, bool by_noise) {
  slope found = {.count = 0};
  double of_run = 0.0, last = (double)NAN;
  for (int64_t row = 0; row < rows; row += k->step) {
    if (k->w->zero[row]) continue;
    const double position = k->first + k->direction * (double)row, s = sin(w * position), c = cos(w * position),
                 derivative = k->cosine ? -s : c, x = window_value(k->w, row, k->column),
                 noise = by_noise ? value_noise(k->w, x, k->amplitude.value, w * position * derivative) : 1.0,
                 wave = (k->cosine ? c : s) / noise, gain = k->amplitude.value * position * derivative / noise,
                 left = x / noise - k->amplitude.value * wave;
    if (fabs(x - last) > 0.0) found.noise += of_run * of_run, of_run = 0.0;
    last = x;
    of_run += fabs(gain);
    found.products += gain * left;
    found.squares += gain * gain;
    found.left += left * left;
    found.of_amplitude += gain * wave;
    found.count++;
  }
  found.noise = sqrt(found.noise + of_run * of_run);
  return found;
}

/* Improves w by steps of Newton's method. A step changes w by at most a factor of 2. */
static double improved(const known_wave *k, double w, int64_t rows, int steps, bool by_noise) {
  for (int n = 0; n < steps; n++) {
    const slope at = slope_at(k, w, rows, by_noise);
    if (!(at.squares > 0.0)) break;
    w += fmax(-0.5 * w, fmin(w, at.products / at.squares));
  }
  return w;
}

/* Returns the slow wave's frequency, at most `most`, that has the smallest residual. */
static double slow_wave(const known_wave *k, double most) {
  enum { TRIED = 4096 };
  const double farthest = fmax(fabs(k->first), fabs(k->first + k->direction * (double)k->count)), step = 0.5 / farthest;
  double best = step, least = INFINITY;
  for (int64_t n = 1; n <= TRIED && (double)n * step <= most + step; n++) {
    const double left = slope_at(k, (double)n * step, k->count, false).left;
    if (left < least) least = left, best = (double)n * step;
  }
  return best;
}

/* Fits more and more rows, so that no turn is lost. The frequency is unknown if the residual is more than rounding
   explains. */
static estimate known_frequency(const known_wave *k, const estimate *from, double slowest) {
  enum { ROWS_LEAST = 32, STEPS = 4, SLOW_STEPS = 24 };
  double w = from->value;
  if (formula_mark(from)) {
    for (int64_t rows = ROWS_LEAST * k->step; rows < k->count; rows *= 2) w = improved(k, w, rows, STEPS, false);
    w = improved(k, w, k->count, STEPS, false);
  } else {
    w = improved(k, slow_wave(k, slowest), k->count, SLOW_STEPS, false);
  }
  w = improved(k, w, k->count, STEPS, true);
  const slope at = slope_at(k, w, k->count, true);
  if (!(at.squares > 0.0) || at.count < 3 || at.left > (double)at.count) return unknown;
  return (estimate){w, (at.noise + k->amplitude.error * fabs(at.of_amplitude)) / at.squares};
}

/* Returns the sine or cosine of frequency index i, without its frequency. */
static known_wave known_wave_of(const table_window *w, const columns *s, int64_t i, bool cosine, double first, int step,
                                estimate amplitude) {
  enum { VALUES = 1 << 18, ROWS_LEAST = 256 };
  const int64_t rows = VALUES / s->pairs > ROWS_LEAST ? VALUES / s->pairs : ROWS_LEAST;
  return (known_wave){.w = w,
                      .column = columns_of(s, i, cosine),
                      .count = w->count,
                      .step = (w->count + rows - 1) / rows,
                      .cosine = cosine,
                      .first = first,
                      .direction = (double)step,
                      .amplitude = amplitude};
}

void waves_refit(const table_window *w, const columns *s, double first, int step, estimate amplitude,
                 const estimate *frequencies, estimate *refitted) {
  double slowest = INFINITY;
  for (int64_t i = 0; i < s->pairs; i++)
    if (formula_mark(&frequencies[i])) slowest = fmin(slowest, frequencies[i].value);
  for (int64_t i = 0; i < s->pairs; i++) {
    refitted[i] = unknown;
    for (int cosine = s->part == TABLE_COS; cosine <= (s->part != TABLE_SIN); cosine++) {
      const known_wave k = known_wave_of(w, s, i, cosine, first, step, amplitude);
      if (k.column < 0) continue;
      const estimate one = known_frequency(&k, &frequencies[i], slowest);
      if (one.error < refitted[i].error) refitted[i] = one;
    }
  }
}

estimate waves_amplitude(const table_window *w, const columns *s, double first, int step, estimate amplitude,
                         const estimate *frequencies) {
  double products = 0.0, squares = 0.0;
  for (int64_t i = 0; i < s->pairs; i++) {
    if (isinf(frequencies[i].error) || frequencies[i].value * (double)w->count < whole_turn) continue;
    for (int cosine = s->part == TABLE_COS; cosine <= (s->part != TABLE_SIN); cosine++) {
      const known_wave k = known_wave_of(w, s, i, cosine, first, step, amplitude);
      for (int64_t row = 0; k.column >= 0 && row < k.count; row += k.step) {
        if (w->zero[row]) continue;
        const double angle = frequencies[i].value * (first + (double)step * (double)row),
                     x = window_value(w, row, k.column), sine = sin(angle), other = cos(angle),
                     noise = value_noise(w, x, amplitude.value, angle * (cosine ? sine : other)),
                     wave = (cosine ? other : sine) / noise;
        products += x / noise * wave;
        squares += wave * wave;
      }
    }
  }
  return squares > 0.0 ? (estimate){products / squares, 2.0 / sqrt(squares)} : unknown;
}
