/* SPDX-License-Identifier: MIT */
#include "cli/encodings.h"

#include "cli/select.h"
#include "common/memory.h"

#include <inttypes.h>
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
    bias.queries = bias.query == 0 && whole > 0 ? length : length - bias.query < left ? length - bias.query : left;
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

selection select_encoded(const options *given, const char *name) {
  static const int64_t lengths[] = {512, 5000};
  static posenc_kernel kernel;
  const posenc_encoding *encoding = posenc_encoding_find(name);
  if (!encoding || encoding->by_kernels) die_encoding(name);
  const bool is_table = strcmp(name, "dropout") != 0, is_added = !is_table || strcmp(name, "learned") == 0;
  const bool sized = is_given(given, OPTION_LEN) || is_given(given, OPTION_DIM);
  refuse_options(given, name, is_added);
  selection chosen = {.kernels = allocated(calloc(1, sizeof(*chosen.kernels))),
                      .shapes = allocated(calloc(4, sizeof *chosen.shapes))};
  for (int n = 0; n < (sized ? 1 : 2); n++) {
    if (strcmp(name, "alibi") == 0) {
      chosen.shapes[chosen.shape_count++] = alibi_shape(given, n);
      continue;
    }
    const int64_t rows = is_given(given, OPTION_LEN) ? given->problem.rows : lengths[n];
    const int64_t dim = is_given(given, OPTION_DIM) ? given->problem.dim : 512;
    const bool has_x = given->problem.dtype == POSENC_F32 || given->problem.dtype == POSENC_BF16;
    if (is_table) chosen.shapes[chosen.shape_count++] = shape_of_options(given, POSENC_TABLE, rows, dim, "");
    if (is_added && (has_x || !is_table))
      chosen.shapes[chosen.shape_count++] = shape_of_options(given, POSENC_ADD, rows, dim, "");
  }
  kernel = as_kernel(encoding);
  chosen.kernels[chosen.kernel_count++] = &kernel;
  return chosen;
}
