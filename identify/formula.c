/* SPDX-License-Identifier: MIT */
#include "identify/formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double pi = 3.14159265358979323846;
static const long double full_turn = 6.28318530717958647692528676655900577L;

/* ---- frequencies of a formula ------------------------------------------------------------------- */

/* As posenc.h has them. Without an attention factor, which is in the amplitude. */
static long double scaled(const posenc_scaling *s, double base, int64_t pairs, int64_t index, long double w) {
  const double turns = (double)s->original * (double)w / (2.0 * pi), dim = 2.0 * (double)pairs;
  if (s->kind == POSENC_SCALING_LLAMA3) {
    if (turns > s->high) return w;
    if (turns < s->low) return w / s->factor;
    const long double g = ((long double)turns - s->low) / ((long double)s->high - s->low);
    return w * ((1.0L - g) / s->factor + g);
  }
  if (s->kind == POSENC_SCALING_YARN) {
    const double of_high = dim * log((double)s->original / (2.0 * pi * s->high)) / (2.0 * log(base)),
                 of_low = dim * log((double)s->original / (2.0 * pi * s->low)) / (2.0 * log(base));
    const double a = fmax(0.0, s->truncate ? floor(of_high) : of_high),
                 end = fmin(dim - 1.0, s->truncate ? ceil(of_low) : of_low), b = end > a ? end : a + 0.001;
    const long double g = fmin(1.0, fmax(0.0, ((double)index - a) / (b - a)));
    return w * (1.0L - g) + w / s->factor * g;
  }
  return w;
}

void formula_frequencies(const formula *f, int64_t pairs, long double *w) {
  const long double slope = logl((long double)f->base) / ((long double)pairs - f->shift);
  for (int64_t i = 0; i < pairs; i++)
    w[i] = scaled(&f->scaling, f->base, pairs, i, (long double)f->scale * expl((long double)-i * slope));
}

/* ---- a line through the logarithms of frequencies ------------------------------------------------ */

/* ln w[i] = height - slope i */
typedef struct line {
  double height, slope, height_error, slope_error, loose;
  int64_t on_it;
} line;

/* An index whose frequency is known well enough to have a say. */
typedef struct mark {
  double index, log, error;
} mark;

static size_t marks_of(const estimate *frequencies, int64_t pairs, mark *marks) {
  const double useful = 0.05;
  size_t count = 0;
  for (int64_t i = 0; i < pairs; i++) {
    const estimate *w = &frequencies[i];
    if (w->value > 0.0 && w->error < useful * w->value)
      marks[count++] = (mark){(double)i, log(w->value), w->error / w->value};
  }
  return count;
}

static bool is_on(const line *l, const mark *m, double loose) {
  return fabs(m->log - (l->height - l->slope * m->index)) <= 3.0 * m->error + loose;
}

static int64_t count_on(const line *l, const mark *marks, size_t count, double loose) {
  int64_t on = 0;
  for (size_t n = 0; n < count; n++) on += is_on(l, &marks[n], loose);
  return on;
}

/* Through two of them, as others may be those of a scaling, or have lost whole turns: the line that the most are on. */
static line through_two(const mark *marks, size_t count, double loose) {
  enum { TRIED = 32 };
  line best = {0};
  const size_t tried = count < TRIED ? count : TRIED;
  for (size_t a = 0; a < tried; a++)
    for (size_t b = a + 1; b < tried; b++) {
      const mark *from = &marks[a * count / tried], *to = &marks[b * count / tried];
      line l = {.slope = (from->log - to->log) / (to->index - from->index)};
      l.height = from->log + l.slope * from->index;
      if (!(l.slope > -loose)) continue; /* 0 is that of base 1 */
      l.on_it = count_on(&l, marks, count, loose);
      if (l.on_it > best.on_it) best = l;
    }
  return best;
}

/* By least squares, through those on it. Errors: what the marks say of themselves, or if that is more, how far they are off. */
static void improve(line *l, const mark *marks, size_t count, double loose) {
  const double least = 1e-8;
  double sum = 0.0, x = 0.0, y = 0.0, xx = 0.0, xy = 0.0, off = 0.0;
  int64_t on = 0;
  for (size_t n = 0; n < count; n++) {
    const mark *m = &marks[n];
    if (!is_on(l, m, loose)) continue;
    const double weight = 1.0 / (m->error * m->error + least * least + loose * loose / 100.0);
    sum += weight, x += weight * m->index, y += weight * m->log;
    xx += weight * m->index * m->index, xy += weight * m->index * m->log;
    on++;
  }
  const double determinant = sum * xx - x * x;
  if (on < 2 || !(determinant > 0.0)) return;
  line better = {.slope = -(sum * xy - x * y) / determinant, .loose = loose, .on_it = on};
  better.height = (y + better.slope * x) / sum;
  for (size_t n = 0; n < count; n++) {
    const mark *m = &marks[n];
    if (!is_on(l, m, loose)) continue;
    const double rest = m->log - (better.height - better.slope * m->index);
    off += rest * rest / (m->error * m->error + least * least + loose * loose / 100.0);
  }
  const double worse = fmax(1.0, sqrt(off / (double)on));
  better.slope_error = worse * sqrt(sum / determinant);
  better.height_error = worse * sqrt(xx / determinant);
  *l = better;
}

/* Most must be on a line within what a recipe in f32 does to them; or else in bf16. */
static line find_line(const mark *marks, size_t count) {
  static const double loose[] = {1e-5, 6e-3};
  line l = {0};
  for (size_t n = 0; n < sizeof loose / sizeof *loose; n++) {
    l = through_two(marks, count, loose[n]);
    for (int turn = 0; turn < 2; turn++) improve(&l, marks, count, loose[n]);
    if (l.on_it * 10 >= (int64_t)count * 9) break;
  }
  return l;
}

/* ---- plain numbers ------------------------------------------------------------------------------- */

/* The number within a factor of e^±error that has the fewest digits. */
static double plainest(double x, double error, int *digits) {
  char text[32];
  for (*digits = 1; *digits < 17; ++*digits) {
    snprintf(text, sizeof text, "%.*e", *digits - 1, x);
    const double plain = strtod(text, NULL);
    if (plain > 0.0 && fabs(log(plain / x)) <= error) return plain;
  }
  return x;
}

/* Scales are also one part of something: 1/3. */
static double plainest_scale(double x, double error, int *digits) {
  int of_inverse;
  const double plain = plainest(x, error, digits), inverse = plainest(1.0 / x, error, &of_inverse);
  if (of_inverse >= *digits) return plain;
  *digits = of_inverse;
  return 1.0 / inverse;
}

static int compare_formulas(const void *one, const void *other) {
  const formula *a = one, *b = other;
  return (a->digits > b->digits) - (a->digits < b->digits);
}

/* ---- scalings ------------------------------------------------------------------------------------ */

static bool explains(const formula *f, const estimate *frequencies, int64_t pairs) {
  const double loose = 1e-4;
  long double *w = calloc((size_t)pairs, sizeof *w);
  if (!w) return false;
  formula_frequencies(f, pairs, w);
  int64_t wrong = 0, known = 0;
  for (int64_t i = 0; i < pairs; i++) {
    if (!(frequencies[i].error < 0.05 * frequencies[i].value)) continue;
    known++;
    wrong += fabs(frequencies[i].value - (double)w[i]) > 3.0 * frequencies[i].error + loose * (double)w[i];
  }
  free(w);
  return known > 2 && wrong == 0;
}

/* Of the slowest frequencies that are known, how much slower they are than the formula says. */
static double slowdown(const formula *f, const estimate *frequencies, int64_t pairs, double *error) {
  for (int64_t i = pairs - 1; i > 0; i--) {
    const estimate *w = &frequencies[i];
    if (!(w->error < 0.05 * w->value)) continue;
    *error = 3.0 * w->error / w->value + 1e-4;
    return f->scale * pow(f->base, -(double)i / ((double)pairs - f->shift)) / w->value;
  }
  return 1.0;
}

/* Those with the parameters that models have. */
static bool find_scaling(formula *f, const estimate *frequencies, int64_t pairs) {
  static const posenc_scaling usual[] = {
      {.kind = POSENC_SCALING_LLAMA3, .low = 1.0, .high = 4.0},
      {.kind = POSENC_SCALING_YARN, .low = 1.0, .high = 32.0, .truncate = true},
      {.kind = POSENC_SCALING_YARN, .low = 1.0, .high = 32.0, .truncate = false},
  };
  double error = 0.0;
  int digits;
  const double ratio = slowdown(f, frequencies, pairs, &error);
  if (!(ratio > 1.0 + error) || f->shift > 0.0 || !(f->scale >= 1.0 && f->scale <= 1.0)) return false;
  const double factor = plainest(ratio, error, &digits);
  for (size_t n = 0; n < sizeof usual / sizeof *usual; n++)
    for (int64_t original = 1024; original <= 1 << 20; original *= 2) {
      f->scaling = usual[n];
      f->scaling.factor = factor;
      f->scaling.original = original;
      if (explains(f, frequencies, pairs)) return true;
    }
  f->scaling = (posenc_scaling){.kind = POSENC_SCALING_NONE, .factor = 1.0};
  return false;
}

/* ---- formulas ------------------------------------------------------------------------------------ */

/* 10 L / 2 pi, as it is chosen for sequences of length L: false if none is that near, or if any base is so near to one. */
static bool find_chosen(double base, double room, formula *f) {
  const double least = 0.01, length = rint(base * 2.0 * pi / 10.0), chosen = 10.0 * length / (2.0 * pi);
  if (!(length >= 1.0) || room * length > least || fabs(log(chosen / base)) > room) return false;
  plainest(length, 0.0, &f->digits);
  f->base = chosen;
  return true;
}

size_t formulas_refined(const formula *f, const estimate *drifts, int64_t pairs, formula formulas[FORMULAS_MAX]) {
  double squares = 0.0, products = 0.0, error = 0.0;
  formula refined = *f;
  for (int64_t i = 0; i < pairs; i++) {
    /* What a frequency gains where the base's logarithm does. */
    const double part = (double)i / ((double)pairs - f->shift), gain = -part * f->scale * pow(f->base, -part);
    if (!isfinite(drifts[i].error)) continue;
    squares += gain * gain;
    products += gain * drifts[i].value;
    error = fmax(error, drifts[i].error);
  }
  if (!(squares > 0.0)) return 0;
  const double base = f->base * exp(products / squares), room = 2.0 * error / sqrt(squares);
  size_t count = 0;
  refined.stretch = 0.0;
  if (find_chosen(base, room, &refined)) formulas[count++] = refined;
  refined.base = plainest(base, room, &refined.digits);
  formulas[count++] = refined;
  refined.base = plainest(base, 0.0, &refined.digits);
  formulas[count++] = refined;
  return count;
}

size_t formulas_usual(double base, formula formulas[FORMULAS_MAX], int64_t pairs) {
  const double near = 0.1;
  static const double bases[] = {1e4, 5e5, 1e6, 1e7};
  size_t count = 0;
  for (size_t b = 0; b < sizeof bases / sizeof *bases; b++) {
    if (base > 0.0 && fabs(log(bases[b] / base)) > near) continue;
    for (int shift = 0; shift < 2 && shift < pairs && count < FORMULAS_MAX; shift++)
      formulas[count++] = (formula){.base = bases[b],
                                    .shift = (double)shift,
                                    .scale = 1.0,
                                    .scaling.factor = 1.0,
                                    .first_least = 0,
                                    .first_most = -1};
  }
  return count;
}

/* A base that is no plain number may be one that was made of a plain one, for more positions. */
static bool find_stretch(formula *f, int64_t pairs, double room) {
  static const double bases[] = {1e4, 5e5, 1e6, 1e7};
  const double part = (double)(pairs - 1) / (double)pairs;
  for (size_t b = 0; pairs > 1 && b < sizeof bases / sizeof *bases; b++) {
    int digits;
    const double stretch = plainest(pow(f->base / bases[b], part), room, &digits);
    if (!(stretch > 1.0) || digits > 2) continue;
    f->of_base = bases[b];
    f->stretch = stretch;
    f->base = bases[b] * pow(stretch, 1.0 / part);
    f->digits = digits + 1;
    return true;
  }
  return false;
}

/* Of too few frequencies: a formula that people write, which such a one is near but seldom by chance. */
static bool is_evident(const formula *f, double room) {
  enum { DIGITS = 3 };
  const double seldom = 0.01;
  return f->digits < DIGITS && f->scale >= 1.0 && f->scale <= 1.0 && room * pow(10.0, f->digits) < seldom;
}

size_t formulas_find(const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]) {
  static const double shifts[] = {0.0, 1.0, 0.5};
  /* A recipe's own slope, or step from one frequency to the next, is an f32. */
  const double of_slope = 1e-6 + 0x1p-23 * (double)pairs, of_scale = 1e-7;
  mark *marks = calloc((size_t)pairs, sizeof *marks);
  if (!marks) return 0;
  const size_t known = marks_of(frequencies, pairs, marks);
  const line l = find_line(marks, known);
  const bool turns_by_one = pairs == 1 && known == 1 && fabs(marks[0].log) <= 3.0 * marks[0].error + of_scale;
  free(marks);
  if (turns_by_one) return formulas_usual(1e4, formulas, pairs);
  if (l.on_it < 2 || l.on_it * 10 < (int64_t)known * 3) return 0;
  size_t count = 0;
  for (size_t n = 0; n < sizeof shifts / sizeof *shifts; n++) {
    const double denominator = (double)pairs - shifts[n];
    if (denominator <= 0.0 || (l.slope * denominator < -1e-6)) continue;
    /* With room for what recipes do to frequencies, and without. */
    for (int narrow_room = 0; narrow_room < 2; narrow_room++) {
      formula f = {.shift = shifts[n], .tight = l.loose < 1e-4, .scale = 1.0, .first_most = -1};
      const double room = 4.0 * l.slope_error * denominator + (narrow_room ? 1e-14 : of_slope);
      int of_base, for_scale;
      f.scaling.factor = 1.0;
      f.base = plainest(exp(l.slope * denominator), room, &of_base);
      if (f.base < 1.0) continue;
      f.scale = plainest_scale(exp(l.height), 4.0 * l.height_error + of_scale, &for_scale);
      f.digits = of_base + for_scale - 2;
      if (shifts[n] > 0.0 && shifts[n] < 1.0) f.digits++; /* nobody's, but for a few */
      if (known < FORMULA_EVIDENT && !is_evident(&f, room)) continue;
      if (find_scaling(&f, frequencies, pairs)) f.digits++;
      if (narrow_room && count > 0 && f.digits <= formulas[count - 1].digits) continue; /* the same */
      formulas[count++] = f;
      if (n == 0 && of_base > 3 && for_scale == 1 && find_stretch(&f, pairs, room)) formulas[count++] = f;
    }
  }
  qsort(formulas, count, sizeof *formulas, compare_formulas);
  return count;
}

/* ---- the position of row 0 ----------------------------------------------------------------------- */

/* Phases, slow ones first; and what a position must be within. */
typedef struct clock {
  const estimate *phases;
  const long double *w;
  int64_t pairs;
  double relative, rows;
} clock;

static double wrapped(long double angle) {
  return (double)(angle - full_turn * rintl(angle / full_turn));
}

/* What the phase of a frequency may be off, where angles are right but for a part of them. */
static double tolerance_of(const clock *c, int64_t i, long double position) {
  return c->phases[i].error + c->relative * (fabs((double)position) + c->rows) * (double)c->w[i];
}

/* Narrows `position` ± `error` by the phase of one frequency: false if it says that there is none. Several turns may be: the nearest is taken if
   others are out of reach. */
static bool narrow(const clock *c, int64_t i, long double *position, double *error, double *bits) {
  const double w = (double)c->w[i], tolerance = tolerance_of(c, i, *position);
  if (!(tolerance < 1.0) || *error * w + tolerance > 3.0) return true; /* it cannot tell */
  const double off = wrapped((long double)c->phases[i].value - *position * c->w[i]);
  if (fabs(off) > tolerance + *error * w) return false;
  *bits += log2(pi / (tolerance + *error * w));
  /* What both say, each by its weight. */
  const double other = tolerance / w, share = *error * *error / (*error * *error + other * other);
  *position += (long double)(share * off / w);
  *error = fmin(*error, other);
  return true;
}

/* The same question in a hurry: most positions fail at once. */
static bool is_out(const clock *c, int64_t i, double position, double error) {
  const double w = (double)c->w[i], room = tolerance_of(c, i, position) + error * w + 1e-6;
  const double turns = (c->phases[i].value - position * w) / (2.0 * pi);
  return fabs(turns - rint(turns)) * 2.0 * pi > room;
}

/* From a position that the slowest frequency allows down to the fastest. */
static bool follow(const clock *c, int64_t slowest, long double *position, double *error, double *bits) {
  for (int64_t i = slowest - 1; i >= 0; i--)
    if (!narrow(c, i, position, error, bits)) return false;
  return true;
}

/* Frequencies after all have been used, the whole positions that remain. */
static void set_first(formula *f, long double position, double error) {
  const long double whole = roundl(position);
  f->first = (double)position;
  const double room = error + 1e-6;
  if (room < 0.25 && fabs((double)(position - whole)) > 2.0 * room) return; /* between two */
  f->first_least = (int64_t)(room < 0.5 ? whole : ceill(position - room));
  f->first_most = (int64_t)(room < 0.5 ? whole : floorl(position + room));
  if (f->first_least == f->first_most) f->first = (double)f->first_least;
}

/* A position may fit by chance: so many bits more must agree than there were positions tried. */
static const double surely = 6.0;

/* What follow can find: phases are known no better than at position 0. */
static double bits_at_most(const clock *c, int64_t slowest) {
  double bits = 0.0;
  for (int64_t i = 0; i < slowest; i++) {
    const double tolerance = tolerance_of(c, i, 0.0L);
    if (tolerance < 1.0) bits += log2(pi / tolerance);
  }
  return bits;
}

/* One phase tells the position but for whole turns: the nearest that is a whole number, if that is no chance. */
static bool first_of_one(formula *f, const clock *c, int64_t farthest) {
  const long double period = full_turn / c->w[0];
  for (int64_t n = 0; (long double)(n / 2) * period <= (long double)farthest; n++) {
    const int64_t k = n % 2 ? -(n + 1) / 2 : n / 2;
    const long double position = (long double)c->phases[0].value / c->w[0] + (long double)k * period;
    const double error = tolerance_of(c, 0, position) / (double)c->w[0];
    if (!(2.0 * error * (double)(n + 1) < exp2(-surely))) return false;
    if (fabs((double)(position - roundl(position))) > error) continue;
    set_first(f, position, error);
    return true;
  }
  return false;
}

bool formula_first(formula *f, const estimate *phases, const long double *w, int64_t pairs, double relative,
                   int64_t rows, int64_t farthest) {
  const clock c = {phases, w, pairs, relative, (double)rows};
  if (pairs == 1) return first_of_one(f, &c, farthest);
  int64_t slowest = pairs - 1;
  while (slowest > 0 && !(phases[slowest].error < 0.7)) slowest--;
  const long double period = full_turn / w[slowest];
  const int64_t turns = (int64_t)fminl((long double)farthest / period + 1.0L, 1e8L);
  const double tries = fmin(2.0 * (double)turns + 1.0, exp2(fmin(bits_at_most(&c, slowest), 60.0) - surely));
  for (int64_t n = 0; (double)n < tries; n++) {
    const int64_t k = n % 2 ? -(n + 1) / 2 : n / 2;
    long double position = ((long double)phases[slowest].value) / w[slowest] + (long double)k * period;
    double error = tolerance_of(&c, slowest, position) / (double)w[slowest];
    double bits = 0.0;
    if (slowest > 0 && is_out(&c, slowest - 1, (double)position, error)) continue;
    if (!follow(&c, slowest, &position, &error, &bits)) continue;
    if (bits < surely + log2((double)(n + 1))) continue;
    set_first(f, position, error);
    return true;
  }
  return false;
}
