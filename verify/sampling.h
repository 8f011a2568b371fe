/* SPDX-License-Identifier: MIT */
/* The rows of a shape that are compared: all, if the budget allows it, or a sample of them. */
#ifndef POSENC_VERIFY_SAMPLING_H
#define POSENC_VERIFY_SAMPLING_H

#include "common/run.h"
#include "posenc.h"

#include <stdbool.h>
#include <stdint.h>

/* The number of the rule by which rows are drawn: sampling.c, and the stream of random numbers in exam.c. Records tell
   it, and their samples are not compared with those of another number. A change by which the same kernel, shape, seed
   and budget give other rows needs the next number; tests/sampling.c has a digest of the rows of this one, and repeats
   the shares and limits. Then `make baseline` saves tests/baseline.json again. */
enum { ROW_RULE = 1 };

/* Rows row to row + rows - 1. */
typedef struct window {
  int64_t row, rows;
} window;

/* The compared rows, as windows. */
typedef struct sampling {
  bool exhaustive; /* the windows contain each row once */
  int64_t windows; /* number of windows; 0 for a table without rows */
  int64_t rows;    /* rows of a window; only the last window of an exhaustive sampling may have fewer */
  int64_t all;     /* rows of the shape */
  int64_t width;   /* elements of a row */
  int64_t segments, windows_of_segment;
} sampling;

/* Returns range `number` of `count` ranges of segments, of about equal size, some of which are empty if there are fewer
   segments. */
static inline run_range sampling_segments(const sampling *sampled, int64_t number, int64_t count) {
  return (run_range){sampled->segments * number / count, sampled->segments * (number + 1) / count, sampled->segments};
}

static inline bool range_is_whole(run_range r) {
  return r.to - r.from == r.of;
}

/* Window numbers of a range: [first, end). */
typedef struct window_numbers {
  int64_t first, end;
} window_numbers;
window_numbers sampling_windows(const sampling *sampled, run_range r);

/* Whether it is a table or a rope cache whose rows are not successive positions on one axis, or whose dim is odd
   (exam.h). */
static inline bool rows_are_special(const posenc_problem *problem) {
  if (problem->op == POSENC_ADD || problem->op == POSENC_ROPE) return false;
  return problem->positions || problem->axes || problem->dim % 2;
}

/* Returns the sampling of a valid problem of any operation. The budget is a number of pairs, at least 1. A table of a
   kernel that declares correct rounding gets all of it, everything else a share (sampling.c). Two rows are compared
   with any budget. */
sampling sampling_of(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget);

/* Returns window `number`, below `windows`. Windows are in order if exhaustive; else they are the first rows, the last
   rows, and then random rows. Only random rows read and advance `random`, so they must be requested in order. */
window sampling_window(const sampling *sampled, int64_t number, uint64_t *random);

/* Advances `random` as if the windows before this one had been requested. */
void sampling_skip(const sampling *sampled, int64_t number, uint64_t *random);

/* Returns the number of elements in all windows of a range; an element in two windows counts twice. */
double sampling_elements(const sampling *sampled, run_range r);

#endif
