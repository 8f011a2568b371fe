/* SPDX-License-Identifier: MIT */
/* Finds grids in tables: which columns belong to which axis, and what each axis is. */

#include "inspect/identify/search.h"

#include "common/memory.h"
#include "common/work.h"
#include "inspect/identify/identity.h"
#include "reference/axes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Whether two elements of a column are equal. Elements of a recovered table have errors. */
static bool are_equal(const grid *g, const view *v, int64_t column, int64_t row, int64_t other) {
  const double error = g->request->error;
  if (!(error > 0.0))
    return memcmp(grid_element(g, v, row, column), grid_element(g, v, other, column), posenc_dtype_bytes(g->dtype)) ==
           0;
  return fabs(grid_value(g, v, row, column) - grid_value(g, v, other, column)) <= 2.0 * error;
}

/* ---- which columns belong to which axis ----------------------------------------------------------- */

enum { SLOW = 1, FAST = 2 };

/* Returns a set: SLOW if the column is constant in blocks of `width` rows, FAST if its rows repeat after `width`. */
static int kind_of(const grid *g, const view *v, int64_t column, int64_t width) {
  int kind = SLOW | FAST;
  for (int64_t row = 0; row < v->rows && kind; row++) {
    if (!are_equal(g, v, column, row, row - row % width)) kind &= ~SLOW;
    if (row >= width && !are_equal(g, v, column, row, row - width)) kind &= ~FAST;
  }
  return kind;
}

/* Finds the kinds of all columns in a grid of that width. Constant columns get the kind of the column before, or else
   of the one behind. Returns false if a column has no kind, or if all have the same. */
static bool find_kinds(const grid *g, const view *v, int64_t width, unsigned char *kinds) {
  int64_t slow = 0, fast = 0;
  for (int64_t c = 0; c < v->count; c++) {
    kinds[c] = (unsigned char)kind_of(g, v, c, width);
    if (!kinds[c]) return false;
    slow += kinds[c] == SLOW;
    fast += kinds[c] == FAST;
  }
  for (int64_t c = 1; c < v->count; c++)
    if (kinds[c] == (SLOW | FAST)) kinds[c] = kinds[c - 1];
  for (int64_t c = v->count - 1; c > 0; c--)
    if (kinds[c - 1] == (SLOW | FAST)) kinds[c - 1] = kinds[c];
  return slow >= 2 && fast >= 2;
}

/* Returns the number of first rows with equal values. */
static int64_t run_of(const grid *g, const view *v, int64_t column) {
  int64_t run = 1;
  while (run < v->rows && are_equal(g, v, column, run, 0)) run++;
  return run;
}

/* Returns the width of a grid and sets the kinds of its columns; returns 0 if there is no grid. `runs` has an element
   for each column. */
static int64_t find_width(const grid *g, const view *v, unsigned char *kinds, int64_t *runs) {
  int64_t tried = 1;
  for (int64_t c = 0; c < v->count; c++) runs[c] = run_of(g, v, c);
  for (;;) { /* each pass tries the next longer run */
    int64_t width = v->rows;
    for (int64_t c = 0; c < v->count; c++)
      if (runs[c] > tried && runs[c] < width) width = runs[c];
    if (width == v->rows) return 0;
    if (v->rows % width == 0 && find_kinds(g, v, width, kinds)) return width;
    tried = width;
  }
}

/* Returns the columns of a kind; the caller sets the rows. */
static view kind_taken(const view *v, const unsigned char *kinds, int kind) {
  view taken = *v;
  taken.count = 0;
  taken.columns = memory_take((size_t)v->count, sizeof *taken.columns);
  for (int64_t c = 0; c < v->count; c++)
    if (kinds[c] == kind) taken.columns[taken.count++] = v->columns[c];
  return taken;
}

/* Divides the view into at most `most` axes, slow ones first, and takes over its columns. */
static void find_axes(grid *g, view *v, int most) {
  unsigned char *kinds = memory_take((size_t)v->count, 1);
  int64_t *runs = memory_take((size_t)v->count, sizeof *runs);
  const int64_t width = most == 1 ? 0 : find_width(g, v, kinds, runs);
  view last = *v;
  if (width) {
    view slow = kind_taken(v, kinds, SLOW);
    last = kind_taken(v, kinds, FAST);
    free(v->columns);
    last.rows = width;
    slow.rows = v->rows / width;
    slow.step = v->step * width;
    find_axes(g, &slow, most - 1);
  }
  free(kinds);
  free(runs);
  g->parts[g->count++].of = last;
}

/* Divides the table into axes. Returns false if there is only one. */
static bool find_grid(grid *g) {
  view all = {.first = g->zeros, .step = 1, .rows = table_stored(g->request->table)->rows - g->zeros, .count = g->dim};
  all.columns = memory_take((size_t)g->dim, sizeof *all.columns);
  for (int64_t c = 0; c < g->dim; c++) all.columns[c] = c;
  find_axes(g, &all, POSENC_AXES);
  return g->count > 1;
}

/* ---- what each axis is ---------------------------------------------------------------------------- */

/* Identifies the values of an axis as a table. */
static void identify_part(const grid *g, grid_part *p) {
  const view *v = &p->of;
  const size_t element = posenc_dtype_bytes(g->dtype);
  unsigned char *elements = memory_take((size_t)(v->rows * v->count), element);
  for (int64_t r = 0; r < v->rows; r++)
    for (int64_t c = 0; c < v->count; c++)
      memcpy(elements + (size_t)(r * v->count + c) * element, grid_element(g, v, r, c), element);
  p->table = table_of_elements(g->dtype, v->rows, v->count, elements);
  identify_request own = *g->request;
  own.table = p->table;
  own.expected = own.suspects = NULL;
  p->found = identify(&own);
}

/* Identifies all axes. Returns false unless each is a table or has too few rows, and at least one is a table. */
static bool identify_parts(grid *g) {
  int tables = 0;
  for (int a = 0; a < g->count; a++) {
    identify_part(g, &g->parts[a]);
    const identity *found = g->parts[a].found;
    const bool is_table = identity_is_table(found) && !found->positions;
    if (!is_table && found->verdict != IDENTIFY_FEW) return false;
    tables += is_table;
  }
  if (!tables) return false;
  g->held = g->parts[0].found->held;
  for (int a = 0; a < g->count; a++) {
    int at = a;
    for (; at > 0 && g->parts[g->order[at - 1]].of.columns[0] > g->parts[a].of.columns[0]; at--)
      g->order[at] = g->order[at - 1];
    g->order[at] = a;
  }
  return true;
}

bool grid_find_places(grid *g) {
  if (find_grid(g)) return identify_parts(g);
  if (g->zeros != 1) return false;
  grid_free_parts(g); /* sines of the first place are zeros, too */
  g->zeros = 0;
  return find_grid(g) && identify_parts(g);
}

/* ---- the problem of all axes together ------------------------------------------------------------ */

static const formula *formula_of(const grid *g, int column) {
  return &g->parts[g->order[column]].found->how.formula;
}

static bool is_contiguous(const view *v, int64_t from, int64_t to) {
  for (int64_t c = from + 1; c < to; c++)
    if (v->columns[c] != v->columns[c - 1] + 1) return false;
  return true;
}

/* Whether the columns of each axis are adjacent (*grouped), or adjacent in each half. */
static bool find_columns(const grid *g, bool *grouped) {
  bool whole = true, halves = true;
  for (int a = 0; a < g->count; a++) {
    const view *v = &g->parts[a].of;
    const int64_t half = v->count / 2;
    whole &= is_contiguous(v, 0, v->count);
    halves &= v->count % 2 == 0 && is_contiguous(v, 0, half) && is_contiguous(v, half, v->count) &&
              v->columns[half] == v->columns[0] + g->dim / 2;
  }
  *grouped = whole;
  return whole || halves;
}

/* The forms of an axis's positions, as functions of the coordinates. */
typedef enum spacing {
  CENTRED,    /* centres of `size` cells from -1 to 1, times 2 pi: DINOv3 */
  NORMALISED, /* 1, 2 … divided by the last and 1e-6, times 2 pi: DETR */
  SIZED,      /* 0, b, 2 b … divided by the size, which is not b: positions of a grid of b, in diffusers */
  PLAIN,      /* whole numbers, all with the same scale */
  FORMS
} spacing;

/* Whether the positions of an axis have that form. Sets the first one, the step, the divisor and the scale. */
static bool has_form(const grid *g, int n, spacing form, double size, double set[4]) {
  const start *at = &g->parts[g->order[n]].found->how.start;
  const double scale = formula_of(g, n)->scale, sized = rint(scale * size);
  const bool whole = start_is_one(at);
  const double first = whole ? (double)at->least : at->first;
  switch (form) {
  case CENTRED:
    memcpy(set, (const double[]){1.0 - size, 2.0, size, whole_turn}, 4 * sizeof *set);
    return grid_is_near(scale * size / 2.0, whole_turn) && (whole || !start_is_whole(at)) &&
           fabs(first - set[0] / 2.0) < 1e-3;
  case NORMALISED:
    memcpy(set, (const double[]){1.0, 1.0, size + 1e-6, whole_turn}, 4 * sizeof *set);
    return grid_is_near(scale * size, whole_turn) && whole && at->least == 1;
  case PLAIN:
    memcpy(set, (const double[]){first, 1.0, 1.0, formula_of(g, 0)->scale}, 4 * sizeof *set);
    return whole;
  case SIZED:
    memcpy(set, (const double[]){0.0, sized, size, 1.0}, 4 * sizeof *set);
    return whole && at->least == 0 && sized >= 1.0 && sized != size && grid_is_near(scale * size, sized);
  case FORMS:
    break;
  }
  return false;
}

/* Sets positions, divisors and scale. Returns false if not all axes have that form. */
static bool set_positions(grid *g, spacing form) {
  posenc_axes *axes = &g->axes;
  double set[4];
  for (int n = 0; n < g->count; n++)
    if (!has_form(g, n, form, (double)axes->axis[n].size, set)) return false;
  for (int n = 0; n < g->count; n++) {
    posenc_axis *axis = &axes->axis[n];
    has_form(g, n, form, (double)axis->size, set);
    axis->divisor = set[2];
    g->problem.scale = set[3];
    free(g->lists[n]);
    axis->positions = g->lists[n] = memory_take((size_t)axis->size, sizeof *g->lists[n]);
    for (int64_t k = 0; k < axis->size; k++) g->lists[n][k] = set[0] + set[1] * (double)k;
  }
  return true;
}

/* Sets base and frequencies. Frequencies that restart on each axis have the same base, and the scale that remains
   beside the positions. Others have one base for all columns. Returns false if no base explains the frequencies. */
static bool set_frequencies(grid *g, spacing form) {
  posenc_problem *problem = &g->problem;
  posenc_axes *axes = &g->axes;
  const double all = (double)problem->dim / 2.0, first = formula_of(g, 0)->base,
               of_all = pow(first, all / (double)axes->axis[0].pairs);
  bool restarted = true, continued = form == PLAIN, dealt = form == PLAIN;
  double before = 0.0;
  for (int n = 0; n < g->count; n++) {
    const formula *f = formula_of(g, n);
    const double pairs = (double)axes->axis[n].pairs, relative = f->scale / formula_of(g, 0)->scale;
    if (f->scaling.kind != POSENC_SCALING_NONE || f->shift > 0.0 || f->shift < 0.0) return false;
    restarted &= grid_is_near(f->base, first) && (form != PLAIN || grid_is_near(relative, 1.0));
    dealt &= grid_is_near(f->base, first) && grid_is_near(relative, pow(first, -n / all)) &&
             grid_is_near(pairs * g->count, all);
    continued &= grid_is_near(pow(f->base, all / pairs), of_all) && grid_is_near(relative, pow(of_all, -before / all));
    before += pairs;
  }
  problem->base = restarted || dealt ? first : plainest(of_all, 1e-5).value;
  axes->frequencies = continued ? POSENC_AXES_CONTINUED : POSENC_AXES_DEALT;
  if (restarted) axes->frequencies = POSENC_AXES_RESTARTED;
  return restarted || continued || dealt;
}

/* Whether a problem describes the table: it has no other amplitude, offset, damage or rows of zeros. */
static bool is_plain(const identity *found, double amplitude) {
  return found->verdict == IDENTIFY_TABLE && !(fabs(found->how.amplitude - amplitude) > 0.0) &&
         !(fabs(found->how.offset) > 0.0) && !found->damage_count && !found->paddings;
}

/* Sets sizes, strides and layout. Returns false if no problem has them. */
static bool set_axes(grid *g) {
  const making *how = &g->parts[g->order[0]].found->how;
  const columns *first = &how->columns;
  int64_t stride = 1, pairs = 0;
  bool whole;
  g->axes = posenc_grid(1, (const int64_t[]){1}, 2);
  g->axes.count = g->count;
  for (int a = g->count - 1; a >= 0; a--) {
    int column = 0;
    while (g->order[column] != a) column++;
    const columns *own = &g->parts[a].found->how.columns;
    g->axes.axis[column] = (posenc_axis){own->pairs, g->parts[a].of.rows, stride, NULL, 1.0};
    stride *= g->parts[a].of.rows;
    pairs += own->pairs;
    if (!is_plain(g->parts[a].found, how->amplitude)) return false;
    if (own->layout != first->layout || own->part != first->part || own->dim % 2) return false;
  }
  g->columns = (columns){first->layout, first->part, g->dim, pairs};
  g->problem = posenc_table(stride + g->zeros, 2 * pairs);
  g->problem.first = -g->zeros;
  if (g->zeros == 1) g->problem.padding = -1;
  g->problem.layout = first->layout;
  g->problem.axes = &g->axes;
  if (!number_is_one(how->amplitude)) g->problem.scaling.attention = how->amplitude;
  const bool is_split = first->layout == POSENC_SPLIT || first->layout == POSENC_SPLIT_CS;
  if (g->zeros > 1 || !find_columns(g, &whole)) return false;
  const bool is_twice = first->layout == POSENC_DUPLICATED, is_both = first->part == TABLE_BOTH;
  g->axes.grouped = whole && (is_twice || (is_split && is_both));
  return true;
}

void grid_find_problem(grid *g) {
  if (!set_axes(g)) return;
  for (spacing form = CENTRED; form < FORMS && !g->is_one; form++)
    g->is_one = set_positions(g, form) && set_frequencies(g, form);
}

/* ---- kernels that write the table of all axes ---------------------------------------------------- */

/* Returns the problem as kernels compute it: for one part alone, a table of cosines, then sines. */
static posenc_problem problem_of(const grid *g, posenc_dtype dtype) {
  posenc_problem problem = g->problem;
  problem.dtype = dtype;
  if (g->columns.part != TABLE_BOTH) problem.layout = POSENC_SPLIT_CS;
  return problem;
}

/* Returns the columns of kernels' rows for those of the file, a new array. */
static int64_t *columns_of_kernels(const grid *g) {
  const posenc_problem table = problem_of(g, g->held);
  column_map of_kernels, of_file;
  if (!column_map_find(&of_kernels, &table, TABLE_BOTH)) memory_end();
  if (!column_map_find(&of_file, &g->problem, g->columns.part)) memory_end();
  int64_t *from = allocated(column_map_between(&of_file, &of_kernels));
  column_map_free(&of_kernels);
  column_map_free(&of_file);
  return from;
}

/* Compares a row of an axis with `made`, numbers of the dtype. */
static void compare_row(const grid *g, const grid_part *of, int64_t row, posenc_dtype dtype, const void *made,
                        const int64_t *from, maker *by) {
  for (int64_t c = 0; c < of->of.count; c++) {
    const double there = grid_value(g, &of->of, row, c),
                 here = format_nearest(format_of(g->held), format_element(dtype, made, from[of->of.columns[c]])),
                 off = fabs(there - here);
    by->compared++;
    by->equal += off <= 0.0;
    by->squares += off * off;
    by->most = fmax(by->most, off);
    by->within = by->most;
  }
}

/* Compares the rows of each axis with those of the kernel; null: the most accurate one of the library. Returns false if
   it refuses the problem. */
static bool compare(grid *g, const posenc_kernel *kernel, maker by[POSENC_AXES]) {
  const posenc_dtype dtype = kernel ? POSENC_F32 : g->held;
  const posenc_problem problem = problem_of(g, dtype);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  if (!kernel) options.max_ulp = 0.5;
  if (kernel) isolate_kernel(kernel);
  if ((kernel && posenc_kernel_refusal(kernel, &problem, &options)) || posenc_problem_refusal(&problem)) return false;
  posenc_plan *plan;
  const posenc_status status = posenc_plan_create(&plan, &problem, &options);
  if (status == POSENC_OUT_OF_MEMORY) memory_end();
  if (status != POSENC_OK) return false;
  void *made = memory_take((size_t)problem.dim, posenc_dtype_bytes(dtype));
  int64_t *from = columns_of_kernels(g);
  for (int a = 0; a < g->count; a++) {
    const view *v = &g->parts[a].of;
    by[a] = (maker){.kernel = kernel, .closest = true};
    for (int64_t row = 0; row < v->rows; row++) {
      posenc_execute(plan, v->first + row * v->step, 1, made);
      compare_row(g, &g->parts[a], row, dtype, made, from, &by[a]);
    }
  }
  free(made);
  free(from);
  if (kernel) isolate_kernel(kernel);
  posenc_plan_destroy(plan);
  return true;
}

/* Replaces the result of the same maker, or adds a new one. */
static void put(maker **all, size_t *count, const maker *by) {
  size_t n = 0;
  while (n < *count && (*all)[n].kernel != by->kernel) n++;
  if (n == *count) *all = memory_grow(*all, ++*count, sizeof **all);
  (*all)[n] = *by;
}

static void put_all(grid *g, const maker by[POSENC_AXES]) {
  maker sum = by[0];
  for (int a = 1; a < g->count; a++) {
    sum.compared += by[a].compared;
    sum.equal += by[a].equal;
    sum.squares += by[a].squares;
    sum.within = sum.most = fmax(sum.most, by[a].most);
  }
  if (!g->parts[0].found) put(&g->makers, &g->maker_count, &sum);
  for (int a = 0; a < g->count; a++) {
    identity *found = g->parts[a].found;
    if (found) put(&found->matches, &found->match_count, &by[a]);
  }
}

void grid_find_makers(grid *g) {
  maker by[POSENC_AXES];
  if (!g->is_one) return;
  if (!g->parts[0].found && compare(g, NULL, by)) put_all(g, by);
  for (size_t k = 0; k < g->request->kernel_count && g->held != POSENC_F64; k++)
    if (compare(g, g->request->kernels[k], by)) put_all(g, by);
  makers_rank(g->makers, g->maker_count);
  for (int a = 0; a < g->count; a++)
    if (g->parts[a].found) makers_rank(g->parts[a].found->matches, g->parts[a].found->match_count);
}
