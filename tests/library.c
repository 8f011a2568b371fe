/* SPDX-License-Identifier: MIT */
/* Tests posenc.h: which problems and options are accepted or refused, which kernel is chosen, contracts and memory. */
#include "tests/library.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static posenc_status status_of(const posenc_problem *problem, const posenc_options *options) {
  posenc_plan *plan = (posenc_plan *)(void *)&plan;
  const posenc_status status = posenc_plan_create(&plan, problem, options);
  if (status != POSENC_OK && plan != NULL) return (posenc_status)-1; /* plan must be null on failure */
  posenc_plan_destroy(plan);
  return status;
}

/* Expects this status of an 8×8 table after a change of `problem` or `options`. */
#define STATUS(change, want)                                                                                           \
  do {                                                                                                                 \
    posenc_problem problem = posenc_table(8, 8);                                                                       \
    posenc_options options = posenc_default_options();                                                                 \
    (void)(change);                                                                                                    \
    const posenc_status got = status_of(&problem, &options);                                                           \
    ok(got == (want), "%s: %s", #change, posenc_status_message(got));                                                  \
  } while (0)

/* ---- wisdom ---- */

static posenc_status read_wisdom(posenc_wisdom **wisdom, const char *content) {
  static const char path[] = "library.wisdom";
  FILE *file = fopen(path, "w");
  if (!file) return POSENC_BAD_ARGUMENT;
  fputs(content, file);
  fclose(file);
  const posenc_status status = posenc_wisdom_read(wisdom, path);
  remove(path);
  return status;
}

/* Appends the time of a table of `rows` rows, of dim 64. */
static void measured(char *text, int64_t rows, const char *kernel, double seconds) {
  const posenc_problem problem = posenc_table(rows, 64);
  char line[512];
  posenc_wisdom_line(line, sizeof line, &problem, 1, kernel, seconds);
  strcat(text, line);
}

static const char *chosen(const posenc_problem *problem, const posenc_options *options) {
  posenc_plan *plan;
  const char *name = posenc_plan_create(&plan, problem, options) == POSENC_OK ? posenc_plan_kernel(plan)->name : "none";
  posenc_plan_destroy(plan);
  return name;
}

static const char *chosen_within(const posenc_wisdom *wisdom, int64_t rows, int64_t dim, double max_ulp,
                                 double max_abs) {
  const posenc_problem problem = posenc_table(rows, dim);
  posenc_options options = posenc_default_options();
  options.wisdom = wisdom;
  options.max_ulp = max_ulp;
  options.max_abs = max_abs;
  return chosen(&problem, &options);
}

static void is_chosen(const char *got, const char *want, const char *why) {
  ok(strcmp(got, want) == 0, "%s: %s", why, got);
}

static void test_wisdom_choice(void) {
  char text[4096];
  posenc_wisdom *wisdom;
  strcpy(text, posenc_wisdom_header());
  measured(text, 1000, "rotation-portable", 1e-6);
  measured(text, 1000, "cr-portable", 2e-6);
  measured(text, 1000, "naive", 1e-9);
  measured(text, 1800, "naive-f64", 1e-3);
  measured(text, 1000, "recurrence", 1e-12);
  ok(read_wisdom(&wisdom, text) == POSENC_OK && posenc_wisdom_count(wisdom) == 5, "five measurements are read");
  is_chosen(chosen_within(wisdom, 1000, 64, 0.0, 0.0), "cr-portable",
            "without limits correctly rounded, if others are faster");
  is_chosen(chosen_within(wisdom, 1000, 64, 0.0, 0x1p-24), "rotation-portable", "the fastest one within the accuracy");
  is_chosen(chosen_within(wisdom, 600, 64, 0.5, 0.0), "cr-portable", "correctly rounded, fewer rows");
  is_chosen(chosen_within(wisdom, 1000, 64, 0.0, 1.0), "naive", "any error will do, but a derived bound is needed");
  CHECK(!posenc_kernel_find("recurrence")->bound.derived);
  is_chosen(chosen_within(wisdom, 499, 64, 0.0, 0.0), chosen_within(NULL, 499, 64, 0.0, 0.0), "a length not measured");
  is_chosen(chosen_within(wisdom, 1000, 66, 0.0, 0.0), chosen_within(NULL, 1000, 66, 0.0, 0.0), "a dim not measured");
  const posenc_axes axes = posenc_grid(2, (const int64_t[]){25, 40}, 64);
  posenc_problem grid = posenc_table(1000, 64);
  grid.axes = &axes;
  posenc_options options = posenc_default_options();
  const char *estimated = chosen(&grid, &options);
  options.wisdom = wisdom;
  is_chosen(chosen(&grid, &options), estimated, "times of plain tables are not those of a grid");
  posenc_wisdom_free(wisdom);

  strcpy(text, posenc_wisdom_header());
  measured(text, 2048, "rotation-portable", 9e-6);
  measured(text, 512, "cr-portable", 5e-6);
  CHECK(read_wisdom(&wisdom, text) == POSENC_OK);
  is_chosen(chosen_within(wisdom, 1024, 64, 0.0, 0x1p-24), "rotation-portable",
            "half and twice the length are equally near: the longer counts");
  posenc_wisdom_free(wisdom);
}

static void test_wisdom_files(void) {
  char text[1024];
  posenc_wisdom *wisdom;
  strcpy(text, posenc_wisdom_header());
  measured(text, 1000, "rotation-portable", 1e-6);
  measured(text, 1000, "naive", 1e-6);
  char *version = strstr(text, "posenc 0");
  ok(version != NULL, "a line has the version");
  if (version) version[7] = '9';
  ok(read_wisdom(&wisdom, text) == POSENC_OK && posenc_wisdom_count(wisdom) == 1,
     "measurements of another version are left out");
  posenc_wisdom_free(wisdom);
  ok(read_wisdom(&wisdom, "posenc-wisdom 2\n") == POSENC_BAD_FILE && !wisdom, "another format is refused");
  strcpy(text, posenc_wisdom_header());
  strcat(text, "nonsense\n");
  ok(read_wisdom(&wisdom, text) == POSENC_BAD_FILE && !wisdom, "a line of another form is refused");
  ok(posenc_wisdom_read(&wisdom, "there/is/none") == POSENC_BAD_FILE && !wisdom, "a missing file is an error");
}

/* ---- problems and options ---- */

static void test_problems(void) {
  STATUS(problem.rows, POSENC_OK);
  STATUS(problem.rows = 0, POSENC_OK);
  STATUS(problem.rows = -1, POSENC_BAD_PROBLEM);
  STATUS(problem.dim = 7, POSENC_BAD_PROBLEM);
  STATUS(problem.dim = 0, POSENC_BAD_PROBLEM);
  STATUS(problem.dim = -2, POSENC_BAD_PROBLEM);
  STATUS(problem.base = 0.0, POSENC_BAD_PROBLEM);
  STATUS(problem.base = -1.0, POSENC_BAD_PROBLEM);
  STATUS(problem.base = (double)NAN, POSENC_BAD_PROBLEM);
  STATUS(problem.base = (double)INFINITY, POSENC_BAD_PROBLEM);
  STATUS(problem.shift = 4.0, POSENC_BAD_PROBLEM);
  STATUS(problem.shift = (double)NAN, POSENC_BAD_PROBLEM);
  STATUS(problem.layout = (posenc_layout)9, POSENC_BAD_PROBLEM);
  STATUS(problem.dtype = (posenc_dtype)9, POSENC_BAD_PROBLEM);
  STATUS(problem.size = 8, POSENC_BAD_ARGUMENT);
  STATUS(problem.rows = INT64_MAX, POSENC_TOO_LARGE);
  STATUS(problem.rows = INT64_C(1) << 58, POSENC_TOO_LARGE);
  STATUS(problem.first = INT64_MAX - 7, POSENC_TOO_LARGE);
  STATUS(problem.first = (INT64_C(1) << 62) - 7, POSENC_OK); /* the last position is 2^62 */
  STATUS(problem.first = (INT64_C(1) << 62) - 6, POSENC_NO_KERNEL);
  STATUS(problem.first = -(INT64_C(1) << 62), POSENC_OK);
  STATUS(problem.first = -(INT64_C(1) << 62) - 1, POSENC_NO_KERNEL);
  STATUS((problem.first = (INT64_C(1) << 62) + 1, problem.rows = 0), POSENC_NO_KERNEL);
  STATUS(problem.base = 0.5, POSENC_NO_KERNEL);
  STATUS(problem.shift = 3.9999, POSENC_BAD_PROBLEM); /* frequencies down to base^-30000 */
  STATUS((problem.base = 1e-300, problem.shift = 1.0), POSENC_NO_KERNEL);
  const posenc_problem problem = posenc_table(8, 8);
  CHECK(status_of(NULL, NULL) == POSENC_BAD_ARGUMENT);
  CHECK(status_of(&problem, NULL) == POSENC_OK);
  CHECK(posenc_plan_create(NULL, &problem, NULL) == POSENC_BAD_ARGUMENT);
  for (int status = POSENC_OK; status <= POSENC_OUT_OF_MEMORY + 1; status++)
    ok(posenc_status_message((posenc_status)status)[0] != '\0', "status %d: %s", status,
       posenc_status_message((posenc_status)status));
}

/* Expects `why` as part of the reason, or "" if the problem is accepted. */
#define REFUSED(change, why)                                                                                           \
  do {                                                                                                                 \
    posenc_problem problem = posenc_table(2, 8);                                                                       \
    problem.scaling = posenc_scaling_yarn(2.0, 4096);                                                                  \
    problem.scaling.kind = POSENC_SCALING_NONE;                                                                        \
    problem.scaling.length = 8192;                                                                                     \
    change;                                                                                                            \
    const char *got = posenc_problem_refusal(&problem);                                                                \
    ok(*(why) ? got &&strstr(got, why) : !got, "%s: %s", #change, got ? got : "accepted");                             \
  } while (0)

static void test_refusals(void) {
  static const double bad[2] = {0.0, (double)NAN}, far[2] = {0.0, 0x1p63}, tiny[4] = {1, 1, 1, 1e-9},
                      fine[4] = {1, 2, 3, 4};
  REFUSED(problem.scale = 0.0, "scale");
  REFUSED(problem.scale = -1.0, "scale");
  REFUSED(problem.scale = (double)NAN, "scale");
  REFUSED(problem.dim = 7, "even");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_PAD), "");
  REFUSED((problem.dim = 7, problem.odd = (posenc_odd)9), "odd");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_CEIL, problem.shift = 3.5), "shift");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_CEIL, problem.shift = 3.25), "");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_CEIL, problem.shift = 0x1p-54), "shift + 1/2");
  REFUSED((problem.dim = 7, problem.odd = POSENC_ODD_PAD, problem.op = POSENC_ROPE), "even");
  REFUSED((problem.dim = 3, problem.odd = POSENC_ODD_CEIL, problem.shift = 1.0, problem.base = 1e300), "frequencies");
  REFUSED(problem.positions = bad, "positions");
  REFUSED(problem.positions = far, "positions");
  REFUSED((problem.positions = fine, problem.first = 1), "first");
  REFUSED(problem.layout = POSENC_DUPLICATED, "rope cache");
  REFUSED((problem.layout = POSENC_SPLIT_CS, problem.op = POSENC_ROPE_CACHE), "rope cache");
  REFUSED((problem.layout = POSENC_DUPLICATED, problem.op = POSENC_ROPE_CACHE), "");
  REFUSED(problem.scaling.kind = (posenc_scaling_kind)77, "unknown scaling");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LINEAR, problem.shift = 1.0), "shift");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LINEAR, problem.scaling.factor = 0.5), "factor");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LINEAR, problem.scaling.factor = (double)NAN), "factor");
  REFUSED((problem.scaling.kind = POSENC_SCALING_DYNAMIC, problem.scaling.original = 0), "original");
  REFUSED((problem.scaling.kind = POSENC_SCALING_DYNAMIC, problem.scaling.length = -1), "length");
  REFUSED((problem.scaling.kind = POSENC_SCALING_DYNAMIC, problem.dim = 2), "dim");
  REFUSED((problem.scaling.kind = POSENC_SCALING_YARN, problem.scaling.low = 31.99), "high above low");
  REFUSED((problem.scaling.kind = POSENC_SCALING_YARN, problem.base = 1.0), "base");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LLAMA3, problem.scaling.high = (double)INFINITY), "high");
  REFUSED(problem.scaling.kind = POSENC_SCALING_LONGROPE, "factors");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LONGROPE, problem.scaling.factors = tiny), "factors");
  REFUSED((problem.scaling.kind = POSENC_SCALING_LONGROPE, problem.scaling.factors = fine), "");
  REFUSED(problem.scaling.attention = -1.0, "attention");
  /* A parameter that is not set is told, whichever way the scaling is made. */
  REFUSED(problem.scaling = posenc_table(2, 8).scaling, "");
  REFUSED((problem.scaling = posenc_scaling_none(), problem.scaling.kind = POSENC_SCALING_LINEAR), "is not set");
  REFUSED(problem.scaling = posenc_scaling_linear(0.0), "factor of the scaling is not set");
  REFUSED(problem.scaling = posenc_scaling_linear(4.0), "");
  REFUSED(problem.scaling = posenc_scaling_dynamic(2.0, 0, 8192), "original length of the scaling is not set");
  REFUSED(problem.scaling = posenc_scaling_dynamic(2.0, 4096, 0), "length of the dynamic scaling is not set");
  REFUSED(problem.scaling = posenc_scaling_dynamic(2.0, 4096, 1), "");
  REFUSED(problem.scaling = posenc_scaling_dynamic(2.0, 4096, 6964.9), "");
  REFUSED(problem.scaling = posenc_scaling_dynamic(2.0, 4096, 0.9), "within 1 and 2^40");
  REFUSED(problem.scaling = posenc_scaling_dynamic(2.0, 4096, (double)NAN), "within 1 and 2^40");
  REFUSED(problem.scaling = posenc_scaling_yarn(16.0, 0), "original length of the scaling is not set");
  REFUSED(problem.scaling = posenc_scaling_yarn(16.0, 4096), "");
  REFUSED(problem.scaling = posenc_scaling_llama3(8.0, 8192), "");
  REFUSED((problem.scaling = posenc_scaling_none(), problem.scaling.kind = POSENC_SCALING_LLAMA3,
           problem.scaling.factor = 8.0, problem.scaling.original = 8192),
          "low or high of the scaling is not set");
  REFUSED((problem.scaling = posenc_scaling_yarn(16.0, 4096), problem.scaling.high = 0.0), "is not set");
  REFUSED((problem.scaling = posenc_scaling_llama3(8.0, 8192), problem.scaling.low = 0.0), "is not set");
  REFUSED(problem.scaling = posenc_scaling_longrope(32.0, 4096, fine), "");
  REFUSED(problem.scaling = posenc_scaling_longrope(32.0, 4096, NULL), "factors");
  REFUSED(problem.scaling.attention = (double)NAN, "attention");
}

static void test_bytes(void) {
  size_t bytes = 1;
  posenc_problem problem = posenc_table(131072, 1024);
  CHECK(posenc_table_bytes(&problem, &bytes) == POSENC_OK && bytes == (size_t)131072 * 1024 * 4);
  problem.rows = 0;
  ok(posenc_table_bytes(&problem, &bytes) == POSENC_OK && bytes == 0, "an empty table has no bytes");
  problem.rows = 10;
  problem.dtype = POSENC_BF16;
  CHECK(posenc_table_bytes(&problem, &bytes) == POSENC_OK && bytes == (size_t)10 * 1024 * 2);
  CHECK(posenc_dtype_bytes(POSENC_F16) == 2);
  CHECK(posenc_dtype_bytes(POSENC_BF16) == 2);
  CHECK(posenc_dtype_bytes(POSENC_F32) == 4);
  CHECK(posenc_dtype_bytes(POSENC_F64) == 8);
  CHECK(posenc_dtype_bytes((posenc_dtype)4) == 0);
}

static void test_options(void) {
  STATUS(options.size = 4, POSENC_BAD_ARGUMENT);
  STATUS(options.threads = -1, POSENC_BAD_ARGUMENT);
  STATUS(options.max_abs = 1e-20, POSENC_NO_KERNEL); /* below the accuracy of f32 */
  STATUS(options.max_ulp = -1.0, POSENC_BAD_ARGUMENT);
  STATUS(options.max_abs = -1.0, POSENC_BAD_ARGUMENT);
  STATUS(options.max_ulp = -0x1p-1074, POSENC_BAD_ARGUMENT);
  STATUS(options.max_abs = -0x1p-1074, POSENC_BAD_ARGUMENT);
  STATUS(options.max_ulp = (double)NAN, POSENC_BAD_ARGUMENT);
  STATUS(options.max_abs = (double)NAN, POSENC_BAD_ARGUMENT);
  STATUS(options.isa = POSENC_ISA_ALL + 1, POSENC_BAD_ARGUMENT);
  STATUS(options.stores = (posenc_stores)3, POSENC_BAD_ARGUMENT);
}

/* Expects that a plan with this kernel is refused, with a reason. */
static void cannot_run(const posenc_kernel *kernel, const posenc_problem *problem, const char *what) {
  const posenc_options options = options_by(kernel);
  const char *why = posenc_kernel_refusal(kernel, problem, NULL);
  ok(why && status_of(problem, &options) == POSENC_CANNOT_RUN, "%s: %s", what, why ? why : "no reason");
}

static void test_kernel_refusals(void) {
  const posenc_kernel *rotation = posenc_kernel_find("rotation-portable");
  const posenc_problem problem = posenc_table(8, 8);
  posenc_problem far = problem, inexact = posenc_table(8, 512);
  far.first = -1;
  inexact.shift = 0.1;
  cannot_run(posenc_kernel_find("recurrence"), &far, "a kernel whose recurrence begins at position 0");
  cannot_run(rotation, &inexact, "a denominator that is not exact");
  far.first = (INT64_C(1) << 62) - 6;
  cannot_run(rotation, &far, "positions beyond 2^62");
  posenc_kernel kernel = *posenc_kernel_find("naive");
  kernel.abi++;
  cannot_run(&kernel, &problem, "a kernel of another interface");
  CHECK(posenc_kernel_refusal(&kernel, NULL, NULL) != NULL);
  kernel = *posenc_kernel_find("naive");
  kernel.execute = NULL;
  cannot_run(&kernel, &problem, "a kernel without execute");
  CHECK(posenc_kernel_find("nothing") == NULL);
}

/* ---- choice ---- */

#define CHOSEN(want, ...)                                                                                              \
  do {                                                                                                                 \
    posenc_options options = posenc_default_options();                                                                 \
    __VA_ARGS__;                                                                                                       \
    const char *got = chosen(&problem, &options);                                                                      \
    ok(strcmp(got, (want)) == 0, "dtype %d, %ld rows, %s: %s", (int)problem.dtype, (long)problem.rows, #__VA_ARGS__,   \
       got);                                                                                                           \
  } while (0)

/* Tests the choice among these instruction sets within one ulp, half an ulp, both, and less than any bound. */
static void test_tiers(unsigned isa, const char *best_f32, const char *best_half, const char *best_cr) {
  static const double ulps[] = {[POSENC_F32] = 0x1p-24, [POSENC_F16] = 0x1p-11, [POSENC_BF16] = 0x1p-8};
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++) {
    posenc_problem problem = posenc_table(512, 512);
    problem.dtype = (posenc_dtype)dtype;
    if (dtype == POSENC_F64) continue;
    const char *best = dtype == POSENC_F32 ? best_f32 : best_half;
    const double ulp = ulps[dtype];
    const posenc_bound bound = {.ulp = 0.5, .abs = 0.25 * ulp, .growth = 1.0};
    ok(posenc_bound_at(&bound, problem.dtype, -2) == 0.75 * ulp + 2.0, "dtype %d: the bound at a position", dtype);
    CHOSEN(best_cr, options.isa = isa);
    CHOSEN(best, (options.isa = isa, options.max_abs = ulp));
    CHOSEN("none", (options.isa = isa, options.max_abs = 0.499 * ulp));
    CHOSEN(best_cr, (options.isa = isa, options.max_ulp = 0.5));
    CHOSEN(best_cr, (options.isa = isa, options.max_ulp = 1.0)); /* other bounds are below an ulp near 1 only */
    CHOSEN(best_cr, (options.isa = isa, options.max_ulp = 0.5, options.max_abs = ulp));
    CHOSEN("none", (options.isa = isa, options.max_ulp = 0.5, options.max_abs = 0.499 * ulp));
    CHOSEN("none", (options.isa = isa, options.max_ulp = 0.499));
    CHOSEN("none", (options.isa = isa, options.max_ulp = 1e-300));
  }
}

/* Tests that kernels with threads are chosen for large tables only. */
static void test_threaded_choice(const char *best_cr) {
  posenc_problem problem = posenc_table(4, 512);
  for (int threads = 0; threads <= 2; threads += 2) {
    problem.rows = 4;
    CHOSEN(best_cr, options.threads = threads);
    problem.rows = 131072;
    CHOSEN("cr-threads", options.threads = threads);
    CHOSEN("cr-threads", (options.threads = threads, options.max_ulp = 0.5));
  }
  CHOSEN(best_cr, (void)0);
  problem.rows = 0; /* no costs to compare: the first kernel */
  CHOSEN(best_cr, options.threads = 2);
}

/* best: the cheapest kernel, also where it need not round correctly; wide: the cheapest for every base. */
static void test_f64_choice(const char *best, const char *wide, const char *best_cr) {
  static const double ends[][2] = {{0.0, -100000.0}, {-100000.0, 0.0}, {100000.0, 0.0}, {0.0, 100000.0}};
  posenc_problem problem = posenc_table(512, 512);
  problem.dtype = POSENC_F64;
  CHOSEN(best_cr, (void)0);
  CHOSEN(best_cr, options.max_ulp = 0.5);
  CHOSEN(best, options.max_abs = 0x1p-43);
  problem.scaling.attention = 1000.0; /* multiplies errors too */
  CHOSEN(best_cr, options.max_abs = 0x1p-43);
  CHOSEN(best_cr, options.max_abs = 0x1p-44);
  CHOSEN("none", options.max_abs = 0x1p-45);
  CHOSEN(best, options.max_abs = 0x1p-34);
  problem.scaling.attention = 0.0;
  problem.base = 0x1p41; /* no kernel rounds this base correctly */
  CHOSEN(wide, (void)0);
  CHOSEN("none", options.max_ulp = 1.0);
  problem.scaling.attention = 1000.0;
  CHOSEN("none", options.max_abs = 0x1p-43);
  CHOSEN(wide, options.max_abs = 0x1p-34);
  problem.scaling.attention = 0.0;
  problem.rows = 1;
  CHOSEN("naive-f64", options.max_abs = 0x1p-51); /* at position 0 */
  /* Its error grows with the distance from 0, in both directions. */
  problem.dim = 2;
  problem.rows = 100001;
  CHOSEN("none", options.max_abs = 0x1p-51);
  problem.first = -100000;
  CHOSEN("none", options.max_abs = 0x1p-51);
  problem.first = 0;
  problem.rows = 2;
  for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) {
    problem.positions = ends[n];
    CHOSEN("none", options.max_abs = 0x1p-51);
  }
}

static bool runs(const char *kernel) {
  return !posenc_kernel_refusal(posenc_kernel_find(kernel), NULL, NULL);
}

static void test_choice(void) {
  const bool vectors = runs("rotation-avx512"), half = runs("cr-avx2"), neon = runs("cr-neon"), sve = runs("cr-sve");
  test_tiers(POSENC_ISA_GENERIC, "cr-portable", "rotation-portable", "cr-portable");
  if (half) test_tiers(POSENC_ISA_GENERIC | POSENC_ISA_AVX2, "cr-avx2", "cr-avx2", "cr-avx2");
  if (vectors) test_tiers(POSENC_ISA_ALL, "cr-avx512", "cr-avx512", "cr-avx512");
  if (neon) test_tiers(POSENC_ISA_ALL & ~POSENC_ISA_SVE, "cr-neon", "cr-neon", "cr-neon");
  if (sve) test_tiers(POSENC_ISA_ALL, "cr-sve", "cr-sve", "cr-sve");
  const char *best_cr = neon ? "cr-neon" : "cr-portable";
  if (sve) best_cr = "cr-sve";
  if (half) best_cr = vectors ? "cr-avx512" : "cr-avx2";
  test_threaded_choice(best_cr);
  const char *wide = neon ? "rotation-neon" : "rotation-portable";
  if (vectors) wide = "rotation-avx512";
  test_f64_choice(half && !vectors ? "cr-avx2" : wide, wide, best_cr);
  /* Without tolerances, if no kernel rounds correctly. */
  posenc_problem problem = posenc_table(512, 512);
  problem.scaling.attention = 1.5;
  CHOSEN(best_cr, (void)0);
  CHOSEN(best_cr, options.max_ulp = 0.5);
  problem.base = 0x1p41;
  CHOSEN(wide, (void)0);
  CHOSEN("none", options.max_ulp = 0.5);
  problem.scaling.attention = 0.0;
  CHOSEN(wide, (void)0);
  CHOSEN("none", options.max_ulp = 0.5);
}

/* ---- contracts, memory ---- */

static void test_contract(const posenc_kernel *kernel) {
  const posenc_bound *b = &kernel->bound;
  const bool described = kernel->abi == POSENC_KERNEL_ABI && kernel->name && kernel->summary && kernel->algorithm &&
                         kernel->provenance && kernel->basis;
  ok(described && posenc_kernel_find(kernel->name) == kernel && (kernel->absent || kernel->execute) && b->ulp >= 0.5 &&
         b->abs >= 0.0 && b->growth >= 0.0 && b->max_position > 0,
     "%s: a whole contract", kernel->name ? kernel->name : "?");
}

/* Tests half a huge page, a little more than one and two, and both sides of each limit. */
static void test_memory(void) {
  static const size_t sizes[] = {0, 1, 65, (1 << 20) - 1, 1 << 20, (1 << 21) + 1, (1 << 22) + 4096};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    const size_t bytes = sizes[i], alignment = bytes < 1 << 20 ? 64 : 1 << 21;
    unsigned char *memory = posenc_alloc(bytes), *more = posenc_alloc(bytes);
    ok(memory && more && memory != more && (uintptr_t)memory % alignment == 0, "%zu bytes on a multiple of %zu", bytes,
       alignment);
    if (memory && more) {
      memset(memory, 0x55, bytes);
      memset(more, 0xaa, bytes);
      ok(bytes == 0 || (memory[0] == 0x55 && memory[bytes - 1] == 0x55), "blocks do not overlap");
    }
    posenc_free(memory);
    posenc_free(more);
  }
  posenc_free(NULL);
  CHECK(!posenc_alloc(SIZE_MAX));
  CHECK(!posenc_alloc(SIZE_MAX - 63));
  CHECK(!posenc_alloc(SIZE_MAX / 2));
}

int main(void) {
  size_t count;
  unsetenv("POSENC_ISA");
  test_wisdom_choice();
  test_wisdom_files();
  each_kernel(test_contract);
  posenc_kernels(&count);
  ok(count >= 7, "%zu kernels", count);
  test_problems();
  test_refusals();
  test_bytes();
  test_options();
  test_kernel_refusals();
  test_choice();
  test_memory();
  return tap_done();
}
