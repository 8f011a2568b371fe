/* SPDX-License-Identifier: MIT */
#include "inspect/identify/search.h"

#include "common/memory.h"
#include "common/terminal.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/identity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_VALUES = 1 << 19 }; /* values of the file that are read at once */

/* ---- all of the file ------------------------------------------------------------------------------ */

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
