/* SPDX-License-Identifier: MIT */
/* Proves or rejects a hypothesis on how a table was made by writing the table again: some rows of the window, then all
   of the file, which also tells who made it and which columns are damaged. */
#include "inspect/identify/search.h"

#include "common/memory.h"
#include "common/terminal.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- distances ----------------------------------------------------------------------------------- */

void explain_compare(makers *m, maker *by, const table_window *w, int64_t rows) {
  *by = maker_afresh(by);
  for (int64_t n = 0; n < rows && n < w->count; n++) {
    const int64_t row = window_sample(w, rows, n);
    if (row >= 0) makers_compare(m, by, row, window_row(w, row));
  }
}

/* Adds the elements of a row that are no part of bad columns. */
static void add_differences(makers *m, int64_t row, const double *there, differences *d) {
  const double *made = makers_row(m, &m->all[0], row);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    if (m->how.bad && m->how.bad[c]) continue;
    d->elements++;
    if (fabs(there[c] - made[c]) <= makers_room(m, row, c)) continue;
    if (d->unexplained++ == 0) d->row = row, d->column = c;
  }
}

differences explain_differences(makers *m, const table_window *w, int64_t rows, bool all) {
  const int64_t most = rows * m->how.columns.dim / UNEXPLAINED_ONE_IN;
  differences d = {0};
  for (int64_t n = 0; n < rows && (all || d.unexplained <= most); n++) {
    const int64_t row = window_sample(w, rows, n);
    if (row >= 0 && !isnan(making_position(&m->how, row))) add_differences(m, row, window_row(w, row), &d);
  }
  return d;
}

/* Returns the distance of the closest maker, from more and more rows of the window until it is more than
   `best_so_far`. */
static double distance_of(makers *m, const table_window *w, double best_so_far) {
  static const int64_t stages[] = {5, WINDOW_SOME_ROWS, INT64_MAX};
  double closest = INFINITY;
  for (size_t stage = 0; stage < sizeof stages / sizeof *stages; stage++) {
    double least = INFINITY;
    for (size_t n = 0; n < m->count; n++) {
      maker *by = &m->all[n];
      if (stage && maker_distance(by) > closest) continue;
      explain_compare(m, by, w, stages[stage]);
      if (by->compared) least = fmin(least, maker_distance(by));
    }
    closest = least;
    if (closest > best_so_far || stages[stage] >= w->count) break;
  }
  return closest;
}

/* Counts for each column in how many of the sampled rows, from the `first`-th on, it differs from a maker's values by
   more than recipes' roundings explain and by more than `least` of the amplitude. Returns the number of these rows. */
static int64_t count_off(const search *s, makers *m, const maker *by, double least, int64_t first, int64_t *off) {
  int64_t compared = 0;
  for (int64_t n = first; n < WINDOW_SOME_ROWS; n++) {
    const int64_t row = window_sample(&s->window, WINDOW_SOME_ROWS, n);
    if (row < 0 || isnan(making_position(&m->how, row))) continue;
    const double *made = makers_row(m, by, row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < m->how.columns.dim; c++)
      off[c] += fabs(made[c] - there[c]) > fmax(makers_room(m, row, c), least * m->how.amplitude);
    compared++;
  }
  return compared;
}

int64_t explain_mark_bad(search *s, makers *m, const maker *by, double least) {
  const int64_t dim = m->how.columns.dim;
  int64_t *off = memory_take((size_t)dim, sizeof *off), bad = 0;
  const int64_t compared = count_off(s, m, by, least, 0, off);
  for (int64_t c = 0; c < dim; c++) bad += s->bad[c] = off[c] * 2 > compared;
  free(off);
  return bad <= columns_spare(m->how.columns.pairs) ? bad : 0;
}

bool explain_is_scattered(search *s, const making *how) {
  enum { FIRST = WINDOW_SOME_ROWS * 3 / 4, ROWS_LEAST = 4 };
  makers m;
  int64_t *off = memory_take((size_t)how->columns.dim, sizeof *off);
  makers_open(&m, how, false, s->window.count);
  const int64_t compared = count_off(s, &m, &m.all[0], 0.0, FIRST, off);
  bool is_scattered = compared >= ROWS_LEAST;
  for (int64_t c = 0; c < how->columns.dim; c++)
    is_scattered = is_scattered && ((how->bad && how->bad[c]) || off[c] * 2 <= compared);
  makers_close(&m);
  free(off);
  return is_scattered;
}

/* ---- how good an explanation is -------------------------------------------------------------------- */

/* Whether a distance is much smaller than that of the explanation, which is kept otherwise because plainer ones come
   first. */
static bool explanation_is_better(const explanation *than, double distance) {
  const double much = 0.25;
  return !than->found || distance < much * than->distance;
}

static const double good_part = 0.01;

bool explanation_is_good(const explanation *e) {
  return e->found && e->distance <= good_part * e->how.amplitude * e->how.amplitude;
}

bool explanation_is_exact(const explanation *e) {
  return e->found && !(e->distance > 0.0);
}

bool explanation_is_within(const search *s, const explanation *e, double units) {
  const double most = units * ldexp(e->how.amplitude, -format_of(s->window.held)->precision);
  return e->found && e->distance <= most * most;
}

bool explanation_is_rounding(search *s, const explanation *e) {
  makers m;
  if (explanation_is_within(s, e, 4.0)) return true;
  if (!explanation_is_good(e)) return false;
  makers_open(&m, &e->how, false, s->window.count);
  const differences d = explain_differences(&m, &s->window, WINDOW_SOME_ROWS, false);
  makers_close(&m);
  return differences_are_rounding(&d);
}

bool explain_leaves_curve(search *s, const making *how) {
  makers m;
  double squares = 0.0, changes = 0.0, *left = memory_take((size_t)how->columns.dim, sizeof *left);
  makers_open(&m, how, false, s->window.count);
  for (int64_t row = 0; row < s->window.count; row++) {
    if (s->window.zero[row] || isnan(making_position(how, row))) continue;
    const double *made = makers_row(&m, &m.all[0], row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < how->columns.dim; c++) {
      const double here = there[c] - made[c], change = here - left[c];
      squares += here * here;
      changes += change * change;
      left[c] = here;
    }
  }
  makers_close(&m);
  free(left);
  return changes < squares;
}

/* ---- proving a hypothesis -------------------------------------------------------------------------- */

/* Adds the kernels that may be near a table at this distance from the exact values: those whose bound is not far below
   it. Returns whether others are left out. */
static bool add_near(const search *s, makers *m, double distance) {
  const identify_request *request = s->request;
  const double amplitude = m->how.amplitude, near = 2.0 * sqrt(good_part) * amplitude;
  const int64_t first = m->first, last = m->first + m->range - 1, farthest = llabs(first) > last ? llabs(first) : last;
  const posenc_kernel **some = memory_take(request->kernel_count, sizeof(*some));
  size_t count = 0;
  for (size_t k = 0; k < request->kernel_count; k++) {
    const double bound = posenc_bound_at(&request->kernels[k]->bound, POSENC_F32, farthest);
    if (!(sqrt(distance) > amplitude * bound + near)) some[count++] = request->kernels[k];
  }
  makers_add(m, some, count);
  free(some);
  return count < request->kernel_count;
}

/* Returns the distance of the closest maker. Damaged columns are left out if the others are explained without them. */
static double distance_without_bad(search *s, makers *m, double best_so_far) {
  const double damage = 0.1, square = m->how.amplitude * m->how.amplitude,
               distance = distance_of(m, &s->window, best_so_far);
  if (!(distance > 0.1 * good_part * square) || !explain_mark_bad(s, m, &m->all[0], damage)) return distance;
  m->how.bad = s->bad;
  return distance_of(m, &s->window, best_so_far);
}

/* Compares a hypothesis with the table and keeps it if it is better. */
static void consider(search *s, const making *how, explanation *e) {
  const double best_so_far = e->found ? e->distance : INFINITY, hopeless = 0.35,
               square = how->amplitude * how->amplitude;
  makers m;
  makers_open(&m, how, false, s->window.count);
  /* A few rows may show such large errors that no recipe can have them. */
  const double at_first = distance_of(&m, &s->window, 0.0);
  if (at_first > hopeless * square) {
    makers_close(&m);
    return;
  }
  const bool has_others = add_near(s, &m, at_first);
  double distance = distance_without_bad(s, &m, best_so_far);
  if (has_others && distance <= 4.0 * good_part * square) {
    makers_close(&m);
    makers_open(&m, how, false, s->window.count);
    add_near(s, &m, 0.0);
    distance = distance_without_bad(s, &m, best_so_far);
  }
  if (explanation_is_better(e, distance))
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

void explain_amplitudes(search *s, making *how, const estimate *amplitude, bool all, explanation *e) {
  const double unit = ldexp(1.0, -format_of(how->held)->precision);
  const double sums = 64.0 * 0x1p-53; /* rounding errors of sums of doubles */
  const double room = amplitude->error + amplitude->value * fmax(unit / 4.0, sums);
  const double close = s->coarse ? 0.1 : 0.05; /* the estimate is inaccurate if angles are */
  posenc_scaling told;
  const double attention = scalings_attention(&how->formula.scaling, amplitude->value, room + unit, &told);
  const double tried[] = {1.0, attention > 0.0 ? attention : 1.0,
                          plainest(amplitude->value, room / amplitude->value).value, amplitude->value, s->window.most};
  how->amplitude_error = room;
  for (size_t n = 0; n < sizeof tried / sizeof *tried && !explanation_is_exact(e); n++) {
    how->amplitude = tried[n];
    if (fabs(how->amplitude - amplitude->value) > (n ? room + unit : close)) continue;
    if (n && fabs(how->amplitude - 1.0) <= unit) continue; /* truncated values have an amplitude just below 1 */
    consider(s, how, e);
    if (!all) break;
  }
}

/* ---- trying a formula: first positions from phases ----------------------------------------------- */

/* The number of digits that another formula may have more and still be reported beside the best one. */
enum { PLAINER = 2 };

/* Tries several whole positions, from the middle on, which remain if the maker rounds positions. */
static void consider_positions(search *s, making *how, const estimate *amplitude, explanation *e) {
  enum { MOST = 257 };
  const int64_t least = how->start.least, most = how->start.most;
  if (least >= most || most - least >= MOST) {
    explain_amplitudes(s, how, amplitude, true, e);
    return;
  }
  for (int64_t n = 0, middle = least + (most - least) / 2; n <= most - least && !explanation_is_exact(e); n++) {
    how->start = start_at(middle + (n % 2 ? (n + 1) / 2 : -(n / 2)));
    explain_amplitudes(s, how, amplitude, false, e);
  }
}

/* Widens a start by a run. Rounded positions appear as the middle of the positions that were rounded. */
static void widen(int64_t run, start *at) {
  if (run <= 1 || !start_is_whole(at)) return;
  at->least -= run;
  at->most += run;
}

/* ---- formulas -------------------------------------------------------------------------------------- */

making trial_making(const search *s, const columns *at, const formula *f) {
  return (making){.formula = *f,
                  .columns = *at,
                  .held = s->window.held,
                  .offset = s->window.offset,
                  .offset_error = s->offset.error,
                  .step = 1};
}

/* First positions from phases, where angles have a relative error. */
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
  for (size_t n = 0; n < told->count && !explanation_is_exact(found); n++) {
    how->start = told->of[n];
    if (start_is_whole(&how->start) != whole) continue;
    widen(s->run, &how->start);
    consider_positions(s, how, amplitude, found);
  }
}

void trial_shift_phases(search *s, int64_t pairs, int quarters) {
  const double quarter = 1.57079632679489662;
  for (int64_t i = 0; i < pairs; i++) s->phases[i].value += (double)quarters * quarter;
}

/* Tries a formula with first positions from phases, for rows in order (step 1) or reversed (step -1). */
static void explain_order(search *s, const columns *at, const formula *f, int step, bool far, explanation *found) {
  estimate amplitude;
  const bool alone = at->part != TABLE_BOTH;
  formula_frequencies(f, at->pairs, s->w);
  for (int64_t i = 0; i < at->pairs; i++) s->w[i] *= step;
  waves_phases(&s->window, at, &s->sampling, s->w, s->phases, &amplitude);
  if (isinf(amplitude.error)) return;
  /* Cosines of reversed rows are those of the opposite positions. */
  for (int sine = alone && step < 0; sine <= alone; sine++) {
    /* Relative errors of recipes' angles: in double and f32, or in TF32 and bf16. Only double keeps phases at far
       positions. */
    starts told[2] = {{.relative = s->coarse ? 5e-4 : 1e-15, .far = far}, {.relative = s->coarse ? 8e-3 : 5e-7}};
    making how = trial_making(s, at, f);
    how.step = step;
    if (sine) {
      how.columns.part = TABLE_SIN;
      trial_shift_phases(s, at->pairs, 1);
    }
    /* Whole positions come first. Others are tried only if roundings do not explain the whole ones. */
    for (int n = 0; n < (far ? 1 : 4); n++) {
      if (explanation_is_good(found) && (n < 2 || explanation_is_rounding(s, found))) continue;
      explain_starts(s, &how, &told[n % 2], n < 2, &amplitude, found);
    }
    if (sine) trial_shift_phases(s, at->pairs, -1);
  }
}

static explanation explain_by(search *s, const columns *at, const formula *f, bool far) {
  explanation found = {.found = false};
  const columns reversed = columns_exchanged(at);
  explain_order(s, at, f, 1, far, &found);
  if (!far && !explanation_is_good(&found)) explain_order(s, &reversed, f, -1, far, &found);
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

void trial_weigh(search *s, const explanation *e) {
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

void trial_formulas(search *s, const columns *at, const formula *formulas, size_t count) {
  for (size_t n = 0; n < count; n++) {
    if (explanation_is_exact(&s->best) && formulas[n].digits > s->best.how.formula.digits + PLAINER) break;
    const explanation e = explain_by(s, at, &formulas[n], false);
    trial_weigh(s, &e);
  }
}

void trial_far(search *s, const columns *at, const formula *f) {
  const explanation far = explain_by(s, at, f, true);
  trial_weigh(s, &far);
}

/* ---- judging it: all of the file ------------------------------------------------------------------ */

enum { BLOCK_VALUES = 1 << 19 }; /* values of the file that are read at once */

/* Receives the rows of the file, which are compared with exact values and with makers. */
typedef struct judged_rows {
  identity *found;
  makers *m; /* the closest of them are compared with all rows */
} judged_rows;

static void add_element(judged_rows *s, int64_t row, int64_t column, double there, double real, double rounded) {
  identity *found = s->found;
  const double error = fabs(there - real);
  if (!isfinite(there)) return;
  found->beyond += fabs(there) > fabs(real) * (1.0 + 0x1p-22);
  found->max_if_exact = fmax(found->max_if_exact, fabs(rounded - real));
  if (error <= found->max_abs && found->elements > 0) return;
  found->max_abs = error;
  found->worst_position = making_position(&found->how, row);
  found->worst_column = column;
}

static bool is_zero(const double *values, int64_t count) {
  for (int64_t c = 0; c < count; c++)
    if (!(fabs(values[c]) <= 0.0)) return false;
  return true;
}

static void add_row(judged_rows *s, int64_t row, const double *there) {
  identity *found = s->found;
  const making *how = &found->how;
  const columns *at = &how->columns;
  if (isnan(making_position(how, row))) {
    const bool is_blank = is_zero(there, at->dim);
    if (is_blank && !found->blank++) found->first_blank = row;
    if (!is_blank && !found->lost++) found->first_lost = row;
    return;
  }
  const double *rounded = makers_row(s->m, &s->m->all[0], row); /* this also sets the exact pairs */
  if (is_zero(there, at->dim) && !is_zero(rounded, at->dim)) {
    if (!found->paddings++) found->padding = (int64_t)making_position(how, row);
    return;
  }
  for (int64_t c = 0; c < at->dim; c++) {
    const fast_value *x = makers_exact(s->m, c);
    if (found->bad && found->bad[c]) continue;
    add_element(s, row, c, there[c], how->amplitude * x->high + how->offset + how->amplitude * x->low, rounded[c]);
    const double off = fabs(there[c] - rounded[c]), room = makers_room(s->m, row, c);
    if (off > room && !found->unexplained++) found->unexplained_row = row, found->unexplained_column = c;
    found->evident += off > IDENTIFY_EVIDENT * room;
    found->elements++;
  }
  for (size_t n = 0; n < s->m->count; n++)
    if (s->m->all[n].closest) makers_compare(s->m, &s->m->all[n], row, there);
}

static void read_all(const search *of, judged_rows *s) {
  const table_window *w = &of->window;
  const int64_t block = w->dim < BLOCK_VALUES ? BLOCK_VALUES / w->dim : 1, judged = s->found->judged;
  void *encoded = memory_take((size_t)(block * w->dim), posenc_dtype_bytes(w->stored));
  double *values = memory_take((size_t)w->dim, sizeof *values);
  for (int64_t row = 0, rows; row < judged; row += rows) {
    rows = judged - row < block ? judged - row : block;
    progress_show("identify", of->request->name, (double)row * (double)w->dim, (double)judged * (double)w->dim,
                  "elements");
    table_rows(of->request->table, row, rows, encoded);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t c = 0; c < w->dim; c++) {
        values[c] = format_element(w->stored, encoded, r * w->dim + c);
        if (!isfinite(values[c]) && !s->found->not_finite++)
          s->found->not_finite_row = row + r, s->found->not_finite_column = c;
      }
      add_row(s, row + r, values);
    }
  }
  progress_clear();
  free(encoded);
  free(values);
}

/* ---- who made it ----------------------------------------------------------------------------------- */

static void compare_some(makers *m, const table_window *w) {
  for (size_t n = 0; n < m->count; n++) explain_compare(m, &m->all[n], w, WINDOW_SOME_ROWS);
}

/* Whether it is one of the closest few makers, or tied with them. */
static bool is_candidate(const makers *m, const maker *by) {
  enum { FEW = 4 };
  int closer = 0;
  for (size_t n = 0; n < m->count; n++) closer += maker_is_closer(&m->all[n], by);
  return closer < FEW;
}

static const maker *closest_of(const makers *m) {
  const maker *first = &m->all[0];
  for (size_t n = 1; n < m->count; n++)
    if (maker_is_closer(&m->all[n], first)) first = &m->all[n];
  return first;
}

/* ---- damaged columns --------------------------------------------------------------------------------- */

/* Finds what a damaged column has in the window: a constant, or the values of another column of the same table. */
static identify_damage damage_of(const search *s, makers *m, const maker *by, int64_t column) {
  const table_window *w = &s->window;
  const int64_t dim = m->how.columns.dim;
  identify_damage found = {.column = column, .sin = IDENTIFY_FOREIGN, .value = window_row(w, 0)[column], .like = -1};
  bool constant = true, *unlike = memory_take((size_t)dim, sizeof *unlike);
  for (int64_t r = 0; r < w->count; r++) {
    const double there = window_row(w, r)[column];
    if (w->zero[r] || isnan(making_position(&m->how, r))) continue;
    constant = constant && !(fabs(there - found.value) > 0.0);
    const double *made = makers_row(m, by, r);
    for (int64_t c = 0; c < dim; c++) unlike[c] = unlike[c] || fabs(made[c] - there) > makers_room(m, r, c);
  }
  for (int64_t c = 0; c < dim && found.like < 0; c++)
    if (!unlike[c]) found.like = c;
  free(unlike);
  if (constant)
    found.sin = IDENTIFY_CONSTANT;
  else if (found.like >= 0)
    found.sin = IDENTIFY_MOVED;
  return found;
}

static void find_damage(search *s, makers *m, identity *found) {
  const maker *by = closest_of(m);
  const int64_t bad = explain_mark_bad(s, m, by, 0.0), dim = m->how.columns.dim;
  m->how.bad = found->how.bad = NULL;
  if (bad == 0) return;
  found->bad = memory_take((size_t)dim, sizeof *found->bad);
  found->damage = memory_take((size_t)bad, sizeof *found->damage);
  memcpy(found->bad, s->bad, (size_t)dim * sizeof *found->bad);
  for (int64_t c = 0; c < dim; c++)
    if (found->bad[c]) found->damage[found->damage_count++] = damage_of(s, m, by, c);
  m->how.bad = found->how.bad = found->bad;
}

/* ---- what the formula points to, and the rest of it ----------------------------------------------------- */

static double *copied(const double *from, int64_t count) {
  double *copy = memory_take((size_t)count, sizeof *copy);
  memcpy(copy, from, (size_t)count * sizeof *copy);
  return copy;
}

static void keep_what_is_pointed_to(const search *s, identity *found) {
  making *how = &found->how;
  if (how->formula.scaling.factors) {
    const int64_t pairs = how->columns.pairs;
    found->factors = copied(how->formula.scaling.factors, pairs);
    found->factor_errors = copied(how->formula.scaling.factors, pairs);
    how->formula.scaling.factors = found->factors;
    /* Factors that are told are not measured. */
    for (int64_t i = 0; i < pairs; i++)
      found->factor_errors[i] = s->is_measured ? s->measured[i].error / s->measured[i].value : 0.0;
  }
  if (how->positions) {
    found->positions = copied(how->positions, found->judged);
    how->positions = found->positions;
  }
}

static void count_runs(identity *found) {
  for (int64_t r = 0; found->positions && r < found->judged; r++) {
    if (isnan(found->positions[r])) continue;
    found->listed++;
    const bool follows =
        r > 0 && !isnan(found->positions[r - 1]) && fabs(found->positions[r] - found->positions[r - 1] - 1.0) <= 0.0;
    found->runs += !follows;
  }
}

static void tell_attention(identity *found) {
  const double unit = ldexp(found->how.amplitude, -format_of(found->held)->precision);
  scalings_attention(&found->how.formula.scaling, found->how.amplitude, fmax(unit / 2.0, 1e-9), &found->scaling);
}

/* Marks the makers that are closest in the window; these are compared with all rows. */
static void mark_closest(makers *m) {
  for (size_t n = 0; n < m->count; n++) m->all[n].closest = is_candidate(m, &m->all[n]);
  for (size_t n = 0; n < m->count; n++) {
    if (!m->all[n].closest) continue;
    m->all[n] = maker_afresh(&m->all[n]);
    m->all[n].closest = true;
  }
}

static void keep_matches(const makers *m, identity *found) {
  found->matches = memory_take(m->count, sizeof *found->matches);
  for (; found->match_count < m->count; found->match_count++) {
    maker *match = &found->matches[found->match_count];
    *match = m->all[found->match_count];
    match->plan = NULL;
  }
  makers_rank(found->matches, found->match_count);
}

void judge(search *s, identity *found) {
  makers m;
  /* Factors that are measured in the window are not proved in later rows. */
  found->judged = found->how.positions || found->how.formula.scaling.factors ? s->known : s->window.rows;
  found->how.bad = NULL;
  keep_what_is_pointed_to(s, found);
  count_runs(found);
  tell_attention(found);
  makers_open(&m, &found->how, true, found->judged);
  makers_add(&m, s->request->kernels, s->request->kernel_count);
  compare_some(&m, &s->window);
  find_damage(s, &m, found);
  if (found->bad) compare_some(&m, &s->window);
  mark_closest(&m);
  found->proved = exact_values_proved(m.exact);
  read_all(s, &(judged_rows){found, &m});
  keep_matches(&m, found);
  makers_close(&m);
}
