/* SPDX-License-Identifier: MIT */
/* Correctly rounded kernels: the hard cases of reference/worst/ among other rows, where vectors pass them, and all
   elements around position 0, in every format. */
#include "reference/worst.h"
#include "tests/exact.h"
#include "tests/library.h"

#include <stdlib.h>

static bool is_correct(const posenc_kernel *kernel) {
  return kernel->bound.derived && kernel->bound.ulp == 0.5 && kernel->bound.abs == 0.0 && !kernel->keeps_rows;
}

/* Calls of 40 rows, with the case at every place of a block in turn. */
static void test_hard(const posenc_kernel *kernel, const worst_cases *w) {
  enum { ROWS = 40 };
  posenc_plan *plan = plan_or_skip(kernel->name, kernel, &w->problem);
  if (!plan) return;
  float *rows = malloc(sizeof *rows * ROWS * (size_t)w->problem.dim);
  const posenc_columns at = posenc_layout_columns(w->problem.layout, w->problem.dim);
  int wrong = 0, tried = 0;
  for (size_t n = 0; rows && n < w->count; n++) {
    const worst_case *hard = &w->cases[n];
    const int64_t before = (int64_t)n * 7 % ROWS, first = hard->position - before;
    if (first < 0 || first + ROWS > w->problem.rows) continue;
    posenc_execute(plan, first, ROWS, rows);
    const int64_t column = (hard->cosine ? at.cos : at.sin) + hard->index * at.step;
    wrong += (double)rows[before * w->problem.dim + column] != hard->rounded;
    posenc_execute(plan, hard->position, 1, rows); /* without a certificate */
    wrong += (double)rows[column] != hard->rounded;
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
  for (size_t k = 0; k < count; k++)
    if (is_correct(kernels[k])) test_hard(kernels[k], &w);
  worst_free(&w);
}

/* All elements of the blocks next to position 0, which is exact without being recomputed. */
static void test_near_zero(posenc_dtype dtype, posenc_layout layout, int64_t dim) {
  enum { ROWS = 72, FIRST = -36 };
  posenc_problem problem = posenc_table(ROWS, dim);
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  const posenc_columns at = posenc_layout_columns(layout, dim);
  problem.first = FIRST;
  problem.dtype = dtype;
  problem.layout = layout;
  exact_pair *values = exact_table(&problem);
  char *table = malloc(ROWS * (size_t)dim * posenc_dtype_bytes(dtype));
  for (size_t k = 0; k < count; k++) {
    if (!is_correct(kernels[k])) continue;
    posenc_plan *plan = plan_or_skip(kernels[k]->name, kernels[k], &problem);
    if (!plan) continue;
    posenc_execute(plan, 0, ROWS, table);
    int wrong = 0;
    for (int64_t n = 0; n < ROWS * dim / 2; n++) {
      const int64_t row = n / (dim / 2) * dim, index = n % (dim / 2);
      wrong += format_element(dtype, table, row + at.sin + index * at.step) != values[n].sine.rounded;
      wrong += format_element(dtype, table, row + at.cos + index * at.step) != values[n].cosine.rounded;
    }
    ok(wrong == 0, "%s, dtype %d, layout %d, around 0: %d of %d elements misrounded", kernels[k]->name, (int)dtype,
       (int)layout, wrong, ROWS * (int)dim);
    posenc_plan_destroy(plan);
  }
  free(values);
  free(table);
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
