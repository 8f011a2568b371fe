/* SPDX-License-Identifier: MIT */
#include "identify/explain.h"

#include "identify/scalings.h"

#include <math.h>
#include <stdlib.h>

/* ---- distances ----------------------------------------------------------------------------------- */

void explain_compare(makers *m, maker *by, const window *w, int64_t rows) {
  *by = maker_afresh(by);
  for (int64_t n = 0; n < rows && n < w->count; n++) {
    const int64_t row = window_sample(w, rows, n);
    if (row >= 0) makers_compare(m, by, row, window_row(w, row));
  }
}

/* Returns the distance of the closest maker, from more and more rows of the window until it is more than `limit`. */
static double distance_of(makers *m, const window *w, double limit) {
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
    if (closest > limit || stages[stage] >= w->count) break;
  }
  return closest;
}

int64_t explain_mark_bad(search *s, makers *m, const maker *by, double least) {
  const int64_t dim = m->how.columns.dim;
  int64_t *off = calloc((size_t)dim, sizeof *off), bad = 0, compared = 0;
  if (!off) {
    s->failed = true;
    return 0;
  }
  for (int64_t n = 0; n < WINDOW_SOME_ROWS; n++) {
    const int64_t row = window_sample(&s->window, WINDOW_SOME_ROWS, n);
    if (row < 0 || isnan(making_position(&m->how, row))) continue;
    const double *made = makers_row(m, by, row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < dim; c++)
      off[c] += fabs(made[c] - there[c]) > fmax(makers_room(m, row, c), least * m->how.amplitude);
    compared++;
  }
  for (int64_t c = 0; c < dim; c++) bad += s->bad[c] = off[c] * 2 > compared;
  free(off);
  return bad <= columns_spare(m->how.columns.pairs) ? bad : 0;
}

/* ---- how good an explanation is -------------------------------------------------------------------- */

bool explanation_is_better(const explanation *than, double distance) {
  const double much = 0.25;
  return !than->found || distance < much * than->distance;
}

static const double good_part = 0.01;

bool explanation_is_good(const explanation *e) {
  return e->found && e->distance <= good_part * e->how.amplitude * e->how.amplitude;
}

bool explanation_is_exact(const search *s, const explanation *e) {
  return s->failed || (e->found && !(e->distance > 0.0));
}

bool explanation_is_within(const search *s, const explanation *e, double units) {
  const double most = units * ldexp(e->how.amplitude, -format_of(s->window.held)->precision);
  return e->found && e->distance <= most * most;
}

bool explanation_is_rounding(search *s, const explanation *e) {
  makers m;
  int64_t off = 0, compared = 0;
  if (explanation_is_within(s, e, 4.0) || s->failed) return true;
  if (!explanation_is_good(e)) return false;
  if (!makers_open(&m, &e->how, false, s->window.count)) {
    s->failed = true;
    return true;
  }
  for (int64_t n = 0; n < WINDOW_SOME_ROWS; n++) {
    const int64_t row = window_sample(&s->window, WINDOW_SOME_ROWS, n);
    if (row < 0 || isnan(making_position(&m.how, row))) continue;
    const double *made = makers_row(&m, &m.all[0], row), *there = window_row(&s->window, row);
    for (int64_t c = 0; c < m.how.columns.dim; c++) off += fabs(made[c] - there[c]) > makers_room(&m, row, c);
    compared += m.how.columns.dim;
  }
  makers_close(&m);
  return off * 20 <= compared;
}

bool explain_leaves_curve(search *s, const making *how) {
  makers m;
  double squares = 0.0, changes = 0.0, *left = calloc((size_t)how->columns.dim, sizeof *left);
  const bool enough = left && makers_open(&m, how, false, s->window.count);
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

/* ---- proving a hypothesis -------------------------------------------------------------------------- */

/* Compares a hypothesis with the table and keeps it if it is better. Damaged columns are left out if the other columns
   are explained without them. */
static void consider(search *s, const making *how, explanation *e) {
  const double damage = 0.1, limit = e->found ? e->distance : INFINITY, hopeless = 0.35,
               square = how->amplitude * how->amplitude;
  makers m;
  if (!makers_open(&m, how, false, s->window.count)) {
    s->failed = true;
    return;
  }
  /* A few rows may show such large errors that no recipe can have them. */
  if (distance_of(&m, &s->window, 0.0) > hopeless * square) {
    makers_close(&m);
    return;
  }
  if (!makers_add(&m, s->request->kernels, s->request->kernel_count)) {
    makers_close(&m);
    s->failed = true;
    return;
  }
  double distance = distance_of(&m, &s->window, limit);
  if (distance > 0.1 * good_part * square && explain_mark_bad(s, &m, &m.all[0], damage)) {
    m.how.bad = s->bad;
    distance = distance_of(&m, &s->window, limit);
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
  for (size_t n = 0; n < sizeof tried / sizeof *tried && !explanation_is_exact(s, e); n++) {
    how->amplitude = tried[n];
    if (fabs(how->amplitude - amplitude->value) > (n ? room + unit : close)) continue;
    if (n && fabs(how->amplitude - 1.0) <= unit) continue; /* truncated values have an amplitude just below 1 */
    consider(s, how, e);
    if (!all) break;
  }
}
