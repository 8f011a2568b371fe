/* SPDX-License-Identifier: MIT */
/* posenc.h as a user meets it: what is accepted, what is refused and how, and that a plan may be shared. */
#include "posenc.h"
#include "tests/tap.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static posenc_status status_of(const posenc_problem *problem, const posenc_options *options) {
  posenc_plan *plan = (posenc_plan *)(void *)&plan;
  const posenc_status status = posenc_plan_create(&plan, problem, options);
  if (status != POSENC_OK && plan != NULL) return (posenc_status)-1; /* promised null on failure */
  posenc_plan_destroy(plan);
  return status;
}

#define REFUSED(change, want)                                                                                          \
  do {                                                                                                                 \
    posenc_problem problem = posenc_table(8, 8);                                                                       \
    change;                                                                                                            \
    const posenc_status got = status_of(&problem, NULL);                                                               \
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

static const char *chosen_within(const posenc_wisdom *wisdom, int64_t rows, int64_t dim, double max_ulp,
                                 double max_abs) {
  posenc_options options = posenc_default_options();
  posenc_problem problem = posenc_table(rows, dim);
  posenc_plan *plan;
  options.wisdom = wisdom;
  options.max_ulp = max_ulp;
  options.max_abs = max_abs;
  if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) return "none";
  const char *name = posenc_plan_kernel(plan)->name;
  posenc_plan_destroy(plan);
  return name;
}

static const char *chosen_with(const posenc_wisdom *wisdom, int64_t rows, int64_t dim, double max_ulp) {
  return chosen_within(wisdom, rows, dim, max_ulp, 0.0);
}

static void test_wisdom(void) {
  const posenc_problem problem = posenc_table(1000, 64), longer = posenc_table(1800, 64);
  char text[4096], line[512];
  posenc_wisdom *wisdom;
  strcpy(text, posenc_wisdom_header());
  posenc_wisdom_line(line, sizeof line, &problem, 1, "rotation-portable", 1e-6);
  strcat(text, line);
  posenc_wisdom_line(line, sizeof line, &problem, 1, "cr-portable", 2e-6);
  strcat(text, line);
  posenc_wisdom_line(line, sizeof line, &problem, 1, "naive", 1e-9);
  strcat(text, line);
  posenc_wisdom_line(line, sizeof line, &longer, 1, "naive-f64", 1e-3);
  strcat(text, line);
  posenc_wisdom_line(line, sizeof line, &problem, 1, "recurrence", 1e-12);
  strcat(text, line);
  ok(read_wisdom(&wisdom, text) == POSENC_OK && posenc_wisdom_count(wisdom) == 5, "five measurements are read");
  ok(strcmp(chosen_with(wisdom, 1000, 64, 0.0), "rotation-portable") == 0,
     "the fastest measured one within the accuracy: %s", chosen_with(wisdom, 1000, 64, 0.0));
  ok(strcmp(chosen_with(wisdom, 600, 64, 0.5), "cr-portable") == 0, "correctly rounded, fewer rows: %s",
     chosen_with(wisdom, 600, 64, 0.5));
  ok(strcmp(chosen_within(wisdom, 1000, 64, 0.0, 1.0), "naive") == 0 &&
         !posenc_kernel_find("recurrence")->bound.derived,
     "nor is what promises nothing, however fast it was, where any error will do: %s",
     chosen_within(wisdom, 1000, 64, 0.0, 1.0));
  ok(strcmp(chosen_with(wisdom, 400, 64, 0.0), chosen_with(NULL, 400, 64, 0.0)) == 0 &&
         strcmp(chosen_with(wisdom, 1000, 66, 0.0), chosen_with(NULL, 1000, 66, 0.0)) == 0,
     "other problems are chosen for as ever");
  posenc_wisdom_free(wisdom);

  const posenc_problem half = posenc_table(512, 64), twice = posenc_table(2048, 64);
  char tie[2048];
  strcpy(tie, posenc_wisdom_header());
  posenc_wisdom_line(line, sizeof line, &twice, 1, "rotation-portable", 9e-6);
  strcat(tie, line);
  posenc_wisdom_line(line, sizeof line, &half, 1, "cr-portable", 5e-6);
  strcat(tie, line);
  ok(read_wisdom(&wisdom, tie) == POSENC_OK && strcmp(chosen_with(wisdom, 1024, 64, 0.0), "rotation-portable") == 0,
     "times of half and of twice the length are not compared: the longer counts");
  posenc_wisdom_free(wisdom);

  char *version = strstr(text, "posenc 0");
  ok(version != NULL, "a line tells the version");
  if (version) version[7] = '9';
  ok(read_wisdom(&wisdom, text) == POSENC_OK && posenc_wisdom_count(wisdom) == 4,
     "what another version measured is left out");
  posenc_wisdom_free(wisdom);
  ok(read_wisdom(&wisdom, "posenc-wisdom 2\n") == POSENC_BAD_FILE && !wisdom, "another format is refused");
  strcpy(text, posenc_wisdom_header());
  strcat(text, "nonsense\n");
  ok(read_wisdom(&wisdom, text) == POSENC_BAD_FILE && !wisdom, "a line that is none is refused");
  ok(posenc_wisdom_read(&wisdom, "there/is/none") == POSENC_BAD_FILE && !wisdom, "a missing file is told");
  ok(posenc_wisdom_read(NULL, "x") == POSENC_BAD_ARGUMENT && posenc_wisdom_count(NULL) == 0, "null");
}

static void test_problems(void) {
  REFUSED((void)problem, POSENC_OK);
  REFUSED(problem.rows = 0, POSENC_OK);
  REFUSED(problem.rows = -1, POSENC_BAD_PROBLEM);
  REFUSED(problem.dim = 7, POSENC_BAD_PROBLEM);
  REFUSED(problem.dim = 0, POSENC_BAD_PROBLEM);
  REFUSED(problem.dim = -2, POSENC_BAD_PROBLEM);
  REFUSED(problem.base = 0.0, POSENC_BAD_PROBLEM);
  REFUSED(problem.base = -1.0, POSENC_BAD_PROBLEM);
  REFUSED(problem.base = (double)NAN, POSENC_BAD_PROBLEM);
  REFUSED(problem.base = (double)INFINITY, POSENC_BAD_PROBLEM);
  REFUSED(problem.shift = 4.0, POSENC_BAD_PROBLEM);
  REFUSED(problem.shift = (double)NAN, POSENC_BAD_PROBLEM);
  REFUSED(problem.layout = (posenc_layout)9, POSENC_BAD_PROBLEM);
  REFUSED(problem.dtype = (posenc_dtype)9, POSENC_BAD_PROBLEM);
  REFUSED(problem.size = 8, POSENC_BAD_ARGUMENT);
  REFUSED(problem.rows = INT64_MAX, POSENC_TOO_LARGE);
  REFUSED(problem.rows = INT64_C(1) << 58, POSENC_TOO_LARGE);
  REFUSED(problem.first = INT64_MAX - 7, POSENC_TOO_LARGE);
  REFUSED(problem.first = INT64_C(1) << 62, POSENC_NO_KERNEL);
  REFUSED(problem.base = 0.5, POSENC_NO_KERNEL);

  REFUSED(problem.shift = 3.9999, POSENC_BAD_PROBLEM); /* frequencies down to base^-30000 */
  REFUSED((problem.base = 1e-300, problem.shift = 1.0), POSENC_NO_KERNEL);

  size_t bytes = 1;
  posenc_problem problem = posenc_table(131072, 1024);
  ok(posenc_table_bytes(&problem, &bytes) == POSENC_OK && bytes == (size_t)131072 * 1024 * 4, "bytes of a table: %zu",
     bytes);
  problem.rows = 0;
  ok(posenc_table_bytes(&problem, &bytes) == POSENC_OK && bytes == 0, "an empty table has no bytes");
  problem.rows = 10;
  problem.dtype = POSENC_BF16;
  ok(posenc_table_bytes(&problem, &bytes) == POSENC_OK && bytes == (size_t)10 * 1024 * 2, "of bf16: %zu", bytes);
  ok(posenc_dtype_bytes(POSENC_F16) == 2 && posenc_dtype_bytes(POSENC_BF16) == 2 &&
         posenc_dtype_bytes(POSENC_F32) == 4 && posenc_dtype_bytes(POSENC_F64) == 8 &&
         posenc_dtype_bytes((posenc_dtype)4) == 0,
     "bytes of an element");
  ok(status_of(NULL, NULL) == POSENC_BAD_ARGUMENT && posenc_plan_create(NULL, &problem, NULL) == POSENC_BAD_ARGUMENT,
     "null arguments");
  for (int status = POSENC_OK; status <= POSENC_OUT_OF_MEMORY + 1; status++)
    ok(posenc_status_message((posenc_status)status)[0] != '\0', "status %d: %s", status,
       posenc_status_message((posenc_status)status));
}

static void test_options(void) {
  const posenc_problem problem = posenc_table(8, 8);
  posenc_options options = posenc_default_options();
  options.size = 4;
  ok(status_of(&problem, &options) == POSENC_BAD_ARGUMENT, "options of unknown size");
  options = posenc_default_options();
  options.threads = -1;
  ok(status_of(&problem, &options) == POSENC_BAD_ARGUMENT, "a negative number of threads");
  options = posenc_default_options();
  options.max_abs = 1e-20;
  ok(status_of(&problem, &options) == POSENC_NO_KERNEL, "more accuracy than f32 has");
  const double bad[] = {-1.0, -0x1p-1074, (double)NAN};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    options = posenc_default_options();
    options.max_ulp = bad[i];
    ok(status_of(&problem, &options) == POSENC_BAD_ARGUMENT, "max_ulp %g", bad[i]);
    options = posenc_default_options();
    options.max_abs = bad[i];
    ok(status_of(&problem, &options) == POSENC_BAD_ARGUMENT, "max_abs %g", bad[i]);
  }
  options = posenc_default_options();
  options.isa = 8;
  ok(status_of(&problem, &options) == POSENC_BAD_ARGUMENT, "an unknown tier");
  options = posenc_default_options();
  options.stores = (posenc_stores)3;
  ok(status_of(&problem, &options) == POSENC_BAD_ARGUMENT, "an unknown way to store");
  options = posenc_default_options();
  options.kernel = posenc_kernel_find("recurrence");
  posenc_problem far = problem;
  far.first = -1;
  ok(status_of(&far, &options) == POSENC_CANNOT_RUN, "a kernel that cannot do the problem");
  posenc_problem inexact = posenc_table(8, 512);
  inexact.shift = 0.1;
  options.kernel = posenc_kernel_find("rotation-portable");
  ok(status_of(&inexact, &options) == POSENC_CANNOT_RUN, "a denominator that is not exact: %s",
     posenc_kernel_refusal(options.kernel, &inexact, NULL));
  far.first = (INT64_C(1) << 62) - 7;
  ok(status_of(&far, &options) == POSENC_CANNOT_RUN, "positions beyond 2^62: %s",
     posenc_kernel_refusal(options.kernel, &far, NULL));
  far.first = -1;
  options.kernel = posenc_kernel_find("recurrence");
  ok(posenc_kernel_refusal(options.kernel, &far, NULL) != NULL, "and says why: %s",
     posenc_kernel_refusal(options.kernel, &far, NULL));
  posenc_kernel alien = *posenc_kernel_find("naive");
  alien.abi++;
  options.kernel = &alien;
  ok(status_of(&problem, &options) == POSENC_CANNOT_RUN, "a kernel of another interface: %s",
     posenc_kernel_refusal(&alien, NULL, NULL));
  ok(posenc_kernel_find("nothing") == NULL && posenc_kernel_find(NULL) == NULL, "an unknown kernel is null");
}

static const char *chosen(const posenc_problem *problem, const posenc_options *options) {
  posenc_plan *plan;
  const char *name = posenc_plan_create(&plan, problem, options) == POSENC_OK ? posenc_plan_kernel(plan)->name : "none";
  posenc_plan_destroy(plan);
  return name;
}

#define CHOSEN(want, ...)                                                                                              \
  do {                                                                                                                 \
    posenc_options options = posenc_default_options();                                                                 \
    __VA_ARGS__;                                                                                                       \
    const char *got = chosen(&problem, &options);                                                                      \
    ok(strcmp(got, (want)) == 0, "dtype %d, %ld rows, %s: %s", (int)problem.dtype, (long)problem.rows, #__VA_ARGS__,   \
       got);                                                                                                           \
  } while (0)

/* What is asked of the library with these tiers: one ulp, half an ulp, both, and less than there is. */
static void test_tiers(unsigned isa, const char *best_f32, const char *best_half, const char *best_cr) {
  for (int dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++) {
    posenc_problem problem = posenc_table(512, 512);
    problem.dtype = (posenc_dtype)dtype;
    if (dtype == POSENC_F64) continue;
    const char *best = dtype == POSENC_F32 ? best_f32 : best_half;
    const double ulp = dtype == POSENC_F32 ? 0x1p-24 : dtype == POSENC_F16 ? 0x1p-11 : 0x1p-8;
    const posenc_bound bound = {.ulp = 0.5, .abs = 0.25 * ulp, .growth = 1.0};
    ok(posenc_bound_at(&bound, problem.dtype, -2) == 0.75 * ulp + 2.0, "dtype %d: the bound at a position", dtype);
    CHOSEN(best, options.isa = isa);
    CHOSEN(best, (options.isa = isa, options.max_abs = ulp));
    CHOSEN("none", (options.isa = isa, options.max_abs = 0.499 * ulp));
    CHOSEN(best_cr, (options.isa = isa, options.max_ulp = 0.5));
    CHOSEN(best_cr, (options.isa = isa, options.max_ulp = 1.0)); /* others promise less than an ulp near 1 only */
    CHOSEN(best_cr, (options.isa = isa, options.max_ulp = 0.5, options.max_abs = ulp));
    CHOSEN("none", (options.isa = isa, options.max_ulp = 0.5, options.max_abs = 0.499 * ulp));
    CHOSEN("none", (options.isa = isa, options.max_ulp = 0.499));
    CHOSEN("none", (options.isa = isa, options.max_ulp = 1e-300));
  }
}

/* Threads pay for their start in large tables only. */
static void test_threaded_choice(const char *best, const char *best_cr) {
  const bool absent = posenc_kernel_find("rotation-openmp")->absent;
  const bool is_cr = strcmp(best, best_cr) == 0;
  posenc_problem problem = posenc_table(16, 512);
  for (int threads = 0; threads <= 2; threads += 2) {
    CHOSEN(best, options.threads = threads);
    CHOSEN(best_cr, (options.threads = threads, options.max_ulp = 0.5));
  }
  problem.rows = 131072;
  for (int threads = 0; threads <= 2; threads += 2) {
    CHOSEN(absent ? best : is_cr ? "cr-openmp" : "rotation-openmp", options.threads = threads);
    CHOSEN(absent ? best_cr : "cr-openmp", (options.threads = threads, options.max_ulp = 0.5));
  }
  CHOSEN(best, (void)0);
  problem.rows = 0;
  CHOSEN(posenc_kernel_refusal(posenc_kernel_find("cr-avx512"), NULL, NULL) ? best_cr : "cr-avx512",
         options.threads = 2); /* nothing to choose by: the first */
}

static void test_choice(void) {
  const bool vectors = !posenc_kernel_refusal(posenc_kernel_find("rotation-avx512"), NULL, NULL),
             half = !posenc_kernel_refusal(posenc_kernel_find("cr-avx2"), NULL, NULL);
  const unsigned two = POSENC_ISA_GENERIC | POSENC_ISA_AVX2;
  test_tiers(POSENC_ISA_GENERIC, "cr-portable", "rotation-portable", "cr-portable");
  if (half) test_tiers(two, "cr-avx2", "cr-avx2", "cr-avx2");
  if (vectors) test_tiers(POSENC_ISA_ALL, "rotation-avx512", "cr-avx512", "cr-avx512");
  const char *best_cr = vectors ? "cr-avx512" : half ? "cr-avx2" : "cr-portable";
  test_threaded_choice(vectors ? "rotation-avx512" : best_cr, best_cr);

  const char *best = vectors ? "rotation-avx512" : "rotation-portable";
  posenc_problem problem = posenc_table(512, 512);
  problem.dtype = POSENC_F64;
  CHOSEN(best, (void)0);
  CHOSEN(best, options.max_abs = 0x1p-43);
  problem.scaling.attention = 1000.0; /* of the errors, too */
  CHOSEN("none", options.max_abs = 0x1p-43);
  CHOSEN(best, options.max_abs = 0x1p-34);
  problem.scaling.attention = 0.0;
  CHOSEN("none", options.max_ulp = 1.0); /* no kernel is correctly rounded in f64 */
  problem.rows = 1;
  CHOSEN("naive-f64", options.max_abs = 0x1p-51); /* at position 0 */
  /* Its error grows with the distance from 0, on either side. */
  problem.dim = 2;
  problem.rows = 100001;
  CHOSEN("none", options.max_abs = 0x1p-51);
  problem.first = -100000;
  CHOSEN("none", options.max_abs = 0x1p-51);
  static const double ends[][2] = {{0.0, -100000.0}, {-100000.0, 0.0}, {100000.0, 0.0}, {0.0, 100000.0}};
  problem.first = 0;
  problem.rows = 2;
  for (size_t n = 0; n < sizeof ends / sizeof *ends; n++) {
    problem.positions = ends[n];
    CHOSEN("none", options.max_abs = 0x1p-51);
  }
}

/* Rows that add and rope need are asked of the kernel in blocks of anchors, [32 n - 16, 32 n + 16): no kernel finds an
   anchor twice. */
static struct { int64_t from, to; } asked[16];
static int asked_count;
static void note_rows(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  if (asked_count < 16) {
    asked[asked_count].from = problem->first + row;
    asked[asked_count++].to = problem->first + row + rows;
  }
  memset(out, 0, (size_t)(rows * problem->dim) * sizeof(float));
}

static void test_blocks(void) {
  enum { ROWS = 100, DIM = 8, FIRST = -20 };
  static const int64_t ends[] = {-20, -16, 16, 48, 80}; /* the last is the first position that is not asked for */
  static const int64_t index[] = {7, 8, 9, 9, 20, 21, 5}, runs[][2] = {{7, 10}, {9, 10}, {20, 22}, {5, 6}};
  posenc_kernel kernel = *posenc_kernel_find("naive");
  kernel.execute = note_rows;
  kernel.prepare = NULL;
  kernel.release = NULL;
  posenc_options options = posenc_default_options();
  options.kernel = &kernel;
  posenc_problem problem = posenc_add(ROWS, DIM);
  problem.first = FIRST;
  posenc_plan *plan;
  static float x[ROWS * DIM];
  if (!ok(posenc_plan_create(&plan, &problem, &options) == POSENC_OK, "a plan of a kernel that notes its rows")) return;
  posenc_slice slice = posenc_rows(0, ROWS);
  asked_count = 0;
  posenc_apply(plan, &slice, x, x);
  bool right = asked_count == 4;
  for (int n = 0; n < 4 && right; n++) right = asked[n].from == ends[n] && asked[n].to == ends[n + 1];
  ok(right, "rows for add are made in blocks of anchors: %d of them", asked_count);
  slice = posenc_rows(0, sizeof index / sizeof *index);
  slice.index = index;
  asked_count = 0;
  posenc_apply(plan, &slice, x, x);
  right = asked_count == 4;
  for (int n = 0; n < 4 && right; n++) right = asked[n].from == FIRST + runs[n][0] && asked[n].to == FIRST + runs[n][1];
  ok(right, "and by number, in runs of successive ones: %d of them", asked_count);
  posenc_plan_destroy(plan);
}

static void test_execute(void) {
  enum { ROWS = 100, DIM = 24 };
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.padding = 7;
  posenc_plan *plan;
  float table[ROWS * DIM], row[DIM];
  if (!ok(posenc_plan_create(&plan, &problem, NULL) == POSENC_OK, "a plan")) return;
  ok(posenc_execute(plan, 0, ROWS, table) == POSENC_OK, "the whole table");
  bool same = true, zero = true;
  for (int r = 0; r < ROWS; r++) {
    posenc_execute(plan, r, 1, row);
    same = same && memcmp(row, table + r * DIM, sizeof row) == 0;
    for (int c = 0; c < DIM; c++) zero = zero && (r == 7) == (row[c] == 0.0f) + (r == 0 && c % 2 == 0 ? -1 : 0);
  }
  ok(same, "every row alone has the bits that it has in the table");
  ok(zero, "the padding row is zero and no other is, but for sin 0");
  ok(table[0] == 0.0f && table[1] == 1.0f && table[DIM] == (float)0x1.aed548f090ceep-1,
     "PE[0] and PE[1] begin as they must");
  ok(posenc_execute(plan, ROWS, 0, NULL) == POSENC_OK, "no rows: nothing is touched");
  ok(posenc_execute(plan, -1, 1, row) == POSENC_BAD_ARGUMENT &&
         posenc_execute(plan, 0, ROWS + 1, table) == POSENC_BAD_ARGUMENT &&
         posenc_execute(plan, ROWS, 1, row) == POSENC_BAD_ARGUMENT &&
         posenc_execute(plan, 1, INT64_MAX, table) == POSENC_BAD_ARGUMENT &&
         posenc_execute(plan, 0, 1, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_execute(NULL, 0, 1, row) == POSENC_BAD_ARGUMENT,
     "rows outside the table, and null, are refused");
  ok(posenc_plan_problem(plan)->dim == DIM && posenc_plan_problem(NULL) == NULL && posenc_plan_kernel(NULL) == NULL,
     "what a plan is made of");
  posenc_plan_destroy(plan);
  posenc_plan_destroy(NULL);
}

/* Which slices are none. */
static void test_slices(void) {
  enum { ROWS = 8, DIM = 4 };
  static const int64_t first[] = {0, -1}, last[] = {ROWS - 1}, beyond[] = {ROWS};
  static float x[4 * ROWS * DIM];
  const posenc_problem problem = posenc_add(ROWS, DIM);
  posenc_plan *plan;
  if (!ok(posenc_plan_create(&plan, &problem, NULL) == POSENC_OK, "a plan to add")) return;
  const struct {
    int64_t row, rows, batch, stride;
    const int64_t *index;
    bool fine;
    const char *name;
  } slices[] = {{0, ROWS, 1, 0, NULL, true, "all rows"},
                {0, ROWS + 1, 1, 0, NULL, false, "one more than there are"},
                {-1, 2, 1, 0, NULL, false, "a row before the first"},
                {0, -1, 1, 0, NULL, false, "fewer than none"},
                {0, 2, -1, 0, NULL, false, "fewer sequences than none"},
                {0, 2, 4, 2 * DIM, NULL, true, "sequences one behind the other"},
                {0, 2, 4, 2 * DIM - 1, NULL, false, "sequences that overlap"},
                {0, 2, 2, 9 * DIM, NULL, true, "with a gap between"},
                {0, 2, INT64_MAX, 2 * DIM, NULL, false, "more than memory has"},
                {0, 1, 1, 0, last, true, "the last row by its number"},
                {0, 1, 1, 0, beyond, false, "the row behind it"},
                {0, 2, 1, 0, first, false, "and one before the first"}};
  for (size_t n = 0; n < sizeof slices / sizeof *slices; n++) {
    posenc_slice slice = posenc_rows(slices[n].row, slices[n].rows);
    slice.batch = slices[n].batch;
    slice.stride = slices[n].stride;
    slice.index = slices[n].index;
    ok((posenc_apply(plan, &slice, x, x) == POSENC_OK) == slices[n].fine, "%s: %s", slices[n].name,
       slices[n].fine ? "a slice" : "refused");
  }
  posenc_plan_destroy(plan);
}

/* Of a pair: its frequency and phase, which f32 recipes have within (2 |ln w| + 5) × 2^-24 < 2e-6 of w and of p for w >= 1e-4
   (see div-term.c); and its sine and cosine. */
static bool is_pair(const posenc_stages *got, double frequency, double position, float sine, float cosine) {
  const double turns = round((got->phase.high - position * frequency) / 6.283185307179586);
  return fabs(got->frequency.high - frequency) <= 2e-6 * frequency &&
         fabs(got->phase.high - turns * 6.283185307179586 - position * frequency) <= 2e-6 * position &&
         (float)got->sine.high == sine && (float)got->cosine.high == cosine;
}

static void test_stages(const posenc_kernel *kernel) {
  enum { ROWS = 40, DIM = 20, PAIRS = DIM / 2 };
  const posenc_stages none = {.frequency = {0.0, 0.0}};
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.first = 5;
  problem.padding = 9;
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
    skip(kernel->name, posenc_kernel_refusal(kernel, &problem, &options));
    return;
  }
  float table[ROWS * DIM];
  posenc_stages stages[ROWS * PAIRS];
  int right = 0;
  posenc_execute(plan, 0, ROWS, table);
  const bool told = posenc_plan_stages(plan, 3, ROWS - 3, stages + 3 * PAIRS) && posenc_plan_stages(plan, 0, 3, stages);
  for (int r = 0; told && r < ROWS; r++)
    for (int i = 0; i < PAIRS; i++) {
      const posenc_stages *one = &stages[r * PAIRS + i];
      right += r == 4 ? memcmp(one, &none, sizeof none) == 0
                      : is_pair(one, pow(10000.0, (double)-i / PAIRS), 5.0 + r, table[r * DIM + 2 * i],
                                table[r * DIM + 2 * i + 1]);
    }
  ok(right == ROWS * PAIRS, "%s tells its stages: %d of %d pairs", kernel->name, right, ROWS * PAIRS);
  ok(posenc_plan_stages(plan, 7, 0, NULL) && !posenc_plan_stages(plan, ROWS, 1, stages) &&
         !posenc_plan_stages(plan, -1, 1, stages) && !posenc_plan_stages(plan, 0, ROWS + 1, stages) &&
         !posenc_plan_stages(plan, 0, 1, NULL) && !posenc_plan_stages(NULL, 0, 1, stages),
     "and no others");
  posenc_plan_destroy(plan);
}

/* A team runs kernels of its own promise and no better ones: rotations are what rotation-openmp has, too. */
static void test_team_stages(void) {
  enum { ROWS = 40, DIM = 20 };
  static posenc_stages stages[2][ROWS * DIM / 2];
  const char *const names[] = {"rotation-portable", "rotation-openmp"};
  const posenc_problem problem = posenc_table(ROWS, DIM);
  for (int n = 0; n < 2; n++) {
    posenc_options options = posenc_default_options();
    options.kernel = posenc_kernel_find(names[n]);
    posenc_plan *plan;
    if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
      skip("rotation-openmp has the stages of rotation-portable",
           posenc_kernel_refusal(options.kernel, &problem, &options));
      return;
    }
    posenc_plan_stages(plan, 0, ROWS, stages[n]);
    posenc_plan_destroy(plan);
  }
  ok(memcmp(stages[0], stages[1], sizeof stages[0]) == 0, "rotation-openmp has the stages of rotation-portable");
}

static void test_no_stages(void) {
  const posenc_problem problem = posenc_table(4, 4);
  posenc_kernel silent = *posenc_kernel_find("rotation-portable");
  posenc_options options = posenc_default_options();
  posenc_plan *plan;
  posenc_stages stages[2];
  silent.stages = NULL;
  options.kernel = &silent;
  posenc_plan_create(&plan, &problem, &options);
  ok(!posenc_plan_stages(plan, 0, 1, stages), "a kernel need not tell its stages");
  posenc_plan_destroy(plan);
}

static void test_layouts(void) {
  enum { ROWS = 5, DIM = 10 };
  float want[ROWS * DIM];
  for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++) {
    posenc_problem problem = posenc_table(ROWS, DIM);
    problem.layout = (posenc_layout)layout;
    posenc_plan *plan;
    float table[ROWS * DIM];
    posenc_plan_create(&plan, &problem, NULL);
    posenc_execute(plan, 0, ROWS, table);
    posenc_plan_destroy(plan);
    if (layout == POSENC_INTERLEAVED) memcpy(want, table, sizeof want);
    bool same = true;
    for (int r = 0; r < ROWS; r++)
      for (int i = 0; i < DIM / 2; i++) {
        const int sine[] = {2 * i, 2 * i + 1, i, DIM / 2 + i}, cosine[] = {2 * i + 1, 2 * i, DIM / 2 + i, i};
        same = same && table[r * DIM + sine[layout]] == want[r * DIM + 2 * i] &&
               table[r * DIM + cosine[layout]] == want[r * DIM + 2 * i + 1];
      }
    ok(same, "layout %d is a permutation of columns", layout);
  }
}

enum { THREADS = 4, SHARED_ROWS = 3000, SHARED_DIM = 70 };
typedef struct job {
  const posenc_plan *plan;
  float *out;
} job;

static void *run(void *argument) {
  const job *mine = argument;
  for (int64_t row = 0; row < SHARED_ROWS; row += 37)
    posenc_execute(mine->plan, row, row + 37 < SHARED_ROWS ? 37 : SHARED_ROWS - row, mine->out + row * SHARED_DIM);
  return NULL;
}

static void test_shared_plan(void) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  const posenc_problem problem = posenc_table(SHARED_ROWS, SHARED_DIM);
  const size_t bytes = sizeof(float) * SHARED_ROWS * SHARED_DIM;
  for (size_t k = 0; k < count; k++) {
    posenc_options options = posenc_default_options();
    options.kernel = kernels[k];
    options.threads = 2;
    posenc_plan *plan;
    if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
      skip(kernels[k]->name, posenc_kernel_refusal(kernels[k], &problem, &options));
      continue;
    }
    pthread_t threads[THREADS];
    job jobs[THREADS];
    float *alone = malloc(bytes);
    posenc_execute(plan, 0, SHARED_ROWS, alone);
    bool same = true;
    for (int t = 0; t < THREADS; t++) {
      jobs[t] = (job){plan, malloc(bytes)};
      pthread_create(&threads[t], NULL, run, &jobs[t]);
    }
    for (int t = 0; t < THREADS; t++) {
      pthread_join(threads[t], NULL);
      same = same && memcmp(jobs[t].out, alone, bytes) == 0;
      free(jobs[t].out);
    }
    ok(same, "%s: %d threads share one plan", kernels[k]->name, THREADS);
    free(alone);
    posenc_plan_destroy(plan);
  }
}

/* A plan gives back what its kernel prepared, once. */
static int prepared, released;
static posenc_status count_prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)problem;
  (void)options;
  *constants = &prepared;
  prepared++;
  return POSENC_OK;
}
static void count_release(void *constants) {
  if (constants == &prepared) released++;
}

static void test_release(void) {
  posenc_kernel kernel = *posenc_kernel_find("naive");
  kernel.prepare = count_prepare;
  kernel.release = count_release;
  posenc_options options = posenc_default_options();
  options.kernel = &kernel;
  const posenc_problem problem = posenc_table(4, 4);
  ok(status_of(&problem, &options) == POSENC_OK && prepared == 1 && released == 1,
     "prepared %d times, released %d times", prepared, released);
}

/* One call that writes more than 2^31 bytes: offsets must not be cut. */
enum { LARGE_ROWS = 33000, LARGE_DIM = 16384 };

static void test_beyond_2_gib(const char *name, float *table) {
  const posenc_kernel *kernel = posenc_kernel_find(name);
  const posenc_problem problem = posenc_table(LARGE_ROWS, LARGE_DIM);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = 2;
  posenc_plan *plan;
  char what[80];
  snprintf(what, sizeof what, "%s: more than 2^31 bytes in one call", name);
  if (!table || posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
    skip(what, table ? posenc_kernel_refusal(kernel, &problem, &options) : "too little memory is free");
    return;
  }
  static float row[LARGE_DIM];
  const int64_t rows[] = {0, 16384, 32767, 32768, LARGE_ROWS - 1};
  bool same = true;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) memset(table + rows[i] * LARGE_DIM, 0, sizeof row);
  posenc_execute(plan, 0, problem.rows, table);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    posenc_execute(plan, rows[i], 1, row);
    same = same && memcmp(row, table + rows[i] * LARGE_DIM, sizeof row) == 0;
  }
  ok(same, "%s", what);
  posenc_plan_destroy(plan);
}

static void test_large(void) {
  const size_t bytes = (size_t)LARGE_ROWS * LARGE_DIM * sizeof(float);
  const double available = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  float *table = available > 1.5 * (double)bytes ? malloc(bytes) : NULL;
  test_beyond_2_gib("rotation-portable", table);
  test_beyond_2_gib("rotation-avx512", table);
  test_beyond_2_gib("rotation-openmp", table);
  free(table);
}

static int count_tasks(void) {
  int count = -2;
  DIR *tasks = opendir("/proc/self/task");
  while (tasks && readdir(tasks)) count++;
  if (tasks) closedir(tasks);
  return count;
}

static void test_threads_to_be_had(void) {
  const int before = count_tasks(), had = posenc_threads(5), after = count_tasks();
  ok(had >= 1 && had <= 5 && before == after, "of 5 threads %d can be had; %d run before, %d after", had, before,
     after);
  ok(posenc_threads(1) == 1 && posenc_threads(0) == 1 && posenc_threads(-7) == 1 && posenc_threads(INT32_MIN) == 1,
     "of one, and of none, the caller");
}

/* Threads stay in OpenMP's pool: as many tasks as were asked for. Must be the first use of OpenMP. */
static void test_threads_are_used(void) {
  const posenc_problem problem = posenc_table(4096, 256);
  posenc_options options = posenc_default_options();
  options.kernel = posenc_kernel_find("rotation-openmp");
  options.threads = 3;
  posenc_plan *plan;
  if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) {
    skip("rotation-openmp uses its threads", posenc_kernel_refusal(options.kernel, &problem, &options));
    return;
  }
  float *table = malloc(sizeof(float) * 4096 * 256);
  posenc_execute(plan, 0, problem.rows, table);
  const int count = count_tasks();
  if (count > 0)
    ok(count >= 3, "rotation-openmp, asked for 3 threads, has %d", count);
  else
    skip("rotation-openmp uses its threads", "no /proc");
  free(table);
  posenc_plan_destroy(plan);
}

static void test_contracts(void) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t k = 0; k < count; k++) {
    const posenc_kernel *kernel = kernels[k];
    const bool said = kernel->abi == POSENC_KERNEL_ABI && kernel->name && kernel->summary && kernel->algorithm &&
                      kernel->provenance && kernel->basis;
    const posenc_bound *b = &kernel->bound;
    ok(said && posenc_kernel_find(kernel->name) == kernel && (kernel->absent || kernel->execute) && b->ulp >= 0.5 &&
           b->abs >= 0.0 && b->growth >= 0.0 && b->max_position > 0,
       "%s: a whole contract", kernel->name ? kernel->name : "?");
  }
  ok(count >= 7, "%zu kernels", count);
}

/* Half a huge page and a little more than two, and both sides of each limit. */
static void test_memory(void) {
  static const struct {
    size_t bytes, alignment;
  } cases[] = {{0, 64},
               {1, 64},
               {65, 64},
               {(1 << 20) - 1, 64},
               {1 << 20, 1 << 21},
               {(1 << 21) + 1, 1 << 21},
               {(1 << 22) + 4096, 1 << 21}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const size_t bytes = cases[i].bytes;
    unsigned char *memory = posenc_alloc(bytes), *more = posenc_alloc(bytes);
    ok(memory && more && memory != more && (uintptr_t)memory % cases[i].alignment == 0,
       "%zu bytes on a multiple of %zu", bytes, cases[i].alignment);
    if (memory && more) {
      memset(memory, 0x55, bytes);
      memset(more, 0xaa, bytes);
      ok(bytes == 0 || (memory[0] == 0x55 && memory[bytes - 1] == 0x55), "which are its own");
    }
    posenc_free(memory);
    posenc_free(more);
  }
  posenc_free(NULL);
  ok(!posenc_alloc(SIZE_MAX) && !posenc_alloc(SIZE_MAX - 63) && !posenc_alloc(SIZE_MAX / 2), "more than there is");
}

/* ---- arguments without sense ---- */

static void test_senseless_problems(void) {
  const posenc_bound bound = {.ulp = 0.5};
  const posenc_dtype no_dtype = (posenc_dtype)9;
  posenc_problem problem = posenc_table(8, 8);
  posenc_problem add = posenc_add(8, 8), older = add;
  size_t bytes = 1;
  ok(posenc_status_message((posenc_status)-1)[0] != '\0', "no status: %s", posenc_status_message((posenc_status)-1));
  ok(posenc_problem_refusal(NULL) != NULL, "no problem: %s", posenc_problem_refusal(NULL));
  const posenc_problem none = posenc_table_of(NULL);
  ok(posenc_problem_refusal(&none) != NULL, "the table of no problem: %s", posenc_problem_refusal(&none));
  ok(posenc_table_bytes(NULL, &bytes) == POSENC_BAD_ARGUMENT &&
         posenc_table_bytes(&problem, NULL) == POSENC_BAD_ARGUMENT,
     "bytes: null");
  problem.dtype = no_dtype;
  ok(posenc_table_bytes(&problem, &bytes) == POSENC_BAD_ARGUMENT, "bytes of no dtype");
  problem = posenc_table(8, 8);
  problem.op = (posenc_op)9;
  ok(posenc_table_bytes(&problem, &bytes) == POSENC_BAD_ARGUMENT, "bytes of no operation");
  const posenc_columns columns = posenc_layout_columns((posenc_layout)9, 8);
  ok(columns.sin == 0 && columns.cos == 0 && columns.step == 0, "columns of no layout");
  ok(isnan(posenc_attention(NULL)), "attention of no problem");
  ok(isnan(posenc_bound_at(NULL, POSENC_F32, 0)) && isnan(posenc_bound_at(&bound, no_dtype, 0)), "bound: null");
  older.size = 8;
  ok(isnan(posenc_applied_bound_at(NULL, &add, 0, 1.0)) && isnan(posenc_applied_bound_at(&bound, NULL, 0, 1.0)) &&
         isnan(posenc_applied_bound_at(&bound, &older, 0, 1.0)),
     "applied bound: null, or a problem of unknown size");
  problem = posenc_table(8, 8);
  ok(isnan(posenc_applied_bound_at(&bound, &problem, 0, 1.0)), "of a table");
  ok(isnan(posenc_applied_bound_at(&bound, &add, 0, -1.0)) &&
         isnan(posenc_applied_bound_at(&bound, &add, 0, (double)NAN)) &&
         posenc_applied_bound_at(&bound, &add, 0, 1.0) > 0.0,
     "of a size below 0, and of none");
}

static void test_senseless_kernels(void) {
  const posenc_problem problem = posenc_table(8, 8);
  unsigned isa;
  ok(!posenc_isa_parse(NULL, &isa) && !posenc_isa_parse("avx2", NULL) && !posenc_isa_parse("", &isa) &&
         !posenc_isa_parse("avx2,", &isa) && posenc_isa_parse("generic", &isa) && isa == POSENC_ISA_GENERIC,
     "tiers: null, and no word");
  ok(!posenc_isa_name(0) && !posenc_isa_name(POSENC_ISA_ALL) && !posenc_isa_name(8), "names of no tier");
  ok(posenc_kernels(NULL) == posenc_kernels(&(size_t){0}) && !posenc_kernel_find(NULL), "kernels: null");
  ok(posenc_encodings(NULL) == posenc_encodings(&(size_t){0}) && !posenc_encoding_find(NULL) &&
         !posenc_encoding_find("nothing"),
     "encodings: null");
  ok(posenc_kernel_refusal(NULL, &problem, NULL) != NULL, "no kernel: %s", posenc_kernel_refusal(NULL, &problem, NULL));
  posenc_options options = posenc_default_options();
  const posenc_kernel *naive = posenc_kernel_find("naive");
  options.size = 8;
  ok(posenc_kernel_refusal(naive, &problem, &options) != NULL && !posenc_kernel_refusal(naive, &problem, NULL),
     "options of unknown size: %s", posenc_kernel_refusal(naive, &problem, &options));
  posenc_kernel idle = *naive;
  idle.execute = NULL;
  options = posenc_default_options();
  options.kernel = &idle;
  ok(status_of(&problem, &options) == POSENC_CANNOT_RUN, "a kernel without execute: %s",
     posenc_kernel_refusal(&idle, &problem, NULL));
}

static void test_senseless_plans(void) {
  posenc_problem problem = posenc_table(8, 8), add = posenc_add(8, 8), cache = posenc_rope_tables(8, 8);
  const posenc_slice rows = posenc_rows(0, 8);
  posenc_slice older = rows, back = rows;
  posenc_plan *table = NULL, *sum = NULL, *tables = NULL;
  posenc_stages stages[4];
  float x[64] = {0};
  if (!ok(posenc_plan_create(&table, &problem, NULL) == POSENC_OK &&
              posenc_plan_create(&sum, &add, NULL) == POSENC_OK &&
              posenc_plan_create(&tables, &cache, NULL) == POSENC_OK,
          "plans"))
    return;
  older.size = 8;
  back.rows = -1;
  ok(posenc_apply(NULL, &rows, x, x) == POSENC_BAD_ARGUMENT && posenc_apply(sum, NULL, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply(sum, &rows, NULL, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply(sum, &rows, x, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_apply(sum, &older, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply(sum, &back, x, x) == POSENC_BAD_ARGUMENT,
     "apply: null, a slice of unknown size, and of less than no rows");
  ok(posenc_apply(table, &rows, x, x) == POSENC_BAD_ARGUMENT && posenc_execute(sum, 0, 8, x) == POSENC_BAD_ARGUMENT &&
         posenc_rope_cache(table, 0, 8, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_rope_cache(NULL, 0, 8, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_rope_cache(tables, 7, 2, x, x) == POSENC_BAD_ARGUMENT,
     "and another operation than the plan's");
  ok(!posenc_plan_stages(NULL, 0, 1, stages) && !posenc_plan_stages(table, 0, 1, NULL) &&
         !posenc_plan_stages(table, -1, 1, stages),
     "stages: null");
  const posenc_dropout dropout = posenc_dropout_of(0.5, 1);
  posenc_dropout never = posenc_dropout_of((double)NAN, 1), old_dropout = dropout;
  old_dropout.size = 4;
  unsigned char keep[64];
  ok(posenc_apply_dropout(NULL, &rows, &dropout, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply_dropout(sum, NULL, &dropout, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply_dropout(sum, &rows, NULL, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply_dropout(sum, &rows, &dropout, NULL, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply_dropout(sum, &rows, &dropout, x, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_apply_dropout(sum, &rows, &never, x, x) == POSENC_BAD_ARGUMENT &&
         posenc_apply_dropout(table, &rows, &dropout, x, x) == POSENC_BAD_ARGUMENT,
     "dropout: null, no probability, and another operation");
  ok(posenc_dropout_mask(NULL, &rows, 8, keep) == POSENC_BAD_ARGUMENT &&
         posenc_dropout_mask(&dropout, NULL, 8, keep) == POSENC_BAD_ARGUMENT &&
         posenc_dropout_mask(&dropout, &rows, 8, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_dropout_mask(&dropout, &rows, 0, keep) == POSENC_BAD_ARGUMENT &&
         posenc_dropout_mask(&old_dropout, &rows, 8, keep) == POSENC_BAD_ARGUMENT,
     "its mask: null, no columns, and of unknown size");
  posenc_plan_destroy(table);
  posenc_plan_destroy(sum);
  posenc_plan_destroy(tables);
  ok(!posenc_plan_problem(NULL) && !posenc_plan_kernel(NULL), "what no plan is made of");
}

static void test_senseless_encodings(void) {
  const posenc_slice rows = posenc_rows(0, 2);
  const posenc_dtype no_dtype = (posenc_dtype)9;
  float out[16], trained[16] = {0};
  posenc_slice back = posenc_rows(-2, 2);
  ok(posenc_integer(NULL, 8, POSENC_F32, out) == POSENC_BAD_ARGUMENT &&
         posenc_integer(&rows, 8, POSENC_F32, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_integer(&rows, 0, POSENC_F32, out) == POSENC_BAD_ARGUMENT &&
         posenc_integer(&rows, 8, no_dtype, out) == POSENC_BAD_ARGUMENT,
     "integer: null, no columns, no dtype");
  ok(posenc_binary(NULL, 8, POSENC_F32, out) == POSENC_BAD_ARGUMENT &&
         posenc_binary(&rows, 8, POSENC_F32, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_binary(&rows, -8, POSENC_F32, out) == POSENC_BAD_ARGUMENT &&
         posenc_binary(&rows, 8, no_dtype, out) == POSENC_BAD_ARGUMENT &&
         posenc_binary(&back, 8, POSENC_F32, out) == POSENC_BAD_ARGUMENT,
     "binary: null, no columns, no dtype, negative positions");
  posenc_learned_table table = posenc_learned_rows(trained, 2, 8), empty = posenc_learned_rows(NULL, 2, 8);
  ok(posenc_learned(NULL, &rows, POSENC_F32, NULL, out) == POSENC_BAD_ARGUMENT &&
         posenc_learned(&table, NULL, POSENC_F32, NULL, out) == POSENC_BAD_ARGUMENT &&
         posenc_learned(&table, &rows, no_dtype, NULL, out) == POSENC_BAD_ARGUMENT &&
         posenc_learned(&table, &rows, POSENC_F32, NULL, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_learned(&empty, &rows, POSENC_F32, NULL, out) == POSENC_BAD_ARGUMENT &&
         posenc_learned(&table, &back, POSENC_F32, NULL, out) == POSENC_BAD_ARGUMENT,
     "learned: null, no dtype, a table without rows, and rows that it lacks");
  const posenc_alibi bias = posenc_alibi_of(1, 2), none = posenc_alibi_of(0, 2);
  posenc_alibi old_bias = bias;
  old_bias.size = 8;
  ok(posenc_alibi_bias(NULL, out) == POSENC_BAD_ARGUMENT && posenc_alibi_bias(&bias, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_alibi_bias(&none, out) == POSENC_BAD_ARGUMENT &&
         posenc_alibi_bias(&old_bias, out) == POSENC_BAD_ARGUMENT,
     "alibi: null, no heads, and of unknown size");
  ok(isnan(posenc_alibi_slope(0, 0).high) && isnan(posenc_alibi_slope(8, 8).high) &&
         isnan(posenc_alibi_slope(8, -1).high),
     "slopes of no head");
}

static void test_senseless_others(void) {
  const posenc_problem problem = posenc_table(8, 8);
  posenc_problem older = problem;
  posenc_wisdom *wisdom = (posenc_wisdom *)(void *)&older;
  char text[200];
  older.size = 8;
  ok(posenc_wisdom_read(&wisdom, NULL) == POSENC_BAD_ARGUMENT && !wisdom && posenc_wisdom_count(NULL) == 0,
     "wisdom: null");
  ok(posenc_wisdom_read(&wisdom, ".") == POSENC_BAD_FILE && !wisdom, "a folder");
  posenc_wisdom_free(NULL);
  ok(posenc_wisdom_line(NULL, sizeof text, &problem, 1, "naive", 1.0) < 0 &&
         posenc_wisdom_line(text, sizeof text, NULL, 1, "naive", 1.0) < 0 &&
         posenc_wisdom_line(text, sizeof text, &older, 1, "naive", 1.0) < 0 &&
         posenc_wisdom_line(text, sizeof text, &problem, 1, NULL, 1.0) < 0,
     "a line of wisdom: null");
  ok(posenc_wisdom_line(text, sizeof text, &problem, 1, "naive", (double)NAN) < 0 &&
         posenc_wisdom_line(text, sizeof text, &problem, 1, "naive", -1.0) < 0 &&
         posenc_wisdom_line(text, sizeof text, &problem, 1, "naive", (double)INFINITY) < 0 &&
         posenc_wisdom_line(NULL, 0, &problem, 1, "naive", 1.0) > 0,
     "and of no time; its length alone");
  posenc_machine(NULL, 5);
  memset(text, 'x', sizeof text);
  posenc_machine(text, 0);
  ok(*text == 'x', "a machine in no bytes");
  posenc_encoder *encoder = (posenc_encoder *)(void *)text;
  int64_t count = 1;
  ok(posenc_encoder_create(NULL, &problem, NULL) == POSENC_BAD_ARGUMENT &&
         posenc_encoder_create(&encoder, NULL, NULL) == POSENC_BAD_ARGUMENT && !encoder,
     "encoder: null");
  ok(posenc_encoder_append(NULL, 1) == POSENC_BAD_ARGUMENT && !posenc_encoder_rows(NULL, &count) && count == 0 &&
         !posenc_encoder_rows(NULL, NULL),
     "its rows: null");
  posenc_encoder_destroy(NULL);
}

int main(void) {
  test_wisdom();
  test_senseless_problems();
  test_senseless_kernels();
  test_senseless_plans();
  test_senseless_encodings();
  test_senseless_others();
  size_t kernel_count;
  const posenc_kernel *const *kernels = posenc_kernels(&kernel_count);
  unsetenv("POSENC_ISA");
  test_threads_to_be_had();
  test_threads_are_used();
  test_contracts();
  test_problems();
  test_options();
  test_choice();
  test_execute();
  test_blocks();
  test_slices();
  for (size_t k = 0; k < kernel_count; k++) test_stages(kernels[k]);
  test_team_stages();
  test_no_stages();
  test_layouts();
  test_shared_plan();
  test_release();
  test_large();
  test_memory();
  return tap_done();
}
