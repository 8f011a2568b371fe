/* SPDX-License-Identifier: MIT */
/* Finds formulas of frequencies: a line through their logarithms, and the plain numbers near it. */
#include "inspect/identify/formula.h"

#include "common/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- plain numbers: within an error, those of the fewest digits, as people write them ------------ */

plain_number plainest(double x, double error) {
  enum { DIGITS = 17 };
  char text[32];
  for (int digits = 1; digits < DIGITS; digits++) {
    snprintf(text, sizeof text, "%.*e", digits - 1, x);
    const double plain = strtod(text, NULL);
    if (plain > 0.0 && fabs(log(plain / x)) <= error) return (plain_number){plain, error, digits};
  }
  return (plain_number){x, error, DIGITS};
}

/* Returns plainest(x), or if that has fewer digits, the reciprocal of such a number, as 1/3, or pi times or divided by
   such a number. */
static plain_number plainest_part(double x, double error) {
  enum { OF_PI = 2 };
  const plain_number inverse = plainest(1.0 / x, error), turns = plainest(x / half_turn, error),
                     of_pi = plainest(half_turn / x, error);
  plain_number best = plainest(x, error);
  if (inverse.digits < best.digits) best = (plain_number){1.0 / inverse.value, error, inverse.digits};
  if (turns.digits + OF_PI < best.digits) best = (plain_number){turns.value * half_turn, error, turns.digits + OF_PI};
  if (of_pi.digits + OF_PI < best.digits) best = (plain_number){half_turn / of_pi.value, error, of_pi.digits + OF_PI};
  return best;
}

number_text number_within(double x, double error) {
  const double rounding = 1e-15;
  number_text n;
  if (fabs(x) < 1e15 && fabs(x - rint(x)) <= 0.0)
    snprintf(n.text, sizeof n.text, "%.0f", x);
  else
    snprintf(n.text, sizeof n.text, "%.*g", plainest(fabs(x), error > 0.0 ? error : rounding).digits, x);
  return n;
}

const double formula_bases[] = {1e4, 5e5, 1e6, 1e7, 1e5, 150000.0, 8e6, 5e6, 2e6, 3e6, 2.5e5};
const size_t formula_base_count = sizeof formula_bases / sizeof *formula_bases;

formula formula_plain(double base) {
  return (formula){.base = base, .scale = 1.0, .scaling = {.factor = 1.0}};
}

/* ---- a line through the logarithms of frequencies ------------------------------------------------ */

/* The line ln w[i] = height - slope i. */
typedef struct line {
  double height, slope, height_error, slope_error, loose;
  int64_t on_it;
} line;

/* A frequency index with a frequency that is known well enough to be used. */
typedef struct mark {
  double index, log, error;
} mark;

bool formula_mark(const estimate *frequency) {
  const double useful = 0.05;
  return frequency->value > 0.0 && frequency->error < useful * frequency->value;
}

static size_t marks_of(const estimate *frequencies, int64_t pairs, mark *marks) {
  size_t count = 0;
  for (int64_t i = 0; i < pairs; i++) {
    const estimate *w = &frequencies[i];
    if (formula_mark(w)) marks[count++] = (mark){(double)i, log(w->value), w->error / w->value};
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

/* Returns the line through two marks that the most marks are on. Other marks may have frequencies of a scaling, or have
   lost whole turns. */
static line through_two(const mark *marks, size_t count, double loose) {
  enum { TRIED = 32 };
  line best = {0};
  const size_t tried = count < TRIED ? count : TRIED;
  for (size_t a = 0; a < tried; a++)
    for (size_t b = a + 1; b < tried; b++) {
      const mark *from = &marks[a * count / tried], *to = &marks[b * count / tried];
      line l = {.slope = (from->log - to->log) / (to->index - from->index)};
      l.height = from->log + l.slope * from->index;
      l.on_it = count_on(&l, marks, count, loose);
      if (l.on_it > best.on_it) best = l;
    }
  return best;
}

/* Fits the line to the marks on it by least squares. Its errors follow from the errors of the marks, or from their
   distances from the line if these are larger. */
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

/* Finds a line that most marks are on within the errors of a recipe in f32, or else in bf16. */
static line find_line(const mark *marks, size_t count) {
  static const double loose[] = {1e-5, 6e-3};
  line l = {0};
  for (size_t n = 0; n < sizeof loose / sizeof *loose; n++) {
    l = through_two(marks, count, loose[n]);
    for (int pass = 0; pass < 2; pass++) improve(&l, marks, count, loose[n]);
    if (l.on_it * 10 >= (int64_t)count * 9) break;
  }
  return l;
}

static int compare_formulas(const void *one, const void *other) {
  const formula *a = one, *b = other;
  if (a->digits != b->digits) return a->digits < b->digits ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* ---- formulas ------------------------------------------------------------------------------------ */

/* Returns the digits of a base, less 1, and of the shift. If no base of few digits fits, each shift has a base of many
   that does. Shifts by a half are used only with few columns and odd dims. */
static int digits_of(int of_base, double shift) {
  return of_base - 1 + 2 * (shift > 0.0 && of_base > FORMULA_USUAL) + (shift - floor(shift) > 0.0);
}

/* Sets the base 10 L / 2 pi, as it is chosen for sequences of length L. Returns false if no such base is within `room`,
   or if every base is that near to one. */
static bool find_chosen(double base, double room, formula *f) {
  const double least = 0.01, length = rint(base * whole_turn / 10.0), chosen = 10.0 * length / whole_turn;
  if (!(length >= 1.0) || room * length > least || fabs(log(chosen / base)) > room) return false;
  f->digits = plainest(length, 0.0).digits - 1;
  f->base = chosen;
  return true;
}

/* Sets the base of 10000 in the first columns of a wider table. Returns false if no such base is within `room`, or if
   every base is that near to one. */
static bool find_wider(double base, double room, int64_t pairs, formula *f) {
  const double seldom = 0.02, usual = log(formula_bases[0]), whole = rint((double)pairs * usual / log(base)),
               chosen = usual * (double)pairs / whole;
  if (!(whole > (double)pairs) || room > seldom * chosen / whole || fabs(chosen - log(base)) > room) return false;
  f->base = exp(chosen);
  f->digits = FORMULA_USUAL;
  return true;
}

/* Finds a plain base that was changed for more positions; the changed base is not plain. */
static bool find_stretch(formula *f, int64_t pairs, double room) {
  enum { BASES = 4, DIGITS = 2 };
  const double part = (double)(pairs - 1) / (double)pairs;
  for (size_t b = 0; pairs > 1 && b < BASES; b++) {
    const plain_number stretch = plainest(pow(f->base / formula_bases[b], part), room);
    if (!(stretch.value > 1.0) || stretch.digits > DIGITS) continue;
    f->of_base = formula_bases[b];
    f->stretch = stretch.value;
    f->base = formula_bases[b] * pow(stretch.value, 1.0 / part);
    f->digits = stretch.digits;
    return true;
  }
  return false;
}

/* Sums over drifts for least squares: the changes of frequencies by changes of the logarithms of base and scale. */
typedef struct gains {
  double bb, bs, ss, b, s, error, count;
} gains;

static double gain_of_base(const formula *f, int64_t pairs, int64_t i) {
  return -(double)i / ((double)pairs - f->shift);
}

static double frequency_of(const formula *f, int64_t pairs, int64_t i) {
  return f->scale * pow(f->base, gain_of_base(f, pairs, i));
}

static gains gains_of(const formula *f, const estimate *drifts, int64_t pairs) {
  gains sums = {.count = 0.0};
  for (int64_t i = 0; i < pairs; i++) {
    if (!isfinite(drifts[i].error)) continue;
    const double scale = frequency_of(f, pairs, i), base = scale * gain_of_base(f, pairs, i);
    sums.bb += base * base, sums.bs += base * scale, sums.ss += scale * scale;
    sums.b += base * drifts[i].value, sums.s += scale * drifts[i].value;
    sums.error = fmax(sums.error, drifts[i].error);
    sums.count++;
  }
  return sums;
}

/* Whether the scale is not 1, and is determined together with the base. */
static bool has_scale(const formula *f) {
  return !number_is_one(f->scale);
}

/* Returns the change of the scale's logarithm for a change of the base's logarithm. */
static double change_of_scale(const formula *f, const gains *sums, double of_base) {
  return has_scale(f) ? (sums->s - sums->bs * of_base) / sums->ss : 0.0;
}

size_t formulas_refined(const formula *f, const estimate *drifts, int64_t pairs, formula formulas[FORMULAS_MAX]) {
  const gains sums = gains_of(f, drifts, pairs);
  const double square = has_scale(f) ? sums.bb - sums.bs * sums.bs / sums.ss : sums.bb, unknowns = 1.0 + has_scale(f);
  if (!(square > 0.0) || sums.count < 1.0 + unknowns) return 0;
  const double of_base = (has_scale(f) ? sums.b - sums.bs * sums.s / sums.ss : sums.b) / square,
               of_scale = change_of_scale(f, &sums, of_base);
  double left = 0.0;
  for (int64_t i = 0; i < pairs; i++) {
    const double gain = of_base * gain_of_base(f, pairs, i) + of_scale,
                 rest = drifts[i].value - gain * frequency_of(f, pairs, i);
    if (isfinite(drifts[i].error)) left += rest * rest;
  }
  /* The error follows from roundings, or from the drifts' distances from the formula if these are larger. */
  const double error = 2.0 * sums.error + 3.0 * sqrt(left / (sums.count - unknowns)), base = f->base * exp(of_base),
               room = error / sqrt(square);
  const plain_number plain = plainest(base, room);
  formula refined = *f;
  size_t found = 0;
  refined.stretch = 0.0;
  refined.base_error = room;
  if (find_chosen(base, room, &refined)) formulas[found++] = refined;
  if (refined.shift <= 0.0 && find_wider(base, room, pairs, &refined)) formulas[found++] = refined;
  refined.base = plain.value;
  refined.digits = digits_of(plain.digits, refined.shift);
  formulas[found++] = refined;
  refined.base = base;
  refined.digits++;
  if (refined.shift <= 0.0 && plain.digits > 3 && find_stretch(&refined, pairs, room)) formulas[found++] = refined;
  refined.stretch = 0.0;
  refined.base = base;
  refined.digits = digits_of(plain.digits, refined.shift) + 1;
  formulas[found++] = refined;
  for (size_t n = 0, bases = found; n < bases && has_scale(f); n++) {
    const double change = change_of_scale(f, &sums, log(formulas[n].base / f->base)), measured = f->scale * exp(change);
    const plain_number scale = plainest_part(measured, error / sqrt(sums.ss));
    formulas[n].digits += scale.digits - 1;
    formulas[n].scale_error = scale.error;
    formulas[found] = formulas[n];
    formulas[n].scale = scale.value;
    formulas[found].scale = measured;
    formulas[found++].digits++;
  }
  return found;
}

size_t formulas_usual(double base, formula formulas[FORMULAS_MAX], int64_t pairs) {
  enum { BASES = 4 };
  const double near = 0.1;
  size_t count = 0;
  for (size_t b = 0; b < BASES; b++) {
    if (base > 0.0 && fabs(log(formula_bases[b] / base)) > near) continue;
    for (int shift = 0; shift < 2 && shift < pairs && count < FORMULAS_MAX; shift++) {
      formulas[count] = formula_plain(formula_bases[b]);
      formulas[count++].shift = (double)shift;
    }
  }
  if (!(base > 0.0)) formulas[count++] = formula_plain(1.0 / formula_bases[0]);
  return count;
}

/* Whether a formula for too few frequencies has numbers so plain that chance rarely comes that near to them. */
static bool is_evident(const formula *f, double room) {
  enum { DIGITS = 3 };
  const double seldom = 0.01;
  return f->digits < DIGITS && f->scale >= 1.0 && f->scale <= 1.0 && room * pow(10.0, f->digits) < seldom;
}

size_t formulas_find(const estimate *frequencies, int64_t pairs, formula formulas[FORMULAS_MAX]) {
  static const double shifts[] = {0.0, 1.0, 0.5, 1.5};
  /* The slope of a recipe, or its step from one frequency to the next, is an f32. */
  const double of_slope = 1e-6 + 0x1p-23 * (double)pairs, of_scale = 1e-7;
  mark *marks = memory_take((size_t)pairs, sizeof *marks);
  const size_t known = marks_of(frequencies, pairs, marks);
  const line l = find_line(marks, known);
  const bool turns_by_one = pairs == 1 && known == 1 && fabs(marks[0].log) <= 3.0 * marks[0].error + of_scale;
  free(marks);
  if (turns_by_one) return formulas_usual(1e4, formulas, pairs);
  if (l.on_it < 2 || l.on_it * 10 < (int64_t)known * 3) return 0;
  size_t count = 0;
  for (size_t n = 0; n < sizeof shifts / sizeof *shifts; n++) {
    const double denominator = (double)pairs - shifts[n];
    if (denominator <= 0.0) continue;
    /* Tolerances with and without the errors of recipes in frequencies. */
    for (int narrow_room = 0; narrow_room < 2; narrow_room++) {
      formula f = formula_plain(1.0);
      const double room = 4.0 * l.slope_error * denominator + (narrow_room ? 1e-14 : of_slope);
      const plain_number base = plainest(exp(l.slope * denominator), room),
                         scale = plainest_part(exp(l.height), 4.0 * l.height_error + of_scale);
      f.shift = shifts[n];
      f.tight = l.loose < 1e-4;
      f.most = l.on_it * 10 >= (int64_t)known * 9;
      f.base = base.value;
      f.base_error = base.error;
      f.scale = scale.value;
      f.scale_error = scale.error;
      f.digits = digits_of(base.digits, f.shift) + scale.digits - 1;
      /* Growing or equal frequencies may be those of another encoding, so the formula must have plain numbers. */
      if ((known < FORMULA_EVIDENT || f.base <= 1.0) && !is_evident(&f, room)) continue;
      if (narrow_room && count > 0 && f.digits <= formulas[count - 1].digits) continue; /* the same formula */
      formulas[count++] = f;
      if (n == 0 && base.digits > 3 && scale.digits == 1 && find_stretch(&f, pairs, room)) formulas[count++] = f;
    }
  }
  for (size_t n = 0; n < count; n++) formulas[n].number = n;
  qsort(formulas, count, sizeof *formulas, compare_formulas);
  return count;
}
