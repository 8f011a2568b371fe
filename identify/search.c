/* SPDX-License-Identifier: MIT */
#include "identify/search.h"

#include "identify/list.h"
#include "identify/scalings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows with which all are compared at first. */
enum { FEW_ROWS = 5, SOME_ROWS = 33 };

static bool is_scaled(const explanation *e) {
  return e->found && e->how.formula.scaling.kind != POSENC_SCALING_NONE;
}

/* Digits by which a formula must be plainer to be the only one, and so many that nobody writes them. */
enum { PLAINER = 2, NOBODYS = 8 };

/* ---- distances ----------------------------------------------------------------------------------- */

/* The distance of the closest of all from more and more rows of the window, the first few or more, until it is more than `limit`. */
static double distance_of(makers *m, const window *w, double limit) {
  static const int64_t stages[] = {FEW_ROWS, SOME_ROWS, INT64_MAX};
  double closest = INFINITY;
  for (size_t stage = 0; stage < sizeof stages / sizeof *stages; stage++) {
    const int64_t rows = stages[stage] < w->count ? stages[stage] : w->count;
    double least = INFINITY;
    for (size_t n = 0; n < m->count; n++) {
      maker *by = &m->all[n];
      if (stage && maker_distance(by) > closest) continue;
      *by = (maker){.kernel = by->kernel, .plan = by->plan};
      for (int64_t k = 0; k < rows; k++) {
        const int64_t row = rows > 1 ? k * (w->count - 1) / (rows - 1) : 0;
        if (!w->zero[row]) makers_compare(m, by, row, window_row(w, row));
      }
      if (by->compared) least = fmin(least, maker_distance(by));
    }
    closest = least;
    if (closest > limit || rows == w->count) break;
  }
  return closest;
}

int64_t search_mark_bad(search *s, makers *m, const maker *by, double least) {
  const int64_t dim = m->how.columns.dim, rows = SOME_ROWS < s->window.count ? SOME_ROWS : s->window.count;
  int64_t *off = calloc((size_t)dim, sizeof *off), bad = 0, compared = 0;
  if (!off) {
    s->failed = true;
    return 0;
  }
  for (int64_t k = 0; k < rows; k++) {
    const int64_t row = rows > 1 ? k * (s->window.count - 1) / (rows - 1) : 0;
    if (s->window.zero[row] || isnan(making_position(&m->how, row))) continue;
    const double *made = makers_row(m, by, row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < dim; c++)
      off[c] += fabs(made[c] - there[c]) > fmax(makers_room(m, row, c), least * m->how.amplitude);
    compared++;
  }
  for (int64_t c = 0; c < dim; c++) bad += s->bad[c] = off[c] * 2 > compared;
  free(off);
  return bad <= columns_spare(m->how.columns.pairs) ? bad : 0;
}

/* What comes first is plainer: anything else must be much closer. */
static bool is_better(const explanation *than, double distance) {
  const double much = 0.25;
  return !than->found || distance < much * than->distance;
}

static const double good_part = 0.01;

bool explanation_is_good(const explanation *e) {
  return e->found && e->distance <= good_part * e->how.amplitude * e->how.amplitude;
}

static bool is_done(const search *s, const explanation *e) {
  return s->failed || (e->found && !(e->distance > 0.0));
}

/* Is it off by no more than so many units of the dtype, the root of the mean square? */
static bool is_within(const search *s, const explanation *e, double units) {
  const double most = units * ldexp(e->how.amplitude, -format_of(s->window.held)->precision);
  return e->found && e->distance <= most * most;
}

static bool is_close(const search *s, const explanation *e) {
  return is_within(s, e, 4.0);
}

/* Do roundings of recipes explain what most values are off? */
static bool is_explained(search *s, const explanation *e) {
  makers m;
  int64_t off = 0, compared = 0;
  if (is_close(s, e) || s->failed) return true;
  if (!explanation_is_good(e)) return false;
  if (!makers_open(&m, &e->how, false, s->window.count, NULL, 0)) {
    s->failed = true;
    return true;
  }
  const int64_t rows = SOME_ROWS < s->window.count ? SOME_ROWS : s->window.count;
  for (int64_t k = 0; k < rows; k++) {
    const int64_t row = rows > 1 ? k * (s->window.count - 1) / (rows - 1) : 0;
    if (s->window.zero[row] || isnan(making_position(&m.how, row))) continue;
    const double *made = makers_row(&m, &m.all[0], row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < m.how.columns.dim; c++) off += fabs(made[c] - there[c]) > makers_room(&m, row, c);
    compared += m.how.columns.dim;
  }
  makers_close(&m);
  return off * 20 <= compared;
}

bool search_leaves_curve(search *s, const making *how) {
  makers m;
  double squares = 0.0, changes = 0.0, *left = calloc((size_t)how->columns.dim, sizeof *left);
  const bool enough = left && makers_open(&m, how, false, s->window.count, NULL, 0);
  if (!enough) s->failed = true;
  for (int64_t row = 0; enough && row < s->window.count; row++) {
    if (s->window.zero[row] || isnan(making_position(how, row))) continue;
    const double *made = makers_row(&m, &m.all[0], row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < how->columns.dim; c++) {
      const double here = there[c] - made[c], change = here - left[c];
      squares += here * here;
      changes += change * change;
      left[c] = here;
    }
  }
  if (enough) makers_close(&m);
  free(left);
  return changes < squares;
}

/* Are a few rows so far from exact that no recipe would write them? */
static bool is_hopeless(search *s, const making *how) {
  const double most = 0.35 * how->amplitude * how->amplitude;
  makers m;
  if (!makers_open(&m, how, false, s->window.count, NULL, 0)) {
    s->failed = true;
    return true;
  }
  const bool hopeless = distance_of(&m, &s->window, 0.0) > most;
  makers_close(&m);
  return hopeless;
}

/* Damaged columns are left out where others are explained without them. */
static void consider(search *s, const making *how, explanation *e) {
  const double damage = 0.1, limit = e->found ? e->distance : INFINITY;
  makers m;
  if (is_hopeless(s, how)) return;
  if (!makers_open(&m, how, false, s->window.count, s->request->kernels, s->request->kernel_count)) {
    s->failed = true;
    return;
  }
  double distance = distance_of(&m, &s->window, limit);
  if (distance > 0.1 * good_part * how->amplitude * how->amplitude && search_mark_bad(s, &m, &m.all[0], damage)) {
    m.how.bad = s->bad;
    distance = distance_of(&m, &s->window, limit);
  }
  if (is_better(e, distance))
    *e = (explanation){.found = true,
                       .how = *how,
                       .damaged = m.how.bad != NULL,
                       .distance = distance,
                       .original_least = how->formula.scaling.original,
                       .original_most = how->formula.scaling.original};
  else if (e->found && distance <= e->distance && fabs(how->start.first - e->how.start.first) > 0.5)
    e->starts++;
  makers_close(&m);
}

/* ---- amplitudes and positions ---------------------------------------------------------------------- */

/* Amplitudes that the values may have: 1, that of a scaling, a plain number, the largest value, or as it was estimated; of
   some positions, the first alone. */
static void consider_amplitudes(search *s, making *how, const estimate *amplitude, bool all, explanation *e) {
  const double unit = ldexp(1.0, -format_of(how->held)->precision);
  const double sums = 64.0 * 0x1p-53; /* what doubles lose on the way */
  const double room = amplitude->error + amplitude->value * fmax(unit / 4.0, sums);
  const double close = 0.05; /* where angles are wrong, so is the estimate */
  posenc_scaling told;
  const double attention = scalings_attention(&how->formula.scaling, amplitude->value, room + unit, &told);
  const double tried[] = {1.0, attention > 0.0 ? attention : 1.0,
                          plainest(amplitude->value, room / amplitude->value).value, amplitude->value, s->window.most};
  how->amplitude_error = room;
  for (size_t n = 0; n < sizeof tried / sizeof *tried && !is_done(s, e); n++) {
    how->amplitude = tried[n];
    if (fabs(how->amplitude - amplitude->value) > (n ? room + unit : close)) continue;
    consider(s, how, e);
    if (!all) break;
  }
}

/* Where several whole positions are left, by those who round positions, each is tried, from the middle on. */
static void consider_positions(search *s, making *how, const estimate *amplitude, explanation *e) {
  enum { MOST = 257 };
  const int64_t least = how->start.least, most = how->start.most;
  if (least >= most || most - least >= MOST) {
    consider_amplitudes(s, how, amplitude, true, e);
    return;
  }
  for (int64_t n = 0, middle = least + (most - least) / 2; n <= most - least && !is_done(s, e); n++) {
    how->start = start_at(middle + (n % 2 ? (n + 1) / 2 : -(n / 2)));
    consider_amplitudes(s, how, amplitude, false, e);
  }
}

/* Positions that were rounded look like the middle of those that were. */
static void widen(int64_t run, start *at) {
  if (run <= 1 || !start_is_whole(at)) return;
  at->least -= run;
  at->most += run;
}

/* ---- formulas -------------------------------------------------------------------------------------- */

static making making_of(const search *s, const columns *at, const formula *f) {
  return (making){.formula = *f,
                  .columns = *at,
                  .held = s->window.held,
                  .offset = s->window.offset,
                  .offset_error = s->offset.error,
                  .step = 1};
}

/* First positions that phases tell are considered: whole ones, or the others. */
typedef struct way {
  double relative; /* errors of angles, as a part of them */
  bool whole, far;
} way;

static void explain_starts(search *s, making *how, const way *by, const estimate *amplitude, explanation *found) {
  enum { STARTS = 64 };
  start starts[STARTS];
  const int64_t farthest = by->far ? INT64_C(1) << 41 : POSITION_NEAR;
  const phase_clock c = {s->phases, s->w, how->columns.pairs, by->relative,
                         (double)(s->sampling.first + s->sampling.step * s->sampling.count)};
  const size_t count = starts_find(&c, farthest, starts, by->far ? 2 : STARTS);
  for (size_t n = 0; n < count && !is_done(s, found); n++) {
    how->start = starts[n];
    if (start_is_whole(&how->start) != by->whole) continue;
    widen(s->run, &how->start);
    consider_positions(s, how, amplitude, found);
  }
}

/* A formula of frequencies, with the first position that phases tell; of rows in this order or in the other one. */
static void explain_order(search *s, const columns *at, const formula *f, int step, bool far, explanation *found) {
  /* Errors that recipes' angles have: of double, f32, TF32 and bf16. Very far out, only double keeps its phase. */
  static const double relative[] = {1e-15, 5e-7, 5e-4, 8e-3};
  const double *ways = relative + (s->coarse ? 2 : 0);
  const double quarter = 1.57079632679489662; /* the phase of a cosine, less that of a sine */
  estimate amplitude;
  const bool alone = at->part != COLUMNS_BOTH;
  formula_frequencies(f, at->pairs, s->w);
  for (int64_t i = 0; i < at->pairs; i++) s->w[i] *= step;
  waves_phases(&s->window, at, &s->sampling, s->w, s->phases, &amplitude);
  if (isinf(amplitude.error)) return;
  /* Cosines of reversed rows are those of the opposite positions. */
  for (int sine = alone && step < 0; sine <= alone; sine++) {
    making how = making_of(s, at, f);
    how.step = step;
    if (sine) how.columns.part = COLUMNS_SIN;
    for (int64_t i = 0; sine && i < at->pairs; i++) s->phases[i].value += quarter;
    for (int n = 0; n < (far ? 1 : 4) && !s->failed; n++) {
      /* Between whole positions only where roundings do not explain whole ones. */
      if (explanation_is_good(found) && (n < 2 || is_explained(s, found))) continue;
      explain_starts(s, &how, &(way){ways[n % 2], n < 2, far}, &amplitude, found);
    }
    for (int64_t i = 0; sine && i < at->pairs; i++) s->phases[i].value -= quarter;
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

static void weigh(search *s, const explanation *e) {
  explanation *best = &s->best;
  if (!e->found) return;
  if (is_better(best, e->distance)) {
    *best = *e, s->also.found = false;
  } else if (e->distance <= best->distance && is_same(&e->how.formula, &best->how.formula)) {
    best->original_least = e->original_least < best->original_least ? e->original_least : best->original_least;
    best->original_most = e->original_most > best->original_most ? e->original_most : best->original_most;
  } else if (e->distance <= best->distance && !s->also.found &&
             e->how.formula.digits <= best->how.formula.digits + PLAINER) {
    s->also = *e;
  }
}

/* The plainest formula of those that come as close as any. */
static void explain_all(search *s, const columns *at, const formula *formulas, size_t count) {
  for (size_t n = 0; n < count && !s->failed; n++) {
    if (is_done(s, &s->best) && formulas[n].digits > s->best.how.formula.digits + PLAINER) break;
    const explanation e = explain_by(s, at, &formulas[n], false);
    weigh(s, &e);
  }
}

/* ---- columns that turn the other way -------------------------------------------------------------- */

/* The cosine comes first where most pairs turn backwards; or rows are reversed, which phases tell. */
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

/* Of a base that nobody writes, another with another denominator has the same frequencies. */
static void tell_other_shift(search *s, double pairs) {
  const formula *f = &s->best.how.formula;
  if (f->digits <= NOBODYS || f->shift > 0.0 || f->stretch > 0.0 || f->scaling.kind != POSENC_SCALING_NONE) return;
  s->also = s->best;
  s->also.how.formula.shift = 1.0;
  s->also.how.formula.base = pow(f->base, (pairs - 1.0) / pairs);
}

/* How far frequencies of an explained table are off those of a formula, in s->phases. */
static void drifts_from(search *s, const making *how, const formula *f, const sampling *at) {
  formula_frequencies(f, how->columns.pairs, s->w);
  for (int64_t i = 0; i < how->columns.pairs; i++) s->w[i] *= how->step;
  waves_drifts(&s->window, &how->columns, at, s->w, s->phases);
  for (int64_t i = 0; i < how->columns.pairs; i++) {
    s->w[i] *= how->step;
    s->phases[i].value *= how->step;
  }
}

/* A base that is no plain number, once all is known but for its last digits: for every denominator, as slopes do not tell
   them apart. The denominator dim / 2 comes first, unless another has the plainer base. */
static void refine_base(search *s) {
  static const double shifts[] = {0.0, 1.0, 0.5};
  const explanation old = s->best;
  const formula from = old.how.formula;
  const columns at = old.how.step > 0 ? old.how.columns : columns_exchanged(&old.how.columns);
  const double pairs = (double)at.pairs;
  if (is_done(s, &old) && (from.digits <= NOBODYS || !(from.shift > 0.0))) return;
  if (from.digits > NOBODYS) s->best.found = s->also.found = false;
  for (size_t n = 0; n < sizeof shifts / sizeof *shifts && !is_done(s, &s->best); n++) {
    formula f = from, refined[FORMULAS_MAX];
    if (pairs - shifts[n] <= 0.0) continue;
    f.base = pow(from.base, (pairs - shifts[n]) / (pairs - from.shift));
    f.shift = shifts[n];
    drifts_from(s, &old.how, &f, &s->sampling);
    explain_all(s, &at, refined, formulas_refined(&f, s->phases, at.pairs, refined));
  }
  weigh(s, &old);
  tell_other_shift(s, pairs);
}

/* ---- formulas that frequencies do not tell ----------------------------------------------------------- */

/* The formulas that models have, where frequencies could not be told, or only nearly; and if rows come in runs, from all of them. */
static void explain_usual(search *s, bool all_rows) {
  formula usual[FORMULAS_MAX];
  const columns *at = &s->columns;
  const size_t count = formulas_usual(explanation_is_good(&s->best) ? s->best.how.formula.base : 0.0, usual, at->pairs);
  for (size_t n = 0; n < count && !is_done(s, &s->best); n++) explain_all(s, at, &usual[n], 1);
  if (!all_rows || s->sampling.step == 1 || explanation_is_good(&s->best)) return;
  s->sampling.count = s->sampling.first + (s->sampling.count - 1) * s->sampling.step + 1;
  s->sampling.first = 0;
  s->sampling.step = 1;
  for (size_t n = 0; n < count && !is_done(s, &s->best); n++) explain_all(s, at, &usual[n], 1);
}

/* ---- scalings --------------------------------------------------------------------------------------- */

/* Over the bases that most frequencies have, and those that models have: the n-th, false if it is none of them. */
static bool scaled_base(const formula *formulas, size_t count, size_t n, formula *plain) {
  *plain = formula_plain(n < count ? formulas[n].base : formula_bases[n - count]);
  if (n >= count) return true;
  plain->base_error = formulas[n].base_error;
  return !(formulas[n].shift > 0.0) && formulas[n].digits <= NOBODYS;
}

/* Are frequencies and the first position such that waves of them are what most columns have? */
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

/* Where no formula explains the frequencies: the first position from those that are known, as they are, and with it and the
   amplitude all of them, in s->measured. */
static bool measure(search *s, making *how, estimate *amplitude) {
  enum { STARTS = 8 };
  const double quarter = 1.57079632679489662, relative = 5e-7,
               half = (double)(s->sampling.step * s->sampling.count) / 2.0;
  const columns *at = &s->columns;
  const bool alone = at->part != COLUMNS_BOTH;
  for (int step = 1; step >= -1; step -= 2) {
    *how = making_of(s, &s->columns, &(formula){.scaling = {.factor = 1.0}});
    if (step < 0) how->columns = columns_exchanged(at);
    how->step = step;
    /* Waves of wrong frequencies would have wrong amplitudes. */
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
      if (sine) how->columns.part = COLUMNS_SIN;
      for (int64_t i = 0; sine && i < at->pairs; i++) s->phases[i].value += quarter;
      const size_t count = starts_find(&c, POSITION_NEAR, starts, STARTS);
      for (size_t n = 0; n < count; n++)
        if (start_is_one(&starts[n]) && measure_from(s, how, &starts[n], amplitude)) return true;
      for (int64_t i = 0; sine && i < at->pairs; i++) s->phases[i].value -= quarter;
    }
  }
  return false;
}

/* A scaling, at the position that is known. */
static explanation explain_measured_by(search *s, making *how, const formula *f, const estimate *amplitude) {
  explanation found = {.found = false};
  how->formula = *f;
  consider_amplitudes(s, how, amplitude, true, &found);
  return found;
}

/* How far the waves are off that were measured, and what angles in f32 add: rounding a value to another unit than that of the
   exact one, so often as the angle's error is a part of a unit. */
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

/* Are bad columns such as no wave explains? Those of another frequency belong to another formula. */
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

/* A formula is no farther off than the waves that were measured; in f32 and f64, the last bits are those of its recipe. */
static bool is_as_measured(search *s, const explanation *e, double measured) {
  const double same = 1.1;
  const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
  return wide ? is_explained(s, e) : e->found && e->distance <= same * measured;
}

/* Frequencies that were measured tell a ramp. */
static void explain_measured_ramp(search *s, making *how, const estimate *amplitude, const formula *formulas,
                                  size_t count, double measured, bool damaged) {
  formula scaled[FORMULAS_MAX], plain;
  for (size_t n = 0; n < count + formula_base_count && !s->failed && !is_scaled(&s->best); n++) {
    if (!scaled_base(formulas, count, n, &plain)) continue;
    const size_t found = scalings_find(&plain, s->measured, how->columns.pairs, scaled);
    for (size_t k = 0; k < found; k++) {
      const explanation e = explain_measured_by(s, how, &scaled[k], amplitude);
      if (is_as_measured(s, &e, measured) && (damaged || is_damage(s, &e))) weigh(s, &e);
    }
  }
}

/* Those of no ramp are of longrope, whose factors have two decimals at one base, or else grow. */
static void explain_measured(search *s, making *how, const estimate *amplitude, const formula *formulas, size_t count) {
  formula plain;
  const size_t bases = count + formula_base_count;
  const double measured = measured_distance(s, how, amplitude);
  const int64_t pairs = how->columns.pairs;
  explain_measured_ramp(s, how, amplitude, formulas, count, measured, false);
  for (int decimals = 1; decimals >= 0; decimals--)
    for (size_t n = 0; n < bases && !s->failed && !is_scaled(&s->best); n++) {
      if (!scaled_base(formulas, count, n, &plain)) continue;
      if (!scalings_find_factors(&plain, s->measured, pairs, decimals, s->factors)) continue;
      plain.scaling = (posenc_scaling){.kind = POSENC_SCALING_LONGROPE, .factor = 1.0, .factors = s->factors};
      plain.digits += 5;
      const explanation e = explain_measured_by(s, how, &plain, amplitude);
      weigh(s, &e);
    }
  if (!is_scaled(&s->best)) explain_measured_ramp(s, how, amplitude, formulas, count, measured, true);
}

static void explain_scaled(search *s, const formula *formulas, size_t count) {
  formula scaled[FORMULAS_MAX], plain;
  estimate amplitude;
  making how;
  s->is_measured = measure(s, &how, &amplitude);
  if (s->is_measured) {
    s->of_measured = how;
    explain_measured(s, &how, &amplitude, formulas, count);
    return;
  }
  for (size_t n = 0; n < count + formula_base_count && !is_explained(s, &s->best); n++) {
    if (!scaled_base(formulas, count, n, &plain)) continue;
    const size_t found = scalings_find(&plain, s->frequencies, s->columns.pairs, scaled);
    explain_all(s, &s->columns, scaled, found);
  }
}

/* ---- lists of positions -------------------------------------------------------------------------------- */

/* Of a list, before positions are known: 1, if it is near, as the largest value may be a bit less. */
static double list_amplitude(const search *s) {
  const double near = 0.02;
  return fabs(s->window.most - 1.0) < near ? 1.0 : s->window.most;
}

/* Rows of one position again and again are constants. */
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

static bool explain_list_by(search *s, const columns *at, const formula *f, double relative) {
  making how = making_of(s, at, f);
  formula_frequencies(f, at->pairs, s->w);
  const int64_t known = list_read(&s->window, at, s->w, list_amplitude(s), relative, s->positions);
  if (known < 0) s->failed = true;
  if (known * 20 < s->window.count * 19 || !is_list(s->positions, s->window.count)) return false;
  how.positions = s->positions;
  how.start = (start){.error = relative, .most = -1};
  const estimate amplitude = {list_amplitude(s), ldexp(s->window.most, -format_of(s->window.held)->precision)};
  explanation found = {.found = false};
  consider_amplitudes(s, &how, &amplitude, true, &found);
  if (!explanation_is_good(&found)) return false;
  weigh(s, &found);
  return true;
}

/* Rows at positions in any order, of enough columns that no other row would have a position, too. */
static void explain_list(search *s) {
  enum { PAIRS_LEAST = 4 };
  static const double relative[] = {1e-15, 5e-7};
  if (s->columns.pairs < PAIRS_LEAST) return;
  for (int turn = 0; turn < 2 && !explanation_is_good(&s->best); turn++) {
    formula formulas[FORMULAS_MAX];
    columns at = turn && s->columns.part == COLUMNS_BOTH ? columns_exchanged(&s->columns) : s->columns;
    if (turn && s->columns.part != COLUMNS_BOTH) at.part = COLUMNS_SIN;
    const size_t count = list_formulas(&s->window, &at, formulas);
    for (size_t n = 0; n < count && !explanation_is_good(&s->best) && !s->failed; n++)
      for (size_t r = 0; r < sizeof relative / sizeof *relative && !is_close(s, &s->best); r++)
        explain_list_by(s, &at, &formulas[n], relative[r]);
  }
  if (!explanation_is_good(&s->best) || !s->best.how.positions) return;
  /* The positions of the best: others were tried since. */
  formula_frequencies(&s->best.how.formula, s->best.how.columns.pairs, s->w);
  if (list_read(&s->window, &s->best.how.columns, s->w, list_amplitude(s), s->best.how.start.error, s->positions) < 0)
    s->failed = true;
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

/* What all agree is added to waves, if it is no rounding. */
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
  explain_all(s, &s->columns, formulas, count);
  if (explanation_is_good(&s->best) && evident) refine_base(s);
  const bool on_line = count > 0 && formulas[0].most;
  if (evident && !on_line && !is_explained(s, &s->best)) explain_scaled(s, formulas, count);
  /* Recipes whose angles are not even those of f32: many positions are near then. */
  for (int turn = 0; turn < 2; turn++) {
    s->coarse = turn;
    const bool wide = s->window.held == POSENC_F32 || s->window.held == POSENC_F64;
    const bool told = wide ? is_explained(s, &s->best) : is_scaled(&s->best) || is_within(s, &s->best, 0.05);
    if (turn && !told) explain_all(s, &s->columns, formulas, count);
    if (!is_done(s, &s->best) && !is_within(s, &s->best, 0.25) && s->columns.pairs > 1 && !is_scaled(&s->best))
      explain_usual(s, turn);
  }
  s->coarse = false;
  if (evident && on_line && !is_explained(s, &s->best)) explain_scaled(s, formulas, count);
  if (explanation_is_good(&s->best) && evident && !is_scaled(&s->best)) refine_base(s);
  if (count > 0 && formulas[0].tight && !explanation_is_good(&s->best)) {
    const explanation far = explain_by(s, &s->columns, &formulas[0], true);
    weigh(s, &far);
  }
  if (!explanation_is_good(&s->best)) explain_list(s);
  return count;
}
