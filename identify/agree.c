/* SPDX-License-Identifier: MIT */
#include "identify/agree.h"

#include "common/scaling.h"
#include "reference/scaling.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* The differences of the window from a formula's table. */
typedef struct differences {
  int64_t elements, unexplained;
  double distance;
} differences;

enum { ROWS = 512, ONE_IN = 20 };
static const double as_close = 4.0;

/* Returns the problem's formula, with dynamic and linear scalings as base and scale, which every maker has. */
static formula formula_of(const posenc_problem *problem) {
  const posenc_scaling *s = &problem->scaling;
  formula f = formula_plain(problem->base);
  const double dim = (double)problem->dim;
  f.shift = problem->shift;
  f.scale = problem->scale;
  if (s->kind == POSENC_SCALING_LINEAR) {
    f.scale /= s->factor;
  } else if (s->kind == POSENC_SCALING_DYNAMIC) {
    const double length = (double)(s->length > s->original ? s->length : s->original),
                 stretch = s->factor * length / (double)s->original - (s->factor - 1.0);
    if (problem->dim > 2) f.base *= pow(stretch, dim / (dim - 2.0));
  } else {
    f.scaling = *s;
  }
  return f;
}

static void add_row(makers *m, int64_t row, const double *there, differences *d) {
  const double *made = makers_row(m, &m->all[0], row);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    if (m->how.bad && m->how.bad[c]) continue;
    d->elements++;
    d->unexplained += !(fabs(there[c] - made[c]) <= makers_room(m, row, c));
  }
}

/* Compares the window with a formula. Unexplained elements are far from exact; the distance is that from the values of
   the closest maker. Returns false if memory runs out. */
static bool compare(const search *s, const identity *found, const making *how, differences *d) {
  const posenc_kernel *const kernel = found->match_count ? found->matches[0].kernel : NULL;
  makers m;
  *d = (differences){0};
  if (!makers_open(&m, how, found->proved, found->judged)) return false;
  const bool enough = !kernel || makers_add(&m, &kernel, 1);
  for (int64_t n = 0; enough && n < ROWS; n++) {
    const int64_t row = window_sample(&s->window, ROWS, n);
    if (row >= 0 && !isnan(making_position(how, row))) add_row(&m, row, window_row(&s->window, row), d);
  }
  maker *by = enough ? &m.all[m.count - 1] : NULL;
  if (by) explain_compare(&m, by, &s->window, ROWS);
  d->distance = by ? maker_distance(by) : 0.0;
  makers_close(&m);
  return enough;
}

static bool is_explained(const differences *d) {
  return d->unexplained * ONE_IN <= d->elements;
}

/* Finds whether the table is that of the problem. Returns false if memory runs out. */
static bool try(const search *s, const identity *found, const differences *own, const posenc_problem *asked,
                bool *agrees) {
  posenc_problem problem = *asked;
  differences d;
  problem.axes = NULL;
  *agrees = false;
  if (problem.dim != 2 * found->how.columns.pairs || posenc_problem_refusal(&problem)) return true;
  making how = found->how;
  how.formula = formula_of(&problem);
  how.amplitude = attention_of(&problem);
  how.offset = 0.0;
  if (!compare(s, found, &how, &d)) return false;
  *agrees = is_explained(&d) || (!is_explained(own) && d.distance <= as_close * own->distance);
  return true;
}

static bool is_near(double a, double b, double error) {
  const double digits = 1e-6; /* relative error of numbers that people write */
  return fabs(a - b) <= fmax(digits * fabs(b), error);
}

/* Describes what differs from the problem, in simple cases. */
static void tell_difference(const identity *found, const posenc_problem *problem, char *text, size_t size) {
  const formula *f = &found->how.formula;
  const posenc_scaling *s = &problem->scaling;
  const double attention = attention_of(problem);
  if (2 * found->how.columns.pairs != problem->dim)
    snprintf(text, size, "%" PRId64 " columns are turned, not %" PRId64, 2 * found->how.columns.pairs, problem->dim);
  else if (f->scaling.kind != s->kind && f->scaling.kind != POSENC_SCALING_NONE)
    snprintf(text, size, "the scaling is %s, not %s", scaling_forms[f->scaling.kind].name, scaling_forms[s->kind].name);
  else if (!is_near(f->base, problem->base, f->base * f->base_error))
    snprintf(text, size, "the base is %s, not %.15g", number_within(f->base, f->base_error).text, problem->base);
  else if (!is_near(found->how.amplitude, attention, found->how.amplitude_error))
    snprintf(text, size, "the attention factor is %.9g, not %.9g", found->how.amplitude, attention);
  else if (f->scaling.kind == s->kind && !is_near(f->scaling.factor, s->factor, 0.0))
    snprintf(text, size, "the factor is %.15g, not %.15g", f->scaling.factor, s->factor);
}

bool agree(const search *s, identity *found) {
  const suspect_list *expected = s->request->expected, *suspects = s->request->suspects;
  differences own;
  bool agrees = false;
  if (!expected || found->verdict != IDENTIFY_TABLE) return true;
  if (!compare(s, found, &found->how, &own)) return false;
  for (size_t n = 0; n < expected->count && !agrees; n++) {
    if (!try(s, found, &own, &expected->items[n].problem, &agrees)) return false;
    if (agrees) snprintf(found->agreed, sizeof found->agreed, "%s", expected->items[n].text);
  }
  found->agreement = agrees ? AGREES : DISAGREES;
  for (size_t n = 0; suspects && n < suspects->count && !agrees; n++) {
    if (!try(s, found, &own, &suspects->items[n].problem, &agrees)) return false;
    if (agrees) snprintf(found->agreed, sizeof found->agreed, "%s", suspects->items[n].text);
  }
  if (!agrees) tell_difference(found, &expected->items[0].problem, found->agreed, sizeof found->agreed);
  return true;
}
