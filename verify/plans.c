/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/clock.h"
#include "common/number.h"
#include "common/process.h"
#include "verify/stress.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>

enum { ALIVE = 32, DIM_MOST = 32 };

/* Compares the rows of this plan again, in a result that ends at the guard pages. */
static void compare_all(probe *r) {
  const int64_t rows = r->of.problem.rows;
  probe_compare(r, PLANS, 0, rows, r->t->one, arena_place(r->t->one, r->row_bytes * (size_t)rows, true));
}

/* Compares a plan made in the memory of one that was destroyed, which the C library reuses. Sealed memory is never
   reused. */
static void compare_anew(probe *r) {
  const posenc_problem *problem = &r->of.problem;
  posenc_options options = r->t->options;
  posenc_plan *plan;
  options.kernel = r->s.kernel;
  if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) return;
  const size_t bytes = r->row_bytes * (size_t)problem->rows;
  unsigned char *out = arena_place(r->t->one, bytes + r->row_bytes, false), *first = out + bytes;
  probe_call(r, plan, 0, 1, first);
  probe_call(r, plan, 0, problem->rows, out);
  posenc_plan_destroy(plan);
  subject_begin_calls();
  subject_end_calls(r->t->s, problem->first);
  if (memcmp(out, r->rows, bytes) != 0 || memcmp(first, r->rows, r->row_bytes) != 0)
    check_break(&r->t->s->checks[PLANS], r->t->s, problem,
                "other bits in a plan that was made after another had ended");
}

/* Creates and destroys a plan without rows, and makes a call for no rows. */
static void check_empty(stress *t, const posenc_problem *like) {
  posenc_problem empty = *like;
  probe r;
  empty.rows = 0;
  if (!probe_open(&r, t, &empty, false)) return;
  probe_run(&r, 0, 0, t->one, arena_place(t->one, 0, true));
  probe_close(&r);
}

static void shuffle(const stress *t, int *order, int count) {
  for (int n = count; n > 1; n--) {
    const int other = (int)random_below(t->random, (uint64_t)n), last = order[n - 1];
    order[n - 1] = order[other];
    order[other] = last;
  }
}

/* ---- problems that differ in one member each ---- */

typedef struct problems {
  posenc_problem of[ALIVE];
  int count;
  double factors[DIM_MOST / 2]; /* of longrope */
} problems;

/* Adds a copy of the first problem, which the caller changes. */
static posenc_problem *add_like(problems *all) {
  assert(all->count < ALIVE);
  all->of[all->count] = all->of[0];
  return &all->of[all->count++];
}

/* Adds every scaling with unusual parameters and with a scale. That finds kernels that have the usual parameters built
   in, or ignore one of the two. */
static void add_scalings(problems *all) {
  const posenc_scaling none = posenc_scaling_none();
  const posenc_scaling scalings[] = {
      {.kind = POSENC_SCALING_LINEAR, .factor = 2.7},
      {.kind = POSENC_SCALING_DYNAMIC, .factor = 1.7, .original = 300, .length = 1000},
      {.kind = POSENC_SCALING_DYNAMIC, .factor = 1.7, .original = 300, .length = 100},
      {.kind = POSENC_SCALING_YARN, .factor = 3.3, .original = 700, .low = 1.3, .high = 21.7},
      {.kind = POSENC_SCALING_YARN, .factor = 3.3, .original = 700, .low = 1.3, .high = 21.7, .truncate = true},
      {.kind = POSENC_SCALING_LLAMA3, .factor = 5.1, .original = 700, .low = 1.7, .high = 11.3},
      {.kind = POSENC_SCALING_LONGROPE, .factor = 1.9, .original = 700, .factors = all->factors},
  };
  for (int i = 0; i < DIM_MOST / 2; i++) all->factors[i] = 1.1 + 0.3 * i;
  for (size_t n = 0; n < 2 * (sizeof scalings / sizeof *scalings); n++) {
    posenc_problem *p = add_like(all);
    p->shift = 0.0;
    p->scaling = scalings[n / 2];
    p->scaling.attention = 1.0;
    if (n % 2) p->scale = 0.3;
  }
  if (all->of[0].scaling.kind != POSENC_SCALING_NONE) add_like(all)->scaling = none;
}

/* Adds values that neither a float nor an int can hold, and large ones. */
static void add_changes(problems *all, const stress *t) {
  const posenc_problem like = all->of[0];
  add_like(all)->base = like.base * 3.0 + 7.0;
  add_like(all)->layout = variant_layout(like.op, (int)like.layout + 1);
  if (like.dim > 16 || !like.scaling.factors) add_like(all)->dim = like.dim > 16 ? like.dim - 8 : like.dim + 8;
  add_like(all)->first = least(1000, t->s->bound.max_position / 2);
  add_like(all)->base = 31.0;
  add_like(all)->base = 82684.8765;
  add_like(all)->base = 1.6e8;
  add_like(all)->shift = like.shift == 1.0 ? 0.0 : 1.0;
  add_like(all)->shift = 0.5;
  add_like(all)->scale = like.scale == 0.3 ? 1.0 : 0.3;
  add_like(all)->scale = 1000.0;
  add_like(all)->rows = 1;
  for (posenc_dtype dtype = POSENC_F32; dtype <= POSENC_BF16; dtype++)
    if (dtype != like.dtype) add_like(all)->dtype = dtype;
}

/* Checks plans of problems that differ in one member each. They exist at the same time, and are destroyed one after the
   other. */
void check_plans(stress *t) {
  /* Plans are destroyed and created in random order: in a fixed order each might get the same memory again. */
  enum { ROWS = 9, ROUNDS = 3, ANEW = 8 };
  const int64_t dim = 2 * (4 + (int64_t)random_below(t->random, 12));
  problems p = {.of = {variant_problem(t, ROWS, dim)}, .count = 1};
  probe r[ALIVE];
  int order[ALIVE];
  bool open[ALIVE];
  add_changes(&p, t);
  add_scalings(&p);
  stress_say("plans of other problems");
  for (int n = 0; n < p.count; n++) {
    order[n] = n;
    open[n] = !posenc_problem_refusal(&p.of[n]) && probe_open(&r[n], t, &p.of[n], true);
    if (!open[n]) continue;
    fast_oracle *reference = variant_reference(&p.of[n]);
    variant_examine(t, &r[n].s, reference, PLANS);
    fast_destroy(reference);
  }
  for (int round = 0; round < ROUNDS; round++) {
    shuffle(t, order, p.count);
    for (int n = 0; n < p.count; n++)
      if (open[order[n]]) compare_all(&r[order[n]]);
  }
  for (int round = 0; round < ANEW; round++) {
    shuffle(t, order, p.count);
    for (int n = 0; n < p.count; n++)
      if (open[order[n]]) compare_anew(&r[order[n]]);
  }
  for (int n = 0; n < p.count; n++) {
    if (open[order[n]]) probe_close(&r[order[n]]);
    for (int k = n + 1; k < p.count; k++)
      if (open[order[k]]) compare_all(&r[order[k]]);
  }
  check_empty(t, &p.of[0]);
}

/* Checks that can_do, prepare, execute and apply do not write to the problem, options and slice, not even between their
   members. */
void check_const(stress *t) {
  const posenc_kernel *kernel = t->s->kernel;
  const posenc_problem whole = variant_done(t, 4, 3);
  struct {
    posenc_problem table, applied_to;
    posenc_options options;
    posenc_slice slice;
  } given = {posenc_table_of(&whole), whole, t->options, posenc_rows(0, 4)}, before;
  probe r;
  void *constants = NULL;
  given.options.kernel = kernel;
  given.slice.stride = 4 * whole.heads * whole.dim;
  memcpy(&before, &given, sizeof given); /* an assignment need not copy what is between members */
  if (posenc_attention(&whole) != 1.0 || !probe_open(&r, t, &whole, false)) return;
  if (kernel->can_do) kernel->can_do(&given.table);
  if (!kernel->prepare || kernel->prepare(&given.table, &given.options, &constants) == POSENC_OK) {
    unsigned char *out = arena_place(t->one, 4 * (size_t)(whole.heads * whole.dim) * sizeof(double), false);
    kernel->execute(constants, &given.table, 0, 4, out);
    if (r.x && kernel->apply) kernel->apply(constants, &given.applied_to, &given.slice, r.x, out);
    if (kernel->release) kernel->release(constants);
    subject_begin_calls();
    subject_end_calls(t->s, whole.first);
  }
  probe_close(&r);
  t->s->checks[READ_ONLY].compared++;
  if (memcmp(&given, &before, sizeof given) != 0)
    check_break(&t->s->checks[READ_ONLY], t->s, &whole,
                "the problem, the options or the slice it was given are written to");
}

/* ---- memory that plans leave, and the state of the process ----------------------------------------------------- */

/* Makes the first row, by a new plan and by the subject's plan. Returns how many bytes the new plan left allocated. */
static size_t make_plan(probe *r) {
  posenc_plan *plan;
  if (subject_plan(&r->s, &r->of.problem, &plan) != POSENC_OK) return 0;
  unsigned char *out = arena_place(r->t->one, r->row_bytes, false);
  subject_begin_calls();
  probe_call(r, plan, 0, 1, out);
  subject_end_calls(r->t->s, r->of.problem.first);
  if (memcmp(out, r->rows, r->row_bytes) != 0)
    check_break(&r->t->s->checks[PLANS], r->t->s, &r->of.problem, "other bits in one of many plans");
  return subject_drop(plan);
}

/* Makes one row, two, three, and all. */
static size_t make_rows(probe *r) {
  const int64_t all = r->of.problem.rows, counts[] = {1, 2, 3, all};
  subject_begin_calls();
  for (int n = 0; n < 4; n++)
    probe_call(r, r->s.plan, 0, counts[n], arena_place(r->t->one, r->row_bytes * (size_t)counts[n], false));
  subject_end_calls(r->t->s, r->of.problem.first);
  return 0;
}

/* Makes all rows, which need not fit an arena. */
static size_t make_all(probe *r) {
  subject_begin_calls();
  probe_call(r, r->s.plan, 0, r->of.problem.rows, r->rows);
  subject_end_calls(r->t->s, r->of.problem.first);
  return 0;
}

static void *call_briefly(void *argument) {
  enum { ROWS = 3 };
  const probe *r = argument;
  probe_call(r, r->s.plan, 0, ROWS, r->rows);
  fpenv_restore(); /* single calls check whether it is unchanged */
  return NULL;
}

/* Makes few rows in a thread that ends after them; in this thread if no other can be created. */
static size_t make_thread(probe *r) {
  pthread_t thread;
  subject_begin_calls();
  if (pthread_create(&thread, NULL, call_briefly, r) == 0)
    pthread_join(thread, NULL);
  else
    call_briefly(r);
  subject_end_calls(r->t->s, r->of.problem.first);
  return 0;
}

static uint64_t growth(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

static void keep_least(uint64_t *least, uint64_t value) {
  if (value < *least) *least = value;
}

/* Calls `work`, which returns the bytes that a plan has left, in blocks, for at most about `seconds` CPU seconds.
   Memory that is allocated once, in the first blocks, is not a leak. With threads, nor is what malloc keeps for a
   driver's thread that frees such a block for the first time: while each block has growth, more blocks follow. */
static void check_growth(probe *r, const char *what, int times, double seconds, size_t (*work)(probe *r)) {
  enum { BLOCKS = 5, MOST_BLOCKS = 25, SETTLED = 2 };
  check *c = &r->t->s->checks[LEAK];
  uint64_t allocated = UINT64_MAX, mapped = UINT64_MAX, left = UINT64_MAX;
  const double start = clock_thread_seconds();
  work(r);
  const double affordable = seconds / BLOCKS / (clock_thread_seconds() - start);
  if (affordable < times) times = affordable > 1.0 ? (int)affordable : 1;
  const int most = r->t->s->kernel->threaded ? MOST_BLOCKS : BLOCKS;
  int block = 0;
  for (; block < BLOCKS || (block < most && allocated + mapped + left > 0); block++) {
    const process_memory before = process_memory_read();
    uint64_t remains = 0;
    for (int n = 0; n < times; n++) remains += work(r);
    const process_memory after = process_memory_read();
    if (block < SETTLED) continue;
    keep_least(&allocated, growth(before.allocated, after.allocated));
    keep_least(&mapped, growth(before.mapped, after.mapped));
    keep_least(&left, remains);
  }
  c->compared += block * times;
  if (allocated + mapped + left > 0)
    check_break(c, r->t->s, &r->of.problem, "%d %s leave %" PRIu64 " bytes allocated, and %" PRIu64 " more are mapped",
                times, what, allocated + left, mapped);
}

/* Checks few rows. */
static void check_short(stress *t) {
  const double seconds = 0.05;
  const posenc_problem p = variant_done(t, 40, 5);
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  check_growth(&r, "times some calls", 256, seconds, make_rows);
  check_growth(&r, "plans", 64, seconds, make_plan);
  /* A threaded kernel's own threads may end later than the thread that called it. */
  if (!t->s->kernel->threaded) check_growth(&r, "calls by as many threads", 8, seconds, make_thread);
  probe_close(&r);
}

/* Checks wide rows and many rows, with regular and with streaming stores. */
static void check_large(stress *t) {
  enum { WIDE = 512, NARROW = 16, FEW = 8, MANY = 1024 };
  const double seconds = 0.01;
  const posenc_problem wide = variant_problem(t, FEW, WIDE);
  posenc_problem tall = variant_problem(t, MANY, NARROW);
  const posenc_stores stores = t->options.stores;
  probe r;
  if (probe_open(&r, t, &wide, true)) {
    check_growth(&r, "calls for wide rows", FEW, seconds, make_all);
    check_growth(&r, "wide plans", FEW, seconds, make_plan);
    probe_close(&r);
  }
  tall.heads = 1;
  for (t->options.stores = POSENC_STORES_REGULAR; t->options.stores <= POSENC_STORES_STREAMING; t->options.stores++) {
    if (!probe_open(&r, t, &tall, true)) continue;
    check_growth(&r, "calls for many rows", FEW, seconds, make_all);
    probe_close(&r);
  }
  t->options.stores = stores;
}

void check_leaks(stress *t) {
  stress_say("the same calls again and again");
  check_short(t);
  check_large(t);
}

/* Checks the state of the process. A plan may hold resources until it is destroyed. Threads that a threaded kernel
   leaves behind are not waited for. */
void subject_check_process(subject *s, const process_state *before) {
  const process_state *const few_threads = s->kernel->threaded ? NULL : before;
  process_state *now = process_read(few_threads);
  const char *difference = process_difference(before, now, s->kernel->threaded);
  check *c = &s->checks[PROCESS];
  if (difference) {
    subject_close(s);
    process_free(now);
    now = process_read(few_threads);
    difference = process_difference(before, now, s->kernel->threaded);
    subject_plan(s, &s->shape->problem, &s->plan);
  }
  c->compared++;
  if (difference) check_break(c, s, &s->shape->problem, "%s", difference);
  subject_begin_calls();
  subject_end_calls(s, s->shape->problem.first);
  process_free(now);
}
