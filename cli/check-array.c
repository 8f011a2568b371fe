/* SPDX-License-Identifier: MIT */
#include "cli/check-array.h"

#include "common/threads.h"
#include "verify/array.h"
#include "verify/table-request.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The usual axes of that many; null: none are usual. */
static const char *usual_axes(posenc_op op, size_t count) {
  static const char *const usual[][5] = {{NULL, NULL, "ld", "bld", NULL}, {NULL, NULL, "ld", "lhd", "blhd"}};
  return count < 5 ? usual[op == POSENC_ROPE][count] : NULL;
}

/* Exits unless the letters are axes of an array, with one of positions and the columns last. */
static void require_axes(const char *axes, const stored *at, const char *file) {
  const size_t length = strlen(axes);
  const char *const positions = strchr(axes, ARRAY_POSITIONS), *const heads = strchr(axes, 'h');
  if (length != at->axis_count) die("--axes %s: %zu letters, and %s has %zu axes", axes, length, file, at->axis_count);
  if (strspn(axes, "blhd") != length) die("--axes %s: b, l, h and d are axes", axes);
  if (strchr(axes, ARRAY_COLUMNS) != axes + length - 1) die("--axes %s: d, the columns, is the last axis", axes);
  if (!positions || strchr(positions + 1, ARRAY_POSITIONS)) die("--axes %s: l, the positions, is one axis", axes);
  if (heads && strchr(heads + 1, 'h')) die("--axes %s: h, the heads, is one axis", axes);
}

/* Exits unless both have the same shape and dtype. */
static void require_same(const stored *x, const stored *out, const char *x_name, const char *name) {
  if (x->dtype != out->dtype) die("%s: %s, and %s is %s", name, dtype_name(out->dtype), x_name, dtype_name(x->dtype));
  if (x->axis_count != out->axis_count || memcmp(x->axes, out->axes, x->axis_count * sizeof *x->axes) != 0)
    die("%s: its shape is not that of %s", name, x_name);
}

/* The columns that rope has turned, and the first of them: all, without options. */
static void set_columns(options *given, const stored *at, const char *file) {
  posenc_problem *problem = &given->problem;
  const bool has_dim = is_given(given, OPTION_DIM);
  const char *const name = has_dim ? "dim" : "start", *const text = given->texts[has_dim ? OPTION_DIM : OPTION_START];
  if (problem->op == POSENC_ADD && (has_dim || is_given(given, OPTION_START)))
    die("--%s %s: add has all columns of x", name, text);
  if (!has_dim) problem->dim = at->dim - given->start;
  if (problem->dim < 1 || problem->dim > at->dim - given->start)
    die("--%s %s: %s has %" PRId64 " columns", name, text, file, at->dim);
  if (has_dim && problem->dim % 2) die("--dim %s: it must be even", text);
  if (problem->dim > TABLE_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be checked", file, problem->dim, TABLE_COLUMNS_MAX);
}

static void set_positions(options *given, const stored *at, const char *axes) {
  posenc_problem *problem = &given->problem;
  const int64_t length = at->axes[strchr(axes, ARRAY_POSITIONS) - axes];
  if (problem->positions && problem->rows != length)
    die("--positions: there are %" PRId64 " of them, and axis l has %" PRId64, problem->rows, length);
  for (int64_t row = 0; problem->positions && row < length; row++)
    if (problem->positions[row] != rint(problem->positions[row]))
      die("--positions: %.17g is no whole number", problem->positions[row]);
  problem->rows = length;
}

json_t *check_array(options *given, output **out) {
  const char *file = given->operands[0];
  if (!given->x) die("--op %s: --x is missing, the file of what it was applied to", op_name(given->problem.op));
  options_refuse(given, SET(PART) | SET(ODD), "--op");
  table_file *x = open_table("--x", given->x, given->tensor, TABLE_ARRAY),
             *result = open_table(NULL, file, given->tensor, TABLE_ARRAY);
  const stored *at = table_stored(x);
  require_same(at, table_stored(result), given->x, file);
  const char *axes = given->axes ? given->axes : usual_axes(given->problem.op, at->axis_count);
  if (!axes) die("%s: it has %zu axes, and --axes tells which they are", given->x, at->axis_count);
  require_axes(axes, at, given->x);
  set_columns(given, at, given->x);
  set_positions(given, at, axes);
  given->problem.dtype = POSENC_F32; /* the library's add and rope have fewer dtypes */
  options_require_table(given, file);
  given->problem.dtype = at->dtype;
  *out = open_output("--output", given->output);

  const array_request request = {.x = x,
                                 .out = result,
                                 .x_name = given->x,
                                 .name = file,
                                 .axes = axes,
                                 .problem = given->problem,
                                 .start = given->start,
                                 .max_ulp = given->max_ulp,
                                 .max_abs = given->max_abs,
                                 .replay = given->command_line};
  int64_t bad_row;
  threads_limit();
  json_t *record = verify_array(&request, &bad_row);
  if (!record && bad_row >= 0) die("--x %s: not all numbers of row %" PRId64 " are finite", given->x, bad_row);
  if (!record) die("out of memory");
  table_close(x);
  table_close(result);
  return record;
}
