/* SPDX-License-Identifier: MIT */
/* The kernels that round correctly: the hard cases of reference/worst/ in the midst of other rows, where vectors walk
   through them, and all elements around position 0, in every format. */
#include "reference/worst.h"
#include "tests/tap.h"

#include <stdlib.h>

static bool is_correct(const posenc_kernel *kernel) {
  return kernel->bound.derived && kernel->bound.ulp == 0.5 && kernel->bound.abs == 0.0 && !kernel->keeps_rows;
}

static posenc_plan *plan_of(const posenc_kernel *kernel, const posenc_problem *problem) {
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  options.kernel = kernel;
  return posenc_plan_create(&plan, problem, &options) == POSENC_OK ? plan : NULL;
}

/* In calls of so many rows, the case at every place of a block in turn. */
static void test_hard(const posenc_kernel *kernel, const worst_cases *w) {
  enum { ROWS = 40 };
  posenc_plan *plan = plan_of(kernel, &w->problem);
  float *rows = malloc(sizeof *rows * ROWS * (size_t)w->problem.dim);
  const posenc_columns at = posenc_layout_columns(w->problem.layout, w->problem.dim);
  int wrong = 0, tried = 0;
  for (size_t n = 0; plan && rows && n < w->count; n++) {
    const worst_case *hard = &w->cases[n];
    const int64_t before = (int64_t)n * 7 % ROWS, first = hard->position - before;
    if (first < 0 || first + ROWS > w->problem.rows) continue;
    posenc_execute(plan, first, ROWS, rows);
    const int64_t column = (hard->cosine ? at.cos : at.sin) + hard->index * at.step;
    wrong += (double)rows[before * w->problem.dim + column] != hard->rounded;
    tried++;
  }
  ok(wrong == 0 && tried > 90, "%s, base %.0f, dim %d: %d of %d hard cases misrounded", kernel->name, w->problem.base,
     (int)w->problem.dim, wrong, tried);
  free(rows);
  posenc_plan_destroy(plan);
}

static void test_file(const char *folder, double base, int64_t dim) {
  char path[1000], fault[200];
  worst_cases w;
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  snprintf(path, sizeof path, "%s/reference/worst/base%.0f-d%d.wc", folder, base, (int)dim);
  FILE *stream = fopen(path, "r");
  if (!ok(stream && !worst_read(stream, &w, fault, sizeof fault), "%s", path)) return;
  fclose(stream);
  for (size_t k = 0; k < count; k++) {
    const char *why = posenc_kernel_refusal(kernels[k], &w.problem, NULL);
    if (!is_correct(kernels[k])) continue;
    if (why)
      skip(kernels[k]->name, why);
    else
      test_hard(kernels[k], &w);
  }
  worst_free(&w);
}

/* All elements of the blocks next to position 0, of which position 0 is exact without being looked at again. */
static void test_near_zero(posenc_dtype dtype, posenc_layout layout, int64_t dim) {
  enum { ROWS = 72, FIRST = -36 };
  posenc_problem problem = posenc_table(ROWS, dim);
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  const posenc_columns at = posenc_layout_columns(layout, dim);
  problem.first = FIRST;
  problem.dtype = dtype;
  problem.layout = layout;
  oracle *truth = oracle_create(&problem);
  const size_t pairs = (size_t)dim / 2, places_count = ROWS * pairs;
  place *places = malloc(places_count * sizeof *places);
  exact_pair *values = malloc(places_count * sizeof *values);
  char *table = malloc(2 * places_count * posenc_dtype_bytes(dtype));
  for (size_t n = 0; n < places_count; n++) places[n] = (place){FIRST + (int64_t)(n / pairs), (int64_t)(n % pairs)};
  oracle_pairs(truth, places, places_count, values);
  for (size_t k = 0; k < count; k++) {
    if (!is_correct(kernels[k])) continue;
    posenc_plan *plan = plan_of(kernels[k], &problem);
    if (!plan) {
      skip(kernels[k]->name, posenc_kernel_refusal(kernels[k], &problem, NULL));
      continue;
    }
    posenc_execute(plan, 0, ROWS, table);
    int wrong = 0;
    for (size_t n = 0; n < places_count; n++) {
      const int64_t row = (int64_t)(n / pairs) * dim, index = (int64_t)(n % pairs);
      wrong += format_element(dtype, table, row + at.sin + index * at.step) != values[n].sine.rounded;
      wrong += format_element(dtype, table, row + at.cos + index * at.step) != values[n].cosine.rounded;
    }
    ok(wrong == 0, "%s, dtype %d, layout %d, around 0: %d of %zu elements misrounded", kernels[k]->name, (int)dtype,
       (int)layout, wrong, 2 * places_count);
    posenc_plan_destroy(plan);
  }
  free(places);
  free(values);
  free(table);
  oracle_destroy(truth);
}

int main(void) {
  const char *folder = getenv("srcdir") ? getenv("srcdir") : ".";
  static const int dims[] = {64, 128, 256, 512, 768, 1024, 4096};
  for (size_t n = 0; n < sizeof dims / sizeof *dims; n++) test_file(folder, 10000.0, dims[n]);
  test_file(folder, 500000.0, 128);
  test_near_zero(POSENC_F32, POSENC_INTERLEAVED, 258);
  test_near_zero(POSENC_F16, POSENC_INTERLEAVED, 770);
  test_near_zero(POSENC_BF16, POSENC_SPLIT, 770);
  test_near_zero(POSENC_F16, POSENC_SPLIT_CS, 36);
  test_near_zero(POSENC_BF16, POSENC_INTERLEAVED_CS, 34);
  mpfr_free_cache();
  return tap_done();
}
