/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/sampling.h"

#include "common/number.h"
#include "common/shapes.h"

#include <math.h>

/* The largest window fits a cache, which also limits the memory of an exam. Windows of a sample have at least
   SAMPLED_ROWS rows if such a window fits and the budget is enough for two. */
enum { WINDOW_BYTES = 1 << 21, SAMPLED_ROWS = 64 };

/*
 * A single misrounded element disproves correct rounding, so kernels that declare it get the whole budget. Errors of
 * other kernels are spread over all rows, so a share of the budget is enough. For add and rope, the table is compared
 * as well. The tables of a rope cache are copies of columns, which the library makes in the same way for all kernels.
 * All elements of the published 4096×128 are compared.
 */
enum { SHARE_OF_BOUNDED = 32, SHARE_OF_APPLIED = 32, SHARE_OF_CACHE = 256 };

/*
 * A sample has at most WINDOWS_WITH_BOUND windows if the budget is enough for them. A kernel without a derived bound
 * gets at most WINDOWS_WITHOUT_BOUND, because it may compute each window from position 0 on. Lists of positions and odd
 * dims are compared at both ends, in blocks that table-exam.c makes, so their windows may have any size.
 */
enum { WINDOWS_WITH_BOUND = 64, WINDOWS_WITHOUT_BOUND = 4, WINDOWS_OF_SPECIAL = 2 };

/* A segment takes at least about a tenth of a second. A table has at most as many of them as a record can list. */
enum { SEGMENT_ELEMENTS = 1 << 26, SEGMENT_WINDOWS = 2, SEGMENTS_MOST = 1 << 14 };

static int64_t most(int64_t a, int64_t b) {
  return a > b ? a : b;
}

static int64_t share_of(const posenc_kernel *kernel, posenc_op op) {
  if (op_is_applied(op)) return SHARE_OF_APPLIED;
  if (op == POSENC_ROPE_CACHE) return SHARE_OF_CACHE;
  const posenc_bound *b = &kernel->bound;
  return b->derived && b->ulp == 0.5 && b->abs == 0.0 && b->growth == 0.0 ? 1 : SHARE_OF_BOUNDED;
}

static int64_t most_windows(const posenc_kernel *kernel, bool special) {
  if (special) return WINDOWS_OF_SPECIAL;
  return kernel->bound.derived ? INT64_MAX : WINDOWS_WITHOUT_BOUND;
}

/* Sets the segments. Special rows are in one segment, because table-exam.c compares them in blocks of its own. */
static void set_segments(sampling *v, bool special) {
  const int64_t fitting = v->rows ? SEGMENT_ELEMENTS / v->rows / v->width : 0,
                enough = most(most(fitting, SEGMENT_WINDOWS), v->windows / SEGMENTS_MOST + 1);
  v->windows_of_segment = special ? most(v->windows, 1) : enough;
  v->segments = v->windows ? (v->windows - 1) / v->windows_of_segment + 1 : 1;
}

sampling sampling_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget) {
  const bool special = rows_are_special(problem);
  const int64_t width = problem->heads * problem->dim, row_bytes = width * (int64_t)posenc_dtype_bytes(problem->dtype),
                pairs = (width + 1) / 2, fitting = special ? most(problem->rows, 1) : most(WINDOW_BYTES / row_bytes, 1),
                affordable = most(budget / pairs / share_of(kernel, problem->op), 2);
  sampling v = {.exhaustive = problem->rows <= affordable, .all = problem->rows, .width = width};
  if (v.exhaustive) {
    v.rows = least(fitting, v.all);
    v.windows = v.rows ? (v.all - 1) / v.rows + 1 : 0;
  } else {
    const int64_t limit = most_windows(kernel, special), filling = (affordable - 1) / fitting + 1,
                  enough = least(most(affordable / SAMPLED_ROWS, 2), WINDOWS_WITH_BOUND);
    v.rows = least(affordable / least(most(enough, filling), limit), fitting);
    v.windows = least(affordable / v.rows, limit);
  }
  set_segments(&v, special);
  return v;
}

window_numbers sampling_windows(const sampling *v, run_range r) {
  return (window_numbers){r.from * v->windows_of_segment,
                          r.to == v->segments ? v->windows : r.to * v->windows_of_segment};
}

double sampling_elements(const sampling *v, run_range r) {
  const window_numbers n = sampling_windows(v, r);
  const double rows = (double)(n.end - n.first) * (double)v->rows,
               left = (double)v->all - (double)n.first * (double)v->rows;
  return (double)v->width * (v->exhaustive ? fmin(left, rows) : rows);
}

window sampling_window(const sampling *v, int64_t number, uint64_t *random) {
  const int64_t last = v->all - v->rows;
  int64_t row = number * v->rows;
  if (!v->exhaustive && number > 0) row = number == 1 ? last : (int64_t)random_below(random, (uint64_t)last + 1);
  return (window){row, least(v->rows, v->all - row)};
}

void sampling_skip(const sampling *v, int64_t number, uint64_t *random) {
  for (int64_t n = 0; !v->exhaustive && n < number; n++) sampling_window(v, n, random);
}
