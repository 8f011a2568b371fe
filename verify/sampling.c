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
static void set_segments(sampling *sampled, bool special) {
  const int64_t fitting = sampled->rows ? SEGMENT_ELEMENTS / sampled->rows / sampled->width : 0,
                enough = most(most(fitting, SEGMENT_WINDOWS), sampled->windows / SEGMENTS_MOST + 1);
  sampled->windows_of_segment = special ? most(sampled->windows, 1) : enough;
  sampled->segments = sampled->windows ? (sampled->windows - 1) / sampled->windows_of_segment + 1 : 1;
}

sampling sampling_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget) {
  const bool special = rows_are_special(problem);
  const int64_t width = problem->heads * problem->dim, row_bytes = width * (int64_t)posenc_dtype_bytes(problem->dtype),
                pairs = (width + 1) / 2, fitting = special ? most(problem->rows, 1) : most(WINDOW_BYTES / row_bytes, 1),
                affordable = most(budget / pairs / share_of(kernel, problem->op), 2);
  sampling sampled = {.exhaustive = problem->rows <= affordable, .all = problem->rows, .width = width};
  if (sampled.exhaustive) {
    sampled.rows = least(fitting, sampled.all);
    sampled.windows = sampled.rows ? (sampled.all - 1) / sampled.rows + 1 : 0;
  } else {
    const int64_t most_of_kernel = most_windows(kernel, special), filling = (affordable - 1) / fitting + 1,
                  enough = least(most(affordable / SAMPLED_ROWS, 2), WINDOWS_WITH_BOUND);
    sampled.rows = least(affordable / least(most(enough, filling), most_of_kernel), fitting);
    sampled.windows = least(affordable / sampled.rows, most_of_kernel);
  }
  set_segments(&sampled, special);
  return sampled;
}

window_numbers sampling_windows(const sampling *sampled, run_range r) {
  return (window_numbers){r.from * sampled->windows_of_segment,
                          r.to == sampled->segments ? sampled->windows : r.to * sampled->windows_of_segment};
}

double sampling_elements(const sampling *sampled, run_range r) {
  const window_numbers n = sampling_windows(sampled, r);
  const double rows = (double)(n.end - n.first) * (double)sampled->rows,
               left = (double)sampled->all - (double)n.first * (double)sampled->rows;
  return (double)sampled->width * (sampled->exhaustive ? fmin(left, rows) : rows);
}

window sampling_window(const sampling *sampled, int64_t number, uint64_t *random) {
  const int64_t last = sampled->all - sampled->rows;
  int64_t row = number * sampled->rows;
  if (!sampled->exhaustive && number > 0) row = number == 1 ? last : (int64_t)random_below(random, (uint64_t)last + 1);
  return (window){row, least(sampled->rows, sampled->all - row)};
}

void sampling_skip(const sampling *sampled, int64_t number, uint64_t *random) {
  for (int64_t n = 0; !sampled->exhaustive && n < number; n++) sampling_window(sampled, n, random);
}
