/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/timed-subject.h"

#include "common/clock.h"
#include "common/environment.h"
#include "common/number.h"
#include "common/process.h"
#include "common/work.h"

#include <math.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* A pass that takes longer than slow_pass_seconds is timed a slice at a time. */
static const double slow_pass_seconds = 0.1;
static const double slice_seconds = 0.05;

static bool is_applied(const timed_subject *s) {
  return op_is_applied(s->shape->problem.op);
}

/* Returns the number of elements at one position of a table, or of one sequence of x. */
static int64_t row_elements(const timed_subject *s) {
  return row_elements_of(&s->shape->problem);
}

static size_t row_bytes(const timed_subject *s) {
  return (size_t)row_elements(s) * posenc_dtype_bytes(s->shape->problem.dtype);
}

static int64_t all_rows(const timed_subject *s) {
  return s->shape->problem.rows;
}

/* Makes rows of a table, or of both tables of a rope cache, which are adjacent and have `all` rows each. */
static posenc_status make(const posenc_plan *plan, const timed_subject *s, unsigned char *memory, int64_t all,
                          int64_t place, int64_t row, int64_t rows) {
  const size_t bytes = row_bytes(s);
  if (s->shape->problem.op != POSENC_ROPE_CACHE) return posenc_execute(plan, row, rows, memory + (size_t)place * bytes);
  unsigned char *const cosines = memory + (size_t)place * bytes / 2;
  return posenc_rope_cache(plan, row, rows, cosines, cosines + (size_t)all * bytes / 2);
}

/* Makes rows of the table, or applies those rows to every sequence of x, in place. x stays finite: a sum grows by at
   most 1, and a rotation keeps the length of a pair. later: how many of the plan's rows are before those of memory. */
static posenc_status execute_by(const posenc_plan *plan, int64_t later, const timing *t, int64_t row, int64_t rows) {
  const timed_subject *s = t->subject;
  unsigned char *place = t->memory + (size_t)row * row_bytes(s);
  if (!is_applied(s)) return make(plan, s, t->memory, all_rows(s), row, later + row, rows);
  posenc_slice slice = posenc_rows(later + row, rows);
  slice.batch = s->batch;
  slice.stride = all_rows(s) * row_elements(s);
  return posenc_apply(plan, &slice, place, place);
}

static posenc_status execute(const timing *t, int64_t row, int64_t rows) {
  return execute_by(t->subject->plans[t->plan], t->subject->later[t->plan], t, row, rows);
}

static void choose_plan(timing *t) {
  t->plan = (t->begin + t->step * t->number) & (t->of - 1); /* a power of two */
}

/* Passes to the next call: to the next plan and slice; after a pass, to the next plan for the first slice. */
static void advance(timing *t) {
  t->next++;
  if (++t->number == t->plans) t->number = 0;
  if (t->rows * ++t->slice > all_rows(t->subject) - t->rows) { /* all slices have the same size */
    t->slice = 0;
    if (++t->pass_number == t->plans) t->pass_number = 0;
    t->number = t->pass_number;
  }
  choose_plan(t);
}

/* Lets all plans take turns. */
static void use_all_plans(timing *t) {
  t->step = 1;
  t->of = t->plans = t->subject->plan_count;
}

/* ---- the modes --------------------------------------------------------------------------------- */

static posenc_status work_hot(timing *t) {
  const posenc_status status = execute(t, t->slice * t->rows, t->rows);
  advance(t);
  return status;
}

static bool prepare_cold(limit *l) {
  const timed_subject *s = ((const timing *)l->arg)->subject;
  isolate_go_on(); /* a slot evicts a dozen times, which takes seconds on a busy machine with a large cache */
  evict(s->evictor, s->buffer, s->bytes);
  return true;
}

static posenc_status work_whole(timing *t) {
  const posenc_status status = execute(t, 0, t->rows);
  advance(t);
  return status;
}

/* Whether an iteration of a slow table is a slice. */
static bool is_sliced(bench_mode mode) {
  return mode == BENCH_HOT || mode == BENCH_OFFSET;
}

/* Whether each iteration has new memory. */
static bool mode_allocates(bench_mode mode) {
  return mode == BENCH_FRESH || mode == BENCH_MALLOC;
}

/* Returns the size that posenc_alloc uses, which makes sure that no other table shares the last huge page. */
static size_t fresh_bytes(size_t bytes) {
  const size_t huge = (size_t)1 << 21;
  return bytes < huge / 2 ? bytes : (bytes + huge - 1) & ~(huge - 1);
}

/* Gives all free pages back to the system, as malloc keeps freed memory up to some size. */
static void forget_pages(unsigned char *memory, size_t bytes) {
#ifdef __linux__
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped = -(uintptr_t)memory & (page - 1);
  if (bytes > skipped) madvise(memory + skipped, (bytes - skipped) & ~(page - 1), MADV_DONTNEED);
#else
  (void)memory, (void)bytes;
#endif
}

/* Allocates new memory. malloc gives a large table pages of its own, and the table begins 16 bytes past the first
   one. */
static bool prepare_new(limit *l) {
  timing *t = l->arg;
  const bool by_malloc = t->mode == BENCH_MALLOC;
  const size_t bytes = by_malloc ? t->subject->bytes : fresh_bytes(t->subject->bytes);
  timing_rest(t);
  l->buffer = t->memory = by_malloc ? malloc(bytes) : posenc_alloc(bytes);
  if (t->memory) forget_pages(t->memory, bytes);
  return t->memory;
}

static posenc_status work_first(timing *t) {
  const timed_subject *s = t->subject;
  posenc_plan *plan;
  const double start = clock_seconds();
  posenc_status status = posenc_plan_create(&plan, &s->problems[t->plan], &s->options);
  if (status != POSENC_OK) return status;
  const double made = clock_seconds();
  status = execute_by(plan, 0, t, 0, t->rows);
  const double executed = clock_seconds();
  posenc_plan_destroy(plan);
  t->plan_seconds += made - start + clock_seconds() - executed;
  advance(t);
  return status;
}

/* Makes a row of the table, or applies it to one position of every sequence, at the beginning of the buffer. */
static posenc_status execute_one(const timed_subject *s, const posenc_plan *plan, int64_t row) {
  if (!is_applied(s)) return make(plan, s, s->buffer, 1, 0, row, 1);
  posenc_slice slice = posenc_rows(0, 1);
  slice.index = &row;
  slice.batch = s->batch;
  return posenc_apply(plan, &slice, s->buffer, s->buffer);
}

/* Makes a single row. The next row depends on a byte of this one, so that no two are computed at once. No element is so
   large that the byte is 0x7f, but the compiler does not know that. */
static posenc_status work_row(timing *t) {
  const timed_subject *s = t->subject;
  const posenc_status status = execute_one(s, s->plans[t->plan], s->later[t->plan] + t->draws[t->next % DRAWS]);
  t->next += 1 + (s->buffer[row_bytes(s) - 1] == 0x7f);
  if (++t->number == t->plans) t->number = 0;
  choose_plan(t);
  return status;
}

static posenc_status work_plan(timing *t) {
  posenc_plan *plan;
  const posenc_status status = posenc_plan_create(&plan, &t->subject->problems[t->plan], &t->subject->options);
  posenc_plan_destroy(plan);
  advance(t);
  return status;
}

posenc_status timing_show(timing *t, int plan, int64_t row, int64_t rows) {
  const timed_subject *s = t->subject;
  posenc_plan *made;
  posenc_status status = posenc_plan_create(&made, &s->problems[plan], &s->options);
  if (status != POSENC_OK) return status;
  status = execute_by(made, 0, t, row, rows);
  posenc_plan_destroy(made);
  return status;
}

int64_t timing_slices(const timing *t) {
  return is_sliced(t->mode) ? all_rows(t->subject) / t->rows : 1;
}

void timing_begin(timing *t, const slot_terms *terms) {
  t->next = 0;
  t->slice = slot_slice(terms, 0);
  t->begin = (int)((terms->seed >> 32) % (uint64_t)terms->of);
  t->step = terms->step;
  t->of = terms->of;
  t->plans = terms->plans;
  t->pass_number = (int)(terms->from / terms->slices % terms->plans);
  t->number = (int)((t->slice + t->pass_number) % t->plans);
  choose_plan(t);
  t->plan_seconds = 0;
  if (t->mode == BENCH_ROW) slot_draw_rows(terms->seed, all_rows(t->subject), t->draws, DRAWS);
}

static const struct {
  bool (*prepare)(limit *l); /* null if there is no preparation */
  posenc_status (*work)(timing *t);
  bool whole; /* works on whole tables */
} modes[BENCH_MODES] = {
    [BENCH_HOT] = {NULL, work_hot, false},           [BENCH_COLD] = {prepare_cold, work_whole, true},
    [BENCH_FRESH] = {prepare_new, work_whole, true}, [BENCH_MALLOC] = {prepare_new, work_whole, true},
    [BENCH_OFFSET] = {NULL, work_hot, false},        [BENCH_FIRST] = {NULL, work_first, true},
    [BENCH_ROW] = {NULL, work_row, false},           [BENCH_PLAN] = {NULL, work_plan, false},
};

int timing_threads(const timing *t) {
  const timed_subject *s = t->subject;
  if (!s->kernel->threaded || s->device) return 1;
  const int asked = s->options.threads, all = environment_processors();
  return asked > 0 && asked < all ? asked : all;
}

void timing_place(timing *t) {
  if (mode_allocates(t->mode)) return;
  t->memory = t->subject->buffer + (t->mode == BENCH_OFFSET ? BENCH_OFFSET_BYTES : 0);
  t->limit.buffer = t->memory;
}

bool timing_allocates(const timing *t) {
  return mode_allocates(t->mode);
}

region timing_region(const timing *t) {
  const timed_subject *s = t->subject;
  const bool is_row = t->mode == BENCH_ROW;
  return region_of(&s->shape->problem, s->batch, is_row ? 1 : all_rows(s), is_row ? 0 : t->slice * t->rows, t->rows);
}

bool timing_has_preparation(const timing *t) {
  return modes[t->mode].prepare;
}

posenc_status timing_prepare(timing *t) {
  return !modes[t->mode].prepare || modes[t->mode].prepare(&t->limit) ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

posenc_status timing_work(timing *t) {
  return modes[t->mode].work(t);
}

/* Returns a number of rows that any kernel makes in a few milliseconds. */
static int64_t few_rows(const timed_subject *s) {
  const int64_t few = 65536 / (row_elements(s) * s->batch);
  return few < 1 ? 1 : least(few, all_rows(s));
}

/* Runs the work once without timing it. The limit measured before leaves the memory in the caches, where a streaming
   kernel would be slow the first time; afterwards the state is the kernel's own. With many iterations that is
   negligible. */
void timing_wake(timing *t) {
  enum { MANY = 16 };
  timing awake = *t;
  const bool is_own = is_sliced(t->mode) && t->iterations < MANY;
  if (!is_own) awake.memory = t->subject->buffer;
  if (is_own) execute(&awake, 0, few_rows(t->subject));
  awake.number = (t->number + t->plans - 1) % t->plans;
  choose_plan(&awake); /* the first call finds another plan's rows */
  execute(&awake, is_own ? t->slice * t->rows : 0, is_own ? t->rows : few_rows(t->subject));
  awake.plan = t->plan;
  if (!is_own) execute(&awake, 0, few_rows(t->subject));
}

void timing_rest(timing *t) {
  if (!mode_allocates(t->mode)) return;
  if (t->mode == BENCH_MALLOC)
    free(t->memory);
  else
    posenc_free(t->memory);
  t->memory = NULL;
}

/* ---- approximate times of work ----------------------------------------------------------------- */

/* Returns the shortest time of work that gives a reliable speed. Threads that wait for a busy core take milliseconds,
   for any number of rows. */
static double telling_seconds(const timed_subject *s) {
  return s->kernel->threaded ? 0.05 : 0.01;
}

/* Measures the seconds of an iteration with its preparation: the best of some, as other work on the machine only adds
   time. A long iteration is timed once. */
static posenc_status time_best(timing *t, double *best) {
  double all = 0;
  *best = INFINITY;
  for (int i = 0; i < 3 && all < telling_seconds(t->subject); i++) {
    const double start = clock_seconds();
    posenc_status status = timing_prepare(t);
    if (status == POSENC_OK) status = timing_work(t);
    if (status != POSENC_OK) return status;
    const double seconds = clock_seconds() - start;
    *best = fmin(*best, seconds);
    all += seconds;
  }
  return POSENC_OK;
}

/* Returns the number of rows that should take `wanted` seconds, but at most 64 times as many as were timed. */
static int64_t more_rows(int64_t rows, double seconds, double wanted, int64_t most) {
  const double more = (double)rows * fmin(fmax(1.2 * wanted / seconds, 2), 64);
  return more < (double)most ? (int64_t)more : most;
}

posenc_status subject_predict(timed_subject *s) {
  const int64_t rows = all_rows(s);
  const double telling = telling_seconds(s);
  timing part = {.subject = s, .mode = BENCH_HOT, .memory = s->buffer};
  double seconds;
  use_all_plans(&part);
  for (part.rows = few_rows(s);; part.rows = more_rows(part.rows, seconds, telling, rows), part.slice = 0) {
    const posenc_status status = time_best(&part, &seconds);
    if (status != POSENC_OK) return status;
    if (seconds >= telling || part.rows == rows) break;
  }
  s->pass = seconds * (double)rows / (double)part.rows;
  return POSENC_OK;
}

bool mode_suits(const posenc_problem *problem, bench_mode mode) {
  return !mode_allocates(mode) || !op_is_applied(problem->op);
}

bool mode_suits_kernel(const timed_subject *s, bench_mode mode) {
  return !s->device || mode == BENCH_HOT || mode == BENCH_PLAN;
}

/* Whether making a plan writes much memory: a plan that holds all rows writes them to fresh memory, at a tenth of the
   speed of touched memory. */
static bool fills_much(const timed_subject *s, bench_mode mode) {
  static const size_t much = (size_t)64 << 20;
  return mode == BENCH_PLAN && s->kernel->keeps_rows && s->bytes > much;
}

bool timing_takes_long(const timed_subject *s, bench_mode mode, double longest) {
  return (modes[mode].whole && s->pass > longest) || fills_much(s, mode);
}

/* ---- setting up -------------------------------------------------------------------------------- */

/* Whether the kernel makes that problem. */
static bool makes(const timed_subject *s, const posenc_problem *problem) {
  return !posenc_problem_refusal(problem) && !posenc_kernel_refusal(s->kernel, problem, &s->options);
}

/* Returns the problem of the rows of all plans. */
static posenc_problem rows_of_all(const timed_subject *s) {
  posenc_problem all = s->problems[0];
  if (s->plan_count > 1) all.rows += slot_reach(all.rows);
  return all;
}

bool subject_vary(timed_subject *s, uint64_t seed) {
  int64_t shifts[SLOT_PLANS];
  const posenc_problem *problem = &s->shape->problem;
  slot_shifts(seed, problem->rows, shifts);
  s->plan_count = s->kernel->keeps_rows ? 2 : SLOT_PLANS;
  bool all = !s->device; /* of a list of positions, all but the first are bad problems */
  for (int p = 0; p < SLOT_PLANS; p++) {
    posenc_problem *const one = &s->problems[p];
    *one = *problem;
    all = all && !__builtin_add_overflow(problem->first, shifts[p], &one->first) && makes(s, one);
    s->later[p] = s->kernel->keeps_rows ? shifts[p] : 0;
  }
  const posenc_problem whole = rows_of_all(s);
  all = all && (!s->kernel->keeps_rows || makes(s, &whole));
  if (!all) s->plan_count = 1;
  return all;
}

/* Makes a plan, and measures its time and memory. */
static posenc_status make_plan(timed_subject *s, int number) {
  const posenc_problem problem = s->kernel->keeps_rows ? rows_of_all(s) : s->problems[number];
  const process_memory before = process_memory_read();
  const double start = clock_seconds();
  const posenc_status status = posenc_plan_create(&s->plans[number], &problem, &s->options);
  s->plan_seconds = clock_seconds() - start;
  const process_memory after = process_memory_read();
  s->plan_bytes = after.mapped > before.mapped ? after.mapped - before.mapped : 0;
  if (after.allocated > before.allocated) s->plan_bytes = after.allocated - before.allocated;
  return status;
}

posenc_status subject_prepare(timed_subject *s) {
  posenc_status status = POSENC_OK;
  if (s->kernel->keeps_rows) { /* one plan has the rows of both */
    status = make_plan(s, 0);
    isolate_go_on();
    for (int p = 1; p < s->plan_count; p++) s->plans[p] = s->plans[0];
    return status;
  }
  for (int p = s->plan_count - 1; status == POSENC_OK && p >= 0; p--) {
    status = make_plan(s, p);
    isolate_go_on();
  }
  if (status == POSENC_OK) { /* a crash at a plan's end is found before the timings */
    posenc_plan_destroy(s->plans[0]);
    status = make_plan(s, 0);
  }
  return status;
}

void subject_release(timed_subject *s) {
  for (int p = 0; p < SLOT_PLANS; p++)
    if (p == 0 || s->plans[p] != s->plans[0]) posenc_plan_destroy(s->plans[p]);
}

static int64_t rows_of_iteration(const timed_subject *s, bench_mode mode) {
  if (mode == BENCH_ROW) return 1;
  if (is_sliced(mode) && s->call_rows > 0) return s->call_rows < all_rows(s) ? s->call_rows : all_rows(s);
  if (!is_sliced(mode) || s->pass <= slow_pass_seconds) return all_rows(s);
  return all_rows(s) / (int64_t)fmin(ceil(s->pass / slice_seconds), (double)all_rows(s));
}

/* Estimates the seconds of an iteration. The preparation is left out if the work alone fills a repetition. */
static posenc_status predict_iteration(timing *t, double min_time, double *seconds) {
  const timed_subject *s = t->subject;
  *seconds = s->pass * (double)t->rows / (double)all_rows(s);
  const bool is_known = is_sliced(t->mode) || (modes[t->mode].whole && *seconds >= min_time);
  return is_known ? POSENC_OK : time_best(t, seconds);
}

posenc_status timing_set_up(timing *t, const timed_subject *s, bench_mode mode, size_t last_cache_bytes,
                            double min_time) {
  *t = (timing){.subject = s, .mode = mode, .rows = rows_of_iteration(s, mode)};
  use_all_plans(t);
  if (mode == BENCH_ROW) slot_draw_rows(0, all_rows(s), t->draws, DRAWS);
  const size_t row = row_bytes(s) * (size_t)s->batch;
  const size_t each = mode == BENCH_ROW ? row : s->bytes, bytes = mode == BENCH_PLAN ? 0 : each;
  timing_place(t);
  t->limit = (limit){
      is_applied(s), t->memory, bytes, .cached = bytes <= last_cache_bytes, .prepare = modes[mode].prepare, .arg = t};
  double seconds;
  const posenc_status status = predict_iteration(t, min_time, &seconds);
  timing_rest(t);
  t->iterations = (int64_t)fmin(fmax(ceil(min_time / seconds), 1), 1e9);
  t->seconds = (double)t->iterations * seconds;
  return status;
}
