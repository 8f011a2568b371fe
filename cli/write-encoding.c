/* SPDX-License-Identifier: MIT */
/* posenc write --encoding: what is no table of sines, as a file. */
#include "cli/encodings.h"
#include "common/output.h"
#include "common/progress.h"
#include "files/npy.h"
#include "files/safetensors.h"
#include "files/table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is written: `rows` rows of `dim` elements, one after another. */
typedef struct work work;
struct work {
  const options *given;
  posenc_dtype dtype;
  int64_t rows, dim;
  int64_t axes[3];
  size_t axis_count;
  posenc_status (*make)(const work *w, int64_t row, int64_t rows, void *out);
  const int64_t *positions; /* of rows, or null: from the first one on */
  table_file *table;        /* of learned, */
  void *row;                /* and room for one of its rows */
};

static bool is_given(const options *given, int code) {
  return given->texts[code - OPTION_LEN];
}

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

/* A row of the file is a table of one row. */
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

/* Rows of all heads, one matrix below the other. */
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

/* ---- what the options say ----------------------------------------------------------------------- */

/* --positions are doubles there; these have to be whole. */
static const int64_t *whole_positions(const options *given) {
  const double *list = given->problem.positions;
  int64_t *whole = list ? malloc((size_t)given->problem.rows * sizeof *whole) : NULL;
  if (list && !whole) die("out of memory");
  for (int64_t n = 0; list && n < given->problem.rows; n++) {
    if (list[n] != floor(list[n]) || fabs(list[n]) > 0x1p53) die("--positions: %g is not a whole number", list[n]);
    whole[n] = (int64_t)list[n];
  }
  return whole;
}

static void require(const options *given, int code, const char *name, const posenc_encoding *encoding) {
  if (!is_given(given, code)) die("--encoding %s: %s is missing", encoding->name, name);
}

static void take_rows(work *w, const posenc_encoding *encoding) {
  const posenc_problem *problem = &w->given->problem;
  int64_t end;
  if (!problem->positions) require(w->given, OPTION_LEN, "--len", encoding);
  if (problem->rows < 0) die("--len %" PRId64 ": negative", problem->rows);
  if (__builtin_add_overflow(problem->first, problem->rows, &end))
    die("--offset %" PRId64 ": the last position overflows", problem->first);
  w->positions = whole_positions(w->given);
  w->rows = problem->rows;
  options_refuse(w->given, OPTION_HEADS, OPTION_HEADS, "--encoding but alibi");
}

static void take_columns(work *w, const posenc_encoding *encoding) {
  require(w->given, OPTION_DIM, "--dim", encoding);
  w->dim = w->given->problem.dim;
  if (w->dim < 1) die("--dim %" PRId64 ": not above 0", w->dim);
}

/* Among 0 .. count-1, or below `count` alone where that is what binary takes. */
static void hold_positions(const work *w, int64_t count, const char *reason) {
  for (int64_t n = 0; n < w->rows; n++) {
    const int64_t position = position_of(w, n);
    if (position < 0 || position >= count)
      die("%s: position %" PRId64 ": %s",
          w->positions                        ? "--positions"
          : is_given(w->given, OPTION_OFFSET) ? "--offset"
                                              : "--len",
          position, reason);
    if (!w->positions) n = n < w->rows - 1 ? w->rows - 2 : n; /* of successive ones, the first and the last */
  }
}

static void take_learned(work *w, const encoded_file *file) {
  fault why;
  if (!file->table) die("--encoding learned: --table is missing");
  options_refuse(w->given, OPTION_DIM, OPTION_DIM, "--table");
  w->table = table_open(file->table, file->tensor, &why);
  if (!w->table) die_value("--table", file->table, why.text);
  const stored *at = table_stored(w->table);
  if (output_is(file->path, file->table)) die_value("--output", file->path, "it is the table that is read");
  if (!is_given(w->given, OPTION_DTYPE)) w->dtype = at->dtype;
  w->dim = at->dim;
  w->row = malloc((size_t)w->dim * posenc_dtype_bytes(at->dtype));
  if (!w->row) die("out of memory");
  char reason[64];
  snprintf(reason, sizeof reason, "the table has 0 .. %" PRId64, at->rows - 1);
  hold_positions(w, at->rows, reason);
}

static void take_alibi(work *w, const posenc_encoding *encoding) {
  const posenc_problem *problem = &w->given->problem;
  options_refuse(w->given, OPTION_DIM, OPTION_DIM, "--encoding alibi");
  options_refuse(w->given, OPTION_POSITIONS, OPTION_POSITIONS, "--encoding alibi");
  require(w->given, OPTION_HEADS, "--heads", encoding);
  require(w->given, OPTION_LEN, "--len", encoding);
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

static work work_of(const options *given, const posenc_encoding *encoding, const encoded_file *file) {
  work w = {.given = given, .dtype = given->problem.dtype};
  const char *name = encoding->name;
  options_refuse(given, OPTION_BASE, OPTION_CHOOSE_BASE, "--encoding");
  options_refuse(given, OPTION_SCALE, OPTION_ODD, "--encoding");
  options_refuse(given, OPTION_LAYOUT, OPTION_LAYOUT, "--encoding");
  options_refuse(given, OPTION_INVERSE, OPTION_STORES, "--encoding");
  if (strcmp(name, "alibi") == 0) {
    take_alibi(&w, encoding);
    w.make = make_alibi;
  } else if (strcmp(name, "integer") == 0 || strcmp(name, "binary") == 0) {
    const bool binary = strcmp(name, "binary") == 0;
    take_rows(&w, encoding);
    take_columns(&w, encoding);
    if (binary) hold_positions(&w, INT64_MAX, "binary has no negative ones");
    w.make = binary ? make_binary : make_integer;
  } else if (strcmp(name, "learned") == 0) {
    take_rows(&w, encoding);
    take_learned(&w, file);
    w.make = make_learned;
  } else {
    die_value("--encoding", name, NOT_WRITTEN);
  }
  if (file->table && !w.table) die_value("--table", file->table, "nothing would use it beside --encoding but learned");
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

/* ---- the file ----------------------------------------------------------------------------------- */

/* Null, or what went wrong. */
static const char *write_header(const work *w, const posenc_encoding *encoding, bool safetensors, FILE *stream) {
  char npy[NPY_HEADER_MAX], *header = npy;
  size_t length = 0;
  if (!safetensors)
    length = npy_header(w->dtype, w->axes, w->axis_count, npy);
  else if (!(header = safetensors_header_of(w->dtype, w->axes, w->axis_count, encoding->name, &length)))
    return "out of memory";
  const char *failure = fwrite(header, 1, length, stream) == length ? NULL : strerror(errno);
  if (header != npy) free(header);
  return failure;
}

static const char *write_rows(const work *w, FILE *stream, const char *path) {
  enum { BLOCK_BYTES = 4 << 20 };
  const size_t row_bytes = (size_t)w->dim * posenc_dtype_bytes(w->dtype);
  const int64_t block_rows = row_bytes < BLOCK_BYTES ? (int64_t)(BLOCK_BYTES / row_bytes) : 1;
  const char *failure = NULL;
  char *block = posenc_alloc((size_t)block_rows * row_bytes);
  if (!block) return "a row does not fit in memory";
  for (int64_t row = 0, rows; row < w->rows && !failure; row += rows) {
    rows = w->rows - row < block_rows ? w->rows - row : block_rows;
    const posenc_status status = w->make(w, row, rows, block);
    if (status != POSENC_OK)
      failure = posenc_status_message(status);
    else if (fwrite(block, row_bytes, (size_t)rows, stream) != (size_t)rows)
      failure = strerror(errno);
    progress_show("write", path, (double)(row + rows) * (double)w->dim, (double)w->rows * (double)w->dim, "elements");
  }
  progress_clear();
  posenc_free(block);
  return failure;
}

int write_encoding(const options *given, const posenc_encoding *encoding, const encoded_file *file) {
  work w = work_of(given, encoding, file);
  if (strcmp(file->path, "-") == 0 && isatty(STDOUT_FILENO))
    die_value("--output", file->path, "standard output is a terminal");
  output *out = output_open(file->path);
  if (!out) die_value("--output", file->path, strerror(errno));
  const char *failure = write_header(&w, encoding, file->safetensors, output_stream(out));
  if (!failure) failure = write_rows(&w, output_stream(out), file->path);
  table_close(w.table);
  free(w.row);
  free((void *)(uintptr_t)w.positions);
  if (failure)
    output_abandon(out);
  else if (!output_commit(out))
    failure = strerror(errno);
  if (failure) die_value("--output", file->path, failure);
  return EXIT_SUCCESS;
}
