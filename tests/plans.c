/* SPDX-License-Identifier: MIT */
/* Tests plans of posenc.h: the rows of a call, their stages, and threads that share a plan. */
#include "common/memory.h"
#include "tests/kernel.h"
#include "tests/library.h"

#include <dirent.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- rows ---- */

static void test_execute(void) {
  enum { ROWS = 100, DIM = 24 };
  posenc_problem problem = posenc_table(ROWS, DIM);
  problem.padding = 7;
  posenc_plan *plan = plan_by(NULL, &problem);
  float table[ROWS * DIM], row[DIM];
  if (!ok(plan != NULL, "a plan")) return;
  CHECK(posenc_execute(plan, 0, ROWS, table) == POSENC_OK);
  bool same = true, zero = true;
  for (int r = 0; r < ROWS; r++) {
    posenc_execute(plan, r, 1, row);
    same = same && memcmp(row, table + r * DIM, sizeof row) == 0;
    for (int c = 0; c < DIM; c++) zero = zero && (r == 7) == (row[c] == 0.0f) + (r == 0 && c % 2 == 0 ? -1 : 0);
  }
  ok(same, "every row alone has the bits that it has in the table");
  ok(zero, "the padding row is zero, and nothing else but sin 0");
  ok(table[0] == 0.0f && table[1] == 1.0f && table[DIM] == (float)0x1.aed548f090ceep-1, "sin 0, cos 0 and sin 1");
  ok(posenc_execute(plan, ROWS, 0, NULL) == POSENC_OK, "no rows: nothing is touched");
  CHECK(posenc_execute(plan, -1, 1, row) == POSENC_BAD_ARGUMENT);
  CHECK(posenc_execute(plan, 0, ROWS + 1, table) == POSENC_BAD_ARGUMENT);
  CHECK(posenc_execute(plan, ROWS, 1, row) == POSENC_BAD_ARGUMENT);
  CHECK(posenc_execute(plan, 1, INT64_MAX, table) == POSENC_BAD_ARGUMENT);
  CHECK(posenc_execute(plan, 0, 1, NULL) == POSENC_BAD_ARGUMENT);
  CHECK(posenc_execute(NULL, 0, 1, row) == POSENC_BAD_ARGUMENT);
  CHECK(posenc_plan_problem(plan)->dim == DIM);
  posenc_plan_destroy(plan);
}

static void test_layouts(void) {
  enum { ROWS = 5, DIM = 10 };
  float want[ROWS * DIM], table[ROWS * DIM];
  for (int layout = POSENC_INTERLEAVED; layout <= POSENC_SPLIT_CS; layout++) {
    posenc_problem problem = posenc_table(ROWS, DIM);
    problem.layout = (posenc_layout)layout;
    bool same = make_table(NULL, &problem, table);
    if (layout == POSENC_INTERLEAVED) memcpy(want, table, sizeof want);
    for (int r = 0; r < ROWS; r++)
      for (int i = 0; i < DIM / 2; i++) {
        const int sine[] = {2 * i, 2 * i + 1, i, DIM / 2 + i}, cosine[] = {2 * i + 1, 2 * i, DIM / 2 + i, i};
        same = same && table[r * DIM + sine[layout]] == want[r * DIM + 2 * i] &&
               table[r * DIM + cosine[layout]] == want[r * DIM + 2 * i + 1];
      }
    ok(same, "layout %d is a permutation of columns", layout);
  }
}

/* Tests that add and rope request rows from the kernel in blocks of anchors, [32 n - 16, 32 n + 16), so that no kernel
   computes an anchor twice. */
static struct { int64_t from, to; } asked[16];
static int asked_count;
static EXECUTE(note_rows) {
  if (asked_count < 16) {
    asked[asked_count].from = problem->first + row;
    asked[asked_count++].to = problem->first + row + rows;
  }
  memset(out, 0, (size_t)(rows * problem->dim) * sizeof(float));
}

static void test_blocks(void) {
  enum { ROWS = 100, DIM = 8, FIRST = -20 };
  static const int64_t blocks[][2] = {{-20, -16}, {-16, 16}, {16, 48}, {48, 80}}, index[] = {7, 8, 9, 9, 20, 21, 5},
                       runs[][2] = {{7, 10}, {9, 10}, {20, 22}, {5, 6}};
  static float x[ROWS * DIM];
  posenc_kernel kernel = *posenc_kernel_find("naive");
  kernel.execute = note_rows;
  kernel.prepare = NULL;
  kernel.release = NULL;
  posenc_problem problem = posenc_add(ROWS, DIM);
  problem.first = FIRST;
  for (int by_index = 0; by_index < 2; by_index++) {
    posenc_slice slice = posenc_rows(0, by_index ? sizeof index / sizeof *index : ROWS);
    slice.index = by_index ? index : NULL;
    asked_count = 0;
    bool right = apply_rows(&kernel, &problem, &slice, x, x) && asked_count == 4;
    for (int n = 0; n < 4 && right; n++)
      right = by_index ? asked[n].from == FIRST + runs[n][0] && asked[n].to == FIRST + runs[n][1]
                       : asked[n].from == blocks[n][0] && asked[n].to == blocks[n][1];
    ok(right, "rows for add are made in %s: %d calls", by_index ? "runs of successive rows" : "blocks of anchors",
       asked_count);
  }
}

/* ---- stages ---- */

/* Tests the frequency and phase of a pair, which f32 recipes have within (2 |ln w| + 5) × 2^-24 < 2e-6 of w and of p
   for w >= 1e-4 (see div-term.c), and its sine and cosine. */
static bool is_pair(const posenc_stages *got, double frequency, double position, const float *pair) {
  const double turns = round((got->phase.high - position * frequency) / 6.283185307179586);
  return fabs(got->frequency.high - frequency) <= 2e-6 * frequency &&
         fabs(got->phase.high - turns * 6.283185307179586 - position * frequency) <= 2e-6 * position &&
         (float)got->sine.high == pair[0] && (float)got->cosine.high == pair[1];
}

enum { STAGE_ROWS = 40, STAGE_DIM = 20, STAGE_PAIRS = STAGE_DIM / 2 };

static void test_stages(const posenc_kernel *kernel) {
  const posenc_stages none = {.frequency = {0.0, 0.0}};
  posenc_problem problem = posenc_table(STAGE_ROWS, STAGE_DIM);
  problem.first = 5;
  problem.padding = 9;
  posenc_plan *plan = plan_or_skip(kernel->name, kernel, &problem);
  if (!plan) return;
  float table[STAGE_ROWS * STAGE_DIM];
  posenc_stages stages[STAGE_ROWS * STAGE_PAIRS];
  int right = 0;
  posenc_execute(plan, 0, STAGE_ROWS, table);
  const bool given =
      posenc_plan_stages(plan, 3, STAGE_ROWS - 3, stages + 3 * STAGE_PAIRS) && posenc_plan_stages(plan, 0, 3, stages);
  for (int at = 0; given && at < STAGE_ROWS * STAGE_PAIRS; at++) {
    const int row = at / STAGE_PAIRS, index = at % STAGE_PAIRS;
    right += row == 4 ? memcmp(&stages[at], &none, sizeof none) == 0
                      : is_pair(&stages[at], pow(10000.0, (double)-index / STAGE_PAIRS), 5.0 + row, table + 2 * at);
  }
  ok(right == STAGE_ROWS * STAGE_PAIRS, "%s: the stages of %d of %d pairs", kernel->name, right,
     STAGE_ROWS * STAGE_PAIRS);
  CHECK(posenc_plan_stages(plan, 7, 0, NULL));
  CHECK(!posenc_plan_stages(plan, STAGE_ROWS, 1, stages));
  CHECK(!posenc_plan_stages(plan, -1, 1, stages));
  CHECK(!posenc_plan_stages(plan, 0, STAGE_ROWS + 1, stages));
  CHECK(!posenc_plan_stages(plan, 0, 1, NULL));
  posenc_plan_destroy(plan);
}

/* Tests that a team of threads runs the serial kernel with the same bound, not a more accurate one. */
static void test_team_stages(void) {
  static posenc_stages stages[2][STAGE_ROWS * STAGE_PAIRS];
  static const char *const names[] = {"rotation-portable", "rotation-threads"},
                           what[] = "rotation-threads has the stages of rotation-portable";
  const posenc_problem problem = posenc_table(STAGE_ROWS, STAGE_DIM);
  for (int n = 0; n < 2; n++) {
    posenc_plan *plan = plan_or_skip(what, posenc_kernel_find(names[n]), &problem);
    if (!plan) return;
    posenc_plan_stages(plan, 0, STAGE_ROWS, stages[n]);
    posenc_plan_destroy(plan);
  }
  ok(memcmp(stages[0], stages[1], sizeof stages[0]) == 0, "%s", what);
}

static void test_no_stages(void) {
  const posenc_problem problem = posenc_table(4, 4);
  posenc_kernel kernel = *posenc_kernel_find("rotation-portable");
  posenc_stages stages[2];
  kernel.stages = NULL;
  posenc_plan *plan = plan_by(&kernel, &problem);
  ok(!posenc_plan_stages(plan, 0, 1, stages), "a kernel may have no stages");
  posenc_plan_destroy(plan);
}

/* Tests elements whose exact sine or cosine is within 2^-53 of 1 or -1. Rotations give more than 1, which only f64
   could represent. */
static void test_within_one(const posenc_kernel *kernel) {
  static const int64_t positions[] = {80143857, 245850922, 122925461};
  for (size_t n = 0; n < sizeof positions / sizeof *positions; n++) {
    posenc_problem problem = posenc_table(1, 2);
    double pair[2] = {2.0, 2.0};
    char what[80];
    problem.dtype = POSENC_F64;
    problem.first = positions[n];
    snprintf(what, sizeof what, "%s: no element beyond 1 at position %d", kernel->name, (int)positions[n]);
    posenc_plan *plan = plan_or_skip(what, kernel, &problem);
    if (!plan) continue;
    posenc_execute(plan, 0, 1, pair);
    ok(fabs(pair[0]) <= 1.0 && fabs(pair[1]) <= 1.0, "%s", what);
    posenc_plan_destroy(plan);
  }
}

/* ---- places of rows ---- */

/* Tables whose vectors are stored at cache lines, wherever they begin, and tables of other widths. Each has a row with
   position 0. */
static posenc_problem place_of(int n) {
  static const int64_t rows[] = {2, 20, 70}, dims[] = {32, 64, 80, 100, 1056};
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_F16, POSENC_BF16, POSENC_F32,
                                        POSENC_F64, POSENC_F16, POSENC_BF16, POSENC_F64};
  posenc_problem problem = posenc_table(rows[n % 3], dims[n % 5]);
  problem.first = -1 - n % 11;
  problem.dtype = dtypes[n % 8];
  problem.layout = (posenc_layout)(n % 7 % 4);
  return problem;
}

/* Counts the places, up to a cache line on, where the table or the bytes beside it are wrong. */
static int wrong_places(const posenc_plan *plan, const unsigned char *want, size_t bytes, unsigned char *room) {
  enum { LINE = 64, MARK = 0x55 };
  const posenc_problem *problem = posenc_plan_problem(plan);
  int wrong = 0;
  for (size_t place = LINE; place <= (size_t)2 * LINE; place += posenc_dtype_bytes(problem->dtype)) {
    memset(room, MARK, bytes + (size_t)3 * LINE);
    posenc_execute(plan, 0, problem->rows, room + place);
    bool same = memcmp(room + place, want, bytes) == 0;
    for (size_t i = 0; i < bytes + (size_t)3 * LINE; i++)
      same = same && (room[i] == MARK || (i >= place && i < place + bytes));
    wrong += !same;
  }
  return wrong;
}

/* Tests all places that the element type allows, with both kinds of stores; streaming instructions need whole
   vectors. */
static void test_places(const posenc_kernel *kernel) {
  enum { PROBLEMS = 140, MOST = 70 * 1056 * 8 };
  static _Alignas(64) unsigned char room[MOST + 3 * 64], want[MOST];
  int wrong = 0, made = 0;
  for (int n = 0; n < PROBLEMS; n++) {
    const posenc_problem problem = place_of(n);
    posenc_options options = options_by(kernel);
    options.stores = n % 2 ? POSENC_STORES_STREAMING : POSENC_STORES_REGULAR;
    posenc_plan *plan;
    if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) continue;
    posenc_execute(plan, 0, problem.rows, want);
    wrong += wrong_places(plan, want, (size_t)(problem.rows * problem.dim) * posenc_dtype_bytes(problem.dtype), room);
    made++;
    posenc_plan_destroy(plan);
  }
  if (made)
    ok(wrong == 0, "%s: the same bits of %d tables wherever they go, and nothing beside them; %d differ", kernel->name,
       made, wrong);
  else
    skip(kernel->name, posenc_kernel_refusal(kernel, NULL, NULL));
}

static void test_kept_bytes(void) {
  const posenc_kernel *cached = posenc_kernel_find("cached");
  const posenc_problem most = posenc_table(1 << 18, 1 << 10), more = posenc_table((1 << 18) + 1, 1 << 10);
  ok(!posenc_kernel_refusal(cached, &most, NULL), "a plan of cached may keep 1 GiB");
  ok(posenc_kernel_refusal(cached, &more, NULL), "and no more");
}

/* ---- plans, shared and released ---- */

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

static void test_shared_plan(const posenc_kernel *kernel) {
  const posenc_problem problem = posenc_table(SHARED_ROWS, SHARED_DIM);
  const size_t bytes = sizeof(float) * SHARED_ROWS * SHARED_DIM;
  posenc_plan *plan = plan_or_skip(kernel->name, kernel, &problem);
  if (!plan) return;
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
  ok(same, "%s: %d threads share one plan", kernel->name, THREADS);
  free(alone);
  posenc_plan_destroy(plan);
}

/* Counts the constants that were prepared and released: once each. */
static int prepared, released;
static PREPARE(count_prepare) {
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
  const posenc_problem problem = posenc_table(4, 4);
  posenc_plan_destroy(plan_by(&kernel, &problem));
  ok(prepared == 1 && released == 1, "prepared %d times, released %d times", prepared, released);
}

/* ---- large tables: one call writes more than 2^31 bytes, so that no offset may be cut to 32 bits ---- */

enum { LARGE_ROWS = 33000, LARGE_DIM = 16384 };

static void test_beyond_2_gib(const char *name, float *table) {
  static const int64_t rows[] = {0, 16384, 32767, 32768, LARGE_ROWS - 1};
  static float row[LARGE_DIM];
  const posenc_problem problem = posenc_table(LARGE_ROWS, LARGE_DIM);
  char what[80];
  snprintf(what, sizeof what, "%s: more than 2^31 bytes in one call", name);
  if (!table) {
    skip(what, "too little memory is free");
    return;
  }
  posenc_plan *plan = plan_or_skip(what, posenc_kernel_find(name), &problem);
  if (!plan) return;
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

/* Returns the bytes that are free, at most half of a container's limit. */
static double free_bytes(void) {
  const double of_machine = (double)sysconf(_SC_AVPHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
  double limit = INFINITY;
  FILE *file = fopen("/sys/fs/cgroup/memory.max", "r");
  if (file && fscanf(file, "%lf", &limit) != 1) limit = INFINITY; /* "max" */
  if (file) fclose(file);
  return fmin(of_machine, limit / 2.0);
}

static void test_large(void) {
  const size_t bytes = (size_t)LARGE_ROWS * LARGE_DIM * sizeof(float);
  const double available = free_bytes();
  float *table = bytes <= PTRDIFF_MAX && available > 1.5 * (double)bytes ? malloc(bytes) : NULL;
  test_beyond_2_gib("rotation-portable", table);
  test_beyond_2_gib("rotation-avx512", table);
  test_beyond_2_gib("rotation-threads", table);
  free(table);
}

/* ---- threads ---- */

static int count_tasks(void) {
  int count = -2;
  DIR *tasks = opendir("/proc/self/task");
  while (tasks && readdir(tasks)) count++;
  if (tasks) closedir(tasks);
  return count;
}

/* The largest number of threads of a sanitizer or an emulator. */
static int foreign = SANITIZED;

/* Counts the threads of this process after rotation-threads made `rows` rows of 1 KiB with `threads` threads. */
static int count_team(int threads, int64_t rows) {
  const posenc_problem problem = posenc_table(rows, 256);
  posenc_options options = options_by(posenc_kernel_find("rotation-threads"));
  posenc_plan *plan;
  options.threads = threads;
  float *table = malloc((size_t)rows << 10);
  int count = 0;
  if (table && posenc_plan_create(&plan, &problem, &options) == POSENC_OK) {
    posenc_execute(plan, 0, rows, table);
    count = count_tasks();
    posenc_plan_destroy(plan);
    for (int n = 0; n < 1000 && count_tasks() > 1 + foreign; n++) usleep(10000); /* they end by themselves */
  }
  free(table);
  return count;
}

static void test_used_threads(void) {
  const int most = 4 * (int)sysconf(_SC_NPROCESSORS_ONLN);
  if (count_tasks() <= 0) {
    skip("threads of rotation-threads", "no /proc");
    return;
  }
  if (count_tasks() - 1 > foreign) foreign = count_tasks() - 1;
  int count = count_team(3, 127);
  ok(count >= 1 && count <= 1 + foreign, "for a table of less than 128 KiB it has one thread: %d", count);
  count = count_team(3, 16384); /* enough rows to start threads (team.c) */
  ok(count >= 3 && count <= 3 + foreign, "asked for 3, it has %d", count);
  count = count_team(most + 100, (most + 100) * 128);
  ok(count >= 3 && count <= most + foreign, "asked for %d, it has at most %d: %d", most + 100, most, count);
  ok(count_tasks() <= 1 + foreign, "they end with their plans");
}

/* ---- memory that runs out in a call ---- */

static volatile bool no_memory;

#if !SANITIZED
/* Replaces the C library's function, also in libposenc. */
void *aligned_alloc(size_t alignment, size_t size) {
  void *memory;
  return !no_memory && posix_memalign(&memory, alignment, size) == 0 ? memory : NULL;
}
#endif

/* Whether the function above is that of the library, too. Memcheck puts its own in its place. */
static bool can_take_memory(void) {
  no_memory = true;
  void *memory = posenc_alloc(64);
  no_memory = false;
  posenc_free(memory);
  return !memory;
}

/* Tests that rows of 64 KiB are not made on the stack, in any thread. */
static void test_no_memory(const posenc_kernel *kernel) {
  enum { ROWS = 64, DIM = 16384 };
  posenc_problem problem = posenc_rope(ROWS, 1, DIM);
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = 2;
  posenc_plan *plan;
  if (SANITIZED || kernel->keeps_rows || posenc_plan_create(&plan, &problem, &options) != POSENC_OK) return;
  if (!can_take_memory()) {
    skip("rope without memory says so", "the allocator is not that of this test");
    posenc_plan_destroy(plan);
    return;
  }
  float *x = calloc((size_t)ROWS * DIM, sizeof *x);
  const posenc_slice slice = posenc_rows(0, ROWS);
  no_memory = true;
  const posenc_status without = posenc_apply(plan, &slice, x, x);
  no_memory = false;
  ok(x && without == POSENC_OUT_OF_MEMORY && posenc_apply(plan, &slice, x, x) == POSENC_OK,
     "%s: rope without memory says so, and with it is done", kernel->name);
  free(x);
  posenc_plan_destroy(plan);
}

int main(void) {
  unsetenv("POSENC_ISA");
  test_used_threads();
  test_execute();
  test_layouts();
  test_blocks();
  each_kernel(test_stages);
  test_team_stages();
  test_no_stages();
  each_kernel(test_shared_plan);
  each_kernel(test_within_one);
  each_kernel(test_places);
  each_kernel(test_no_memory);
  test_kept_bytes();
  test_release();
  test_large();
  return tap_done();
}
