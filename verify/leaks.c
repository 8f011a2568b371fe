/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/leaks.h"

#include "common/clock.h"
#include "common/fpenv.h"
#include "verify/probe.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

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
