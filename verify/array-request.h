/* SPDX-License-Identifier: MIT */
/* An array x in a file, what was made of it, and what should be. */
#ifndef POSENC_VERIFY_ARRAY_REQUEST_H
#define POSENC_VERIFY_ARRAY_REQUEST_H

#include "common/suspect.h"
#include "files/vectors.h"

typedef struct array_request {
  applied_arrays arrays; /* x of finite numbers */
  const char *x_name, *name;
  /* Add or rope of one head: rows are the positions, dim the columns that have been worked on, from column `start` on;
     the dtype is the files'. Positions of a list are whole. At most TABLE_COLUMNS_MAX columns. */
  posenc_problem problem;
  int64_t start;
  const suspect_list *suspects; /* or null: what may have been done instead, beside what is always tried */
  double max_ulp, max_abs;      /* that are allowed; both 0: nothing is judged */
  const char *replay;           /* the command that does this again */
} array_request;

/* The position of that index on the axis of positions. */
static inline int64_t array_position(const array_request *request, int64_t index) {
  const posenc_problem *problem = &request->problem;
  return problem->positions ? (int64_t)problem->positions[index] : problem->first + index;
}

#endif
