/* SPDX-License-Identifier: MIT */
/* Makes tables in memory for the tests of identify, with the library or a recipe, in every layout and dtype. */
#ifndef POSENC_TESTS_IDENTIFY_H
#define POSENC_TESTS_IDENTIFY_H

#include "common/memory.h"
#include "impls/recipes/recipes.h"
#include "inspect/files/formats.h"
#include "inspect/identify/identity.h"
#include "lib/exact/round.h"
#include "reference/oracle.h"
#include "tests/tap.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- tables in memory ---------------------------------------------------------------------------- */

/* A .npy file. */
typedef struct file {
  unsigned char *bytes;
  size_t size;
} file;

static inline file file_of(const double *values, int64_t rows, int64_t dim, posenc_dtype dtype) {
  const int64_t axes[] = {rows, dim};
  char header[NPY_HEADER_MAX];
  const size_t length = npy_header(dtype, axes, 2, header), element = posenc_dtype_bytes(dtype);
  file made = {memory_take(length + (size_t)(rows * dim) * element, 1), length + (size_t)(rows * dim) * element};
  memcpy(made.bytes, header, length);
  for (int64_t n = 0; n < rows * dim; n++) round_to(dtype, made.bytes + length, n, values[n]);
  stored_order(made.bytes + length, (size_t)(rows * dim), element);
  return made;
}

/* The numbers of tables that identify was called with, and of those that it did not identify. */
static int tables_asked, tables_none;

static inline void print_counts(void) {
  printf("# %d tables, of which %d are none\n", tables_asked, tables_none);
}

static inline identity *identified(const file *made) {
  fault why;
  tables_asked++;
  table_file *table = table_open_memory(made->bytes, made->size, NULL, TABLE_WHOLE, &why);
  if (!table) {
    printf("# %s\n", why.text);
    abort();
  }
  identify_request request = {.table = table, .name = "table.npy"};
  request.kernels = recipes_kernels(&request.kernel_count);
  identity *found = identify(&request);
  if (!found) abort();
  record_memory memory = {NULL};
  identity_record(found, &request, &memory);
  record_release(&memory);
  table_close(table);
  return found;
}

/* ---- description of a table ---------------------------------------------------------------------- */

/* The places of sines and cosines. */
typedef struct arrangement_of_test {
  posenc_layout layout;
  table_part part;
} arrangement_of_test;

/* A table to make. Null as kernel is the library's best. */
typedef struct wanted {
  const posenc_kernel *kernel;
  double base, shift;
  int64_t first, rows, pairs;
  posenc_layout layout;
  table_part part;
  posenc_dtype dtype, stored;
  double amplitude;
  int64_t padding; /* padding row, or -1 */
  double scale;
  posenc_scaling scaling;
} wanted;

static inline wanted plain(const posenc_kernel *kernel, int64_t rows, int64_t pairs) {
  return (wanted){.kernel = kernel,
                  .base = 1e4,
                  .rows = rows,
                  .pairs = pairs,
                  .layout = POSENC_INTERLEAVED,
                  .dtype = POSENC_F32,
                  .stored = POSENC_F32,
                  .amplitude = 1.0,
                  .padding = -1,
                  .scale = 1.0,
                  .scaling = posenc_table(0, 2).scaling};
}

static inline posenc_problem problem_of(const wanted *w) {
  posenc_problem problem = posenc_table(w->rows, 2 * w->pairs);
  problem.base = w->base;
  problem.shift = w->shift;
  problem.first = w->first;
  problem.layout = POSENC_SPLIT;
  problem.scale = w->scale;
  problem.scaling = w->scaling;
  if (!w->kernel) problem.dtype = w->dtype;
  return problem;
}

/* Returns sines, then cosines, of all rows, to be freed. */
static inline double *halves_of(const wanted *w) {
  const posenc_problem problem = problem_of(w);
  posenc_options options = posenc_default_options();
  options.kernel = w->kernel;
  if (!w->kernel && w->dtype != POSENC_F64 && fabs(posenc_attention(&problem) - 1.0) <= 0.0) options.max_ulp = 0.5;
  posenc_plan *plan;
  size_t bytes;
  if (posenc_table_bytes(&problem, &bytes) != POSENC_OK || posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
    const char *refusal = posenc_problem_refusal(&problem);
    printf("# there is no such table: %s\n", refusal ? refusal : "no kernel makes it");
    fflush(stdout);
    abort();
  }
  void *table = memory_take(bytes, 1);
  posenc_execute(plan, 0, w->rows, table);
  posenc_plan_destroy(plan);
  double *values = memory_take((size_t)(w->rows * problem.dim), sizeof *values);
  for (int64_t n = 0; n < w->rows * problem.dim; n++) {
    double x = format_element(problem.dtype, table, n);
    if (w->amplitude < 1.0 || w->amplitude > 1.0) x = (double)((float)x * (float)w->amplitude);
    values[n] = w->dtype == POSENC_F64 ? x : format_nearest(format_of(w->dtype), x);
  }
  free(table);
  return values;
}

static inline int64_t dim_of(const wanted *w) {
  return w->part != TABLE_BOTH && w->layout == POSENC_SPLIT ? w->pairs : 2 * w->pairs;
}

/* Returns the columns of the layout, computed in another way than identify does; to be freed. */
static inline double *arranged(const wanted *w, const double *halves) {
  const int64_t dim = dim_of(w), h = w->pairs;
  double *values = memory_take((size_t)(w->rows * dim), sizeof *values);
  for (int64_t r = 0; r < w->rows; r++)
    for (int64_t i = 0; i < h; i++) {
      const double sine = halves[r * 2 * h + i], cosine = halves[r * 2 * h + h + i];
      const double one = w->part == TABLE_COS ? cosine : sine;
      double *row = values + r * dim;
      if (w->padding == r) continue;
      if (w->part != TABLE_BOTH && w->layout == POSENC_DUPLICATED)
        row[i] = row[h + i] = one;
      else if (w->part != TABLE_BOTH && w->layout == POSENC_INTERLEAVED)
        row[2 * i] = row[2 * i + 1] = one;
      else if (w->part != TABLE_BOTH)
        row[i] = one;
      else if (w->layout == POSENC_INTERLEAVED)
        row[2 * i] = sine, row[2 * i + 1] = cosine;
      else if (w->layout == POSENC_INTERLEAVED_CS)
        row[2 * i] = cosine, row[2 * i + 1] = sine;
      else if (w->layout == POSENC_SPLIT)
        row[i] = sine, row[h + i] = cosine;
      else
        row[i] = cosine, row[h + i] = sine;
    }
  return values;
}

static inline file file_wanted(const wanted *w) {
  double *halves = halves_of(w), *values = arranged(w, halves);
  const file made = file_of(values, w->rows, dim_of(w), w->stored);
  free(halves);
  free(values);
  return made;
}

/* ---- numbers -------------------------------------------------------------------------------------- */

static inline double uniform(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return ldexp((double)(*state >> 11), -53);
}

static inline double normal(uint64_t *state) {
  const double length = sqrt(-2.0 * log(1.0 - uniform(state)));
  return length * cos(6.283185307179586 * uniform(state));
}

static inline bool near(double a, double b) {
  return fabs(a - b) <= 1e-9 * fabs(b);
}

/* Whether the whole matrix of tables is tested; otherwise its halves are tested in turn. */
static inline bool slow_test(void) {
  const char *slow = getenv("POSENC_TEST_SLOW");
  return slow && strcmp(slow, "1") == 0;
}

#endif
