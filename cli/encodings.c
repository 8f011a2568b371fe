/* SPDX-License-Identifier: MIT */
#include "cli/measure.h"

#include "cli/catalogue.h"
#include "cli/files.h"
#include "common/memory.h"
#include "common/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ends the program if a call failed. The arguments are valid, so a failure is a bug. */
static void must(posenc_status status) {
  if (status != POSENC_OK) die("--encoding: %s", posenc_status_message(status));
}

static void integer_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const posenc_slice slice = posenc_rows(problem->first + row, rows);
  (void)constants;
  must(posenc_integer(&slice, problem->dim, problem->dtype, out));
}

static void binary_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const posenc_slice slice = posenc_rows(problem->first + row, rows);
  (void)constants;
  must(posenc_binary(&slice, problem->dim, problem->dtype, out));
}

/* Writes rows of the matrices of all heads, one matrix below the other. The problem has rows / dim heads. */
static void alibi_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const int64_t length = problem->dim;
  char *to = out;
  (void)constants;
  for (int64_t done = 0, part; done < rows; done += part) {
    posenc_alibi bias = posenc_alibi_of(problem->rows / length, length);
    bias.dtype = problem->dtype;
    bias.head = (row + done) / length;
    bias.query = (row + done) % length;
    const int64_t left = rows - done, whole = left / length;
    bias.count = bias.query == 0 && whole > 0 ? whole : 1;
    bias.queries = least(length - bias.query, left);
    part = bias.count * bias.queries;
    must(posenc_alibi_bias(&bias, to));
    to += (size_t)(part * length) * posenc_dtype_bytes(problem->dtype);
  }
}

/* Allocates the learned table as the constants. Its values do not matter. */
static posenc_status learned_prepare(const posenc_problem *problem, const posenc_options *how, void **constants) {
  size_t bytes;
  (void)how;
  must(posenc_table_bytes(problem, &bytes));
  if (!(*constants = posenc_alloc(bytes))) return POSENC_OUT_OF_MEMORY;
  memset(*constants, 0x3e, bytes);
  return POSENC_OK;
}

static posenc_learned_table learned_table(const void *constants, const posenc_problem *problem) {
  posenc_learned_table table = posenc_learned_rows(constants, problem->rows, problem->dim);
  table.dtype = problem->op == POSENC_TABLE ? problem->dtype : POSENC_F32;
  return table;
}

static void learned_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const posenc_learned_table table = learned_table(constants, problem);
  const posenc_slice slice = posenc_rows(row, rows);
  must(posenc_learned(&table, &slice, problem->dtype, NULL, out));
}

static posenc_status learned_added(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                   const void *x, void *out) {
  const posenc_learned_table table = learned_table(constants, problem);
  return posenc_learned(&table, slice, problem->dtype, x, out);
}

/* The dtypes of x. Dropout needs a plan that adds, one for each of them. */
static const posenc_dtype of_x[] = {POSENC_F32, POSENC_BF16};

static void dropout_release(void *constants) {
  posenc_plan **plans = constants;
  for (int n = 0; plans && n < 2; n++) posenc_plan_destroy(plans[n]);
  free(plans);
}

static posenc_status dropout_prepare(const posenc_problem *table, const posenc_options *how, void **constants) {
  posenc_plan **plans = calloc(2, sizeof(*plans));
  posenc_options mine = *how;
  posenc_problem problem = *table;
  posenc_status status = plans ? POSENC_OK : POSENC_OUT_OF_MEMORY;
  mine.kernel = NULL;
  mine.threads = 1;
  problem.op = POSENC_ADD;
  for (int n = 0; n < 2 && status == POSENC_OK; n++) {
    problem.dtype = of_x[n];
    status = posenc_plan_create(&plans[n], &problem, &mine);
  }
  if (status == POSENC_OK)
    *constants = plans;
  else
    dropout_release(plans);
  return status;
}

static void dropout_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants, (void)problem, (void)row, (void)rows, (void)out;
  die("--encoding dropout: it makes no table");
}

/* Applies dropout with the probability 0, which takes the same time. With another probability, x would grow, because it
   is updated in place. */
static posenc_status dropout_applied(const void *constants, const posenc_problem *problem, const posenc_slice *slice,
                                     const void *x, void *out) {
  posenc_plan *const *plans = constants;
  const posenc_dropout dropout = posenc_dropout_of(0.0, 1);
  return posenc_apply_dropout(plans[problem->dtype == of_x[1]], slice, &dropout, x, out);
}

static posenc_kernel as_kernel(const posenc_encoding *encoding) {
  const char *name = encoding->name;
  posenc_kernel kernel = {
      .abi = POSENC_KERNEL_ABI,
      .isa = POSENC_ISA_ALL,
      .name = name,
      .summary = encoding->summary,
      .algorithm = encoding->formula,
      .provenance = encoding->provenance,
      .bound = encoding->bound,
      .basis = encoding->basis,
      .reproducible = encoding->reproducible,
  };
  if (strcmp(name, "integer") == 0) {
    kernel.execute = integer_rows;
  } else if (strcmp(name, "binary") == 0) {
    kernel.execute = binary_rows;
  } else if (strcmp(name, "alibi") == 0) {
    kernel.execute = alibi_rows;
  } else if (strcmp(name, "learned") == 0) {
    kernel.prepare = learned_prepare;
    kernel.execute = learned_rows;
    kernel.apply = learned_added;
    kernel.release = posenc_free;
    kernel.keeps_rows = true;
  } else {
    kernel.prepare = dropout_prepare;
    kernel.execute = dropout_rows;
    kernel.apply = dropout_applied;
    kernel.release = dropout_release;
  }
  return kernel;
}

/* Returns the shape of options. `called`: the shape's name, or "" for the usual one. Exits if the problem is
   invalid. */
static shape shape_of_options(const options *given, posenc_op op, int64_t rows, int64_t dim, const char *called) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = op;
  problem.dtype = given->problem.dtype;
  problem.first = given->problem.first;
  const char *refusal = posenc_problem_refusal(&problem);
  shape made = shape_of(&problem);
  if (*called) snprintf(made.name, sizeof made.name, "%s", called);
  if (refusal) {
    const bool of_rows = rows < 0 || *called; /* alibi has as many columns as its matrices have rows */
    die("%s %" PRId64 ": %s", of_rows ? "--len" : "--dim", *called || !of_rows ? dim : rows, refusal);
  }
  return made;
}

/* Returns shape number n of alibi's matrices. */
static shape alibi_shape(const options *given, int n) {
  static const int64_t squares[] = {256, 1024};
  const int64_t length = is_given(given, OPTION_LEN) ? given->problem.rows : squares[n];
  const int64_t heads = is_given(given, OPTION_HEADS) ? given->problem.heads : 12;
  int64_t rows;
  char name[64];
  if (heads < 1 || heads > 1 << 20) die_value("--heads", given->texts[OPTION_HEADS], "not within 1 .. 1048576");
  if (length < 1 || __builtin_mul_overflow(heads, length, &rows)) die("--len %" PRId64 ": no matrix", length);
  snprintf(name, sizeof name, "%" PRId64 "x%" PRId64 "x%" PRId64, heads, length, length);
  return shape_of_options(given, POSENC_TABLE, rows, length, name);
}

static void refuse_options(const options *given, const char *name, bool is_added) {
  if (strcmp(name, "alibi") == 0)
    options_refuse(given, ANY_OF(SET(DIM)), "--encoding alibi");
  else
    options_refuse(given, ANY_OF(SET(HEADS)), "an --encoding other than alibi");
  if (!is_added) options_refuse(given, ANY_OF(SET(BATCH)), "an --encoding other than learned and dropout");
}

static void add_shape(run_request *chosen, shape of) {
  run_shape(chosen, &of, NULL);
}

run_request select_encoded(const options *given, const char *name) {
  static const int64_t lengths[] = {512, 5000};
  static posenc_kernel kernel;
  const posenc_encoding *encoding = posenc_encoding_find(name);
  if (!encoding || encoding->by_kernels) die_encoding(name);
  const bool is_table = strcmp(name, "dropout") != 0, is_added = !is_table || strcmp(name, "learned") == 0;
  const bool sized = is_given(given, OPTION_LEN) || is_given(given, OPTION_DIM);
  refuse_options(given, name, is_added);
  run_request chosen = begin_run(given);
  for (int n = 0; n < (sized ? 1 : 2); n++) {
    if (strcmp(name, "alibi") == 0) {
      add_shape(&chosen, alibi_shape(given, n));
      continue;
    }
    const int64_t rows = is_given(given, OPTION_LEN) ? given->problem.rows : lengths[n];
    const int64_t dim = is_given(given, OPTION_DIM) ? given->problem.dim : 512;
    const bool has_x = given->problem.dtype == POSENC_F32 || given->problem.dtype == POSENC_BF16;
    if (is_table) add_shape(&chosen, shape_of_options(given, POSENC_TABLE, rows, dim, ""));
    if (is_added && (has_x || !is_table)) add_shape(&chosen, shape_of_options(given, POSENC_ADD, rows, dim, ""));
  }
  kernel = as_kernel(encoding);
  run_kernel(&chosen, &kernel);
  run_cross(&chosen);
  return chosen;
}

/* ---- writing one to a file ----------------------------------------------------------------------- */

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
    const char *option = is_given(w->given, OPTION_OFFSET) ? "--offset" : "--len";
    if (position < 0 || position >= count)
      die("%s: position %" PRId64 ": %s", w->positions ? "--positions" : option, position, reason);
    if (!w->positions) n = n < w->rows - 1 ? w->rows - 2 : n; /* successive: the first and the last */
  }
}

static void take_learned(work *w) {
  const options *given = w->given;
  if (!given->table) die("--encoding learned: --table is missing");
  options_refuse(w->given, ANY_OF(SET(DIM)), "--table");
  w->table = open_table("--table", given->table, given->tensor, TABLE_WHOLE);
  const stored *at = table_stored(w->table);
  if (at->vector) die_value("--table", given->table, "it has no axis for positions");
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
