/* SPDX-License-Identifier: MIT */
#include "identify/makers.h"

#include <math.h>
#include <stdlib.h>

/* ---- the truth ----------------------------------------------------------------------------------- */

struct truth {
  fast_oracle *oracle; /* or null */
  formula formula;
  int64_t pairs;
  long double w[];
};

static bool is_one(double x) {
  return x >= 1.0 && x <= 1.0;
}

static posenc_problem problem_of(const making *how, int64_t rows) {
  posenc_problem problem = posenc_table(rows, 2 * how->columns.pairs);
  problem.first = how->formula.first_least;
  problem.base = how->formula.base;
  problem.shift = how->formula.shift;
  return problem;
}

/* Is it the paper's formula, at whole positions? */
static bool is_plain(const formula *f) {
  return f->first_least <= f->first_most && is_one(f->scale) && f->scaling.kind == POSENC_SCALING_NONE;
}

truth *truth_create(const making *how, bool proved) {
  const int64_t pairs = how->columns.pairs;
  truth *t = calloc(1, sizeof *t + (size_t)pairs * sizeof *t->w);
  if (!t) return NULL;
  t->formula = how->formula;
  t->pairs = pairs;
  formula_frequencies(&how->formula, pairs, t->w);
  const posenc_problem problem = problem_of(how, 0);
  if (!proved || !is_plain(&how->formula) || posenc_problem_refusal(&problem)) return t;
  t->oracle = fast_create(&problem, 0);
  if (t->oracle) return t;
  free(t);
  return NULL;
}

void truth_destroy(truth *t) {
  if (!t) return;
  fast_destroy(t->oracle);
  free(t);
}

bool truth_proved(const truth *t) {
  return t->oracle != NULL;
}

void truth_row(truth *t, int64_t row, fast_pair *pairs) {
  if (t->oracle) {
    fast_row(t->oracle, t->formula.first_least + row, pairs);
    return;
  }
  const long double position = (long double)t->formula.first + (long double)row,
                    whole = 6.28318530717958647692528676655900577L;
  for (int64_t i = 0; i < t->pairs; i++) {
    const long double angle = position * t->w[i];
    const double part = (double)(angle - whole * rintl(angle / whole));
    pairs[i] = (fast_pair){{sin(part), 0.0}, {cos(part), 0.0}};
  }
}

/* ---- makers -------------------------------------------------------------------------------------- */

static bool add_kernel(makers *m, const posenc_kernel *kernel, int64_t rows) {
  const posenc_problem problem = problem_of(&m->how, rows);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  if (!kernel->stages || !is_plain(&m->how.formula) || posenc_problem_refusal(&problem) ||
      posenc_kernel_refusal(kernel, &problem, &options))
    return true;
  maker one = {.kernel = kernel};
  if (posenc_plan_create(&one.plan, &problem, &options) != POSENC_OK) return false;
  m->all[m->count++] = one;
  return true;
}

bool makers_open(makers *m, const making *how, bool proved, int64_t rows, const posenc_kernel *const *kernels,
                 size_t count) {
  const size_t pairs = (size_t)how->columns.pairs;
  *m = (makers){.how = *how, .exact = truth_create(how, proved)};
  m->all = calloc(count + 1, sizeof *m->all);
  m->stages = calloc(pairs, sizeof *m->stages);
  m->pairs = calloc(pairs, sizeof *m->pairs);
  m->values = calloc((size_t)how->columns.dim, sizeof *m->values);
  bool enough = m->exact && m->all && m->stages && m->pairs && m->values;
  if (enough) m->count = 1;
  for (size_t k = 0; enough && k < count; k++) enough = add_kernel(m, kernels[k], rows);
  if (!enough) makers_close(m);
  return enough;
}

void makers_close(makers *m) {
  for (size_t n = 0; n < m->count; n++) posenc_plan_destroy(m->all[n].plan);
  truth_destroy(m->exact);
  free(m->all);
  free(m->stages);
  free(m->pairs);
  free(m->values);
  *m = (makers){.count = 0};
}

static double rounded_to(posenc_dtype dtype, double x) {
  return dtype == POSENC_F64 ? x : format_nearest(format_of(dtype), x);
}

/* Recipes end in f32 even where they compute in double, unless the table is of doubles; a learned scale multiplies that. */
static double held(const making *how, double x) {
  if (how->held == POSENC_F64) return x * how->amplitude;
  const float narrow = (float)x;
  return rounded_to(how->held, is_one(how->amplitude) ? (double)narrow : (double)(narrow * (float)how->amplitude));
}

static double held_exact(const making *how, const fast_value *x) {
  if (!is_one(how->amplitude) || how->held == POSENC_F64) return held(how, x->high);
  return format_nearest_sum(format_of(how->held), x->high, x->low);
}

static void fill_exact(makers *m, int64_t row) {
  truth_row(m->exact, row, m->pairs);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    bool cosine;
    const fast_pair *pair = &m->pairs[columns_index(&m->how.columns, c, &cosine)];
    m->values[c] = held_exact(&m->how, cosine ? &pair->cosine : &pair->sine);
  }
}

static void fill_stages(makers *m, const maker *by, int64_t row) {
  posenc_plan_stages(by->plan, row, 1, m->stages);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    bool cosine;
    const posenc_stages *pair = &m->stages[columns_index(&m->how.columns, c, &cosine)];
    m->values[c] = held(&m->how, cosine ? pair->cosine.high : pair->sine.high);
  }
}

const double *makers_row(makers *m, const maker *by, int64_t row) {
  if (by->kernel)
    fill_stages(m, by, row);
  else
    fill_exact(m, row);
  return m->values;
}

void makers_compare(makers *m, maker *by, int64_t row, const double *there) {
  const double *values = makers_row(m, by, row);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    const double difference = fabs(values[c] - there[c]);
    by->equal += difference <= 0.0;
    if (!isfinite(difference)) continue;
    by->squares += difference * difference;
    by->most = fmax(by->most, difference);
    if (difference <= makers_outlier * m->how.amplitude)
      by->within = fmax(by->within, difference);
    else if (!by->outliers++)
      by->outlier_row = row, by->outlier_column = c;
  }
  by->compared += m->how.columns.dim;
}
