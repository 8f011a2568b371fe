/* SPDX-License-Identifier: MIT */
#include "identify/search.h"

#include "identify/scalings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Digits by which a formula must be plainer to be the only one. */
enum { PLAINER = 2 };

/* If several whole positions are left, because the maker rounds positions, tries each, from the middle on. */
static void consider_positions(search *s, making *how, const estimate *amplitude, explanation *e) {
  enum { MOST = 257 };
  const int64_t least = how->start.least, most = how->start.most;
  if (least >= most || most - least >= MOST) {
    explain_amplitudes(s, how, amplitude, true, e);
    return;
  }
  for (int64_t n = 0, middle = least + (most - least) / 2; n <= most - least && !explanation_is_exact(s, e); n++) {
    how->start = start_at(middle + (n % 2 ? (n + 1) / 2 : -(n / 2)));
    explain_amplitudes(s, how, amplitude, false, e);
  }
}

/* Positions that were rounded look like the middle of those that were. */
static void widen(int64_t run, start *at) {
  if (run <= 1 || !start_is_whole(at)) return;
  at->least -= run;
  at->most += run;
}

/* ---- formulas -------------------------------------------------------------------------------------- */

making search_making(const search *s, const columns *at, const formula *f) {
  return (making){.formula = *f,
                  .columns = *at,
                  .held = s->window.held,
                  .offset = s->window.offset,
                  .offset_error = s->offset.error,
                  .step = 1};
}

/* First positions from phases, for angles with a relative error. */
typedef struct starts {
  double relative;
  bool far, known;
  size_t count;
  start of[64];
} starts;

static void explain_starts(search *s, making *how, starts *told, bool whole, const estimate *amplitude,
                           explanation *found) {
  if (!told->known) {
    const int64_t farthest = told->far ? INT64_C(1) << 41 : POSITION_NEAR;
    const phase_clock c = {s->phases, s->w, how->columns.pairs, told->relative,
                           (double)(s->sampling.first + s->sampling.step * s->sampling.count)};
    told->count = starts_find(&c, farthest, told->of, told->far ? 2 : sizeof told->of / sizeof *told->of);
    told->known = true;
  }
  for (size_t n = 0; n < told->count && !explanation_is_exact(s, found); n++) {
    how->start = told->of[n];
    if (start_is_whole(&how->start) != whole) continue;
    widen(s->run, &how->start);
    consider_positions(s, how, amplitude, found);
  }
}

void search_shift_phases(search *s, int64_t pairs, int quarters) {
  const double quarter = 1.57079632679489662;
  for (int64_t i = 0; i < pairs; i++) s->phases[i].value += (double)quarters * quarter;
}

/* Tries a formula with the first position from phases, for rows in this order and reversed. */
static void explain_order(search *s, const columns *at, const formula *f, int step, bool far, explanation *found) {
  estimate amplitude;
  const bool alone = at->part != COLUMNS_BOTH;
  formula_frequencies(f, at->pairs, s->w);
  for (int64_t i = 0; i < at->pairs; i++) s->w[i] *= step;
  waves_phases(&s->window, at, &s->sampling, s->w, s->phases, &amplitude);
  if (isinf(amplitude.error)) return;
  /* Cosines of reversed rows are those of the opposite positions. */
  for (int sine = alone && step < 0; sine <= alone; sine++) {
    /* Errors of recipes' angles: of double and f32, or of TF32 and bf16. Very far out, only double keeps its phase. */
    starts told[2] = {{.relative = s->coarse ? 5e-4 : 1e-15, .far = far}, {.relative = s->coarse ? 8e-3 : 5e-7}};
    making how = search_making(s, at, f);
    how.step = step;
    if (sine) {
      how.columns.part = COLUMNS_SIN;
      search_shift_phases(s, at->pairs, 1);
    }
    /* Whole positions first; between them only where roundings do not explain whole ones. */
    for (int n = 0; n < (far ? 1 : 4) && !s->failed; n++) {
      if (explanation_is_good(found) && (n < 2 || explanation_is_rounding(s, found))) continue;
      explain_starts(s, &how, &told[n % 2], n < 2, &amplitude, found);
    }
    if (sine) search_shift_phases(s, at->pairs, -1);
  }
}

static explanation explain_by(search *s, const columns *at, const formula *f, bool far) {
  explanation found = {.found = false};
  const columns reversed = columns_exchanged(at);
  explain_order(s, at, f, 1, far, &found);
  if (!far && !explanation_is_good(&found) && !s->failed) explain_order(s, &reversed, f, -1, far, &found);
  return found;
}

static bool is_same_number(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

static bool is_same_scaling(const posenc_scaling *a, const posenc_scaling *b) {
  return a->kind == b->kind && is_same_number(a->factor, b->factor) && is_same_number(a->low, b->low) &&
         is_same_number(a->high, b->high) && a->truncate == b->truncate;
}

static bool is_same(const formula *a, const formula *b) {
  return is_same_number(a->base, b->base) && fabs(a->shift - b->shift) <= 0.0 &&
         is_same_scaling(&a->scaling, &b->scaling);
}

void search_weigh(search *s, const explanation *e) {
  explanation *best = &s->best;
  if (!e->found) return;
  if (explanation_is_better(best, e->distance)) {
    *best = *e, s->also.found = false;
  } else if (e->distance <= best->distance && is_same(&e->how.formula, &best->how.formula)) {
    best->original_least = e->original_least < best->original_least ? e->original_least : best->original_least;
    best->original_most = e->original_most > best->original_most ? e->original_most : best->original_most;
  } else if (e->distance <= best->distance && !s->also.found &&
             e->how.formula.digits <= best->how.formula.digits + PLAINER) {
    s->also = *e;
  }
}

void search_formulas(search *s, const columns *at, const formula *formulas, size_t count) {
  for (size_t n = 0; n < count && !s->failed; n++) {
    if (explanation_is_exact(s, &s->best) && formulas[n].digits > s->best.how.formula.digits + PLAINER) break;
    const explanation e = explain_by(s, at, &formulas[n], false);
    search_weigh(s, &e);
  }
}

/* ---- columns that turn the other way -------------------------------------------------------------- */

/* If most pairs turn backwards, the cosine comes first or rows are reversed; phases decide which. */
static void turn_columns(search *s) {
  int64_t votes = 0;
  for (int64_t i = 0; i < s->columns.pairs; i++)
    if (fabs(s->frequencies[i].value) > 3.0 * s->frequencies[i].error) votes += s->frequencies[i].value > 0.0 ? 1 : -1;
  if (votes >= 0) return;
  s->columns = columns_exchanged(&s->columns);
  for (int64_t i = 0; i < s->columns.pairs; i++) s->frequencies[i].value = -s->frequencies[i].value;
}

int64_t search_count_known(const search *s) {
  int64_t known = 0;
  for (int64_t i = 0; i < s->columns.pairs; i++) known += formula_mark(&s->frequencies[i]);
  return known;
}

/* ---- bases and factors that are measured ------------------------------------------------------------ */

/* A base that is not plain may be a plain one with another denominator: the frequencies are the same. */
static void tell_other_shift(search *s, double pairs) {
  const formula *f = &s->best.how.formula;
  const bool plain = f->stretch <= 0.0 && f->scaling.kind == POSENC_SCALING_NONE;
  if (f->digits <= FORMULA_UNUSUAL || f->shift > 0.0 || !plain) return;
  s->also = s->best;
  s->also.how.formula.shift = 1.0;
  s->also.how.formula.base = pow(f->base, (pairs - 1.0) / pairs);
}

/* The differences of an explained table's frequencies from those of a formula, in s->phases. */
static void drifts_from(search *s, const making *how, const formula *f, const sampling *at) {
  formula_frequencies(f, how->columns.pairs, s->w);
  for (int64_t i = 0; i < how->columns.pairs; i++) s->w[i] *= how->step;
  waves_drifts(&s->window, &how->columns, at, s->w, s->phases);
  for (int64_t i = 0; i < how->columns.pairs; i++) {
    s->w[i] *= how->step;
    s->phases[i].value *= how->step;
  }
}

/* A base that is no plain number, once all is known but for its last digits: for every denominator, as slopes do not
   tell them apart. The denominator dim / 2 comes first, unless another has the plainer base. */
static void refine_base(search *s) {
  static const double shifts[] = {0.0, 1.0, 0.5};
  const explanation old = s->best;
  const formula from = old.how.formula;
  const columns at = old.how.step > 0 ? old.how.columns : columns_exchanged(&old.how.columns);
  const double pairs = (double)at.pairs;
  if (explanation_is_exact(s, &old) && (from.digits <= FORMULA_UNUSUAL || !(from.shift > 0.0))) return;
  if (from.digits > FORMULA_UNUSUAL) s->best.found = s->also.found = false;
  for (size_t n = 0; n < sizeof shifts / sizeof *shifts && !explanation_is_exact(s, &s->best); n++) {
    formula f = from, refined[FORMULAS_MAX];
    if (pairs - shifts[n] <= 0.0) continue;
    f.base = pow(from.base, (pairs - shifts[n]) / (pairs - from.shift));
    f.shift = shifts[n];
    drifts_from(s, &old.how, &f, &s->sampling);
    search_formulas(s, &at, refined, formulas_refined(&f, s->phases, at.pairs, refined));
  }
  search_weigh(s, &old);
  tell_other_shift(s, pairs);
}

/* ---- formulas that frequencies do not determine ------------------------------------------------------ */

/* The formulas that models have, where frequencies could not be told, or only nearly; and if rows come in runs, from
   all of them. */
static void explain_usual(search *s, bool all_rows) {
  formula usual[FORMULAS_MAX];
  const columns *at = &s->columns;
  const size_t count = formulas_usual(explanation_is_good(&s->best) ? s->best.how.formula.base : 0.0, usual, at->pairs);
  for (size_t n = 0; n < count && !explanation_is_exact(s, &s->best); n++) search_formulas(s, at, &usual[n], 1);
  if (!all_rows || s->sampling.step == 1 || explanation_is_good(&s->best)) return;
  s->sampling.count = s->sampling.first + (s->sampling.count - 1) * s->sampling.step + 1;
  s->sampling.first = 0;
  s->sampling.step = 1;
  for (size_t n = 0; n < count && !explanation_is_exact(s, &s->best); n++) search_formulas(s, at, &usual[n], 1);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

bool search_open(search *s, const identify_request *request) {
  *s = (search){.request = request};
  if (!window_read(&s->window, request->table)) return false;
  s->sampling = window_sampling(&s->window);
  s->run = s->sampling.step;
  const size_t pairs = (size_t)s->window.dim + 1;
  s->frequencies = calloc(pairs, sizeof *s->frequencies);
  s->measured = calloc(pairs, sizeof *s->measured);
  s->phases = calloc(pairs, sizeof *s->phases);
  s->w = calloc(pairs, sizeof *s->w);
  s->factors = calloc(pairs, sizeof *s->factors);
  s->bad = calloc(pairs, sizeof *s->bad);
  s->positions = calloc((size_t)s->window.count + 1, sizeof *s->positions);
  return s->frequencies && s->measured && s->phases && s->w && s->factors && s->bad && s->positions;
}

void search_close(search *s) {
  window_free(&s->window);
  free(s->frequencies);
  free(s->measured);
  free(s->phases);
  free(s->w);
  free(s->factors);
  free(s->bad);
  free(s->positions);
}

/* Takes the offset of the waves if columns agree on it and it is no rounding error. */
static void find_offset(search *s) {
  const double sure = 20.0, least = 1e-4;
  s->offset = waves_offset(&s->window, &s->sampling);
  const double size = fabs(s->offset.value);
  if (!(size > sure * s->offset.error) || size < least * s->window.most) return;
  const double plain = plainest(size, 4.0 * s->offset.error / size).value;
  window_shift(&s->window, s->offset.value < 0.0 ? -plain : plain);
}

size_t search_run(search *s) {
  formula formulas[FORMULAS_MAX];
  find_offset(s);
  s->columns = columns_find(&s->window);
  waves_frequencies(&s->window, &s->columns, &s->sampling, s->frequencies);
  if (s->columns.part == COLUMNS_BOTH) turn_columns(s);
  const size_t count = formulas_find(s->frequencies, s->columns.pairs, formulas);
  const bool evident = s->columns.pairs >= FORMULA_EVIDENT;
  search_formulas(s, &s->columns, formulas, count);
  if (explanation_is_good(&s->best) && evident) refine_base(s);
  const bool on_line = count > 0 && formulas[0].most;
  if (evident && !on_line && !explanation_is_rounding(s, &s->best)) search_scaled(s, formulas, count);
  /* Recipes whose angles are not even those of f32: many positions are near then. */
  for (int turn = 0; turn < 2; turn++) {
    s->coarse = turn;
    const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
    const bool told = wide ? explanation_is_rounding(s, &s->best)
                           : explanation_is_scaled(&s->best) || explanation_is_within(s, &s->best, 0.05);
    if (turn && !told) search_formulas(s, &s->columns, formulas, count);
    if (!explanation_is_exact(s, &s->best) && !explanation_is_within(s, &s->best, 0.25) && s->columns.pairs > 1 &&
        !explanation_is_scaled(&s->best))
      explain_usual(s, turn);
  }
  s->coarse = false;
  if (evident && on_line && !explanation_is_rounding(s, &s->best)) search_scaled(s, formulas, count);
  if (explanation_is_good(&s->best) && evident && !explanation_is_scaled(&s->best)) refine_base(s);
  if (count > 0 && formulas[0].tight && !explanation_is_good(&s->best)) {
    const explanation far = explain_by(s, &s->columns, &formulas[0], true);
    search_weigh(s, &far);
  }
  if (!explanation_is_good(&s->best)) search_list(s);
  return count;
}
