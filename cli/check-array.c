/* SPDX-License-Identifier: MIT */
#include "cli/check-array.h"

#include "cli/model.h"
#include "common/threads.h"
#include "verify/files.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Sets the number of columns that rope rotates: without options, all columns from the first one on. */
static void set_columns(options *given, const stored *at, const char *file) {
  posenc_problem *problem = &given->problem;
  const bool has_dim = is_given(given, OPTION_DIM);
  const char *const name = has_dim ? "dim" : "start", *const text = given->texts[has_dim ? OPTION_DIM : OPTION_START];
  if (problem->op == POSENC_ADD && (has_dim || is_given(given, OPTION_START)))
    die("--%s %s: add has all columns of x", name, text);
  if (!has_dim) problem->dim = at->dim - given->start;
  if (problem->dim < 1 || problem->dim > at->dim - given->start)
    die("--%s %s: %s has %" PRId64 " columns", name, text, file, at->dim);
  if (problem->dim % 2 && text) die("--%s %s: rope turns an even number of columns", name, text);
  if (problem->dim > TABLE_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be checked", file, problem->dim, TABLE_COLUMNS_MAX);
}

static void set_positions(options *given, const stored *at, const char *axes) {
  posenc_problem *problem = &given->problem;
  const int64_t length = axes_length(axes, at);
  if (problem->positions && problem->rows != length)
    die("--positions: there are %" PRId64 " of them, and axis l has %" PRId64, problem->rows, length);
  for (int64_t row = 0; problem->positions && row < length; row++)
    if (problem->positions[row] != rint(problem->positions[row]))
      die("--positions: %.17g is no whole number", problem->positions[row]);
  problem->rows = length;
  for (int a = 0; given->grid && a < given->grid->count; a++) {
    const posenc_axis *axis = &given->grid->axis[a];
    for (int64_t n = 0; axis->positions && n < axis->size; n++)
      if (axis->positions[n] != rint(axis->positions[n]))
        die("--grid %s: %.17g is no whole number", given->texts[OPTION_GRID], axis->positions[n]);
  }
  take_model_length(given);
}

json_t *check_array(options *given, output **out) {
  const char *file = given->operands[0];
  options_refuse(given, ANY_OF(SET(PART), SET(ODD)), "--op");
  const applied_arrays arrays = open_arrays(given, file);
  const stored *at = table_stored(arrays.x);
  if (given->model && !is_given(given, OPTION_START) && given->rope.head == at->dim) given->start = given->rope.start;
  set_columns(given, at, given->x);
  set_positions(given, at, arrays.axes);
  given->problem.dtype = POSENC_F32; /* the library's add and rope support fewer dtypes */
  options_require_table(given, file);
  given->problem.dtype = at->dtype;
  *out = open_output("--output", given->output);

  const array_request request = {.arrays = arrays,
                                 .x_name = given->x,
                                 .name = file,
                                 .problem = given->problem,
                                 .start = given->start,
                                 .max_ulp = given->max_ulp,
                                 .max_abs = given->max_abs,
                                 .replay = given->command_line};
  int64_t bad_row;
  threads_limit(0);
  json_t *record = verify_array(&request, &bad_row);
  if (!record && bad_row >= 0) die("--x %s: not all numbers of row %" PRId64 " are finite", given->x, bad_row);
  if (!record) die("out of memory");
  table_close(arrays.x);
  table_close(arrays.out);
  return record;
}
