/* SPDX-License-Identifier: MIT */
/* Writes rows of a table as each recipe, and as exact arithmetic, would have written them. */
#include "inspect/identify/identity.h"

#include "common/memory.h"
#include "common/work.h"
#include "inspect/identify/formula.h"
#include "reference/accuracy.h"
#include "reference/axes.h"

#include <math.h>
#include <stdlib.h>

/* ---- exact values ----------------------------------------------------------------------------------- */

struct exact_values {
  fast_oracle *reference; /* null: values have the accuracy of doubles */
  int64_t pairs;
  const posenc_axes *axes; /* null: one axis */
  const format *angles;    /* what angles are rounded to; null: they are not */
  long double w[];
};

double making_position(const making *how, int64_t row) {
  return how->positions ? how->positions[row] : how->start.first + (double)how->step * (double)row;
}

/* Returns the problem of the formula's table, from a position on. */
static posenc_problem problem_of(const making *how, int64_t first, int64_t rows) {
  posenc_problem problem = posenc_table(rows, 2 * how->columns.pairs);
  problem.first = first;
  problem.base = how->formula.base;
  problem.shift = how->formula.shift;
  problem.scale = how->formula.scale;
  if (how->formula.scaling.kind != POSENC_SCALING_NONE) problem.scaling = how->formula.scaling;
  problem.scaling.attention = 1.0;
  return problem;
}

/* Whether it is the paper's formula, as recipes compute it. */
static bool is_plain(const formula *f) {
  return number_is_one(f->scale) && f->scaling.kind == POSENC_SCALING_NONE;
}

static bool is_whole(double x) {
  return fabs(x - rint(x)) <= 0.0;
}

/* Finds the smallest position of these rows and the number of positions up to the largest; returns false if one is not
   whole. */
static bool range_of(const making *how, int64_t rows, int64_t *first, int64_t *count) {
  const double farthest = 0x1p53;
  double least = INFINITY, most = -INFINITY;
  if (how->axes || (!how->positions && !start_is_one(&how->start))) return false;
  for (int64_t row = 0; row < rows; row += how->positions || rows == 1 ? 1 : rows - 1) {
    const double position = making_position(how, row);
    if (isnan(position)) continue;
    if (!is_whole(position) || fabs(position) > farthest) return false;
    least = fmin(least, position), most = fmax(most, position);
  }
  if (!(least <= most)) return false;
  *first = (int64_t)least;
  *count = (int64_t)(most - least) + 1;
  return true;
}

/* Sets the frequencies of all axes, in the order of the whole table. */
static void set_frequencies(const making *how, long double *w) {
  const posenc_axes *axes = how->axes;
  const int64_t pairs = how->columns.pairs;
  int64_t taken[POSENC_AXES] = {0};
  long double *own = memory_take(POSENC_AXES * (size_t)pairs, sizeof *own);
  for (int a = 0; a < axes->count; a++) {
    const bool is_restarted = axes->frequencies == POSENC_AXES_RESTARTED;
    formula_frequencies(&how->formula, is_restarted ? axes->axis[a].pairs : pairs, own + a * pairs);
  }
  for (int64_t number = 0; number < pairs; number++) {
    const int a = axes_axis(axes, number);
    w[number] = own[a * pairs + axes_frequency(axes, a, taken[a]++, number)] / axes->axis[a].divisor;
  }
  free(own);
}

static exact_values *exact_values_create(const making *how, bool proved) {
  const int64_t pairs = how->columns.pairs;
  exact_values *t = memory_take(1, sizeof *t + (size_t)pairs * sizeof *t->w);
  t->pairs = pairs;
  t->axes = how->axes;
  t->angles = how->angles;
  if (how->axes) {
    set_frequencies(how, t->w);
    return t;
  }
  formula_frequencies(&how->formula, pairs, t->w);
  const posenc_problem problem = problem_of(how, 0, 0);
  if (proved && !t->angles && !posenc_problem_refusal(&problem)) t->reference = allocated(fast_create(&problem, 0));
  return t;
}

bool exact_values_proved(const exact_values *t) {
  return t->reference != NULL;
}

/* Computes the pairs of a position or place, by frequency index. */
static void exact_values_at(exact_values *t, double position, fast_pair *pairs) {
  if (t->reference) {
    fast_row(t->reference, (int64_t)position, pairs);
    return;
  }
  const long double whole = 6.28318530717958647692528676655900577L;
  double on_axis[POSENC_AXES] = {position};
  for (int a = 0; t->axes && a < t->axes->count; a++) on_axis[a] = axis_position(t->axes, a, (int64_t)position);
  for (int64_t i = 0; i < t->pairs; i++) {
    const int axis = t->axes ? axes_axis(t->axes, i) : 0;
    const long double product = (long double)on_axis[axis] * t->w[i],
                      angle = t->angles ? format_nearest(t->angles, (double)product) : product;
    const double part = (double)(angle - whole * rintl(angle / whole));
    pairs[i] = (fast_pair){{sin(part), 0.0}, {cos(part), 0.0}};
  }
}

/* ---- makers -------------------------------------------------------------------------------------- */

static void add_kernel(makers *m, const posenc_kernel *kernel) {
  const posenc_problem problem = problem_of(&m->how, m->first, m->range);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  isolate_kernel(kernel);
  if (!kernel->stages || posenc_problem_refusal(&problem) || posenc_kernel_refusal(kernel, &problem, &options)) return;
  maker one = {.kernel = kernel};
  if (posenc_plan_create(&one.plan, &problem, &options) != POSENC_OK) memory_end();
  m->all[m->count++] = one;
}

/* Sets the pairs of columns that are adjacent for each axis; of one part alone, the two columns with the same angle. */
static void find_grouped(makers *m) {
  posenc_problem of = posenc_table(1, 2 * m->how.columns.pairs);
  column_map map;
  of.layout = m->how.columns.layout;
  of.axes = m->how.axes;
  if (!column_map_find(&map, &of, m->how.columns.part)) memory_end();
  for (int64_t c = 0; c < map.columns; c++)
    m->angles[c] = (column_angle){.index = map.values[c].index, .cosine = map.values[c].cosine};
  column_map_free(&map);
}

/* Finds the angle of each column, and its largest error. */
static void find_angles(makers *m) {
  const double of_f32 = tolerance_unit(POSENC_F32);
  const bool is_both = m->how.columns.part == TABLE_BOTH, is_twice = m->how.columns.layout == POSENC_DUPLICATED,
             is_grouped = m->how.axes && m->how.axes->grouped && (is_both || is_twice);
  if (is_grouped) find_grouped(m);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    column_angle *p = &m->angles[c];
    if (!is_grouped) p->index = columns_index(&m->how.columns, c, &p->cosine);
    p->axis = m->how.axes ? axes_axis(m->how.axes, p->index) : 0;
    p->growth = tolerance_of_angle((double)m->exact->w[p->index], (double)m->exact->w[0], p->index, of_f32);
  }
}

void makers_open(makers *m, const making *how, bool proved, int64_t rows) {
  const size_t pairs = (size_t)how->columns.pairs;
  *m = (makers){.how = *how};
  const bool whole = range_of(how, rows, &m->first, &m->range);
  m->exact = exact_values_create(how, proved && whole);
  m->angles = memory_take((size_t)how->columns.dim, sizeof *m->angles);
  m->all = memory_take(1, sizeof *m->all);
  m->stages = memory_take(pairs, sizeof *m->stages);
  m->pairs = memory_take(pairs, sizeof *m->pairs);
  m->values = memory_take((size_t)how->columns.dim, sizeof *m->values);
  m->count = 1;
  find_angles(m);
}

void makers_add(makers *m, const posenc_kernel *const *kernels, size_t count) {
  if (!m->range || !is_plain(&m->how.formula)) return;
  m->all = memory_grow(m->all, count + 1, sizeof *m->all);
  for (size_t k = 0; k < count; k++) add_kernel(m, kernels[k]);
}

void makers_close(makers *m) {
  for (size_t n = 0; n < m->count; n++) {
    isolate_kernel(m->all[n].kernel);
    posenc_plan_destroy(m->all[n].plan);
  }
  fast_destroy(m->exact->reference);
  free(m->exact);
  free(m->angles);
  free(m->all);
  free(m->stages);
  free(m->pairs);
  free(m->values);
}

/* Returns a recipe's value as the table has it. Recipes convert to f32 even if they compute in double, unless the table
   is of doubles; a learned scale multiplies that value, and a learned addend is added. */
static double held(const making *how, double x) {
  if (how->held == POSENC_F64) return x * how->amplitude + how->offset;
  float narrow = (float)x;
  if (!number_is_one(how->amplitude)) narrow *= (float)how->amplitude;
  if (fabs(how->offset) > 0.0) narrow += (float)how->offset;
  return how->held == POSENC_F32 ? (double)narrow : format_nearest(format_of(how->held), (double)narrow);
}

/* Returns the exact value, rounded once. */
static double held_exact(const making *how, const fast_value *x) {
  if (how->held == POSENC_F64) return held(how, x->high);
  if (!number_is_one(how->amplitude) || fabs(how->offset) > 0.0)
    return format_nearest(format_of(how->held), how->amplitude * x->high + how->offset);
  return format_nearest_sum(format_of(how->held), x->high, x->low);
}

static void fill_exact(makers *m, double position) {
  exact_values_at(m->exact, position, m->pairs);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    m->values[c] = held_exact(&m->how, makers_exact(m, c));
  }
}

static void fill_stages(makers *m, const maker *by, double position) {
  isolate_kernel(by->kernel);
  posenc_plan_stages(by->plan, (int64_t)position - m->first, 1, m->stages);
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    const posenc_stages *pair = &m->stages[m->angles[c].index];
    m->values[c] = held(&m->how, m->angles[c].cosine ? pair->cosine.high : pair->sine.high);
  }
}

const double *makers_row(makers *m, const maker *by, int64_t row) {
  if (by->kernel)
    fill_stages(m, by, making_position(&m->how, row));
  else
    fill_exact(m, making_position(&m->how, row));
  return m->values;
}

double makers_room(const makers *m, int64_t row, int64_t column) {
  const column_angle *of = &m->angles[column];
  const double there = making_position(&m->how, row),
               position = m->how.axes ? axis_position(m->how.axes, of->axis, (int64_t)there) : there;
  const double of_value = tolerance_of_value(m->how.held, tolerance_unit(POSENC_F32), ROUNDINGS_OF_TABLE);
  return m->how.amplitude * (of->growth * fabs(position) + of_value);
}

void makers_compare(makers *m, maker *by, int64_t row, const double *there) {
  if (isnan(making_position(&m->how, row))) return;
  const double *values = makers_row(m, by, row), damage = makers_outlier * m->how.amplitude;
  const bool *bad = m->how.bad;
  maker sums = *by; /* in registers */
  for (int64_t c = 0; c < m->how.columns.dim; c++) {
    if (bad && bad[c]) continue;
    const double off = fabs(values[c] - there[c]);
    if (!isfinite(off)) continue;
    sums.compared++;
    sums.equal += off <= 0.0;
    sums.squares += off * off;
    if (off > sums.most) sums.most = off;
    if (off > damage && off > makers_room(m, row, c)) {
      if (!sums.outliers++) sums.outlier_row = row, sums.outlier_column = c;
    } else if (off > sums.within) {
      sums.within = off;
    }
  }
  *by = sums;
}

static double share(int64_t equal, int64_t compared) {
  return compared ? (double)equal / (double)compared : 0.0;
}

bool maker_is_closer(const maker *a, const maker *b) {
  const double of_a = share(a->equal, a->compared), of_b = share(b->equal, b->compared);
  return of_a > of_b || (of_a >= of_b && maker_distance(a) < maker_distance(b));
}

static int compare_makers(const void *one, const void *other) {
  const maker *a = one, *b = other;
  if (a->closest != b->closest) return a->closest ? -1 : 1;
  const int nearer = maker_is_closer(b, a) - maker_is_closer(a, b);
  return nearer ? nearer : (a->number > b->number) - (a->number < b->number);
}

void makers_rank(maker *all, size_t count) {
  const maker *found = NULL;
  for (size_t n = 0; n < count; n++)
    if (all[n].closest && (!found || maker_is_closer(&all[n], found))) found = &all[n];
  if (!found) return;
  const maker first = *found;
  for (size_t n = 0; n < count; n++) {
    all[n].closest = all[n].closest && !maker_is_closer(&first, &all[n]);
    all[n].number = n;
  }
  qsort(all, count, sizeof *all, compare_makers);
}
