/* SPDX-License-Identifier: MIT */
#include "identify/search.h"

#include "identify/scalings.h"
#include "identify/trial.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* ---- columns that turn the other way -------------------------------------------------------------- */

/* Exchanges sines and cosines if most pairs rotate backwards. Either the cosine comes first or the rows are reversed,
   which phases decide later. */
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

/* Notes another formula: with a different denominator, the same frequencies may have a plain base. */
static void tell_other_shift(search *s, double pairs) {
  const formula *f = &s->best.how.formula;
  const bool plain = f->stretch <= 0.0 && f->scaling.kind == POSENC_SCALING_NONE;
  if (f->digits <= FORMULA_UNUSUAL || f->shift > 0.0 || !plain) return;
  s->also = s->best;
  s->also.how.formula.shift = 1.0;
  s->also.how.formula.base = pow(f->base, (pairs - 1.0) / pairs);
}

/* Stores the differences of an explained table's frequencies from those of a formula in s->phases. */
static void drifts_from(search *s, const making *how, const formula *f, const sampling *at) {
  formula_frequencies(f, how->columns.pairs, s->w);
  for (int64_t i = 0; i < how->columns.pairs; i++) s->w[i] *= how->step;
  waves_drifts(&s->window, &how->columns, at, s->w, s->phases);
  for (int64_t i = 0; i < how->columns.pairs; i++) {
    s->w[i] *= how->step;
    s->phases[i].value *= how->step;
  }
}

/* Refines the formula for every denominator, because slopes do not distinguish them. Returns how many, those of dim / 2
   first; other denominators are kept only with fewer digits. */
static size_t refined_formulas(search *s, const making *how, const columns *at, const sampling *rows,
                               formula refined[FORMULAS_MAX]) {
  static const double shifts[] = {0.0, 1.0, 0.5};
  const double pairs = (double)at->pairs;
  size_t count = 0;
  int least = INT_MAX;
  for (size_t n = 0; n < sizeof shifts / sizeof *shifts && shifts[n] < pairs; n++) {
    formula f = how->formula, some[FORMULAS_MAX];
    f.base = pow(f.base, (pairs - shifts[n]) / (pairs - f.shift));
    f.shift = shifts[n];
    drifts_from(s, how, &f, rows);
    const size_t found = formulas_refined(&f, s->phases, at->pairs, some);
    for (size_t m = 0; m < found; m++)
      if (n == 0 || some[m].digits < least) refined[count++] = some[m];
    for (size_t m = 0; m < count && n == 0; m++) least = refined[m].digits < least ? refined[m].digits : least;
  }
  return count;
}

/* Refines base and scale: finds the plainest formula that explains the rows as well. */
static void refine_base(search *s, const sampling *rows) {
  enum { DIGITS_MOST = 40 };
  const explanation old = s->best;
  const formula *from = &old.how.formula;
  const columns at = old.how.step > 0 ? old.how.columns : columns_exchanged(&old.how.columns);
  if (explanation_is_exact(s, &old) && (from->digits <= FORMULA_UNUSUAL || !(from->shift > 0.0))) return;
  if (from->digits < FORMULA_USUAL && explanation_is_within(s, &old, 0.1)) return;
  formula refined[FORMULAS_MAX];
  const size_t count = refined_formulas(s, &old.how, &at, rows, refined);
  s->best.found = s->also.found = false;
  for (int digits = 0; digits <= DIGITS_MOST; digits++) {
    for (size_t n = 0; n < count && !explanation_is_exact(s, &s->best); n++)
      if (refined[n].digits == digits) trial_formulas(s, &at, &refined[n], 1);
    if (from->digits == digits && (from->shift <= 0.0 || digits < FORMULA_USUAL || count == 0)) trial_weigh(s, &old);
  }
  if (!s->best.found) s->best = old;
  tell_other_shift(s, (double)at.pairs);
}

/* ---- formulas that frequencies do not determine ------------------------------------------------------ */

/* Tries the formulas of models, if frequencies are unknown or inexact. all_rows: if rows come in runs, also tries them
   with all rows. */
static void explain_usual(search *s, bool all_rows) {
  formula usual[FORMULAS_MAX];
  const columns *at = &s->columns;
  const size_t count = formulas_usual(explanation_is_good(&s->best) ? s->best.how.formula.base : 0.0, usual, at->pairs);
  for (size_t n = 0; n < count && !explanation_is_exact(s, &s->best); n++) trial_formulas(s, at, &usual[n], 1);
  if (!all_rows || s->sampling.step == 1 || explanation_is_good(&s->best)) return;
  s->sampling.count = s->sampling.first + (s->sampling.count - 1) * s->sampling.step + 1;
  s->sampling.first = 0;
  s->sampling.step = 1;
  for (size_t n = 0; n < count && !explanation_is_exact(s, &s->best); n++) trial_formulas(s, at, &usual[n], 1);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

bool search_open(search *s, const identify_request *request) {
  *s = (search){.request = request};
  if (!window_read(&s->window, request->table)) return false;
  s->sampling = window_sampling(&s->window);
  s->run = s->sampling.step;
  s->known = s->window.count;
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

/* Sets the offset of the waves if the columns agree on one that is larger than rounding errors. */
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
  trial_formulas(s, &s->columns, formulas, count);
  if (explanation_is_good(&s->best) && evident) refine_base(s, &s->sampling);
  const bool on_line = count > 0 && formulas[0].most;
  if (evident && !on_line && !explanation_is_rounding(s, &s->best)) search_scaled(s, formulas, count);
  /* The second pass is for recipes whose angles are less accurate than f32, so that many positions nearly fit. */
  for (int turn = 0; turn < 2; turn++) {
    s->coarse = turn;
    const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
    const bool told = wide ? explanation_is_rounding(s, &s->best)
                           : explanation_is_scaled(&s->best) || explanation_is_within(s, &s->best, 0.05);
    if (turn && !told) trial_formulas(s, &s->columns, formulas, count);
    if (!explanation_is_exact(s, &s->best) && !explanation_is_within(s, &s->best, 0.25) && s->columns.pairs > 1 &&
        !explanation_is_scaled(&s->best))
      explain_usual(s, turn);
  }
  s->coarse = false;
  if (evident && on_line && !explanation_is_rounding(s, &s->best)) search_scaled(s, formulas, count);
  const sampling all = waves_spread(&s->window, &s->sampling);
  if (explanation_is_good(&s->best) && evident && !explanation_is_scaled(&s->best)) refine_base(s, &all);
  if (count > 0 && formulas[0].tight && !explanation_is_good(&s->best)) trial_far(s, &s->columns, &formulas[0]);
  if (!explanation_is_good(&s->best)) search_list(s);
  return count;
}
