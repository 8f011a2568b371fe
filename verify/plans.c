/* SPDX-License-Identifier: MIT */
/* Plans beside one another and one after another, what they are given and what they leave; and the CPUs. */
#include "config.h"

#include "verify/stress.h"

#include "common/clock.h"
#include "verify/applied.h"
#include "verify/seal.h"

#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { ALIVE = 8 };

/* Their rows once more, to the guard. */
static void compare_all(rows_of *r) {
  const int64_t rows = r->of.problem.rows;
  rows_compare(r, PLANS, 0, rows, r->t->one, arena_place(r->t->one, r->row_bytes * (size_t)rows, true));
}

/* A plan that lies where another was that has ended, as the C library has it: which sealed memory never does. */
static void compare_anew(rows_of *r) {
  const posenc_problem *problem = &r->of.problem;
  posenc_options options = r->t->options;
  posenc_plan *plan;
  options.kernel = r->s.kernel;
  if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) return;
  const size_t bytes = r->row_bytes * (size_t)problem->rows;
  unsigned char *out = arena_place(r->t->one, bytes, false);
  rows_call(r, plan, 0, problem->rows, out);
  posenc_plan_destroy(plan);
  subject_begin_calls();
  subject_check_conduct(r->t->s, problem->first);
  if (memcmp(out, r->rows, bytes) != 0)
    check_break(&r->t->s->checks[PLANS], r->t->s, problem,
                "other bits in a plan that was made after another had ended");
}

static void shuffle(const stress *t, int order[ALIVE]) {
  for (int n = ALIVE; n > 1; n--) {
    const int other = (int)random_below(t->random, (uint64_t)n), last = order[n - 1];
    order[n - 1] = order[other];
    order[other] = last;
  }
}

/* Problems that differ in one thing each; all plans are alive at once, and end one after the other. */
bool stress_plans(stress *t) {
  /* Plans are made anew in orders that are drawn: in one order again and again each might get its own place back. */
  enum { ROWS = 9, ROUNDS = 3, ANEW = 16 };
  const int64_t dim = 2 * (4 + (int64_t)random_below(t->random, 12));
  const posenc_problem like = stress_problem(t, ROWS, dim);
  posenc_problem p[ALIVE];
  rows_of r[ALIVE];
  int order[ALIVE];
  bool enough = true, open[ALIVE];
  for (int n = 0; n < ALIVE; n++) {
    p[n] = like;
    order[n] = n;
  }
  p[1].base = like.base * 3.0 + 7.0;
  p[2].layout = stress_layout(like.op, (int)like.layout + 1);
  p[3].dim = dim > 16 ? dim - 8 : dim + 8;
  p[4].first = least(1000, t->s->bound.max_position / 2);
  p[5].base = 31.0;
  p[6].shift = like.shift == 1.0 ? 0.0 : 1.0;
  p[7].scale = like.scale == 0.375 ? 1.0 : 0.375;
  for (int n = 0; n < ALIVE; n++) {
    open[n] = !posenc_problem_refusal(&p[n]) && rows_open(&r[n], t, &p[n], true);
    if (!open[n] || !enough) continue;
    fast_oracle *truth = stress_truth(&p[n]);
    enough = truth && stress_examine(t, &r[n].s, truth, PLANS);
    fast_destroy(truth);
  }
  for (int round = 0; round < ROUNDS; round++) {
    shuffle(t, order);
    for (int n = 0; n < ALIVE; n++)
      if (open[order[n]]) compare_all(&r[order[n]]);
  }
  for (int round = 0; round < ANEW; round++) {
    shuffle(t, order);
    for (int n = 0; n < ALIVE; n++)
      if (open[order[n]]) compare_anew(&r[order[n]]);
  }
  for (int n = 0; n < ALIVE; n++) {
    if (open[order[n]]) rows_close(&r[order[n]]);
    for (int k = n + 1; k < ALIVE; k++)
      if (open[order[k]]) compare_all(&r[order[k]]);
  }
  return enough;
}

/* can_do, prepare, execute and apply get a problem, options and a slice that they may not write to. */
void stress_const(stress *t) {
  const posenc_kernel *kernel = t->s->kernel;
  const posenc_problem whole = stress_problem(t, 4, stress_dim(t, 3)), table = posenc_table_of(&whole);
  posenc_problem given = table, applied_to = whole;
  posenc_options options = t->options;
  posenc_slice slice = posenc_rows(0, 4);
  rows_of r;
  void *constants = NULL;
  options.kernel = kernel;
  const posenc_options same = options;
  slice.stride = 4 * whole.heads * whole.dim;
  const posenc_slice same_slice = slice;
  if (posenc_attention(&whole) != 1.0 || !rows_open(&r, t, &whole, false)) return;
  if (kernel->can_do) kernel->can_do(&given);
  if (!kernel->prepare || kernel->prepare(&given, &options, &constants) == POSENC_OK) {
    unsigned char *out = arena_place(t->one, 4 * (size_t)(whole.heads * whole.dim) * sizeof(double), false);
    kernel->execute(constants, &given, 0, 4, out);
    if (r.x && kernel->apply) kernel->apply(constants, &applied_to, &slice, r.x, out);
    if (kernel->release) kernel->release(constants);
    subject_begin_calls();
    subject_check_conduct(t->s, whole.first);
  }
  rows_close(&r);
  t->s->checks[READ_ONLY].compared++;
  if (memcmp(&given, &table, sizeof table) != 0 || memcmp(&applied_to, &whole, sizeof whole) != 0 ||
      memcmp(&options, &same, sizeof same) != 0 || memcmp(&slice, &same_slice, sizeof slice) != 0)
    check_break(&t->s->checks[READ_ONLY], t->s, &whole,
                "the problem, the options or the slice it was given are written to");
}

/* ---- where and how often ------------------------------------------------------------------------------------ */

/* The thread is bound to one CPU after the other. */
void stress_cpus(stress *t) {
  enum { ROWS = 40 };
  const posenc_problem p = stress_problem(t, ROWS, stress_dim(t, 5));
  cpu_set_t all, one;
  rows_of r;
  if (sched_getaffinity(0, sizeof all, &all) != 0) {
    t->s->checks[CPUS].skip = "the system does not tell the CPUs of a thread";
    return;
  }
  if (!rows_open(&r, t, &p, true)) return;
  stress_say("each CPU");
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) continue;
    rows_compare(&r, CPUS, 0, ROWS, t->one, arena_place(t->one, r.row_bytes * ROWS, false));
  }
  sched_setaffinity(0, sizeof all, &all);
  rows_close(&r);
}

/* The first row; by a plan of its own, and by the one there is. Returns how many bytes that plan has left. */
static size_t make_plan(rows_of *r) {
  posenc_plan *plan;
  if (subject_plan(&r->s, &r->of.problem, &plan) != POSENC_OK) return 0;
  unsigned char *out = arena_place(r->t->one, r->row_bytes, false);
  subject_begin_calls();
  rows_call(r, plan, 0, 1, out);
  subject_check_conduct(r->t->s, r->of.problem.first);
  if (memcmp(out, r->rows, r->row_bytes) != 0)
    check_break(&r->t->s->checks[PLANS], r->t->s, &r->of.problem, "other bits in one of many plans");
  return subject_drop(plan);
}

/* One row, two, three, and all. */
static size_t make_rows(rows_of *r) {
  const int64_t all = r->of.problem.rows, counts[] = {1, 2, 3, all};
  subject_begin_calls();
  for (int n = 0; n < 4; n++)
    rows_call(r, r->s.plan, 0, counts[n], arena_place(r->t->one, r->row_bytes * (size_t)counts[n], false));
  subject_check_conduct(r->t->s, r->of.problem.first);
  return 0;
}

static uint64_t growth(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

static void keep_least(uint64_t *least, uint64_t value) {
  if (value < *least) *least = value;
}

/* Calls `work`, which returns bytes that a plan has left, in blocks. What is allocated once, in the first blocks, is no leak. */
static void check_growth(rows_of *r, const char *what, int times, size_t (*work)(rows_of *r)) {
  enum { BLOCKS = 5, SETTLED = 2, SECONDS = 1 };
  check *c = &r->t->s->checks[LEAK];
  uint64_t allocated = UINT64_MAX, mapped = UINT64_MAX, left = UINT64_MAX;
  const double start = clock_seconds();
  work(r);
  const double affordable = (double)SECONDS / BLOCKS / (clock_seconds() - start);
  if (affordable < times) times = affordable > 1.0 ? (int)affordable : 1;
  for (int block = 0; block < BLOCKS; block++) {
    const process_memory before = process_memory_read();
    uint64_t remains = 0;
    for (int n = 0; n < times; n++) remains += work(r);
    const process_memory after = process_memory_read();
    if (block < SETTLED) continue;
    keep_least(&allocated, growth(before.allocated, after.allocated));
    keep_least(&mapped, growth(before.mapped, after.mapped));
    keep_least(&left, remains);
  }
  c->compared += BLOCKS * times;
  if (allocated + mapped + left > 0)
    check_break(c, r->t->s, &r->of.problem, "%d %s leave %" PRIu64 " bytes allocated, and %" PRIu64 " more are mapped",
                times, what, allocated + left, mapped);
}

void stress_growth(stress *t) {
  const posenc_problem p = stress_problem(t, 40, stress_dim(t, 5));
  rows_of r;
  if (!rows_open(&r, t, &p, true)) return;
  stress_say("the same calls again and again");
  check_growth(&r, "times some calls", 512, make_rows);
  check_growth(&r, "plans", 128, make_plan);
  rows_close(&r);
}

/* What a plan keeps until it ends is not left. Threads that a threaded kernel leaves are not waited for. */
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
  subject_check_conduct(s, s->shape->problem.first);
  process_free(now);
}
