/* SPDX-License-Identifier: MIT */
#include "verify/leaks.h"

#include "verify/probe.h"

#include <inttypes.h>
#include <string.h>

/* The first row; by a plan of its own, and by the one there is. Returns how many bytes that plan has left. */
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

/* One row, two, three, and all. */
static size_t make_rows(probe *r) {
  const int64_t all = r->of.problem.rows, counts[] = {1, 2, 3, all};
  subject_begin_calls();
  for (int n = 0; n < 4; n++)
    probe_call(r, r->s.plan, 0, counts[n], arena_place(r->t->one, r->row_bytes * (size_t)counts[n], false));
  subject_end_calls(r->t->s, r->of.problem.first);
  return 0;
}

static uint64_t growth(uint64_t before, uint64_t after) {
  return after > before ? after - before : 0;
}

static void keep_least(uint64_t *least, uint64_t value) {
  if (value < *least) *least = value;
}

/* Calls `work`, which returns the bytes that a plan has left, in blocks. Memory that is allocated once, in the first
 * blocks, is no leak. */
static void check_growth(probe *r, const char *what, int times, size_t (*work)(probe *r)) {
  enum { BLOCKS = 5, SETTLED = 2 };
  const double most = 0.1; /* CPU seconds */
  check *c = &r->t->s->checks[LEAK];
  uint64_t allocated = UINT64_MAX, mapped = UINT64_MAX, left = UINT64_MAX;
  const double start = subject_seconds();
  work(r);
  const double affordable = most / BLOCKS / (subject_seconds() - start);
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

void check_leaks(stress *t) {
  const posenc_problem p = variant_done(t, 40, 5);
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  stress_say("the same calls again and again");
  check_growth(&r, "times some calls", 512, make_rows);
  check_growth(&r, "plans", 128, make_plan);
  probe_close(&r);
}

/* A plan may keep things until it ends. Threads that a threaded kernel leaves are not waited for. */
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
