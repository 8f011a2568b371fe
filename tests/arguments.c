/* SPDX-License-Identifier: MIT */
/* Tests invalid arguments: null pointers, structs of unknown size, enumerators and counts out of range. */
#include "tests/library.h"

#include <math.h>
#include <string.h>

#define REFUSED(call) ok((call) == POSENC_BAD_ARGUMENT, "refused: %s", #call)

static const posenc_dtype no_dtype = (posenc_dtype)9;

static void test_problems(void) {
  const posenc_bound bound = {.ulp = 0.5};
  const posenc_problem none = posenc_table_of(NULL), table = posenc_table(8, 8), add = posenc_add(8, 8);
  posenc_problem older = add, problem = table;
  size_t bytes = 1;
  CHECK(posenc_status_message((posenc_status)-1)[0] != '\0');
  CHECK(posenc_problem_refusal(NULL) != NULL);
  CHECK(posenc_problem_refusal(&none) != NULL);
  REFUSED(posenc_table_bytes(NULL, &bytes));
  REFUSED(posenc_table_bytes(&table, NULL));
  problem.dtype = no_dtype;
  REFUSED(posenc_table_bytes(&problem, &bytes));
  problem = table;
  problem.op = (posenc_op)9;
  REFUSED(posenc_table_bytes(&problem, &bytes));
  const posenc_columns columns = posenc_layout_columns((posenc_layout)9, 8);
  CHECK(columns.sin == 0 && columns.cos == 0 && columns.step == 0);
  CHECK(isnan(posenc_attention(NULL)));
  CHECK(isnan(posenc_bound_at(NULL, POSENC_F32, 0)));
  CHECK(isnan(posenc_bound_at(&bound, no_dtype, 0)));
  older.size = 8;
  CHECK(isnan(posenc_applied_bound_at(NULL, &add, 0, 1.0)));
  CHECK(isnan(posenc_applied_bound_at(&bound, NULL, 0, 1.0)));
  CHECK(isnan(posenc_applied_bound_at(&bound, &older, 0, 1.0)));
  CHECK(isnan(posenc_applied_bound_at(&bound, &table, 0, 1.0)));
  CHECK(isnan(posenc_applied_bound_at(&bound, &add, 0, -1.0)));
  CHECK(isnan(posenc_applied_bound_at(&bound, &add, 0, (double)NAN)));
  CHECK(posenc_applied_bound_at(&bound, &add, 0, 1.0) > 0.0);
  const posenc_kernel *kernel = posenc_kernel_find("naive");
  CHECK(isinf(posenc_kernel_bound(NULL, &table).ulp) && isinf(posenc_kernel_bound(kernel, NULL).ulp));
  CHECK(isinf(posenc_kernel_bound(kernel, &older).ulp) && posenc_kernel_bound(kernel, &table).ulp == kernel->bound.ulp);
  double frequencies[8];
  problem = table;
  REFUSED(posenc_frequencies(NULL, frequencies));
  REFUSED(posenc_frequencies(&table, NULL));
  problem.dim = 7;
  problem.odd = POSENC_ODD_PAD;
  REFUSED(posenc_frequencies(&problem, frequencies));
  problem = table;
  const int64_t sizes[] = {4, 4};
  const posenc_axes axes = posenc_grid(2, sizes, table.dim);
  problem.axes = &axes;
  REFUSED(posenc_frequencies(&problem, frequencies));
  problem = table;
  problem.base = -1.0;
  CHECK(posenc_frequencies(&problem, frequencies) == POSENC_BAD_PROBLEM);
  problem.base = 0.5;
  CHECK(posenc_frequencies(&problem, frequencies) == POSENC_CANNOT_RUN);
}

static void test_kernels(void) {
  const posenc_problem problem = posenc_table(8, 8);
  const posenc_kernel *naive = posenc_kernel_find("naive");
  posenc_options options = posenc_default_options();
  unsigned isa;
  CHECK(!posenc_isa_parse(NULL, &isa));
  CHECK(!posenc_isa_parse("avx2", NULL));
  CHECK(!posenc_isa_parse("", &isa));
  CHECK(!posenc_isa_parse("avx2,", &isa));
  CHECK(posenc_isa_parse("generic", &isa) && isa == POSENC_ISA_GENERIC);
  CHECK(!posenc_isa_name(0) && !posenc_isa_name(POSENC_ISA_ALL) && !posenc_isa_name(POSENC_ISA_ALL + 1));
  CHECK(posenc_kernels(NULL) == posenc_kernels(&(size_t){0}));
  CHECK(!posenc_kernel_find(NULL));
  CHECK(posenc_encodings(NULL) == posenc_encodings(&(size_t){0}));
  CHECK(!posenc_encoding_find(NULL) && !posenc_encoding_find("nothing"));
  CHECK(posenc_kernel_refusal(NULL, &problem, NULL) != NULL);
  CHECK(posenc_kernel_refusal(naive, &problem, NULL) == NULL);
  options.size = 8;
  CHECK(posenc_kernel_refusal(naive, &problem, &options) != NULL);
}

static void test_plans(void) {
  const posenc_problem problem = posenc_table(8, 8), added = posenc_add(8, 8), caches = posenc_rope_tables(8, 8);
  const posenc_slice rows = posenc_rows(0, 8);
  posenc_slice older = rows, back = rows;
  posenc_plan *table = plan_by(NULL, &problem), *add = plan_by(NULL, &added), *cache = plan_by(NULL, &caches);
  posenc_stages stages[4];
  float x[64] = {0};
  if (!ok(table && add && cache, "plans")) return;
  older.size = 8;
  back.rows = -1;
  REFUSED(posenc_apply(NULL, &rows, x, x));
  REFUSED(posenc_apply(add, NULL, x, x));
  REFUSED(posenc_apply(add, &rows, NULL, x));
  REFUSED(posenc_apply(add, &rows, x, NULL));
  REFUSED(posenc_apply(add, &older, x, x));
  REFUSED(posenc_apply(add, &back, x, x));
  REFUSED(posenc_apply(table, &rows, x, x));
  REFUSED(posenc_execute(add, 0, 8, x));
  REFUSED(posenc_rope_cache(table, 0, 8, x, x));
  REFUSED(posenc_rope_cache(NULL, 0, 8, x, x));
  REFUSED(posenc_rope_cache(cache, 7, 2, x, x));
  CHECK(!posenc_plan_stages(NULL, 0, 1, stages));
  CHECK(!posenc_plan_stages(table, 0, 1, NULL));
  CHECK(!posenc_plan_stages(table, -1, 1, stages));
  CHECK(!posenc_plan_problem(NULL) && !posenc_plan_kernel(NULL));
  posenc_plan_destroy(table);
  posenc_plan_destroy(add);
  posenc_plan_destroy(cache);
  posenc_plan_destroy(NULL);
}

static void test_dropout(void) {
  const posenc_problem problem = posenc_table(8, 8), added = posenc_add(8, 8);
  const posenc_slice rows = posenc_rows(0, 8);
  const posenc_dropout dropout = posenc_dropout_of(0.5, 1), never = posenc_dropout_of((double)NAN, 1);
  posenc_dropout older = dropout;
  posenc_plan *table = plan_by(NULL, &problem), *add = plan_by(NULL, &added);
  float x[64] = {0};
  unsigned char keep[64];
  older.size = 4;
  REFUSED(posenc_apply_dropout(NULL, &rows, &dropout, x, x));
  REFUSED(posenc_apply_dropout(add, NULL, &dropout, x, x));
  REFUSED(posenc_apply_dropout(add, &rows, NULL, x, x));
  REFUSED(posenc_apply_dropout(add, &rows, &dropout, NULL, x));
  REFUSED(posenc_apply_dropout(add, &rows, &dropout, x, NULL));
  REFUSED(posenc_apply_dropout(add, &rows, &never, x, x));
  REFUSED(posenc_apply_dropout(table, &rows, &dropout, x, x));
  REFUSED(posenc_dropout_mask(NULL, &rows, 8, keep));
  REFUSED(posenc_dropout_mask(&dropout, NULL, 8, keep));
  REFUSED(posenc_dropout_mask(&dropout, &rows, 8, NULL));
  REFUSED(posenc_dropout_mask(&dropout, &rows, 0, keep));
  REFUSED(posenc_dropout_mask(&older, &rows, 8, keep));
  posenc_plan_destroy(table);
  posenc_plan_destroy(add);
}

static void test_encodings(void) {
  const posenc_slice rows = posenc_rows(0, 2), back = posenc_rows(-2, 2);
  float out[16], trained[16] = {0};
  REFUSED(posenc_integer(NULL, 8, POSENC_F32, out));
  REFUSED(posenc_integer(&rows, 8, POSENC_F32, NULL));
  REFUSED(posenc_integer(&rows, 0, POSENC_F32, out));
  REFUSED(posenc_integer(&rows, 8, no_dtype, out));
  REFUSED(posenc_binary(NULL, 8, POSENC_F32, out));
  REFUSED(posenc_binary(&rows, 8, POSENC_F32, NULL));
  REFUSED(posenc_binary(&rows, -8, POSENC_F32, out));
  REFUSED(posenc_binary(&rows, 8, no_dtype, out));
  REFUSED(posenc_binary(&back, 8, POSENC_F32, out));
  const posenc_learned_table table = posenc_learned_rows(trained, 2, 8), empty = posenc_learned_rows(NULL, 2, 8);
  REFUSED(posenc_learned(NULL, &rows, POSENC_F32, NULL, out));
  REFUSED(posenc_learned(&table, NULL, POSENC_F32, NULL, out));
  REFUSED(posenc_learned(&table, &rows, no_dtype, NULL, out));
  REFUSED(posenc_learned(&table, &rows, POSENC_F32, NULL, NULL));
  REFUSED(posenc_learned(&empty, &rows, POSENC_F32, NULL, out));
  REFUSED(posenc_learned(&table, &back, POSENC_F32, NULL, out));
  const posenc_alibi bias = posenc_alibi_of(1, 2), none = posenc_alibi_of(0, 2);
  posenc_alibi older = bias;
  older.size = 8;
  REFUSED(posenc_alibi_bias(NULL, out));
  REFUSED(posenc_alibi_bias(&bias, NULL));
  REFUSED(posenc_alibi_bias(&none, out));
  REFUSED(posenc_alibi_bias(&older, out));
  CHECK(isnan(posenc_alibi_slope(0, 0).high));
  CHECK(isnan(posenc_alibi_slope(8, 8).high));
  CHECK(isnan(posenc_alibi_slope(8, -1).high));
}

static void test_wisdom(void) {
  const posenc_problem problem = posenc_table(8, 8);
  posenc_problem older = problem;
  posenc_wisdom *wisdom = (posenc_wisdom *)(void *)&older;
  char text[200];
  older.size = 8;
  REFUSED(posenc_wisdom_read(NULL, "x"));
  REFUSED(posenc_wisdom_read(&wisdom, NULL));
  CHECK(!wisdom && posenc_wisdom_count(NULL) == 0);
  ok(posenc_wisdom_read(&wisdom, ".") == POSENC_BAD_FILE && !wisdom, "wisdom: a folder");
  posenc_wisdom_free(NULL);
  CHECK(posenc_wisdom_line(NULL, sizeof text, &problem, 1, "naive", 1.0) < 0);
  CHECK(posenc_wisdom_line(text, sizeof text, NULL, 1, "naive", 1.0) < 0);
  CHECK(posenc_wisdom_line(text, sizeof text, &older, 1, "naive", 1.0) < 0);
  CHECK(posenc_wisdom_line(text, sizeof text, &problem, 1, NULL, 1.0) < 0);
  CHECK(posenc_wisdom_line(text, sizeof text, &problem, 1, "naive", (double)NAN) < 0);
  CHECK(posenc_wisdom_line(text, sizeof text, &problem, 1, "naive", -1.0) < 0);
  CHECK(posenc_wisdom_line(text, sizeof text, &problem, 1, "naive", (double)INFINITY) < 0);
  ok(posenc_wisdom_line(NULL, 0, &problem, 1, "naive", 1.0) > 0, "the length of a line of wisdom alone");
  posenc_machine(NULL, 5);
  *text = 'x';
  posenc_machine(text, 0);
  ok(*text == 'x', "a machine's name in no bytes");
}

static void test_encoder(void) {
  const posenc_problem problem = posenc_table(8, 8);
  posenc_encoder *encoder = (posenc_encoder *)(void *)&encoder;
  int64_t count = 1;
  REFUSED(posenc_encoder_create(NULL, &problem, NULL));
  REFUSED(posenc_encoder_create(&encoder, NULL, NULL));
  CHECK(!encoder);
  REFUSED(posenc_encoder_append(NULL, 1));
  CHECK(!posenc_encoder_rows(NULL, &count) && count == 0);
  CHECK(!posenc_encoder_rows(NULL, NULL));
  posenc_encoder_destroy(NULL);
}

int main(void) {
  test_problems();
  test_kernels();
  test_plans();
  test_dropout();
  test_encodings();
  test_wisdom();
  test_encoder();
  return tap_done();
}
