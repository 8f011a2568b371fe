/* SPDX-License-Identifier: MIT */
#include "cli/encodings.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- by name ------------------------------------------------------------------------------------ */

__attribute__((noreturn)) static void die_no_encoding(const char *name) {
  size_t count;
  const posenc_encoding *const *all = posenc_encodings(&count);
  const char *nearest = NULL;
  for (size_t i = 0; i < count; i++) nearest = nearer_name(name, nearest, all[i]->name);
  char reason[128];
  snprintf(reason, sizeof reason, "no such encoding%s", hint_of(nearest, "posenc list --encodings tells them").text);
  die_value("--encoding", name, reason);
}

const posenc_encoding *find_encoding(const char *name) {
  const posenc_encoding *encoding = posenc_encoding_find(name);
  if (!encoding) die_no_encoding(name);
  return encoding;
}

/* Sets in `selected` those that one glob selects. Exits if it selects none, or one that is held as a kernel. */
static void select_by_glob(const char *glob, bool *selected) {
  size_t count;
  const posenc_encoding *const *all = posenc_encodings(&count);
  bool any = false;
  for (size_t i = 0; i < count; i++) {
    if (all[i]->by_kernels && strcmp(glob, all[i]->name) == 0)
      die_value("--encoding", glob, "kernels compute it, and --kernel selects those");
    if (all[i]->by_kernels || fnmatch(glob, all[i]->name, 0) != 0) continue;
    any = selected[i] = true;
  }
  if (!any) die_no_encoding(glob);
}

const posenc_encoding **select_encodings(const char *globs, size_t *count) {
  size_t all;
  const posenc_encoding *const *encodings = posenc_encodings(&all);
  const posenc_encoding **chosen = calloc(all, sizeof(*chosen));
  bool *selected = calloc(all, sizeof *selected);
  char *words = strdup(globs), *rest = words;
  if (!chosen || !selected || !words) die("out of memory");
  for (char *glob; (glob = strsep(&rest, ","));) select_by_glob(glob, selected);
  *count = 0;
  for (size_t i = 0; i < all; i++)
    if (selected[i]) chosen[(*count)++] = encodings[i];
  free(words);
  free(selected);
  return chosen;
}

/* ---- as kernels that bench times ----------------------------------------------------------------- */

/* A run of bench times one encoding, on shapes that are its own; so nothing is refused for another's. */

/* It cannot fail: what would is refused before. */
static void must(posenc_status status) {
  if (status != POSENC_OK) die("bench: %s", posenc_status_message(status));
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

/* Rows of the matrices of all heads, one below the other: so many heads as there are squares. */
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

/* Rows of numbers. */
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

/* A plan that adds, for either dtype of x. */
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
  die("bench: dropout makes no table");
}

/* Nothing is dropped, which takes as long: x is worked on again and again, and what is kept would grow without end. */
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

/* Exits if it cannot be. */
static shape shape_of_options(const options *given, posenc_op op, int64_t rows, int64_t dim, const char *called) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.op = op;
  problem.dtype = given->problem.dtype;
  problem.first = given->problem.first;
  const char *refusal = posenc_problem_refusal(&problem);
  shape made = shape_of(&problem);
  if (*called) snprintf(made.name, sizeof made.name, "%s", called);
  if (refusal) {
    const bool of_rows = rows < 0 || *called; /* those of alibi are as many as the columns */
    die("%s %" PRId64 ": %s", of_rows ? "--len" : "--dim", *called || !of_rows ? dim : rows, refusal);
  }
  return made;
}

selection select_encoded(const options *given, const char *name) {
  static posenc_kernel kernel;
  const posenc_encoding *encoding = find_encoding(name);
  const bool sized = given->texts[OPTION_LEN - OPTION_LEN] || given->texts[OPTION_DIM - OPTION_LEN];
  const bool alibi = strcmp(name, "alibi") == 0, learned = strcmp(name, "learned") == 0,
             dropout = strcmp(name, "dropout") == 0;
  if (encoding->by_kernels) die_value("--encoding", name, "kernels compute it, and --kernel selects those");
  options_refuse(given, OPTION_KERNEL, OPTION_KERNEL, "--encoding");
  options_refuse(given, OPTION_BASE, OPTION_CHOOSE_BASE, "--encoding");
  options_refuse(given, OPTION_SCALE, OPTION_LAYOUT, "--encoding");
  options_refuse(given, OPTION_INVERSE, OPTION_OP, "--encoding");
  if (alibi) options_refuse(given, OPTION_DIM, OPTION_DIM, "--encoding alibi");
  if (!alibi) options_refuse(given, OPTION_HEADS, OPTION_HEADS, "--encoding but alibi");
  if (!dropout && !learned) options_refuse(given, OPTION_BATCH, OPTION_BATCH, "--encoding but learned and dropout");
  selection chosen = {.kernels = calloc(1, sizeof(*chosen.kernels)), .shapes = calloc(4, sizeof *chosen.shapes)};
  if (!chosen.kernels || !chosen.shapes) die("out of memory");
  static const int64_t lengths[] = {512, 5000}, squares[] = {256, 1024};
  for (int n = 0; n < (sized ? 1 : 2); n++) {
    const int64_t given_rows = given->problem.rows;
    const int64_t heads = given->texts[OPTION_HEADS - OPTION_LEN] ? given->problem.heads : 12;
    const int64_t dim = given->texts[OPTION_DIM - OPTION_LEN] ? given->problem.dim : 512;
    char called[64];
    if (alibi) {
      const int64_t length = sized ? given_rows : squares[n];
      int64_t rows;
      if (heads < 1 || heads > 1 << 20)
        die_value("--heads", given->texts[OPTION_HEADS - OPTION_LEN], "not within 1 .. 1048576");
      if (length < 1 || __builtin_mul_overflow(heads, length, &rows)) die("--len %" PRId64 ": no matrix", length);
      snprintf(called, sizeof called, "%" PRId64 "x%" PRId64 "x%" PRId64, heads, length, length);
      chosen.shapes[chosen.shape_count++] = shape_of_options(given, POSENC_TABLE, rows, length, called);
      continue;
    }
    const int64_t rows = sized && given->texts[OPTION_LEN - OPTION_LEN] ? given_rows : lengths[n];
    if (!dropout) chosen.shapes[chosen.shape_count++] = shape_of_options(given, POSENC_TABLE, rows, dim, "");
    if (dropout || (learned && (given->problem.dtype == POSENC_F32 || given->problem.dtype == POSENC_BF16)))
      chosen.shapes[chosen.shape_count++] = shape_of_options(given, POSENC_ADD, rows, dim, "");
  }
  kernel = as_kernel(encoding);
  chosen.kernels[chosen.kernel_count++] = &kernel;
  return chosen;
}
