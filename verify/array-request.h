/* SPDX-License-Identifier: MIT */
/* A request to check an array x in a file, and the result of add or rope. */
#ifndef POSENC_VERIFY_ARRAY_REQUEST_H
#define POSENC_VERIFY_ARRAY_REQUEST_H

#include "common/suspect.h"
#include "files/vectors.h"

typedef struct array_request {
  applied_arrays arrays; /* x must be finite */
  const char *x_name, *name;
  /* Add or rope of one head: rows are the positions, dim is the number of columns that were processed, from column
     `start` on; the dtype is the files'. Positions of a list are integers. At most TABLE_COLUMNS_MAX columns. */
  posenc_problem problem;
  int64_t start;
  const suspect_list *suspects; /* for array_cause_of: other formulas that are tried, or null */
  double max_ulp, max_abs;      /* tolerances; if both are 0, there are no checks */
  const char *replay;           /* the command that repeats this */
} array_request;

/* Returns the position at an index on the axis of positions. */
static inline int64_t array_position(const array_request *request, int64_t index) {
  const posenc_problem *problem = &request->problem;
  return problem->positions ? (int64_t)problem->positions[index] : problem->first + index;
}

#endif
