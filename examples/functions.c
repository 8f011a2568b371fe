/* SPDX-License-Identifier: MIT */
/*
 * An example of every function of posenc.h. The manual (make site) shows with a function the first example here that
 * calls it; tests/site.sh runs all of them, and compares what each prints with its comments.
 */
#include <posenc.h>
#include <stdio.h>

static void version(void) {
  printf("%s\n", posenc_version());                            /* prints 0.1.0 */
  printf("%s\n", posenc_status_message(POSENC_OUT_OF_MEMORY)); /* prints out of memory */
}

static void table(void) {
  static float rows[512 * 128];
  posenc_problem problem = posenc_table(512, 128);
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return;
  posenc_execute(plan, 0, 512, rows);
  printf("%.9g %.9g\n", rows[128], rows[129]);                /* prints 0.841470957 0.540302277 */
  printf("%d\n", (int)posenc_plan_problem(plan)->rows);       /* prints 512 */
  printf("%d\n", posenc_plan_kernel(plan)->bound.ulp == 0.5); /* prints 1 */
  posenc_plan_destroy(plan);
}

static void options(void) {
  posenc_problem problem = posenc_table(512, 128);
  posenc_options options = posenc_default_options();
  options.kernel = posenc_kernel_find("naive-f64"); /* null if there is no such kernel */
  if (posenc_kernel_refusal(options.kernel, &problem, &options)) return;
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) return;
  posenc_stages stages[64];
  if (!posenc_plan_stages(plan, 1, 1, stages)) return;
  printf("%.6f %.6f\n", stages[1].frequency.high, stages[1].sine.high); /* prints 0.865964 0.761720 */
  posenc_plan_destroy(plan);
}

static void add(void) {
  float x[2 * 4] = {1, 1, 1, 1, 1, 1, 1, 1};
  posenc_problem problem = posenc_add(2, 4);
  posenc_slice slice = posenc_rows(0, 2);
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return;
  posenc_apply(plan, &slice, x, x);  /* in place */
  printf("%.4f %.4f\n", x[4], x[5]); /* prints 1.8415 1.5403 */
  posenc_plan_destroy(plan);
}

static void dropout(void) {
  float x[1000] = {0};
  posenc_problem problem = posenc_add(10, 100);
  posenc_slice slice = posenc_rows(0, 10);
  posenc_dropout dropout = posenc_dropout_of(0.1, 42);
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return;
  posenc_apply_dropout(plan, &slice, &dropout, x, x);
  unsigned char keep[1000];
  posenc_dropout_mask(&dropout, &slice, 100, keep);
  int same = 0;
  for (int i = 0; i < 1000; i++) same += keep[i] || x[i] == 0;
  printf("%d\n", same); /* prints 1000 */
  posenc_plan_destroy(plan);
}

static void rope(void) {
  float x[4] = {1, 0, 1, 0};
  posenc_problem problem = posenc_rope(100, 1, 4);
  posenc_slice slice = posenc_rows(50, 1);
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return;
  posenc_apply(plan, &slice, x, x);
  printf("%.4f %.4f\n", x[0], x[1]); /* prints 0.9650 -0.2624 */
  posenc_plan_destroy(plan);
}

static void rope_cache(void) {
  float cosines[2 * 4], sines[2 * 4];
  posenc_problem problem = posenc_rope_tables(2, 4);
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, NULL) != POSENC_OK) return;
  posenc_rope_cache(plan, 0, 2, cosines, sines);
  printf("%.4f %.4f\n", cosines[4], sines[4]);                         /* prints 0.5403 0.8415 */
  printf("%d\n", posenc_table_of(&problem).layout == POSENC_SPLIT_CS); /* prints 1 */
  posenc_plan_destroy(plan);
}

static void problem(void) {
  posenc_problem odd = posenc_table(4, 7);
  printf("%s\n", posenc_problem_refusal(&odd)); /* prints dim must be even */
  posenc_problem problem = posenc_table(4096, 128);
  problem.dtype = POSENC_BF16;
  problem.base = posenc_base_for(4096);
  size_t bytes;
  if (posenc_table_bytes(&problem, &bytes) != POSENC_OK) return;
  printf("%zu, %zu each\n", bytes, posenc_dtype_bytes(problem.dtype)); /* prints 1048576, 2 each */
  posenc_columns columns = posenc_layout_columns(POSENC_SPLIT, 128);
  printf("%d %d %d\n", (int)columns.sin, (int)columns.cos, (int)columns.step); /* prints 0 64 1 */
}

static void scalings(void) {
  double factors[64], frequencies[64];
  for (int i = 0; i < 64; i++) factors[i] = 2;
  const posenc_scaling scalings[] = {
      posenc_scaling_none(),                     /* prints 0.01 1 */
      posenc_scaling_linear(4),                  /* prints 0.0025 1 */
      posenc_scaling_dynamic(4, 4096, 16384),    /* prints 0.0027 1 */
      posenc_scaling_yarn(32, 4096),             /* prints 0.0055 1.35 */
      posenc_scaling_llama3(8, 8192),            /* prints 0.01 1 */
      posenc_scaling_longrope(32, 4096, factors) /* prints 0.005 1.19 */
  };
  for (size_t i = 0; i < sizeof scalings / sizeof *scalings; i++) {
    posenc_problem problem = posenc_rope(131072, 1, 128);
    problem.scaling = scalings[i];
    if (posenc_frequencies(&problem, frequencies) != POSENC_OK) return;
    printf("%.2g %.3g\n", frequencies[32], posenc_attention(&problem));
  }
}

static void grid(void) {
  const int64_t sizes[] = {14, 14}; /* patches of an image */
  posenc_problem problem = posenc_table(196, 64);
  posenc_axes axes = posenc_grid(2, sizes, problem.dim);
  problem.axes = &axes;
  printf("%d %d\n", (int)axes.axis[0].stride, posenc_problem_refusal(&problem) == NULL); /* prints 14 1 */
}

static void kernels(void) {
  size_t count;
  const posenc_kernel *const *all = posenc_kernels(&count);
  printf("%d\n", posenc_kernel_find(all[count - 1]->name) == all[count - 1]); /* prints 1 */
}

static void bounds(void) {
  posenc_problem table = posenc_table(4096, 128), rope = posenc_rope(4096, 1, 128);
  const posenc_kernel *kernel = posenc_kernel_find("naive");
  posenc_bound bound = posenc_kernel_bound(kernel, &table);
  printf("%.2g\n", posenc_bound_at(&bound, POSENC_F32, 4095));         /* prints 0.0015 */
  printf("%.2g\n", posenc_applied_bound_at(&bound, &rope, 4095, 1.0)); /* prints 0.0021 */
}

static void instruction_sets(void) {
  unsigned isa;
  if (!posenc_isa_parse("generic,avx2", &isa)) return;
  printf("%s %s\n", posenc_isa_name(isa & POSENC_ISA_GENERIC),
         posenc_isa_name(POSENC_ISA_AVX2));                        /* prints generic avx2 */
  printf("%d\n", (posenc_isa_detect() & POSENC_ISA_GENERIC) != 0); /* prints 1 */
}

static void wisdom(void) {
  char line[200], machine[200];
  posenc_problem problem = posenc_table(512, 128);
  FILE *file = fopen("example.wisdom", "w");
  if (!file || posenc_wisdom_line(line, sizeof line, &problem, 1, "cr-portable", 25e-6) < 0) return;
  fprintf(file, "%s%s", posenc_wisdom_header(), line);
  fclose(file);
  posenc_wisdom *wisdom;
  if (posenc_wisdom_read(&wisdom, "example.wisdom") == POSENC_OK)
    printf("%zu\n", posenc_wisdom_count(wisdom)); /* prints 1 */
  posenc_wisdom_free(wisdom);
  remove("example.wisdom");
  posenc_machine(machine, sizeof machine); /* the machine that these times are of */
}

static void encoder(void) {
  posenc_problem problem = posenc_table(1, 128);
  posenc_encoder *encoder;
  if (posenc_encoder_create(&encoder, &problem, NULL) != POSENC_OK) return;
  for (int token = 0; token < 1000; token++) posenc_encoder_append(encoder, 1);
  int64_t count;
  const float *rows = (const float *)posenc_encoder_rows(encoder, &count);
  printf("%d %.4f\n", (int)count, rows[999 * 128]); /* prints 1000 -0.0265 */
  posenc_encoder_destroy(encoder);
}

static void memory(void) {
  float *rows = (float *)posenc_alloc(4096 * 128 * sizeof *rows);
  printf("%d\n", (int)((uintptr_t)rows % 64)); /* prints 0 */
  posenc_free(rows);
}

static void encodings(void) {
  size_t count;
  posenc_encodings(&count);
  printf("%zu %s\n", count, posenc_encoding_find("alibi")->call); /* prints 7 posenc_alibi_bias */
  float row[8];
  posenc_slice positions = posenc_rows(200, 1);
  posenc_integer(&positions, 8, POSENC_F32, row);
  printf("%g\n", row[7]); /* prints 200 */
  posenc_binary(&positions, 8, POSENC_F32, row);
  printf("%g %g\n", row[3], row[4]); /* prints 1 0 */
}

static void learned(void) {
  float trained[512 * 2] = {0.5f, 0.25f}, row[2];
  posenc_learned_table table = posenc_learned_rows(trained, 512, 2);
  posenc_slice positions = posenc_rows(0, 1);
  posenc_learned(&table, &positions, POSENC_F32, NULL, row);
  printf("%g %g\n", row[0], row[1]); /* prints 0.5 0.25 */
}

static void alibi(void) {
  float scores[8 * 16 * 16];
  posenc_alibi bias = posenc_alibi_of(8, 16);
  if (posenc_alibi_bias(&bias, scores) != POSENC_OK) return;
  printf("%g %g\n", scores[15], posenc_alibi_slope(8, 0).high); /* prints -7.5 0.5 */
}

int main(void) {
  version(), table(), options(), add(), dropout(), rope(), rope_cache(), problem(), scalings(), grid(), kernels();
  bounds(), instruction_sets(), wisdom(), encoder(), memory(), encodings(), learned(), alibi();
}
