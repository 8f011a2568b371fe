/* SPDX-License-Identifier: MIT */
/* An array x in a file, what was made of it, and what should be. */
#ifndef POSENC_VERIFY_ARRAY_REQUEST_H
#define POSENC_VERIFY_ARRAY_REQUEST_H

#include "files/table.h"

/* The axes of x: a letter for each, b of batches, any number of times, l of positions, h of heads, and d, the last, of
 * the columns of a vector. */
enum { ARRAY_POSITIONS = 'l', ARRAY_COLUMNS = 'd' };

typedef struct array_request {
  table_file *x, *out; /* arrays of the same axes and dtype, x of finite numbers */
  const char *x_name, *name;
  const char *axes;
  /* Add or rope of one head: rows are the positions, dim the columns that have been worked on, from column `start` on;
     the dtype is the files'. Positions of a list are whole. At most TABLE_COLUMNS_MAX columns. */
  posenc_problem problem;
  int64_t start;
  double max_ulp, max_abs; /* that are allowed; both 0: nothing is judged */
  const char *replay;      /* the command that does this again */
} array_request;

/* The number of a row on the axis of positions, and on each axis but the last, unless null; and the position of that
   number. */
int64_t array_number(const array_request *request, int64_t row, int64_t *indices);
int64_t array_position(const array_request *request, int64_t number);

#endif
