/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/files.h"

#include "cli/model.h"
#include "common/memory.h"
#include "verify/file-exams.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the files of both arrays -------------------------------------------------------------------- */

void take_x(options *given) {
  tensor_of(given); /* refuses a third one */
  const bool is_told = given->x_tensor || given->tensors.count == 2;
  if (given->problem.op != POSENC_TABLE && !given->x && is_told) given->x = given->operands[0];
}

/* Returns the name of the tensor x; null if none is given. In the file of the result, it is another than that one. */
static const char *x_tensor_of(const options *given, const char *file) {
  const char *of_file = tensor_of(given), *name = given->x_tensor ? given->x_tensor : of_file;
  if (given->tensors.count == 2) name = given->tensors.items[0];
  if (!name || !of_file || strcmp(name, of_file) != 0 || !output_is(given->x, file)) return name;
  die("--x %s: %s is the result; --x-tensor tells which tensor is x", given->x, name);
}

/* Returns the letters of the axes of x, of which the last may be divided. */
static const char *letters_of(const options *given, size_t count, bool divided) {
  const char *plain = given->axes;
  if (!plain && divided && count < 4) plain = axes_usual(POSENC_ADD, count); /* without heads */
  if (!plain) plain = axes_usual(given->problem.op, count);
  if (!plain || !divided) return plain;
  const size_t length = strlen(plain);
  if (length == 0 || strchr(plain, AXIS_HEADS) || plain[length - 1] != AXIS_COLUMNS) return NULL;
  return memory_print("%.*s%c%c", (int)length - 1, plain, AXIS_HEADS, AXIS_COLUMNS); /* freed at the end */
}

/* Returns how many vectors lie side by side in the last axis: as --heads says, or those of the config's columns. */
static int64_t heads_of(const options *given, const stored *at) {
  const int64_t dim = given->model && given->rope.has_dim ? given->rope.head : 0;
  if (is_given(given, OPTION_HEADS)) return strtoll(given->texts[OPTION_HEADS], NULL, 10); /* take_array sets it to 1 */
  if (given->problem.op != POSENC_ROPE || dim < 2 || at->dim <= dim || at->dim % dim) return 1;
  return letters_of(given, at->axis_count, true) ? at->dim / dim : 1;
}

static void divide_heads(const options *given, applied_arrays *arrays) {
  const int64_t heads = heads_of(given, table_stored(arrays->x));
  const size_t count = table_stored(arrays->x)->axis_count;
  arrays->axes = letters_of(given, count, heads > 1);
  if (heads == 1) return;
  if (!arrays->axes) options_die(given, OPTION_HEADS, "the axes have heads already", "");
  if (!table_split(arrays->x, heads) || (arrays->out && !table_split(arrays->out, heads)))
    die("%s: its %" PRId64 " columns are not those of %" PRId64 " vectors side by side", given->x,
        table_stored(arrays->x)->dim, heads);
}

/* As open_arrays. *whole: x before its last axis is divided. */
static applied_arrays open_whole(const options *given, const char *file, stored *whole) {
  fault why;
  if (!given->x)
    die("--op %s: --x is missing, the file of what it %s%s", op_name(given->problem.op),
        file ? "was applied to, or --x-tensor, its name in " : "is applied to", file ? file : "");
  applied_arrays made = {
      .x = open_table("--x", given->x, file ? x_tensor_of(given, file) : given->x_tensor, TABLE_ARRAY)};
  if (file) made.out = open_table(NULL, file, tensor_of(given), TABLE_ARRAY);
  const stored *x = table_stored(made.x), *out = made.out ? table_stored(made.out) : x;
  if (x->dtype != out->dtype) die("%s: %s, and %s is %s", file, dtype_name(out->dtype), given->x, dtype_name(x->dtype));
  if (!axes_agree(x, out)) die("%s: its shape is not that of %s", file, given->x);
  *whole = *x;
  divide_heads(given, &made);
  if (!made.axes) die("%s: it has %zu axes, and --axes tells which they are", given->x, x->axis_count);
  if (!axes_fit(made.axes, x, &why)) die("--axes %s: %s", made.axes, why.text);
  return made;
}

applied_arrays open_arrays(const options *given, const char *file) {
  stored unused;
  return open_whole(given, file, &unused);
}

/* ---- the problem -------------------------------------------------------------------------------- */

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
  require_places(given, length);
  for (int a = 0; given->grid && a < given->grid->count; a++) {
    const posenc_axis *axis = &given->grid->axis[a];
    for (int64_t n = 0; axis->positions && n < axis->size; n++)
      if (axis->positions[n] != rint(axis->positions[n]))
        die("--grid %s: %.17g is no whole number", given->texts[OPTION_GRID], axis->positions[n]);
  }
  take_model_length(given);
}

void take_array(options *given, const applied_arrays *arrays, const char *file) {
  const stored *at = table_stored(arrays->x);
  if (given->model && !is_given(given, OPTION_START) && given->rope.head == at->dim) given->start = given->rope.start;
  set_columns(given, at, given->x);
  set_positions(given, at, arrays->axes);
  given->problem.heads = 1;
  given->problem.dtype = POSENC_F32; /* the library's add and rope support fewer dtypes */
  options_require_table(given, file);
  given->problem.dtype = at->dtype;
}

/* ---- the result of add or rope ------------------------------------------------------------------ */

static const char *make_vectors(const void *argument, int64_t row, int64_t rows, void *out) {
  array_exam *const *exam = argument;
  static char why[80];
  int64_t bad_row;
  if (array_make(*exam, row, rows, out, &bad_row)) return NULL;
  snprintf(why, sizeof why, "not written: not all numbers of row %" PRId64 " of x are finite", bad_row);
  return why;
}

void write_array(options *given) {
  options_refuse(given, ANY_OF(SET(LEN), SET(ODD), KERNEL_SET), "--op add or rope");
  options_refuse(given, ANY_OF(SET(DTYPE)), "--x, whose dtype the result has");
  stored whole;
  const applied_arrays arrays = open_whole(given, NULL, &whole);
  take_array(given, &arrays, given->x);
  const array_request request = {.arrays = arrays, .problem = given->problem, .start = given->start};
  array_exam *exam = array_open(&request);
  file_content content = {.make = make_vectors,
                          .argument = &exam,
                          .rows = table_stored(arrays.x)->rows,
                          .elements = table_stored(arrays.x)->dim,
                          .element_bytes = posenc_dtype_bytes(whole.dtype)};
  set_array_header(given, whole.dtype, whole.axes, whole.axis_count, op_name(given->problem.op), &content);
  write_file(given, &content);
  array_close(exam);
  table_close(arrays.x);
}
