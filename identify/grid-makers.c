/* SPDX-License-Identifier: MIT */
/* Finds the kernels that write a table of several axes. */
#include "common/work.h"
#include "identify/grid-parts.h"

#include <math.h>
#include <stdlib.h>

/* Returns the problem as kernels compute it: for one part alone, a table of cosines, then sines. */
static posenc_problem problem_of(const grid *g, posenc_dtype dtype) {
  posenc_problem problem = g->problem;
  problem.dtype = dtype;
  if (g->columns.part != COLUMNS_BOTH) problem.layout = POSENC_SPLIT_CS;
  return problem;
}

static int64_t column_of(const grid *g, int64_t column) {
  bool cosine;
  if (g->columns.part == COLUMNS_BOTH) return column;
  const int64_t index = columns_index(&g->columns, column, &cosine);
  return cosine ? index : g->columns.pairs + index;
}

/* Compares a row of an axis with `made`, numbers of the dtype. */
static void compare_row(const grid *g, const part *of, int64_t row, posenc_dtype dtype, const void *made, maker *by) {
  for (int64_t c = 0; c < of->of.count; c++) {
    const double there = grid_value(g, &of->of, row, c),
                 here =
                     format_nearest(format_of(g->held), format_element(dtype, made, column_of(g, of->of.columns[c]))),
                 difference = fabs(there - here);
    by->compared++;
    by->equal += difference <= 0.0;
    by->squares += difference * difference;
    by->most = fmax(by->most, difference);
    by->within = by->most;
  }
}

/* Compares the rows of each axis with those of the kernel; null: the most accurate one of the library. Returns false if
   it refuses the problem, or if memory runs out. */
static bool compare(grid *g, const posenc_kernel *kernel, maker by[POSENC_AXES]) {
  const posenc_dtype dtype = kernel ? POSENC_F32 : g->held;
  const posenc_problem problem = problem_of(g, dtype);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  if (!kernel) options.max_ulp = 0.5;
  if (kernel) isolate_turn(kernel);
  if ((kernel && posenc_kernel_refusal(kernel, &problem, &options)) || posenc_problem_refusal(&problem)) return false;
  posenc_plan *plan;
  const posenc_status status = posenc_plan_create(&plan, &problem, &options);
  g->failed |= status == POSENC_OUT_OF_MEMORY;
  if (status != POSENC_OK) return false;
  void *made = calloc((size_t)problem.dim, posenc_dtype_bytes(dtype));
  g->failed |= !made;
  for (int a = 0; a < g->count && made; a++) {
    const view *v = &g->parts[a].of;
    by[a] = (maker){.kernel = kernel, .closest = true};
    for (int64_t row = 0; row < v->rows; row++) {
      posenc_execute(plan, v->first + row * v->step, 1, made);
      compare_row(g, &g->parts[a], row, dtype, made, &by[a]);
    }
  }
  free(made);
  if (kernel) isolate_turn(kernel);
  posenc_plan_destroy(plan);
  return !g->failed;
}

/* Replaces the result of the same maker, or adds a new one. Returns false if memory runs out. */
static bool put(maker **all, size_t *count, const maker *by) {
  for (size_t n = 0; n < *count; n++)
    if ((*all)[n].kernel == by->kernel) {
      (*all)[n] = *by;
      return true;
    }
  maker *more = realloc(*all, (*count + 1) * sizeof *more);
  if (!more) return false;
  *all = more;
  more[(*count)++] = *by;
  return true;
}

static void put_all(grid *g, const maker by[POSENC_AXES]) {
  maker sum = by[0];
  for (int a = 1; a < g->count; a++) {
    sum.compared += by[a].compared;
    sum.equal += by[a].equal;
    sum.squares += by[a].squares;
    sum.within = sum.most = fmax(sum.most, by[a].most);
  }
  if (!g->parts[0].found) g->failed |= !put(&g->makers, &g->maker_count, &sum);
  for (int a = 0; a < g->count; a++) {
    identity *found = g->parts[a].found;
    if (found) g->failed |= !put(&found->matches, &found->match_count, &by[a]);
  }
}

void grid_find_makers(grid *g) {
  maker by[POSENC_AXES];
  if (!g->is_one) return;
  if (!g->parts[0].found && compare(g, NULL, by)) put_all(g, by);
  for (size_t k = 0; k < g->request->kernel_count && g->held != POSENC_F64 && !g->failed; k++)
    if (compare(g, g->request->kernels[k], by)) put_all(g, by);
  makers_rank(g->makers, g->maker_count);
  for (int a = 0; a < g->count; a++)
    if (g->parts[a].found) makers_rank(g->parts[a].found->matches, g->parts[a].found->match_count);
}
