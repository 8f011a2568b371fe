/* SPDX-License-Identifier: MIT */
/*
 * Tests times of posenc bench with kernels of known cost: they wait by the clock, or depend on the state of memory.
 * Other work on the machine only adds time, so the smallest of many repetitions is compared, from both sides.
 */
#define _GNU_SOURCE
#include "config.h"

#include "bench/bench.h"
#include "bench/limit.h"
#include "common/clock.h"
#include "common/environment.h"
#include "common/number.h"
#include "tests/asked.h"
#include "tests/kernel.h"
#include "tests/tap.h"

#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef HAVE_BENCHMARK

enum { SEEN = 10000 };

/* Observations of the kernels, in memory that the timed process shares with the test. */
static struct seen {
  int64_t calls;
  bool rows[SEEN]; /* the rows at which calls began */
} * seen;

static void wait_for(double seconds) {
  const double end = clock_seconds() + seconds;
  while (clock_seconds() < end) continue;
}

/* ---- kernels ---- */

static const double row_seconds = 20e-6, plan_seconds = 2e-4;

static EXECUTE(wait_rows) {
  seen->rows[row] = true;
  wait_for((double)rows * row_seconds);
}

/* Waits in the plan, too, three quarters of the time before the rows. */
static PREPARE(wait_before) {
  wait_for(0.75 * plan_seconds);
  *constants = seen;
  return POSENC_OK;
}

static void wait_after(void *constants) {
  (void)constants;
  wait_for(0.25 * plan_seconds);
}

static const posenc_kernel waits = {.name = "waits", .execute = wait_rows};
static const posenc_kernel plans = {
    .name = "plans", .prepare = wait_before, .execute = wait_rows, .release = wait_after};

/* Takes ten times as long in every tenth call: 1.9 waits per call. */
static EXECUTE(wait_unevenly) {
  const int calls = seen->calls++ % 10 ? 1 : 10;
  for (int i = 0; i < calls; i++) wait_rows(constants, problem, row, rows, out);
}
static const posenc_kernel uneven = {.name = "uneven", .execute = wait_unevenly};

/* Moves as many bytes as the limit, or three times as many. */
static EXECUTE(fill) {
  memset(out, 0x55, (size_t)(rows * problem->dim) * sizeof(float));
}
static EXECUTE(fill_thrice) {
  for (int i = 0; i < 3; i++) {
    fill(constants, problem, row, rows, out);
    __asm__ volatile("" ::"r"(out) : "memory");
  }
}
static const posenc_kernel fills = {.name = "fills", .execute = fill};
static const posenc_kernel fills_thrice = {.name = "fills-thrice", .execute = fill_thrice};

enum { LINE = 64, LINES = 4096 };

/* Reads every line of memory in an order that no prefetcher follows: each place depends on the byte before. No line may
   begin with zero. */
static void read_lines(const unsigned char *memory) {
  unsigned place = 0;
  for (int i = 0; i < LINES; i++) place = (place * 5 + 1677 + (memory[place * LINE] == 0)) % LINES;
  __asm__ volatile("" ::"r"(place));
}

static PREPARE(make_lines) {
  unsigned char *memory = malloc((size_t)LINES * LINE);
  if (memory) memset(memory, 0x55, (size_t)LINES * LINE);
  *constants = memory;
  return memory ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

static EXECUTE(read_constants) {
  read_lines(constants);
}
static const posenc_kernel reads_constants = {
    .name = "reads-constants", .prepare = make_lines, .execute = read_constants, .release = free};

static EXECUTE(read_table) {
  if (rows * problem->dim * (int64_t)sizeof(float) >= LINES * LINE) read_lines(out);
}
static const posenc_kernel reads_table = {.name = "reads-table", .execute = read_table};

/* Writes the table, and takes a tenth of a second more if all its pages existed before. */
static EXECUTE(fill_new_pages) {
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  fill(constants, problem, row, rows, out);
  getrusage(RUSAGE_SELF, &after);
  if (after.ru_minflt == before.ru_minflt) wait_for(0.1);
}
static const posenc_kernel fills_new_pages = {.name = "fills-new-pages", .execute = fill_new_pages};

/* ---- points ---- */

/* The findings of a test in this attempt. */
static struct point {
  bool held;
  char what[120];
} points[64];
static int point_count;

__attribute__((format(printf, 2, 3))) static bool hold(bool held, const char *what, ...) {
  struct point *one = &points[point_count++];
  va_list arguments;
  va_start(arguments, what);
  vsnprintf(one->what, sizeof one->what, what, arguments);
  va_end(arguments);
  return one->held = held;
}

/* Makes up to five attempts, as other work on the machine can disturb all repetitions. */
static void attempt(void (*test)(void)) {
  bool all = false;
  for (int n = 0; n < 5 && !all; n++) {
    point_count = 0;
    test();
    all = true;
    for (int i = 0; i < point_count; i++) all = all && points[i].held;
  }
  for (int i = 0; i < point_count; i++) ok(points[i].held, "%s", points[i].what);
}

/* ---- timings ---- */

enum { REPETITIONS = 15, THREADS = 2 };

/* One figure of all repetitions of a kernel in a mode, in order, and the smallest of its products with their times. */
typedef struct figures {
  int count;
  double of[REPETITIONS], least, middle, most, least_product;
} figures;

static figures figures_of(const json_t *record, const char *name, const char *figure) {
  figures all = {.least = NAN, .middle = NAN, .most = NAN, .least_product = INFINITY};
  size_t n;
  json_t *one;
  json_array_foreach(json_object_get(record, "benchmarks"), n, one) {
    const char *type = json_string_value(json_object_get(one, "run_type"));
    const char *known = json_string_value(json_object_get(one, "name"));
    if (strcmp(type, "iteration") != 0 || strcmp(known, name) != 0 || all.count == REPETITIONS) continue;
    const double value = json_number_value(json_object_get(one, figure));
    all.least_product = fmin(all.least_product, value * json_number_value(json_object_get(one, "real_time")));
    all.of[all.count++] = value;
  }
  if (!hold(all.count == REPETITIONS, "%s is timed %d times", name, all.count)) return all;
  qsort(all.of, REPETITIONS, sizeof *all.of, number_order);
  all.least = all.of[0];
  all.middle = all.of[REPETITIONS / 2];
  all.most = all.of[REPETITIONS - 1];
  return all;
}

/* Returns the record of a kernel on a table of `rows` × `dim`, in some modes. */
/* The device that the next kernel runs on, or null. */
static bench_device *on_device;

/* Whether what the next kernel writes is compared. */
static bool is_checked;

static json_t *bench(const posenc_kernel *given, int64_t rows, int64_t dim, unsigned modes, double min_time) {
  posenc_kernel kernel = *given;
  const posenc_kernel *const kernels[] = {&kernel};
  const posenc_problem problem = posenc_table(rows, dim);
  const shape table = shape_of(&problem);
  if (on_device) on_device->kernel = &kernel;
  const run_request how = {.threads = THREADS,
                           .only = {1, 1},
                           .silence = 60,
                           .timing = {.device = on_device,
                                      .longest = 10,
                                      .repetitions = REPETITIONS,
                                      .batch = 1,
                                      .min_time = min_time,
                                      .unchecked = !is_checked && !on_device}}; /* nothing of a device is compared */
  run_request request = asked_of(how, kernels, 1, &table, 1);
  request.items->modes = modes;
  const record_timing *record;
  kernel.abi = POSENC_KERNEL_ABI;
  kernel.isa = POSENC_ISA_GENERIC;
  kernel.summary = kernel.algorithm = kernel.provenance = kernel.basis = "a test";
  kernel.bound = (posenc_bound){.ulp = 1, .max_position = INT64_MAX};
  memset(seen, 0, sizeof *seen);
  const int status = bench_run(&request, &record);
  run_free(&request);
  hold(status == 0 && record, "%s is timed", kernel.name);
  json_t *json = record ? record_write_timing(record) : NULL;
  record_free(record);
  return json;
}

/* Tests that the smallest repetition is the known time, and no more than a busy machine adds to it. */
static void is_about(const char *what, double least, double known) {
  hold(least >= 0.999 * known && least <= 1.3 * known, "%s: at least %.6g for %.6g", what, least, known);
}

/* ---- tests ---- */

static int passes, incomplete;

/* Counts the pass before if it did not fill the footprint, and clears that. */
static bool clear(limit *l) {
  bool whole = true;
  for (size_t i = 0; i < l->bytes; i++) whole = whole && l->buffer[i] == 0x55;
  incomplete += passes++ && !whole;
  memset(l->buffer, 0, l->bytes);
  return true;
}

/* Tests that a pass of several threads fills the whole footprint before its rate is told. */
static void test_whole_passes(void) {
  static _Alignas(64) unsigned char buffer[1000003];
  limit filling = {.buffer = buffer, .bytes = sizeof buffer, .prepare = clear};
  passes = incomplete = 0;
  const double rate = limit_rate(&filling, 3);
  clear(&filling);
  hold(rate > 0 && passes > 2 && incomplete == 0, "%d of %d passes of three threads are incomplete", incomplete,
       passes - 1);
}

/* Tests that every figure of a time contains the wait, in all modes of memory, and none contains the preparation. */
static void test_waits(void) {
  enum { ROWS = 10, DIM = 64 };
  static const struct {
    bench_mode mode;
    double rows;
  } known[] = {{BENCH_HOT, ROWS}, {BENCH_COLD, ROWS}, {BENCH_FRESH, ROWS}, {BENCH_FIRST, ROWS}, {BENCH_ROW, 1}};
  unsigned modes = 0;
  for (size_t n = 0; n < sizeof known / sizeof *known; n++) modes |= 1u << known[n].mode;
  json_t *record = bench(&waits, ROWS, DIM, modes, 1e-4);
  for (size_t n = 0; n < sizeof known / sizeof *known; n++) {
    char name[64];
    snprintf(name, sizeof name, "%s/10x64/waits", bench_mode_name(known[n].mode));
    is_about(name, figures_of(record, name, "real_time").least, 1e9 * row_seconds * known[n].rows);
    is_about("ns per element", figures_of(record, name, "ns_per_element").least, 1e9 * row_seconds / DIM);
    const double rate = figures_of(record, name, "bytes_per_second").most, full = DIM * sizeof(float) / row_seconds;
    hold(rate <= 1.001 * full && rate >= full / 1.3, "bytes per second: at most %.6g of %.6g", rate, full);
  }
  json_decref(record);
}

static void test_plans(void) {
  json_t *record = bench(&plans, 10, 64, 1u << BENCH_HOT | 1u << BENCH_FIRST | 1u << BENCH_PLAN, 1e-4);
  const double execute = 10 * row_seconds;
  is_about("hot, without the plan", figures_of(record, "hot/10x64/plans", "real_time").least, 1e9 * execute);
  is_about("plan alone", figures_of(record, "plan/10x64/plans", "real_time").least, 1e9 * plan_seconds);
  is_about("first, with the plan", figures_of(record, "first/10x64/plans", "real_time").least,
           1e9 * (plan_seconds + execute));
  is_about("and its plan", figures_of(record, "first/10x64/plans", "plan_share").least_product, 1e9 * plan_seconds);
  json_decref(record);
}

/* Tests that all slices of a long pass are timed, one after another. */
static void test_slices(void) {
  enum { ROWS = SEEN };
  json_t *record = bench(&waits, ROWS, 2, 1u << BENCH_HOT, 1e-4);
  const double timed = figures_of(record, "hot/10000x2/waits", "rows_timed").most;
  const int64_t rows = timed > 0 ? (int64_t)timed : 0;
  int64_t slices = 0;
  for (int64_t row = 0; rows > 0 && row + rows <= ROWS; row += rows) slices += seen->rows[row];
  hold(rows > 0 && ROWS / rows >= 4 && slices == ROWS / rows, "slices of %d rows that were timed: %d of %d", (int)rows,
       (int)slices, rows ? (int)(ROWS / rows) : 0);
  /* A slice is so long that a busy machine may add any time. */
  const double seconds = 1e-9 * figures_of(record, "hot/10000x2/waits", "real_time").least;
  hold(seconds >= ROWS * row_seconds, "the time of the whole table is told: %.3f s", seconds);
  json_decref(record);
}

/* Tests that the figure is the mean of all calls, not the smallest. */
static void test_uneven(void) {
  json_t *record = bench(&uneven, 1, 64, 1u << BENCH_HOT, 20 * row_seconds);
  is_about("every tenth call is slow", figures_of(record, "hot/1x64/uneven", "real_time").least, 1.9e9 * row_seconds);
  json_decref(record);
}

static void test_limit(void) {
  json_t *once = bench(&fills, 512, 128, 1u << BENCH_HOT, 5e-5);
  json_t *thrice = bench(&fills_thrice, 512, 128, 1u << BENCH_HOT, 5e-5);
  const figures share = figures_of(once, "hot/512x128/fills", "of_limit"),
                third = figures_of(thrice, "hot/512x128/fills-thrice", "of_limit");
  hold(share.most > 0.4 && share.least < 1.3, "memset is %.3f to %.3f of the limit", share.least, share.most);
  hold(third.most > 0.4 / 3 && third.least < 1.3 / 3, "three of them %.3f to %.3f", third.least, third.most);
  json_decref(once);
  json_decref(thrice);
}

static double device_seconds;

/* Takes so long on the host that an iteration is a repetition. */
static EXECUTE(work_on_device) {
  device_seconds += 1e-6 * (double)rows;
  wait_for(4e-6 * (double)rows);
}

static bool stay_there(void) {
  return true;
}

static double device_busy(void) {
  const double seconds = device_seconds;
  device_seconds = 0;
  return seconds;
}

static double device_rate(bool scales, size_t bytes) {
  return scales ? 0 : 1e6 * (double)bytes;
}

/* Tests that a kernel on a device is timed by the clock of the device, beside its limit, and in no memory of the
   host's. */
static void test_device(void) {
  bench_device device = {NULL, stay_there, device_busy, device_rate};
  const posenc_kernel works = {.name = "works", .execute = work_on_device, .threaded = true};
  on_device = &device;
  json_t *record = bench(&works, 512, 128, (1u << BENCH_MODES) - 1, 1e-4);
  on_device = NULL;
  const figures element = figures_of(record, "hot/512x128/works", "ns_per_element"),
                most = figures_of(record, "hot/512x128/works", "limit_bytes_per_second"),
                threads = figures_of(record, "hot/512x128/works", "threads_limit_bytes_per_second");
  is_about("the device's ns per element", element.least, 1000.0 / 128);
  is_about("at most", element.most, 1000.0 / 128);
  hold(most.least == 1e6 * 512 * 128 * 4, "its limit is %g bytes per second", most.least);
  hold(!(threads.most > 0), "it has no limit of threads");
  size_t i, others = 0;
  json_t *one;
  json_array_foreach(json_object_get(record, "benchmarks"), i, one) {
    const char *name = json_string_value(json_object_get(one, "name"));
    others += strncmp(name, "hot/", 4) != 0 && strncmp(name, "plan/", 5) != 0;
  }
  hold(i > 0 && others == 0, "%zu timings are of the modes hot and plan", i);
  json_decref(record);
}

/* Tests that the limit of several threads is measured for a kernel of several threads. */
static void test_threads(void) {
  posenc_kernel threaded = fills;
  threaded.threaded = true;
  json_t *serial = bench(&fills, 512, 128, 1u << BENCH_HOT, 5e-5),
         *several = bench(&threaded, 512, 128, 1u << BENCH_HOT, 5e-5);
  const double none = figures_of(serial, "hot/512x128/fills", "threads_limit_bytes_per_second").most,
               least = figures_of(several, "hot/512x128/fills", "threads_limit_bytes_per_second").least,
               share = figures_of(several, "hot/512x128/fills", "of_limit").least;
  const int all = environment_processors(), threads = all < THREADS ? all : THREADS;
  hold(!(none > 0), "a serial kernel has one limit");
  hold((least > 0) == (threads > 1), "a kernel of %d threads has %s", threads, least > 0 ? "two" : "one");
  hold(share < 1.3, "and at least %.3f of the larger one", share);
  json_decref(serial);
  json_decref(several);
}

/* Tests that reading evicted lines takes several times as long. */
static void test_cold(void) {
  static const posenc_kernel *const kernels[] = {&reads_constants, &reads_table};
  for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++) {
    char name[64];
    json_t *record = bench(kernels[n], 512, 128, 1u << BENCH_HOT | 1u << BENCH_COLD, 1e-6);
    snprintf(name, sizeof name, "hot/512x128/%s", kernels[n]->name);
    const double hot = figures_of(record, name, "real_time").least;
    snprintf(name, sizeof name, "cold/512x128/%s", kernels[n]->name);
    const double cold = figures_of(record, name, "real_time").least;
    hold(cold > 2.5 * hot, "%s: %.0f us cold, %.0f us hot", kernels[n]->name, 1e-3 * cold, 1e-3 * hot);
    json_decref(record);
  }
}

static void test_fresh(void) {
  json_t *record = bench(&fills_new_pages, 512, 128, 1u << BENCH_FRESH, 1e-4);
  const double time = figures_of(record, "fresh/512x128/fills-new-pages", "real_time").middle;
  hold(time < 1e9 * 0.1, "fresh memory has new pages: %.1f ms", 1e-6 * time);
  json_decref(record);
}

/* Tests that a run whose results are compared with exact values, by references that use OpenMP, starts no thread here:
   workers of a later run could not use OpenMP. */
static void test_no_threads(void) {
  is_checked = true;
  json_decref(bench(posenc_kernel_find("cr-portable"), 64, 512, 1u << BENCH_HOT, 1e-5));
  is_checked = false;
  int threads = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) threads += task->d_name[0] != '.';
  if (tasks) closedir(tasks);
  hold(threads <= 1, "a run leaves %d threads", threads);
}

/* Counts the running threads of this process, without the first one. */
static int running_threads(void) {
  int running = 0;
  DIR *tasks = opendir("/proc/self/task");
  for (struct dirent *task; tasks && (task = readdir(tasks));) {
    char path[300], state = '?';
    snprintf(path, sizeof path, "/proc/self/task/%.200s/stat", task->d_name);
    const int number = atoi(task->d_name); /* 0: .. */
    FILE *file = number == 0 || number == getpid() ? NULL : fopen(path, "r");
    if (file && fscanf(file, "%*d %*s %c", &state) == 1) running += state == 'R';
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return running;
}

/* Returns the number of running threads after a limit of two threads that follows a region of OpenMP, in a process of
   its own. */
static int rest(void) {
  static _Alignas(64) unsigned char buffer[1 << 20];
  limit filling = {.buffer = buffer, .bytes = sizeof buffer, .cached = true};
  double rate = limit_rate(&filling, 2);
#pragma omp parallel num_threads(2)
  wait_for(0.0);
  rate += limit_rate(&filling, 2);
  const struct timespec moment = {0, 1000000};
  nanosleep(&moment, NULL);
  return rate > 0 ? running_threads() : -1;
}

/* Tests that neither the threads of a limit nor OpenMP's spin beside the kernel that is timed next. gcc's OpenMP spins
   for ever with the policy that is set here; LLVM's, which nothing stops then, 200 ms with its own. */
static void test_rest(void) {
  const pid_t child = fork();
  if (child == 0) {
#ifdef HAVE_KMP_SET_BLOCKTIME
    unsetenv("OMP_WAIT_POLICY");
#else
    setenv("OMP_WAIT_POLICY", "active", 1);
#endif
    execl("/proc/self/exe", "stopwatch", "rest", (char *)NULL);
    _exit(99);
  }
  int status = -1;
  waitpid(child, &status, 0);
  hold(status == 0, "no thread of a limit or of OpenMP runs after it");
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "rest") == 0) return rest();
  seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (seen == MAP_FAILED) return 99;
  static void (*const tests[])(void) = {test_waits, test_plans,   test_slices,       test_uneven,
                                        test_limit, test_threads, test_device,       test_cold,
                                        test_fresh, test_rest,    test_whole_passes, test_no_threads};
  /* An emulator adds its own time, is told by posenc doctor, and runs no /proc/self/exe. */
  char emulator[ENVIRONMENT_TEXT];
  const bool emulated = environment_emulator(emulator);
  for (size_t n = 0; n < sizeof tests / sizeof *tests; n++) {
    if (emulated && (tests[n] == test_waits || tests[n] == test_plans || tests[n] == test_rest))
      skip(tests[n] == test_rest ? "threads that spin" : "known times", "an emulator runs it");
    else
      attempt(tests[n]);
  }
  return tap_done();
}

#else

int main(void) {
  skip("times of kernels of known cost", "this build has no Google Benchmark");
  return tap_done();
}

#endif
