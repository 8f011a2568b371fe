/* SPDX-License-Identifier: MIT */
/* Tests encoders: tables that grow have the bits of tables that are made at once. */
#include "tests/library.h"

#include <string.h>

static void test_dim(const posenc_kernel *kernel, int64_t dim, posenc_odd odd) {
  enum { ROWS = 500 };
  static const int64_t steps[] = {1, 1, 0, 5, 30, 63, 100, 300};
  static char whole[ROWS * 40 * 4];
  posenc_problem problem = posenc_table(ROWS, dim);
  const posenc_options options = options_by(kernel);
  problem.first = 5;
  problem.odd = odd;
  if (posenc_kernel_refusal(kernel, &problem, NULL)) return;
  bool same = make_table(kernel, &problem, whole);
  problem.rows = 3;
  posenc_encoder *encoder;
  int64_t rows, all = 0;
  same = same && posenc_encoder_create(&encoder, &problem, &options) == POSENC_OK &&
         !posenc_encoder_rows(encoder, &rows) && rows == 0;
  for (size_t n = 0; n < sizeof steps / sizeof *steps && same; n++) {
    same = posenc_encoder_append(encoder, steps[n]) == POSENC_OK;
    all += steps[n];
    const void *got = posenc_encoder_rows(encoder, &rows);
    same = same && rows == all && memcmp(got, whole, (size_t)(rows * dim) * 4) == 0;
  }
  same = same && all == ROWS && posenc_encoder_append(encoder, INT64_MAX) == POSENC_TOO_LARGE &&
         posenc_encoder_append(encoder, INT64_C(1) << 61) == POSENC_TOO_LARGE &&
         posenc_encoder_append(encoder, -1) == POSENC_BAD_ARGUMENT && posenc_encoder_rows(encoder, &rows) &&
         rows == ROWS;
  posenc_encoder_destroy(encoder);
  ok(same, "%s, dim %d: a table that grows from 3 rows to %d has the bits of one made at once", kernel->name, (int)dim,
     ROWS);
}

static void test_kernel(const posenc_kernel *kernel) {
  test_dim(kernel, 32, POSENC_ODD_REFUSED);
  test_dim(kernel, 39, POSENC_ODD_CEIL);
}

/* Tests the domain: an encoder plans for twice as many rows, which may be beyond a kernel's domain. */
static void test_domain(void) {
  posenc_encoder *encoder;
  posenc_problem problem = posenc_table(5, 4);
  problem.first = (INT64_C(1) << 62) - 10;
  bool made = posenc_encoder_create(&encoder, &problem, NULL) == POSENC_OK &&
              posenc_encoder_append(encoder, 5) == POSENC_OK && posenc_encoder_append(encoder, 1) == POSENC_OK;
  ok(made, "a table grows to the end of its kernel's domain");
  posenc_encoder_destroy(encoder);
  posenc_options options = posenc_default_options();
  options.max_ulp = 0.5;
  problem = posenc_table(1, 128);
  problem.scale = 0x1p-30;
  ok(posenc_encoder_create(&encoder, &problem, &options) == POSENC_NO_KERNEL,
     "an encoder needs a kernel for more than position 0, which any kernel does");
}

/* Tests that the kernel of the first rows makes all rows, here the only one with this accuracy near position 0. */
static void test_same_kernel(void) {
  enum { ROWS = 200, DIM = 16 };
  static double want[ROWS * DIM];
  posenc_problem problem = posenc_table(2, DIM);
  posenc_options options = posenc_default_options();
  posenc_encoder *encoder;
  int64_t rows;
  problem.dtype = POSENC_F64;
  problem.base = 0x1p41; /* no kernel rounds this base correctly */
  options.max_abs = 0x1p-49;
  bool same = posenc_encoder_create(&encoder, &problem, &options) == POSENC_OK;
  for (int n = 0; n < 4 && same; n++) same = posenc_encoder_append(encoder, ROWS / 4) == POSENC_OK;
  problem.rows = ROWS;
  same = same && make_table(posenc_kernel_find("naive-f64"), &problem, want) &&
         memcmp(posenc_encoder_rows(encoder, &rows), want, sizeof want) == 0 && rows == ROWS;
  ok(same, "a table that grows keeps its kernel");
  posenc_encoder_destroy(encoder);
}

static void test_refusals(void) {
  posenc_encoder *encoder;
  posenc_problem problem = posenc_add(4, 8);
  ok(posenc_encoder_create(&encoder, &problem, NULL) == POSENC_BAD_ARGUMENT && !encoder,
     "an encoder makes tables only");
  static const double list[1] = {0};
  problem = posenc_table(1, 8);
  problem.positions = list;
  ok(posenc_encoder_create(&encoder, &problem, NULL) == POSENC_BAD_ARGUMENT && !encoder,
     "an encoder takes no list of positions");
  problem = posenc_table(4, 7);
  ok(posenc_encoder_create(&encoder, &problem, NULL) == POSENC_BAD_PROBLEM && !encoder,
     "an encoder refuses an invalid problem");
}

int main(void) {
  each_kernel(test_kernel);
  test_domain();
  test_same_kernel();
  test_refusals();
  return tap_done();
}
