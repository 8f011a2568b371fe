/* SPDX-License-Identifier: MIT */
/* Implements posenc write --encoding. */
#include "cli/encodings.h"
#include "cli/files.h"
#include "common/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The parameters of an encoding, and the file's content: `rows` rows of `dim` elements. */
typedef struct work work;
struct work {
  const options *given;
  posenc_dtype dtype;
  int64_t rows, dim;
  int64_t axes[3];
  size_t axis_count;
  posenc_status (*make)(const work *w, int64_t row, int64_t rows, void *out);
  const int64_t *positions; /* positions of the rows; null: successive positions */
  table_file *table;        /* for learned: the table of --table */
  void *row;                /* for learned: memory for one row of the table */
};

static int64_t position_of(const work *w, int64_t row) {
  return w->positions ? w->positions[row] : w->given->problem.first + row;
}

static posenc_slice slice_of(const work *w, int64_t row, int64_t rows) {
  posenc_slice slice = posenc_rows(w->given->problem.first + row, rows);
  if (w->positions) slice.index = w->positions + row;
  return slice;
}

/* ---- each of them ------------------------------------------------------------------------------- */

static posenc_status make_integer(const work *w, int64_t row, int64_t rows, void *out) {
  const posenc_slice slice = slice_of(w, row, rows);
  return posenc_integer(&slice, w->dim, w->dtype, out);
}

static posenc_status make_binary(const work *w, int64_t row, int64_t rows, void *out) {
  const posenc_slice slice = slice_of(w, row, rows);
  return posenc_binary(&slice, w->dim, w->dtype, out);
}

/* Writes rows of the learned encoding. Each row is gathered from a table of one row, which is read from the file. */
static posenc_status make_learned(const work *w, int64_t row, int64_t rows, void *out) {
  const stored *at = table_stored(w->table);
  posenc_learned_table table = posenc_learned_rows(w->row, 1, w->dim);
  const posenc_slice only = posenc_rows(0, 1);
  char *to = out;
  table.dtype = at->dtype;
  for (int64_t r = row; r < row + rows; r++, to += (size_t)w->dim * posenc_dtype_bytes(w->dtype)) {
    table_rows(w->table, position_of(w, r), 1, w->row);
    const posenc_status status = posenc_learned(&table, &only, w->dtype, NULL, to);
    if (status != POSENC_OK) return status;
  }
  return POSENC_OK;
}

/* Writes rows of the matrices of all heads, one matrix below the other. */
static posenc_status make_alibi(const work *w, int64_t row, int64_t rows, void *out) {
  const int64_t queries = w->axes[1];
  char *to = out;
  for (int64_t done = 0; done < rows;) {
    posenc_alibi bias = posenc_alibi_of(w->axes[0], w->dim);
    bias.dtype = w->dtype;
    bias.head = (row + done) / queries;
    bias.count = 1;
    bias.query = (row + done) % queries;
    bias.queries = queries - bias.query < rows - done ? queries - bias.query : rows - done;
    bias.query += w->given->problem.first;
    const posenc_status status = posenc_alibi_bias(&bias, to);
    if (status != POSENC_OK) return status;
    to += (size_t)(bias.queries * w->dim) * posenc_dtype_bytes(w->dtype);
    done += bias.queries;
  }
  return POSENC_OK;
}

/* ---- options ------------------------------------------------------------------------------------ */

/* Returns the values of --positions as integers, a new array; null without --positions. Exits if one is not whole. */
static const int64_t *whole_positions(const options *given) {
  const double *list = given->problem.positions;
  const int64_t count = list ? given->problem.rows : 0;
  for (int64_t n = 0; n < count; n++)
    if (list[n] != floor(list[n]) || fabs(list[n]) > 0x1p53) die("--positions: %g is not a whole number", list[n]);
  int64_t *whole = list ? allocated(malloc((size_t)count * sizeof *whole + 1)) : NULL;
  for (int64_t n = 0; n < count; n++) whole[n] = (int64_t)list[n];
  return whole;
}

static void require(const options *given, enum option_code code, const char *name) {
  if (!is_given(given, code)) die("--encoding %s: %s is missing", given->encoding, name);
}

static void take_rows(work *w) {
  const posenc_problem *problem = &w->given->problem;
  int64_t end;
  if (!problem->positions) require(w->given, OPTION_LEN, "--len");
  if (problem->rows < 0) die("--len %" PRId64 ": negative", problem->rows);
  if (__builtin_add_overflow(problem->first, problem->rows, &end))
    die("--offset %" PRId64 ": the last position overflows", problem->first);
  w->positions = whole_positions(w->given);
  w->rows = problem->rows;
  options_refuse(w->given, ANY_OF(SET(HEADS)), "an --encoding other than alibi");
}

static void take_columns(work *w) {
  require(w->given, OPTION_DIM, "--dim");
  w->dim = w->given->problem.dim;
  if (w->dim < 1) die("--dim %" PRId64 ": not above 0", w->dim);
}

/* Exits if a position is not in 0 .. count-1. */
static void check_positions(const work *w, int64_t count, const char *reason) {
  for (int64_t n = 0; n < w->rows; n++) {
    const int64_t position = position_of(w, n);
    if (position < 0 || position >= count)
      die("%s: position %" PRId64 ": %s",
          w->positions                        ? "--positions"
          : is_given(w->given, OPTION_OFFSET) ? "--offset"
                                              : "--len",
          position, reason);
    if (!w->positions) n = n < w->rows - 1 ? w->rows - 2 : n; /* successive: the first and the last */
  }
}

static void take_learned(work *w) {
  const options *given = w->given;
  if (!given->table) die("--encoding learned: --table is missing");
  options_refuse(w->given, ANY_OF(SET(DIM)), "--table");
  w->table = open_table("--table", given->table, given->tensor, TABLE_WHOLE);
  const stored *at = table_stored(w->table);
  if (!is_given(given, OPTION_DTYPE)) w->dtype = at->dtype;
  w->dim = at->dim;
  w->row = allocated(malloc((size_t)w->dim * posenc_dtype_bytes(at->dtype)));
  char reason[64];
  snprintf(reason, sizeof reason, "the table has 0 .. %" PRId64, at->rows - 1);
  check_positions(w, at->rows, reason);
}

static void take_alibi(work *w) {
  const posenc_problem *problem = &w->given->problem;
  options_refuse(w->given, ANY_OF(SET(DIM), SET(POSITIONS)), "--encoding alibi");
  require(w->given, OPTION_HEADS, "--heads");
  require(w->given, OPTION_LEN, "--len");
  if (problem->heads < 1 || problem->heads > 1 << 20)
    die("--heads %" PRId64 ": not within 1 .. 1048576", problem->heads);
  if (problem->rows < 1) die("--len %" PRId64 ": not above 0", problem->rows);
  if (problem->first < 0) die("--offset %" PRId64 ": negative", problem->first);
  if (__builtin_add_overflow(problem->first, problem->rows, &w->dim) || w->dim > INT64_C(1) << 53)
    die("--offset %" PRId64 ": distances go beyond 2^53", problem->first);
  if (__builtin_mul_overflow(problem->heads, problem->rows, &w->rows))
    die("--len %" PRId64 ": too large", problem->rows);
  w->axes[0] = problem->heads;
  w->axes[1] = problem->rows;
  w->axes[2] = w->dim;
  w->axis_count = 3;
}

static work work_of(const options *given) {
  work w = {.given = given, .dtype = given->problem.dtype};
  const char *name = given->encoding;
  options_refuse(given, ANY_OF(FORMULA_SET, SET(OP), KERNEL_SET), "--encoding");
  if (strcmp(name, "alibi") == 0) {
    take_alibi(&w);
    w.make = make_alibi;
  } else if (strcmp(name, "learned") == 0) {
    take_rows(&w);
    take_learned(&w);
    w.make = make_learned;
  } else {
    const bool binary = strcmp(name, "binary") == 0;
    take_rows(&w);
    take_columns(&w);
    if (binary) check_positions(&w, INT64_MAX, "binary has no negative ones");
    w.make = binary ? make_binary : make_integer;
  }
  if (!w.table) options_refuse(given, ANY_OF(SET(TABLE)), "an --encoding other than learned");
  int64_t elements, bytes;
  if (__builtin_mul_overflow(w.rows, w.dim, &elements) ||
      __builtin_mul_overflow(elements, (int64_t)posenc_dtype_bytes(w.dtype), &bytes))
    die("--encoding %s: so many bytes overflow", name);
  if (w.axis_count == 0) {
    w.axes[0] = w.rows;
    w.axes[1] = w.dim;
    w.axis_count = 2;
  }
  return w;
}

static const char *make(const void *argument, int64_t row, int64_t rows, void *out) {
  const work *w = argument;
  const posenc_status status = w->make(w, row, rows, out);
  return status == POSENC_OK ? NULL : posenc_status_message(status);
}

void write_encoding(const options *given) {
  work w = work_of(given);
  file_content content = {
      .make = make,
      .argument = &w,
      .rows = w.rows,
      .elements = w.dim,
      .element_bytes = posenc_dtype_bytes(w.dtype),
  };
  set_array_header(given, w.dtype, w.axes, w.axis_count, given->encoding, &content);
  write_file(given, &content);
  table_close(w.table);
  free(w.row);
  free((void *)(uintptr_t)w.positions);
}
