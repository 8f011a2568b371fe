/* SPDX-License-Identifier: MIT */
/* The order in which hypotheses on how a table was made are tried. */
#include "inspect/identify/search.h"

#include "common/memory.h"
#include "inspect/identify/formula.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns that turn the other way -------------------------------------------------------------- */

/* Exchanges sines and cosines if most pairs rotate backwards. Either the cosine comes first or the rows are reversed,
   which phases decide later. */
static void reverse_columns(search *s) {
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
static void drifts_from(search *s, const making *how, const formula *f, const sampled_rows *at) {
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
static size_t refined_formulas(search *s, const making *how, const columns *at, const sampled_rows *rows,
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
static void refine_base(search *s, const sampled_rows *rows) {
  enum { DIGITS_MOST = 40 };
  const explanation old = s->best;
  const formula *from = &old.how.formula;
  const columns at = old.how.step > 0 ? old.how.columns : columns_exchanged(&old.how.columns);
  if (explanation_is_exact(&old) && (from->digits <= FORMULA_UNUSUAL || !(from->shift > 0.0))) return;
  if (from->digits < FORMULA_USUAL && explanation_is_within(s, &old, 0.1)) return;
  formula refined[FORMULAS_MAX];
  const size_t count = refined_formulas(s, &old.how, &at, rows, refined);
  s->best.found = s->also.found = false;
  for (int digits = 0; digits <= DIGITS_MOST; digits++) {
    for (size_t n = 0; n < count && !explanation_is_exact(&s->best); n++)
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
  for (size_t n = 0; n < count && !explanation_is_exact(&s->best); n++) trial_formulas(s, at, &usual[n], 1);
  if (!all_rows || s->sampling.step == 1 || explanation_is_good(&s->best)) return;
  s->sampling.count = s->sampling.first + (s->sampling.count - 1) * s->sampling.step + 1;
  s->sampling.first = 0;
  s->sampling.step = 1;
  for (size_t n = 0; n < count && !explanation_is_exact(&s->best); n++) trial_formulas(s, at, &usual[n], 1);
}

/* ---- scalings, from frequencies that are measured once the first position is known --------------- */

/* Sets the n-th of the bases that frequencies have and that models have. Returns false if that one is not usable. */
static bool scaled_base(const formula *formulas, size_t count, size_t n, formula *plain) {
  *plain = formula_plain(n < count ? formulas[n].base : formula_bases[n - count]);
  if (n >= count) return true;
  plain->base_error = formulas[n].base_error;
  return !(formulas[n].shift > 0.0) && formulas[n].digits <= FORMULA_UNUSUAL;
}

/* Whether most columns are waves of these frequencies, from this first position. */
static bool measure_from(search *s, making *how, const start *first, estimate *amplitude) {
  const int64_t pairs = how->columns.pairs;
  int64_t explained = 0;
  how->start = *first;
  waves_refit(&s->window, &how->columns, first->first, how->step, *amplitude, s->frequencies, s->measured);
  estimate sharper = waves_amplitude(&s->window, &how->columns, first->first, how->step, *amplitude, s->measured);
  if (isfinite(sharper.error)) {
    const posenc_scaling longrope = {.kind = POSENC_SCALING_LONGROPE, .factor = 1.0};
    posenc_scaling told;
    const double attention = scalings_attention(&longrope, sharper.value, sharper.error, &told);
    if (!(told.attention > 0.0)) sharper = (estimate){attention > 0.0 ? attention : 1.0, 0.0};
    *amplitude = sharper;
    waves_refit(&s->window, &how->columns, first->first, how->step, *amplitude, s->frequencies, s->measured);
  }
  for (int64_t i = 0; i < pairs; i++) explained += isfinite(s->measured[i].error);
  return explained >= pairs - columns_spare(pairs);
}

/* Finds the first position from known frequencies, if no formula explains them; and with it the amplitude, and all
   frequencies in s->measured. Returns false if there is no such position. */
static bool measure(search *s, making *how, estimate *amplitude) {
  enum { STARTS = 8 };
  const double relative = 5e-7, half = (double)(s->sampling.step * s->sampling.count) / 2.0;
  const columns *at = &s->columns;
  const bool alone = at->part != TABLE_BOTH;
  for (int step = 1; step >= -1; step -= 2) {
    *how = trial_making(s, &s->columns, &(formula){.scaling = {.factor = 1.0}});
    if (step < 0) how->columns = columns_exchanged(at);
    how->step = step;
    /* Waves of wrong frequencies have wrong amplitudes, so unknown frequencies are not used. */
    for (int64_t i = 0; i < at->pairs; i++)
      s->w[i] = formula_mark(&s->frequencies[i]) ? (long double)(step * s->frequencies[i].value) : 0.0L;
    waves_phases(&s->window, &how->columns, &s->sampling, s->w, s->phases, amplitude);
    for (int64_t i = 0; i < at->pairs; i++)
      s->phases[i].error =
          formula_mark(&s->frequencies[i]) ? s->phases[i].error + 3.0 * half * s->frequencies[i].error : INFINITY;
    for (int sine = alone && step < 0; sine <= alone && isfinite(amplitude->error); sine++) {
      start starts[STARTS];
      const phase_clock c = {s->phases, s->w, at->pairs, relative,
                             (double)(s->sampling.first + s->sampling.step * s->sampling.count)};
      if (sine) {
        how->columns.part = TABLE_SIN;
        trial_shift_phases(s, at->pairs, 1);
      }
      const size_t count = starts_find(&c, POSITION_NEAR, starts, STARTS);
      for (size_t n = 0; n < count; n++)
        if (start_is_one(&starts[n]) && measure_from(s, how, &starts[n], amplitude)) return true;
      if (sine) trial_shift_phases(s, at->pairs, -1);
    }
  }
  return false;
}

/* Returns the explanation of a formula at the known position. */
static explanation explain_measured_by(search *s, making *how, const formula *f, const estimate *amplitude) {
  explanation found = {.found = false};
  how->formula = *f;
  explain_amplitudes(s, how, amplitude, true, &found);
  return found;
}

/* Returns the distance of the measured waves, and of angles in f32. Such an angle rounds a value to a neighbouring
   number with a probability that equals its error in units. */
static double measured_distance(search *s, making *how, const estimate *amplitude) {
  const int64_t pairs = how->columns.pairs;
  const double unit = ldexp(amplitude->value, -format_of(s->window.held)->precision),
               middle = fabs(how->start.first + how->step * (double)s->window.count / 2.0);
  formula f = formula_plain(formula_bases[0]);
  double angles = 0.0;
  formula_frequencies(&f, pairs, s->w);
  for (int64_t i = 0; i < pairs; i++) {
    const double w = s->measured[i].value;
    s->factors[i] = w > 0.0 ? (double)s->w[i] / w : 1.0;
    angles += w * middle / (double)pairs;
  }
  f.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .factors = s->factors};
  const explanation found = explain_measured_by(s, how, &f, amplitude);
  return found.found ? found.distance + 0x1p-24 * amplitude->value * angles * unit : INFINITY;
}

/* Whether no wave explains the columns that were left out. A column with another frequency is not damaged, but belongs
   to another formula. */
static bool is_damage(const search *s, const explanation *e) {
  const columns *at = &e->how.columns;
  for (int64_t c = 0; e->damaged && c < at->dim; c++) {
    bool cosine;
    const int64_t i = columns_index(at, c, &cosine), other = columns_of(at, i, !cosine);
    const bool both = other < 0 || s->bad[other];
    if (s->bad[c] && both && isfinite(s->measured[i].error)) return false;
  }
  return true;
}

/* Whether a formula explains the values as well as the measured waves. In f32 and f64, it may differ in the last bits,
   which depend on the recipe. */
static bool is_as_measured(search *s, const explanation *e, double measured) {
  const double same = 1.1;
  const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
  return wide ? explanation_is_rounding(s, e) : e->found && e->distance <= same * measured;
}

/* Tries scalings with a ramp, which the measured frequencies determine. */
static void explain_measured_ramp(search *s, making *how, const estimate *amplitude, const formula *formulas,
                                  size_t count, double measured, bool damaged) {
  formula scaled[FORMULAS_MAX], plain;
  for (size_t n = 0; n < count + formula_base_count && !explanation_is_scaled(&s->best); n++) {
    if (!scaled_base(formulas, count, n, &plain)) continue;
    const size_t found = scalings_find(&plain, s->measured, how->columns.pairs, scaled);
    for (size_t k = 0; k < found; k++) {
      const explanation e = explain_measured_by(s, how, &scaled[k], amplitude);
      if (is_as_measured(s, &e, measured) && (damaged || is_damage(s, &e))) trial_weigh(s, &e);
    }
  }
}

/* Tries scalings with a ramp, then longrope, whose factors have two decimals at one base, or else grow. */
static void explain_measured(search *s, making *how, const estimate *amplitude, const formula *formulas, size_t count) {
  formula plain;
  const size_t bases = count + formula_base_count;
  const double measured = measured_distance(s, how, amplitude);
  const int64_t pairs = how->columns.pairs;
  explain_measured_ramp(s, how, amplitude, formulas, count, measured, false);
  for (int decimals = 1; decimals >= 0; decimals--)
    for (size_t n = 0; n < bases && !explanation_is_scaled(&s->best); n++) {
      if (!scaled_base(formulas, count, n, &plain)) continue;
      if (!scalings_find_factors(&plain, s->measured, pairs, decimals, s->factors)) continue;
      plain.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .factors = s->factors};
      plain.digits += 5;
      const explanation e = explain_measured_by(s, how, &plain, amplitude);
      trial_weigh(s, &e);
    }
  if (!explanation_is_scaled(&s->best)) explain_measured_ramp(s, how, amplitude, formulas, count, measured, true);
}

static void search_scaled(search *s, const formula *formulas, size_t count) {
  formula scaled[FORMULAS_MAX], plain;
  estimate amplitude;
  making how;
  s->is_measured = measure(s, &how, &amplitude);
  if (s->is_measured) {
    s->of_measured = how;
    explain_measured(s, &how, &amplitude, formulas, count);
    return;
  }
  for (size_t n = 0; n < count + formula_base_count && !explanation_is_rounding(s, &s->best); n++) {
    if (!scaled_base(formulas, count, n, &plain)) continue;
    const size_t found = scalings_find(&plain, s->frequencies, s->columns.pairs, scaled);
    trial_formulas(s, &s->columns, scaled, found);
  }
}

/* ---- lists of positions: rows in any order ------------------------------------------------------- */

/* Returns the amplitude that is used before positions are known: 1 if the largest value is near that, as it may be a
   little smaller. */
static double list_amplitude(const search *s) {
  const double near = 0.02;
  return fabs(s->window.most - 1.0) < near ? 1.0 : s->window.most;
}

/* Whether the positions change often enough to be a list. Rows of one position are constants. */
static bool is_list(const double *positions, int64_t count) {
  enum { CHANGES_LEAST = 3 };
  int64_t changes = 0;
  double last = (double)NAN;
  for (int64_t r = 0; r < count; r++) {
    if (isnan(positions[r])) continue;
    changes += !isnan(last) && fabs(positions[r] - last) > 0.0;
    last = positions[r];
  }
  return changes >= CHANGES_LEAST;
}

/* Sets the positions of rows that s->told explains in half of their elements, or more, and NaN for the others. first:
   the number of the window's first row in the file. */
static void keep_told(const search *s, const table_window *w, int64_t first, double *positions) {
  makers m;
  for (int64_t r = 0; r < w->count; r++) positions[r] = (double)NAN;
  if (!s->told) return;
  makers_open(&m, s->told, false, w->rows);
  for (int64_t r = 0; r < w->count; r++) {
    const double *made = makers_row(&m, &m.all[0], first + r), *there = window_row(w, r);
    int64_t off = 0;
    for (int64_t c = 0; c < s->told->columns.dim; c++)
      off += !(fabs(made[c] - there[c]) <= makers_room(&m, first + r, c));
    if (!w->zero[r] && off * 2 < s->told->columns.dim) positions[r] = making_position(s->told, first + r);
  }
  makers_close(&m);
}

/* Reads the positions of the rows of a window, of which s->w has the frequencies. Returns how many are known. */
static int64_t read_list(const search *s, const table_window *w, int64_t first, const columns *at, double relative,
                         double *positions) {
  keep_told(s, w, first, positions);
  return list_read(w, at, s->w, list_amplitude(s), relative, positions);
}

/* Returns the number of rows that are read, if these explain the window; else 0. */
static int64_t explain_list_by(search *s, const columns *at, const formula *f, double relative) {
  making how = trial_making(s, at, f);
  formula_frequencies(f, at->pairs, s->w);
  const int64_t known = read_list(s, &s->window, 0, at, relative, s->positions);
  if (known * 20 < s->window.count * 19 || !is_list(s->positions, s->window.count)) return 0;
  how.positions = s->positions;
  how.start = (start){.error = relative, .most = -1};
  const estimate amplitude = {list_amplitude(s), ldexp(s->window.most, -format_of(s->window.held)->precision)};
  explanation found = {.found = false};
  explain_amplitudes(s, &how, &amplitude, true, &found);
  if (!explanation_is_good(&found)) return 0;
  trial_weigh(s, &found);
  return known;
}

/* Reads rows with exact angles, then with those of f32, if rows are not explained or not read. */
static void explain_list(search *s, const columns *at, const formula *f) {
  const double of_f32 = 5e-7;
  const explanation before = s->best;
  int64_t rows = 0;
  for (int64_t r = 0; r < s->window.count; r++) rows += !s->window.zero[r];
  const int64_t known = explain_list_by(s, at, f, 1e-15);
  if (known == rows && explanation_is_within(s, &s->best, 4.0)) return;
  const explanation first = s->best;
  if (known < rows) s->best = before;
  const int64_t noisy = explain_list_by(s, at, f, of_f32);
  if (known < rows && noisy <= known) s->best = first;
}

/* A table must have enough columns that no other row has a position by chance. */
enum { LIST_PAIRS_LEAST = 4 };

/* Restores the positions of the best explanation, because others were tried after it. */
static void restore_list(search *s) {
  const making *how = &s->best.how;
  if (!explanation_is_good(&s->best) || !how->positions) return;
  formula_frequencies(&how->formula, how->columns.pairs, s->w);
  read_list(s, &s->window, 0, &how->columns, how->start.error, s->positions);
}

void search_list_of(search *s, const making *how) {
  s->columns = how->columns;
  if (how->columns.pairs >= LIST_PAIRS_LEAST) explain_list(s, &how->columns, &how->formula);
  restore_list(s);
}

void search_list(search *s) {
  if (s->columns.pairs < LIST_PAIRS_LEAST) return;
  for (int pass = 0; pass < 2 && !explanation_is_good(&s->best); pass++) {
    formula formulas[FORMULAS_MAX];
    columns at = pass && s->columns.part == TABLE_BOTH ? columns_exchanged(&s->columns) : s->columns;
    if (pass && s->columns.part != TABLE_BOTH) at.part = TABLE_SIN;
    const size_t count = list_formulas(&s->window, &at, formulas);
    for (size_t n = 0; n < count && !explanation_is_good(&s->best); n++) explain_list(s, &at, &formulas[n]);
  }
  restore_list(s);
}

double *search_list_all(search *s) {
  const making *how = &s->best.how;
  const table_window *w = &s->window;
  double *all = memory_take((size_t)w->rows, sizeof *all);
  memcpy(all, s->positions, (size_t)w->count * sizeof *all);
  formula_frequencies(&how->formula, how->columns.pairs, s->w);
  for (int64_t row = w->count; row < w->rows;) {
    table_window next;
    window_read(&next, s->request->table, row);
    next.offset = w->offset;
    read_list(s, &next, row, &how->columns, how->start.error, all + row);
    row += next.count;
    window_free(&next);
  }
  return all;
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

void search_open(search *s, const identify_request *request) {
  *s = (search){.request = request};
  window_read(&s->window, request->table, 0);
  s->sampling = window_sampling(&s->window);
  s->run = s->sampling.step;
  s->known = s->window.count;
  const size_t pairs = (size_t)s->window.dim + 1;
  s->frequencies = memory_take(pairs, sizeof *s->frequencies);
  s->measured = memory_take(pairs, sizeof *s->measured);
  s->phases = memory_take(pairs, sizeof *s->phases);
  s->w = memory_take(pairs, sizeof *s->w);
  s->factors = memory_take(pairs, sizeof *s->factors);
  s->bad = memory_take(pairs, sizeof *s->bad);
  s->positions = memory_take((size_t)s->window.count, sizeof *s->positions);
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

void search_columns(search *s) {
  find_offset(s);
  s->columns = columns_find(&s->window);
  waves_frequencies(&s->window, &s->columns, &s->sampling, s->frequencies);
  if (s->columns.part == TABLE_BOTH) reverse_columns(s);
}

/* Tries a formula at first positions that explain phases with errors of f32. */
static void explain_noisy(search *s, const making *by) {
  enum { MOST = 16 };
  int64_t starts[MOST];
  size_t count;
  const estimate amplitude = {by->amplitude, ldexp(s->window.most, -format_of(s->window.held)->precision)};
  making how = trial_making(s, &s->columns, &by->formula);
  formula_frequencies(&by->formula, s->columns.pairs, s->w);
  length_starts(s, starts, &count, MOST);
  for (size_t n = 0; n < count; n++) {
    explanation found = {.found = false};
    how.start = start_at(starts[n]);
    explain_amplitudes(s, &how, &amplitude, true, &found);
    trial_weigh(s, &found);
  }
}

/* Finds how a table in the columns and rows of `at` is made that has the formula of the next expected problem of one
   axis. n: 0 at first. Returns false if there are no more. */
static bool next_expected(const search *s, const making *at, size_t *n, making *how) {
  const suspect_list *expected = s->request->expected;
  while (expected && *n < expected->count) {
    const posenc_problem *problem = &expected->items[(*n)++].problem;
    if (!problem->axes && making_with(at, problem, how)) return true;
  }
  return false;
}

/* Tries the formulas of expected problems where the best one is: a base that was measured is a rounded one. */
static void explain_expected_there(search *s) {
  const making at = s->best.how;
  const estimate amplitude = {at.amplitude, at.amplitude_error};
  making how;
  for (size_t n = 0; next_expected(s, &at, &n, &how) && !explanation_is_exact(&s->best);) {
    explanation found = {.found = false};
    explain_amplitudes(s, &how, &amplitude, true, &found);
    trial_weigh(s, &found);
  }
}

/* Tries the formulas of expected problems at far positions, where the phases that code in f32 leaves are no guide to
   another formula. */
static void explain_expected_noisy(search *s) {
  const making at = {.columns = s->columns};
  making how;
  for (size_t n = 0; next_expected(s, &at, &n, &how) && !explanation_is_rounding(s, &s->best);) explain_noisy(s, &how);
}

/* Tries the formulas of expected problems, near 0, then far from it, where values in 16 bits tell no formula. One that
   roundings do not explain is dropped: others may be closer. */
static void explain_expected(search *s) {
  const making at = {.columns = s->columns};
  making how;
  for (size_t n = 0; next_expected(s, &at, &n, &how) && !explanation_is_good(&s->best);) {
    trial_formulas(s, &s->columns, &how.formula, 1);
    if (!explanation_is_good(&s->best)) trial_far(s, &s->columns, &how.formula);
    if (!explanation_is_rounding(s, &s->best)) s->best.found = s->also.found = false;
  }
}

size_t search_run(search *s) {
  formula formulas[FORMULAS_MAX];
  search_columns(s);
  const size_t count = formulas_find(s->frequencies, s->columns.pairs, formulas);
  const bool evident = s->columns.pairs >= FORMULA_EVIDENT;
  trial_formulas(s, &s->columns, formulas, count);
  if (explanation_is_good(&s->best) && evident) refine_base(s, &s->sampling);
  if (!explanation_is_good(&s->best)) explain_expected(s);
  const bool on_line = count > 0 && formulas[0].most;
  if (evident && !on_line && !explanation_is_rounding(s, &s->best)) search_scaled(s, formulas, count);
  /* The second pass is for recipes whose angles are less accurate than f32, so that many positions nearly fit. */
  for (int pass = 0; pass < 2; pass++) {
    s->coarse = pass;
    const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
    const bool told = wide ? explanation_is_rounding(s, &s->best)
                           : explanation_is_scaled(&s->best) || explanation_is_within(s, &s->best, 0.05);
    if (pass && !told) trial_formulas(s, &s->columns, formulas, count);
    if (!explanation_is_exact(&s->best) && !explanation_is_within(s, &s->best, 0.25) && s->columns.pairs > 1 &&
        !explanation_is_scaled(&s->best))
      explain_usual(s, pass);
  }
  s->coarse = false;
  if (evident && on_line && !explanation_is_rounding(s, &s->best)) search_scaled(s, formulas, count);
  const sampled_rows all = waves_spread(&s->window, &s->sampling);
  if (explanation_is_good(&s->best) && evident && !explanation_is_scaled(&s->best)) refine_base(s, &all);
  if (count > 0 && formulas[0].tight && !explanation_is_good(&s->best)) trial_far(s, &s->columns, &formulas[0]);
  if (evident && explanation_is_good(&s->best)) explain_expected_there(s);
  if (evident && !explanation_is_rounding(s, &s->best)) explain_expected_noisy(s);
  if (!explanation_is_good(&s->best)) search_list(s);
  return count;
}
