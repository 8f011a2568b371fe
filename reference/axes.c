/* SPDX-License-Identifier: MIT */
#include "reference/axes.h"

#include "reference/accuracy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int axes_axis(const posenc_axes *axes, int64_t number) {
  int64_t end = axes->axis[0].pairs;
  int a = (int)(number % axes->count);
  if (axes->order == POSENC_AXES_CYCLIC) return number / axes->count < axes->axis[a].pairs ? a : 0;
  for (a = 0; number >= end; end += axes->axis[a].pairs) a++;
  return a;
}

int64_t axes_frequency(const posenc_axes *axes, int axis, int64_t n, int64_t number) {
  if (axes->frequencies == POSENC_AXES_RESTARTED) return n;
  return axes->frequencies == POSENC_AXES_CONTINUED ? number : axis + n * axes->count;
}

/* ---- columns ------------------------------------------------------------------------------------- */

/* Returns the columns of the n-th pair of an axis, counted from 0; `number` is its frequency index. */
static pair_columns columns_of(const posenc_problem *problem, int axis, int64_t n, int64_t number) {
  const bool grouped = problem->axes && problem->axes->grouped;
  int64_t columns = problem->dim, begin = 0;
  if (grouped) {
    columns = 2 * problem->axes->axis[axis].pairs;
    for (int before = 0; before < axis; before++) begin += 2 * problem->axes->axis[before].pairs;
  }
  const posenc_columns at = posenc_layout_columns(problem->layout, columns);
  begin += at.step * (grouped ? n : number);
  return (pair_columns){begin + at.sin, begin + at.cos};
}

pair_columns axes_pair(const posenc_problem *problem, int64_t number) {
  int64_t n = 0;
  if (!problem->axes || !problem->axes->grouped) return columns_of(problem, 0, number, number);
  const int axis = axes_axis(problem->axes, number);
  for (int64_t before = 0; before < number; before++) n += axes_axis(problem->axes, before) == axis;
  return columns_of(problem, axis, n, number);
}

/* Notes that a column has a value. */
static void set_column(column_map *map, int copy, column_value value, int64_t column) {
  map->at[copy][value.cosine][value.index] = column;
  map->values[column] = value;
}

/* Notes the columns of a pair of a table: of one part alone, both have the same value, or one has. The sines come first
   where the column of an odd dim is between the halves. */
static void set_pair(column_map *map, table_part part, int64_t number, pair_columns two) {
  const bool cosine = part == TABLE_COS;
  if (part == TABLE_BOTH) {
    set_column(map, 0, (column_value){number, false}, two.first);
    set_column(map, 0, (column_value){number, true}, two.second + (map->odd >= 0 && two.second >= map->odd));
  } else if (map->copies == 1) {
    set_column(map, 0, (column_value){number, cosine}, number);
  } else {
    set_column(map, 0, (column_value){number, cosine}, two.first < two.second ? two.first : two.second);
    set_column(map, 1, (column_value){number, cosine}, two.first < two.second ? two.second : two.first);
  }
}

static bool allocate_map(column_map *map) {
  const size_t values = (size_t)map->pairs + 1;
  int64_t *all = calloc(values, 4 * sizeof *all);
  map->at[0][0] = all;
  map->values = calloc((size_t)map->columns + 1, sizeof *map->values);
  if (!all || !map->values) return false;
  for (size_t n = 0; n < 4 * values; n++) all[n] = -1;
  for (size_t n = 1; n < 4; n++) map->at[n / 2][n % 2] = all + n * values;
  return true;
}

bool column_map_find(column_map *map, const posenc_problem *problem, table_part part) {
  const bool is_once = part != TABLE_BOTH && problem->layout == POSENC_SPLIT,
             is_between = problem->odd == POSENC_ODD_CEIL && problem->layout == POSENC_SPLIT;
  int64_t taken[POSENC_AXES] = {0}; /* pairs of each axis so far */
  posenc_problem even = *problem;
  even.dim -= problem->dim % 2;
  *map = (column_map){.pairs = even.dim / 2,
                      .columns = is_once ? even.dim / 2 : problem->dim,
                      .copies = part == TABLE_BOTH || is_once ? 1 : 2,
                      .odd = is_between ? even.dim / 2 : even.dim};
  if (problem->dim == even.dim) map->odd = -1;
  if (!allocate_map(map)) return false;
  for (int64_t number = 0; number < map->pairs; number++) {
    const int axis = problem->axes ? axes_axis(problem->axes, number) : 0;
    set_pair(map, part, number, columns_of(&even, axis, taken[axis]++, number));
  }
  if (map->odd >= 0) set_column(map, 0, (column_value){map->pairs, false}, map->odd);
  return true;
}

void column_map_free(column_map *map) {
  free(map->at[0][0]);
  free(map->values);
}

int64_t *column_map_between(const column_map *to, const column_map *from) {
  int64_t *columns = calloc((size_t)to->columns + 1, sizeof *columns);
  for (int64_t c = 0; columns && c < to->columns; c++)
    columns[c] = from->at[0][to->values[c].cosine][to->values[c].index];
  return columns;
}

/* ---- axes ---------------------------------------------------------------------------------------- */

bool axis_pairs_find(axis_pairs *pairs, const posenc_problem *problem, int axis) {
  const posenc_axes *axes = problem->axes;
  const posenc_axis *own = &axes->axis[axis];
  int64_t *all = calloc((size_t)own->pairs, 2 * sizeof *all);
  *pairs = (axis_pairs){.number = NULL};
  if (!all) return false;
  *pairs = (axis_pairs){.problem = *problem, .of = {.count = own->pairs, .index = all}, .number = all + own->pairs};
  pairs->problem.axes = NULL;
  pairs->problem.first = 0;
  pairs->problem.padding = POSENC_NO_PADDING;
  if (axes->frequencies == POSENC_AXES_RESTARTED) pairs->problem.dim = 2 * own->pairs;
  if (own->divisor > 1.0) {
    pairs->problem.scaling.kind = POSENC_SCALING_LINEAR;
    pairs->problem.scaling.factor = own->divisor;
  }
  for (int64_t number = 0, n = 0; number < problem->dim / 2; number++) {
    if (axes_axis(axes, number) != axis) continue;
    all[n] = axes_frequency(axes, axis, n, number);
    pairs->number[n] = number;
    n++;
  }
  return true;
}

void axis_pairs_free(axis_pairs *pairs) {
  free((void *)pairs->of.index);
}

double axis_position(const posenc_axes *axes, int axis, int64_t at) {
  const posenc_axis *own = &axes->axis[axis];
  int64_t steps = at / own->stride;
  if (steps * own->stride > at) steps--;
  int64_t coordinate = steps % own->size;
  if (coordinate < 0) coordinate += own->size;
  return own->positions ? own->positions[coordinate] : (double)coordinate;
}

int64_t axes_farthest(const posenc_axes *axes, int64_t at) {
  double farthest = 0.0;
  for (int a = 0; a < axes->count; a++) farthest = fmax(farthest, fabs(axis_position(axes, a, at)));
  return (int64_t)ceil(farthest);
}

/* ---- the tolerance of angles --------------------------------------------------------------------- */

/* Writes the frequencies of an axis, or of a problem without axes, at their numbers in the whole table. */
static bool read_frequencies(const axis_pairs *pairs, int64_t count, double *w) {
  oracle *all = oracle_create(&pairs->problem);
  mpfr_t frequency;
  if (!all) return false;
  mpfr_init2(frequency, 64);
  for (int64_t n = 0; n < count; n++) {
    oracle_frequency(all, pairs->number ? pairs->of.index[n] : n, frequency);
    w[pairs->number ? pairs->number[n] : n] = mpfr_get_d(frequency, MPFR_RNDN);
  }
  mpfr_clear(frequency);
  oracle_destroy(all);
  return true;
}

double *axes_tolerances(const posenc_problem *problem, double unit) {
  const int64_t count = problem->dim / 2;
  const int axes = problem->axes ? problem->axes->count : 1;
  double *w = calloc((size_t)count + 1, sizeof *w);
  bool enough = w;
  for (int a = 0; enough && a < axes; a++) {
    axis_pairs pairs = {.problem = *problem, .of = {.count = count}};
    enough = (!problem->axes || axis_pairs_find(&pairs, problem, a)) && read_frequencies(&pairs, pairs.of.count, w);
    axis_pairs_free(&pairs);
  }
  const double fastest = enough ? w[0] : 1.0;
  for (int64_t i = 0; enough && i < count; i++) w[i] = tolerance_of_angle(w[i], fastest, i, unit);
  if (enough) return w;
  free(w);
  return NULL;
}

/* ---- the pairs at a place ------------------------------------------------------------------------ */

/* The reference of one axis, or of a whole problem without axes. */
typedef struct axis_reference {
  axis_pairs pairs;
  fast_oracle *fast;
  int64_t reached, reach; /* the place of the last fast_move, and how far it reaches */
  int64_t position;       /* the position of `lanes` */
  bool has_lanes;
  fast_lanes *lanes;
} axis_reference;

struct axes_reference {
  posenc_problem problem;
  int count;
  axis_reference axis[POSENC_AXES];
  fast_lanes *lanes; /* those of all axes */
};

static fast_lanes *new_lanes(int64_t pairs) {
  const size_t groups = (size_t)((pairs - 1) / FAST_LANES + 1);
  fast_lanes *lanes = aligned_alloc(64, groups * sizeof *lanes);
  if (lanes) memset(lanes, 0, groups * sizeof *lanes);
  return lanes;
}

axes_reference *axes_reference_create(const posenc_problem *problem) {
  axes_reference *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->problem = *problem;
  r->count = problem->axes ? problem->axes->count : 1;
  r->lanes = new_lanes(problem->dim / 2);
  bool enough = r->lanes;
  for (int a = 0; a < r->count && enough; a++) {
    axis_reference *axis = &r->axis[a];
    axis->pairs.problem = *problem;
    enough = !problem->axes || axis_pairs_find(&axis->pairs, problem, a);
    if (enough) axis->fast = fast_create_some(&axis->pairs.problem, problem->axes ? &axis->pairs.of : NULL, 0);
    if (axis->fast) axis->lanes = new_lanes(FAST_LANES * fast_groups(axis->fast));
    enough = axis->lanes;
  }
  if (enough) return r;
  axes_reference_destroy(r);
  return NULL;
}

void axes_reference_destroy(axes_reference *r) {
  for (int a = 0; r && a < r->count; a++) {
    fast_destroy(r->axis[a].fast);
    free(r->axis[a].lanes);
    axis_pairs_free(&r->axis[a].pairs);
  }
  if (r) free(r->lanes);
  free(r);
}

static const fast_lanes *lanes_at(axis_reference *axis, int64_t position) {
  if (axis->has_lanes && axis->position == position) return axis->lanes;
  if (!axis->has_lanes || position < axis->reached || position - axis->reached >= axis->reach) {
    axis->reached = position;
    axis->reach = fast_move(axis->fast, position);
  }
  fast_lanes_of(axis->fast, position, axis->lanes);
  axis->position = position;
  axis->has_lanes = true;
  return axis->lanes;
}

static void copy_lane(const fast_lanes *from, int64_t i, fast_lanes *to, int64_t j) {
  const fast_lanes *f = &from[i / FAST_LANES];
  fast_lanes *t = &to[j / FAST_LANES];
  const int64_t a = i % FAST_LANES, b = j % FAST_LANES;
  t->sin_high[b] = f->sin_high[a];
  t->sin_low[b] = f->sin_low[a];
  t->cos_high[b] = f->cos_high[a];
  t->cos_low[b] = f->cos_low[a];
}

/* The pairs of those positions, one of each axis. */
static const fast_lanes *lanes_of(axes_reference *r, const int64_t *positions) {
  for (int a = 0; a < r->count; a++) {
    const axis_pairs *pairs = &r->axis[a].pairs;
    const fast_lanes *own = lanes_at(&r->axis[a], positions[a]);
    for (int64_t i = 0; i < pairs->of.count; i++) copy_lane(own, i, r->lanes, pairs->number[i]);
  }
  return r->lanes;
}

const fast_lanes *axes_reference_lanes(axes_reference *r, int64_t at) {
  const posenc_axes *axes = r->problem.axes;
  int64_t positions[POSENC_AXES];
  if (!axes) return lanes_at(&r->axis[0], at);
  for (int a = 0; a < r->count; a++) positions[a] = (int64_t)axis_position(axes, a, at);
  return lanes_of(r, positions);
}

const fast_lanes *axes_reference_apart(axes_reference *r, int64_t at, int64_t from) {
  const posenc_axes *axes = r->problem.axes;
  int64_t positions[POSENC_AXES];
  if (!axes) return lanes_at(&r->axis[0], at - from);
  for (int a = 0; a < r->count; a++)
    positions[a] = (int64_t)axis_position(axes, a, at) - (int64_t)axis_position(axes, a, from);
  return lanes_of(r, positions);
}
