/* SPDX-License-Identifier: MIT */
/* Tests correctly rounded kernels: the hard-to-round cases of reference/worst/ among other rows, in vectors, and all
   elements around position 0, in every format. */
#include "reference/worst.h"
#include "tests/exact.h"
#include "tests/library.h"
#include "tests/scalings.h"

#include <glob.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool is_correct(const posenc_kernel *kernel) {
  return kernel->bound.derived && kernel->bound.ulp == 0.5 && kernel->bound.abs == 0.0 && !kernel->keeps_rows;
}

/* Tests calls of 40 rows, with the case at every place of a block in turn. */
static void test_hard(const posenc_kernel *kernel, const worst_cases *w) {
  enum { ROWS = 40 };
  posenc_plan *plan = plan_or_skip(kernel->name, kernel, &w->problem);
  if (!plan) return;
  const posenc_dtype dtype = w->problem.dtype;
  char *rows = malloc(posenc_dtype_bytes(dtype) * ROWS * (size_t)w->problem.dim);
  const posenc_columns at = posenc_layout_columns(w->problem.layout, w->problem.dim);
  int wrong = 0, tried = 0;
  for (size_t n = 0; rows && n < w->count; n++) {
    const worst_case *hard = &w->cases[n];
    const int64_t before = (int64_t)n * 7 % ROWS, first = hard->position - before;
    if (first < 0 || first + ROWS > w->problem.rows) continue;
    posenc_execute(plan, first, ROWS, rows);
    const int64_t column = (hard->cosine ? at.cos : at.sin) + hard->index * at.step;
    wrong += format_element(dtype, rows, before * w->problem.dim + column) != hard->rounded;
    posenc_execute(plan, hard->position, 1, rows); /* without a certificate */
    wrong += format_element(dtype, rows, column) != hard->rounded;
    tried++;
  }
  ok(wrong == 0 && (size_t)tried > w->count * 9 / 10, "%s, base %.0f, dim %d, %s: %d of %d hard cases misrounded",
     kernel->name, w->problem.base, (int)w->problem.dim, worst_dtype_name(dtype), wrong, tried);
  free(rows);
  posenc_plan_destroy(plan);
}

static void test_file(const char *path) {
  char fault[200];
  worst_cases w;
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  FILE *stream = fopen(path, "r");
  const char *refusal = stream ? worst_read(stream, &w, fault, sizeof fault) : "cannot be opened";
  if (stream) fclose(stream);
  if (refusal && PTRDIFF_MAX < INT64_MAX && strstr(refusal, "the table's bytes or positions overflow")) {
    skip(path, "a table beyond an address space of 32 bits");
    return;
  }
  if (!ok(!refusal, "%s %s", path, refusal ? refusal : "")) return;
  for (size_t k = 0; k < count; k++)
    if (is_correct(kernels[k])) test_hard(kernels[k], &w);
  worst_free(&w);
}

/* Tests all elements of some blocks, in one call and in calls of 1 to 19 rows. */
static void test_all(posenc_problem problem, const char *what) {
  enum { ROWS = 72 };
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  const posenc_columns at = posenc_layout_columns(problem.layout, problem.dim);
  const int64_t dim = problem.dim;
  const size_t row_bytes = (size_t)dim * posenc_dtype_bytes(problem.dtype);
  problem.rows = ROWS;
  exact_pair *values = exact_table(&problem);
  char *table = malloc(ROWS * row_bytes), *pieces = malloc(ROWS * row_bytes);
  for (size_t k = 0; k < count; k++) {
    if (!is_correct(kernels[k])) continue;
    posenc_plan *plan = plan_or_skip(kernels[k]->name, kernels[k], &problem);
    if (!plan) continue;
    posenc_execute(plan, 0, ROWS, table);
    for (int64_t row = 0, rows = 1; row < ROWS; row += rows, rows = rows % 19 + 1) {
      if (rows > ROWS - row) rows = ROWS - row;
      posenc_execute(plan, row, rows, pieces + (size_t)row * row_bytes);
    }
    int wrong = 0;
    for (int64_t n = 0; n < ROWS * dim / 2; n++) {
      const int64_t row = n / (dim / 2) * dim, index = n % (dim / 2);
      wrong += format_element(problem.dtype, table, row + at.sin + index * at.step) != values[n].sine.rounded;
      wrong += format_element(problem.dtype, table, row + at.cos + index * at.step) != values[n].cosine.rounded;
    }
    ok(wrong == 0 && memcmp(table, pieces, ROWS * row_bytes) == 0,
       "%s, dtype %d, layout %d, dim %d, base %g, from %" PRId64 ", %s: %d of %d elements misrounded", kernels[k]->name,
       (int)problem.dtype, (int)problem.layout, (int)dim, problem.base, problem.first, what, wrong, ROWS * (int)dim);
    posenc_plan_destroy(plan);
  }
  free(values);
  free(table);
  free(pieces);
}

/* Tests rows near position 0, which is exact without being recomputed, and far from it. */
static void test_near_zero(posenc_dtype dtype, posenc_layout layout, int64_t dim) {
  posenc_problem problem = posenc_table(0, dim);
  problem.first = -36;
  problem.dtype = dtype;
  problem.layout = layout;
  test_all(problem, "around 0");
}

static void test_f64(void) {
  static const double bases[] = {1.0, 1.5, 1e4, 1e7, 0x1p40};
  static const int64_t firsts[] = {-36, 8190, -(INT64_C(1) << 40), INT64_C(1) << 61};
  posenc_problem problem = posenc_table(0, 76);
  problem.dtype = POSENC_F64;
  for (size_t b = 0; b < sizeof bases / sizeof *bases; b++)
    for (size_t n = 0; n < sizeof firsts / sizeof *firsts; n++) {
      problem.base = bases[b];
      problem.first = firsts[n];
      problem.layout = (n + b) % 2 ? POSENC_SPLIT : POSENC_INTERLEAVED;
      test_all(problem, "f64");
    }
  problem.scale = 0x1.8p-9;
  problem.base = 100.0;
  test_all(problem, "scaled positions");
  problem.scale = 0x1p-56; /* from π/2 - 2^-51 on, in steps of 2^-56, where a cosine is as small as 2^-57 */
  problem.base = 1.0;
  problem.dim = 8;
  problem.first = INT64_C(113187804032455044) - 36;
  test_all(problem, "next to a quarter of a turn");
}

/* Tests tables with many tiny sines, which are computed in sums of two doubles for every format. */
static void test_tiny_sines(posenc_dtype dtype) {
  static const double bases[] = {1e8, 0x1p30, 0x1p40};
  posenc_problem problem = posenc_table(0, 76);
  problem.dtype = dtype;
  for (int n = 0; n < 6; n++) {
    problem.base = bases[n % 3];
    problem.first = n < 3 ? -36 : 1;
    problem.layout = n % 2 ? POSENC_SPLIT_CS : POSENC_INTERLEAVED;
    test_all(problem, "tiny sines");
  }
}

/* Attention factors: those of formulas, midpoints of a format, which round to even, and numbers next to one. */
static void test_attention(posenc_dtype dtype) {
  static const double factors[] = {1.1386294361119891, 0x1.000001p0,       0x1.000003p0,        0x1.002p0, 0x1.006p0,
                                   0x1.01p0,           0x1.030000000001p0, 0x1.fffffffffffffp9, 0x1p-10,   2.0};
  double lengths[32];
  for (int i = 0; i < 32; i++) lengths[i] = 1.0 + i / 7.0;
  posenc_problem problem = with_base(0, 64, 1e4);
  problem.dtype = dtype;
  problem.first = -36;
  for (size_t n = 0; n < sizeof factors / sizeof *factors; n++) {
    problem.scaling.attention = factors[n];
    problem.layout = n % 2 ? POSENC_SPLIT_CS : POSENC_INTERLEAVED_CS;
    test_all(problem, "an attention factor");
  }
  problem.scaling.attention = 0.0;
  test_all(yarn(problem, 40.0, 4096, true), "yarn");
  test_all(longrope(problem, 32.0, 4096, lengths), "longrope");
}

int main(void) {
  char pattern[1000];
  glob_t files;
  snprintf(pattern, sizeof pattern, "%s/reference/worst/*.wc", getenv("srcdir") ? getenv("srcdir") : ".");
  if (ok(glob(pattern, 0, NULL, &files) == 0, "%s", pattern)) {
    for (size_t n = 0; n < files.gl_pathc; n++) test_file(files.gl_pathv[n]);
    globfree(&files);
  }
  test_near_zero(POSENC_F32, POSENC_INTERLEAVED, 258);
  test_near_zero(POSENC_F16, POSENC_INTERLEAVED, 770);
  test_near_zero(POSENC_BF16, POSENC_SPLIT, 770);
  test_near_zero(POSENC_F16, POSENC_SPLIT_CS, 36);
  test_near_zero(POSENC_BF16, POSENC_INTERLEAVED_CS, 34);
  test_near_zero(POSENC_F64, POSENC_INTERLEAVED, 258);
  test_near_zero(POSENC_F64, POSENC_SPLIT_CS, 18);
  test_near_zero(POSENC_F64, POSENC_SPLIT, 2);
  test_f64();
  test_tiny_sines(POSENC_F32);
  test_tiny_sines(POSENC_F16);
  test_tiny_sines(POSENC_BF16);
  test_attention(POSENC_F32);
  test_attention(POSENC_F64);
  test_attention(POSENC_F16);
  test_attention(POSENC_BF16);
  mpfr_free_cache();
  return tap_done();
}
