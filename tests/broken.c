/* SPDX-License-Identifier: MIT */
/* Tests that verification catches broken kernels by the properties that they break, and passes the correct kernel. */
#define _GNU_SOURCE
#include "common/memory.h"
#include "records/record.h"
#include "tests/asked.h"
#include "tests/kernel.h"
#include "tests/tap.h"
#include "verify/arena.h"
#include "verify/verify.h"

#include <fcntl.h>
#include <fenv.h>
#include <math.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const posenc_kernel *good;

enum { ROWS = 300, DIM = 96 };

static PREPARE(prepare) {
  return good->prepare(problem, options, constants);
}

static void release(void *constants) {
  good->release(constants);
}

static float *rows_of(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  good->execute(constants, problem, row, rows, out);
  return out;
}

static EXECUTE(honest) {
  rows_of(constants, problem, row, rows, out);
}

static EXECUTE(row_off_by_one) {
  posenc_problem next = *problem;
  next.first++;
  rows_of(constants, &next, row, rows, out);
}

static EXECUTE(swapped) {
  posenc_problem other = *problem;
  other.layout = problem->layout == POSENC_INTERLEAVED ? POSENC_INTERLEAVED_CS : POSENC_INTERLEAVED;
  rows_of(constants, &other, row, rows, out);
}

/* Returns the element of a position, or null if these rows do not contain it. */
static float *element(float *table, const posenc_problem *problem, int64_t row, int64_t rows, int64_t position,
                      int64_t column) {
  const int64_t at = position - problem->first;
  return at >= row && at < row + rows ? &table[(at - row) * problem->dim + column] : NULL;
}

/* Defines the correct rows, except for the element x of one position and column; and then DONE to the table. */
#define WRONG_AT(name, position, column, VALUE)                                                                        \
  static EXECUTE(name) {                                                                                               \
    float *x = element(rows_of(constants, problem, row, rows, out), problem, row, rows, position, column);             \
    if (x) *x = VALUE;                                                                                                 \
  }
#define AFTERWARDS(name, DONE)                                                                                         \
  static EXECUTE(name) {                                                                                               \
    float *table = rows_of(constants, problem, row, rows, out);                                                        \
    DONE;                                                                                                              \
  }

WRONG_AT(one_ulp, 177, 41, nextafterf(*x, 2.0f))
WRONG_AT(one_nan, ROWS - 1, DIM - 1, NAN)
WRONG_AT(nan_at_five, 5, 4, NAN)
WRONG_AT(above_one, 0, 1, nextafterf(1.0f, 2.0f))

/* Is within a bound that allows it, but no value of sine or cosine. */
static EXECUTE(just_above_one) {
  good->execute(constants, problem, row, rows, out);
  if (row + problem->first == 0) ((double *)out)[1] = 1.0 + 0x1p-52;
}

/* Whether this is the first thread of the process. Other threads make calls only in the check of threads. */
static bool is_first_thread(void) {
  return syscall(SYS_gettid) == getpid();
}

/* Is right until another thread has called it twice. */
static EXECUTE(wrong_in_the_end) {
  static _Thread_local int calls;
  float *table = rows_of(constants, problem, row, rows, out);
  if (!is_first_thread() && ++calls == 3) table[0] = 0.75f;
}

/* Is right as long as all threads make the rows that the first one makes. */
static EXECUTE(wrong_beside_other_rows) {
  static _Atomic int64_t known = -1;
  float *table = rows_of(constants, problem, row, rows, out);
  if (is_first_thread())
    atomic_store(&known, row);
  else if (atomic_load(&known) >= 0 && atomic_load(&known) != row)
    table[0] = 0.75f;
}

AFTERWARDS(far_past_the_end, table[rows * problem->dim + 900] = 0.0f)
AFTERWARDS(past_the_end, table[rows * problem->dim] = 0.0f)
AFTERWARDS(before_the_start, ((char *)table)[-1] = 0)

static EXECUTE(untouched) {
  float *x = element(out, problem, row, rows, ROWS - 1, DIM - 1), kept = x ? *x : 0.0f;
  rows_of(constants, problem, row, rows, out);
  if (x) memcpy(x, &kept, sizeof kept);
}

static EXECUTE(untouched_16_bits) {
  uint16_t *last = (uint16_t *)out + (ROWS - row) * DIM - 1, kept = row + rows == ROWS ? *last : 0;
  rows_of(constants, problem, row, rows, out);
  if (row + rows == ROWS) *last = kept;
}

static EXECUTE(range_blind) {
  rows_of(constants, problem, rows > 4 ? row : 0, rows, out);
}

static EXECUTE(long_tables_only) {
  posenc_problem shifted = *problem;
  if (problem->rows < 20) shifted.first++; /* the first rows of a short table are wrong */
  rows_of(constants, &shifted, row, rows, out);
}

/* Is off by an ulp, which is within twice the error. */
AFTERWARDS(other_bits_in_short_tables, if (problem->rows < 20) table[0] = nextafterf(table[0], 0.0f))

AFTERWARDS(wrong_in_long_pieces, if (row > 0 && rows > 20) table[7] = nextafterf(table[7], 2.0f))

static EXECUTE(last_row) {
  float *table = rows_of(constants, problem, row, rows, out);
  for (int64_t i = 0; row + rows == problem->rows && i < problem->dim; i++)
    table[(rows - 1) * problem->dim + i] *= 0.999f;
}

static EXECUTE(unrotated) {
  float *table = rows_of(constants, problem, row, rows, out);
  for (int64_t i = 0; i < rows * problem->dim; i += 2) table[i] = -table[i];
}

static const struct mutant {
  const char *name;
  void (*execute)(const void *, const posenc_problem *, int64_t, int64_t, void *);
  const char *breaks[5]; /* these properties and no others; with '?', it depends on the rows drawn */
  const char *place;     /* named by every failure of accuracy, bounded and pair norm; null: any */
  double claimed_ulp;    /* 0: 0.5 */
  bool not_reproducible;
  posenc_dtype dtype;
} mutants[] = {
    {"honest", honest, .breaks = {NULL}},
    {"row-off-by-one", row_off_by_one, .breaks = {"accuracy"}},
    {"swapped-sin-cos", swapped, .breaks = {"accuracy", "rotation"}},
    {"one-element-one-ulp", one_ulp, .breaks = {"accuracy", "?rotation"}, .place = "at p = 177,"},
    {"nan-in-the-last-element", one_nan, .breaks = {"accuracy", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 299,"},
    {"nan-at-position-5", nan_at_five, .breaks = {"accuracy", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 5,"},
    {"an-ulp-above-one", above_one, .breaks = {"accuracy", "bounded", "pair-norm", "?rotation"}, .place = "at p = 0,"},
    {"just-above-one", just_above_one, .breaks = {"bounded"}, .place = "at p = 0,", .dtype = POSENC_F64},
    {"wrong-on-the-third-call-of-a-thread", wrong_in_the_end, .breaks = {"threads"}},
    {"wrong-beside-other-rows", wrong_beside_other_rows, .breaks = {"threads"}},
    {"write-past-the-end", past_the_end, .breaks = {"memory"}},
    {"write-far-past-the-end", far_past_the_end, .breaks = {"memory"}},
    {"write-before-the-start", before_the_start, .breaks = {"memory"}},
    {"untouched-element", untouched, .breaks = {"accuracy", "memory", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 299,"},
    {"untouched-element-f16", untouched_16_bits, .breaks = {"accuracy", "memory", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 299,", .dtype = POSENC_F16},
    {"untouched-element-bf16", untouched_16_bits, .breaks = {"accuracy", "memory", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 299,", .dtype = POSENC_BF16},
    {"ignores-the-row-range", range_blind, .breaks = {"rotation"}},
    {"wrong-in-long-pieces", wrong_in_long_pieces, .breaks = {"extension"}},
    {"wrong-in-short-tables", long_tables_only, .breaks = {"extrapolation"}},
    {"wrong-in-short-tables, not reproducible", long_tables_only, .breaks = {"extrapolation"},
     .not_reproducible = true},
    {"other-bits-in-short-tables", other_bits_in_short_tables, .breaks = {"extrapolation"}},
    {"other-bits-in-short-tables, not reproducible", other_bits_in_short_tables, .not_reproducible = true},
    {"negated-sine", unrotated, .breaks = {"accuracy", "rotation"}},
    {"claims-too-much", honest, .breaks = {"accuracy", "pair-norm", "?rotation"}, .claimed_ulp = 0.4},
};

/* ---- in windows that several threads check ---- */

enum { FAR_ROWS = 16384, FAR = 14000 };

static EXECUTE(far_ulp) {
  float *x = element(rows_of(constants, problem, row, rows, out), problem, row, rows, FAR, 41);
  if (x) *x = nextafterf(*x, 0.0f);
}

static EXECUTE(far_above_one) {
  float *x = element(rows_of(constants, problem, row, rows, out), problem, row, rows, FAR, 41);
  if (x) *x = 1.5f;
}

static EXECUTE(far_untouched) {
  float *x = element(out, problem, row, rows, FAR, 41), kept = x ? *x : 0.0f;
  rows_of(constants, problem, row, rows, out);
  if (x) memcpy(x, &kept, sizeof kept);
}

static EXECUTE(far_spill) {
  float *table = rows_of(constants, problem, row, rows, out);
  if (element(table, problem, row, rows, FAR, 0)) table[rows * problem->dim] = 0.0f;
}

static EXECUTE(far_environment) {
  if (element(rows_of(constants, problem, row, rows, out), problem, row, rows, FAR, 0)) fesetround(FE_UPWARD);
}

static const struct mutant far_mutants[] = {
    {"far one ulp", far_ulp, .breaks = {"accuracy", "?rotation"}, .place = "at p = 14000,"},
    {"far above one", far_above_one, .breaks = {"accuracy", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 14000,"},
    {"far untouched", far_untouched, .breaks = {"accuracy", "memory", "bounded", "pair-norm", "?rotation"},
     .place = "at p = 14000,"},
    {"far past the end", far_spill, .breaks = {"memory"}},
    {"far environment", far_environment, .breaks = {"environment"}},
};

static bool expected(const struct mutant *m, const char *property, bool passed) {
  for (size_t i = 0; i < sizeof m->breaks / sizeof *m->breaks && m->breaks[i]; i++) {
    if (strcmp(m->breaks[i], property) == 0) return !passed;
    if (*m->breaks[i] == '?' && strcmp(m->breaks[i] + 1, property) == 0) return true;
  }
  return passed;
}

static const record_accuracy *verify_all(run_exam how, const posenc_kernel *const *kernels, size_t kernel_count,
                                         const shape *shapes, size_t shape_count) {
  return verified((run_request){.silence = VERIFY_DEFAULT_SILENCE, .exam = how}, kernels, kernel_count, shapes,
                  shape_count);
}

static const record_accuracy *verify_opened(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget,
                                            bool (*open)(const posenc_kernel *)) {
  const shape of = shape_of(problem);
  return verify_all((run_exam){.seed = 1, .budget = budget, .brief = true, .open = open}, &kernel, 1, &of, 1);
}

static const record_accuracy *verify_one(const posenc_kernel *kernel, const posenc_problem *problem, int64_t budget) {
  return verify_opened(kernel, problem, budget, NULL);
}

/* Returns the check of a property; one of nothing if it is not there. */
static const record_check *check_of(const record_result *result, const char *property) {
  static const record_check none = {.note = ""};
  RECORD_EACH(check, result, checks)
    if (strcmp(check->property, property) == 0) return check;
  return &none;
}

static void test_mutant(const struct mutant *m, int64_t rows) {
  posenc_problem problem = posenc_table(rows, DIM);
  posenc_kernel kernel = *good;
  problem.dtype = m->dtype;
  kernel.name = m->name;
  kernel.prepare = prepare;
  kernel.release = release;
  kernel.execute = m->execute;
  kernel.stages = NULL; /* those of the correct kernel */
  kernel.bound.ulp = m->claimed_ulp > 0.0 ? m->claimed_ulp : 0.5;
  kernel.bound.max_position = rows - 1; /* the last row */
  kernel.reproducible = !m->not_reproducible;
  const record_accuracy *run = verify_one(&kernel, &problem, VERIFY_DEFAULT_BUDGET);
  RECORD_EACH(check, run->records, checks) {
    const char *property = check->property, *result = check->ok ? "holds" : "is broken";
    const bool asked_for = strcmp(property, "search") != 0 && strcmp(property, "stages") != 0 &&
                           (strcmp(property, "read-only") != 0 || seal_works()) &&
                           (strcmp(property, "leak") != 0 || !SANITIZED),
               valued = strcmp(property, "accuracy") == 0 || strcmp(property, "bounded") == 0 ||
                        strcmp(property, "pair-norm") == 0;
    ok(check->skipped != asked_for && expected(m, property, check->ok) &&
           (check->ok || !valued || !m->place || strstr(check->note, m->place)),
       "%s: %s %s: %s", m->name, property, check->skipped ? "is skipped" : result, check->note);
  }
  record_free(run);
}

/* Tests that the bound holds to the end of its domain, inside a window that one call makes or that threads make. */
static void test_end_of_domain(void) {
  static const int64_t all[] = {100, FAR_ROWS / 2};
  for (int n = 0; n < 2; n++) {
    const posenc_problem problem = posenc_table(all[n], 4 * DIM);
    posenc_kernel kernel = *good;
    kernel.bound.max_position = all[n] - all[n] / 4;
    const record_accuracy *run = verify_one(&kernel, &problem, VERIFY_DEFAULT_BUDGET);
    const int64_t compared = check_of(run->records, "accuracy")->compared, rows = kernel.bound.max_position + 1;
    ok(compared == rows * problem.dim, "the bound holds for %lld of %lld rows: %lld elements", (long long)rows,
       (long long)all[n], (long long)compared);
    record_free(run);
  }
}

/* Tests that one thread and three threads make the same record of several windows. */
static void test_threads_of_verify(void) {
#ifdef _OPENMP
  const posenc_problem problem = posenc_table(FAR_ROWS / 2, 4 * DIM);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const record_accuracy *one = verify_one(good, &problem, VERIFY_DEFAULT_BUDGET);
  omp_set_num_threads(3);
  const record_accuracy *three = verify_one(good, &problem, VERIFY_DEFAULT_BUDGET);
  omp_set_num_threads(threads);
  json_t *of_one = record_as_read(one), *of_three = record_as_read(three);
  ok(json_equal(json_object_get(of_one, "records"), json_object_get(of_three, "records")) &&
         one->records->elements == problem.rows * problem.dim,
     "one thread and three make the same record of a table, of all its elements");
  json_decref(of_one);
  json_decref(of_three);
  record_free(one);
  record_free(three);
#endif
}

/* Tests that the last row is checked in a whole table, in several windows, and in a sample. */
static void test_last_row(int64_t rows, int64_t dim, int64_t budget, const char *mode) {
  const posenc_problem problem = posenc_table(rows, dim);
  posenc_kernel kernel = *good;
  kernel.prepare = prepare;
  kernel.release = release;
  kernel.execute = last_row;
  const record_accuracy *run = verify_one(&kernel, &problem, budget);
  const record_result *found = run->records;
  ok(strcmp(found->mode, mode) == 0 && !found->checks->ok && found->worst.position.whole == rows - 1,
     "%dx%d, %s: a wrong last row is seen: %s", (int)rows, (int)dim, mode, found->checks->note);
  record_free(run);
}

/* Tests that a run without compared elements does not count as passed. */
static void test_mistrust(void) {
  posenc_problem problem = posenc_table(8, 8);
  char why[200];
  const record_accuracy *run = verify_one(good, &problem, VERIFY_DEFAULT_BUDGET);
  ok(!record_mistrust(run, why, sizeof why), "a run that compared something is trusted");
  record_free(run);
  problem.first = -1;
  run = verify_one(posenc_kernel_find("recurrence"), &problem, VERIFY_DEFAULT_BUDGET);
  ok(run->failed == 0 && record_mistrust(run, why, sizeof why), "one that did not is not: %s", why);
  char text[2000] = "";
  FILE *tap = tmpfile();
  record_print_tap(run, tap);
  rewind(tap);
  text[fread(text, 1, sizeof text - 1, tap)] = '\0';
  fclose(tap);
  ok(strstr(text, "\n# MISTRUSTED: no kernel did any of the tables\n"), "which its TAP says");
  record_free(run);
}

/* Tests that the bounds of relations are no wider than needed for elements within e of the exact values
   (verify/findings.h). */
static void test_bounds(posenc_dtype dtype, double ulp) {
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.dtype = dtype;
  const record_accuracy *run = verify_one(good, &problem, VERIFY_DEFAULT_BUDGET);
  const double e = good->bound.ulp * ulp + good->bound.abs, sums = 0x1p-50, most = 1.0 + 0x1p-40,
               rotation = check_of(run->records, "rotation")->bound, norm = check_of(run->records, "pair-norm")->bound;
  ok(rotation >= 2.0 * e && rotation <= ((1.0 + sqrt(2.0)) * e + sums) * most,
     "dtype %d: a rotation is held to %g, two rows wrong by %g each", (int)dtype, rotation, e);
  ok(norm > 0.0 && norm <= (2.0 * sqrt(2.0) * e + 2.0 * e * e + sums) * most, "dtype %d: a norm to %g", (int)dtype,
     norm);
  record_free(run);
}

/* Tests that a table larger than the kernel's share of the budget is sampled; the rest is for other kernels. */
static void test_shares(void) {
  enum { SHARE_ROWS = 256, BUDGET = SHARE_ROWS * DIM / 2 };
  static const struct {
    const char *kernel;
    posenc_op op;
    int64_t share;
  } shares[] = {{"cr-portable", POSENC_TABLE, 1},
                {"rotation-portable", POSENC_TABLE, 32},
                {"naive", POSENC_TABLE, 32},
                {"cr-portable", POSENC_ADD, 32},
                {"cr-portable", POSENC_ROPE_CACHE, 256}};
  for (size_t n = 0; n < sizeof shares / sizeof *shares; n++)
    for (int less = 0; less < 2; less++) {
      posenc_problem problem = posenc_table(SHARE_ROWS, DIM);
      problem.op = shares[n].op;
      if (problem.op == POSENC_ROPE_CACHE) problem.layout = POSENC_DUPLICATED;
      const record_accuracy *run =
          verify_one(posenc_kernel_find(shares[n].kernel), &problem, BUDGET * shares[n].share - less);
      const char *mode = run->records->mode;
      ok(mode && strcmp(mode, less ? "sampled" : "exhaustive") == 0, "%s, op %d, a budget of %s%d times its pairs: %s",
         shares[n].kernel, (int)shares[n].op, less ? "less than " : "", (int)shares[n].share, mode ? mode : "no mode");
      record_free(run);
    }
}

static const char *no_short_rows(const posenc_problem *problem) {
  return problem->dim == 8 ? "it does not do such a dim" : NULL;
}

static const char *no_rows(const posenc_problem *problem) {
  return problem->layout == POSENC_SPLIT ? NULL : "it does none that rope would take";
}

static const char *one_shape(const posenc_problem *problem) {
  return problem->rows == 8 && problem->dim == 12 ? NULL : "it does another shape alone";
}

/* Returns the record of two kernels on rope of dims 8 and 12, or 12 alone. */
static const record_accuracy *run_of_rope(const posenc_kernel *const *kernels, bool both) {
  posenc_problem of_8 = posenc_table(8, 8), of_12 = posenc_table(8, 12);
  of_8.op = of_12.op = POSENC_ROPE;
  const shape shapes[] = {shape_of(&of_8), shape_of(&of_12)};
  return verify_all((run_exam){.seed = 1, .budget = 1000}, kernels, 2, both ? shapes : shapes + 1, both ? 2 : 1);
}

/* Counts the results in which the property was checked, and frees the record. */
static size_t count_looked_at(const record_accuracy *run, const char *property) {
  size_t found = 0;
  RECORD_EACH(result, run, records) found += check_of(result, property)->compared > 0;
  record_free(run);
  return found;
}

/* Whether the second kernel's record has this reason for skipping the property. */
static bool is_skipped(const record_accuracy *run, const char *property, const char *why) {
  const record_check *check = check_of(&run->records[1], property);
  return check->skipped && strstr(check->note, why);
}

/* Tests that each skipped check gives its own reason. */
static void test_skipped(void) {
  posenc_kernel of_one = *posenc_kernel_find("div-term");
  const posenc_kernel *kernels[] = {posenc_kernel_find("naive"), &of_one};
  of_one.can_do = one_shape;
  const record_accuracy *run = run_of_rope(kernels, false);
  ok(is_skipped(run, "heads", "the library applies the rows"), "heads are skipped as the library's");
  ok(is_skipped(run, "alignment", "the library applies the rows"), "so is alignment");
  ok(is_skipped(run, "widths", "it does no other problem"), "other dims are skipped as the kernel's");
  record_free(run);
}

static bool open_device(const posenc_kernel *kernel) {
  static int device = -1;
  (void)kernel;
  if (device < 0) device = open("/dev/null", O_RDONLY);
  return device >= 0;
}

static bool open_nothing(const posenc_kernel *kernel) {
  (void)kernel;
  return false;
}

static PREPARE(prepare_on_device) {
  return open_device(NULL) ? good->prepare(problem, options, constants) : POSENC_CANNOT_RUN;
}

/* Returns whether the kernel, whose device stays open, leaves the process as it was. */
static bool leaves_process(bool (*open)(const posenc_kernel *)) {
  const posenc_problem problem = posenc_table(ROWS, DIM);
  posenc_kernel kernel = *good;
  kernel.prepare = prepare_on_device;
  const record_accuracy *run = verify_opened(&kernel, &problem, 1000, open);
  const bool same = check_of(run->records, "process")->ok;
  record_free(run);
  return same;
}

static void test_device(void) {
  ok(leaves_process(open_device), "a device that is opened before may stay open");
  ok(!leaves_process(NULL) && !leaves_process(open_nothing), "but not what a kernel opens otherwise");
}

/* Tests kernels without an apply function, which share the library's. Settings that they cannot influence there, such
   as the number of heads, are checked once beside a shape; everything else is checked for each kernel. */
static void test_apply_known(void) {
  static const char *const of_kernel[] = {"positions", "widths", "plans", "decoding", "endurance", "call-size"};
  const posenc_kernel *naive = posenc_kernel_find("naive"), *term = posenc_kernel_find("div-term"),
                      *cached = posenc_kernel_find("cached");
  posenc_kernel short_none = *naive, none = *naive;
  short_none.name = "no-short-rows";
  short_none.can_do = no_short_rows;
  none.name = "no-rows";
  none.can_do = no_rows;
  const struct {
    const char *what;
    const posenc_kernel *kernels[2];
    bool both;
    size_t wanted;
  } runs[] = {{"two kernels without an apply share one look at heads", {naive, term}, false, 1},
              {"but not with one that refuses the shape", {&none, term}, false, 1},
              {"nor with one that was looked at beside another shape", {naive, &short_none}, true, 2},
              {"nor with one that has an apply, before", {cached, naive}, false, 2},
              {"or after", {naive, cached}, false, 2}};
  for (size_t n = 0; n < sizeof runs / sizeof *runs; n++) {
    const size_t found = count_looked_at(run_of_rope(runs[n].kernels, runs[n].both), "heads");
    ok(found == runs[n].wanted, "rope, beside the shape: %s: %d", runs[n].what, (int)found);
  }
  for (size_t n = 0; n < sizeof of_kernel / sizeof *of_kernel; n++) {
    const size_t found = count_looked_at(run_of_rope(runs[0].kernels, false), of_kernel[n]);
    ok(found == 2, "rope, beside the shape: %s of each kernel: %d", of_kernel[n], (int)found);
  }
}

static const char *no_f32(const posenc_problem *problem) {
  return problem->rows == 9 ? "it does no table of 9 rows" : NULL;
}

static const char *no_8_rows(const posenc_problem *problem) {
  return problem->rows == 8 ? "it does no table of 8 rows" : NULL;
}

/* The shapes of an exam: a table of f32 and one of f16, or add in f32 and bf16; the second alone; or another one of 16
   bits, too. */
enum { SHORT_ONE, BOTH, AND_ANOTHER };

/* Counts the exams of two kernels that look at other plans. */
static size_t looked_at_dtypes(const posenc_kernel *const *kernels, posenc_op op, int which) {
  posenc_problem f32 = posenc_table(9, 12), short_one = posenc_table(8, 12), another;
  f32.op = short_one.op = op;
  short_one.dtype = op == POSENC_TABLE ? POSENC_F16 : POSENC_BF16;
  another = short_one;
  another.rows = 7;
  const shape shapes[] = {shape_of(&f32), shape_of(&short_one), shape_of(&another)};
  return count_looked_at(verify_all((run_exam){.seed = 1, .budget = 1000}, kernels, 2, shapes + (which == SHORT_ONE),
                                    which == AND_ANOTHER ? 3 : 1 + (size_t)which),
                         "plans");
}

/* Tests kernels whose rows of 16 bits the library makes from rows of f32: where others show how it does so, a look at
   those of f32 is enough. */
static void test_rounding_known(void) {
  const posenc_kernel *naive = posenc_kernel_find("naive"), *term = posenc_kernel_find("div-term"),
                      *own = posenc_kernel_find("cr-portable"), *applying = posenc_kernel_find("cached");
  posenc_kernel none = *naive, late = *term, other = *term;
  none.name = "no-rows";
  none.can_do = no_rows;
  late.name = "no-f32";
  late.can_do = no_f32;
  other.name = "no-8-rows";
  other.can_do = no_8_rows;
  const struct {
    const char *what;
    const posenc_kernel *kernels[2];
    posenc_op op;
    int which;
    size_t wanted;
  } runs[] = {{"two kernels of f32", {naive, term}, POSENC_TABLE, BOTH, 3},
              {"without a table of f32", {naive, term}, POSENC_TABLE, SHORT_ONE, 2},
              {"where the first was looked at beside another", {naive, &other}, POSENC_TABLE, AND_ANOTHER, 4},
              {"whose f32 the second refuses", {naive, &late}, POSENC_TABLE, BOTH, 3},
              {"of which the first refuses all", {&none, term}, POSENC_TABLE, BOTH, 2},
              {"one with f16 of its own before", {own, term}, POSENC_TABLE, BOTH, 4},
              {"one with f16 of its own after", {term, own}, POSENC_TABLE, BOTH, 4},
              {"two that the library applies", {naive, own}, POSENC_ADD, BOTH, 3},
              {"one that applies itself before", {applying, naive}, POSENC_ADD, BOTH, 4},
              {"one that applies itself after", {naive, applying}, POSENC_ADD, BOTH, 4}};
  for (size_t n = 0; n < sizeof runs / sizeof *runs; n++) {
    const size_t found = looked_at_dtypes(runs[n].kernels, runs[n].op, runs[n].which);
    ok(found == runs[n].wanted, "rows of f32 and 16 bits, looks beside the shape, %s: %zu", runs[n].what, found);
  }
}

static PREPARE(prepare_no_8_rows) {
  return problem->rows == 8 ? POSENC_OUT_OF_MEMORY : prepare(problem, options, constants);
}

static const char *hang_on_777_rows(const posenc_problem *problem) {
  while (problem->rows == 777) continue;
  return NULL;
}

/* Returns the record of a kernel on tables of 8, 777 and 10 rows. */
static const record_accuracy *run_of_three(const posenc_kernel *kernel) {
  const posenc_problem tables[] = {posenc_table(8, 12), posenc_table(777, 12), posenc_table(10, 12)};
  const shape shapes[] = {shape_of(&tables[0]), shape_of(&tables[1]), shape_of(&tables[2])};
  return verified((run_request){.silence = 2.0, .exam = {.seed = 1, .budget = 1000}}, &kernel, 1, shapes, 3);
}

/* Tests what is found out before the exams: of which shape the first plan can be made, which one other plans are looked
   at beside; and where a kernel hangs. */
static void test_asked(void) {
  posenc_kernel kernel = *good;
  kernel.prepare = prepare_no_8_rows;
  kernel.release = release;
  kernel.execute = honest;
  const record_accuracy *run = run_of_three(&kernel);
  ok(strcmp(run->records->refusal, "out of memory") == 0, "the first plan cannot be made");
  ok(count_looked_at(run, "plans") == 1, "other plans are looked at beside the second one");
  kernel.prepare = prepare;
  kernel.can_do = hang_on_777_rows;
  run = run_of_three(&kernel);
  const int64_t failed = run->failed;
  size_t survived = 0;
  RECORD_EACH(result, run, records) survived += check_of(result, "survival")->compared > 0;
  ok(count_looked_at(run, "accuracy") == 1, "a kernel that hangs when it is asked about a shape is examined on others");
  ok(failed == 1 && survived == 2, "and fails once");
}

/* Tests that fewer rows are made by many threads where another exam of the kernel makes more. */
static void test_threads_again(void) {
  const posenc_problem one = posenc_table(100, 2048), other = posenc_table(102, 2048);
  const shape shapes[] = {shape_of(&one), shape_of(&other)};
  int64_t few = 0;
  for (int brief = 0; brief < 2; brief++) {
    const record_accuracy *run = verify_all((run_exam){.seed = 1, .budget = 1000, .brief = brief}, &good, 1, shapes, 2);
    const int64_t before = check_of(&run->records[0], "threads")->compared,
                  again = check_of(&run->records[1], "threads")->compared;
    ok(before > 0 && again > 0 && (brief ? again > few : again < before),
       "threads%s: %lld elements beside the first shape, %lld beside the second", brief ? " of brief exams" : "",
       (long long)before, (long long)again);
    few = again;
    record_free(run);
  }
}

int main(void) {
  good = posenc_kernel_find("rotation-portable");
  for (size_t n = 0; n < sizeof mutants / sizeof *mutants; n++) test_mutant(&mutants[n], ROWS);
  for (size_t n = 0; n < sizeof far_mutants / sizeof *far_mutants; n++) test_mutant(&far_mutants[n], FAR_ROWS);
  test_end_of_domain();
  test_threads_of_verify();
  test_last_row(270000, 8, VERIFY_DEFAULT_BUDGET, "exhaustive");
  test_last_row(100000, 64, 20000, "sampled");
  test_last_row(31, 4096, 20000, "sampled");
  test_shares();
  test_apply_known();
  test_rounding_known();
  test_asked();
  test_threads_again();
  test_skipped();
  test_device();
  test_mistrust();
  test_bounds(POSENC_F32, 0x1p-24);
  test_bounds(POSENC_BF16, 0x1p-8);
  test_bounds(POSENC_F64, 0x1p-53);
  return tap_done();
}
