/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "common/clock.h"
#include "verify/variants.h"

#include "common/random.h"
#include "verify/probe.h"

#include <inttypes.h>
#include <math.h>
#include <sched.h>
#include <string.h>

/* Checks calls at every address that the element type allows around the beginning of a page, and next to the guard
   pages on either side. */
void check_alignment(stress *t) {
  enum { ROWS = 5, LINE = 64, PAGE = 4096 };
  for (int n = 0; n < VARIANT_DIMS; n++) {
    const posenc_problem p = variant_problem(t, ROWS, variant_dim(t, n));
    probe r;
    if (!probe_open(&r, t, &p, true)) continue;
    const int64_t rows = 1 + n % ROWS;
    for (size_t offset = 0; offset < 2 * LINE; offset += posenc_dtype_bytes(p.dtype))
      probe_compare(&r, ALIGNMENT, 0, rows, t->one, arena_place_off(t->one, r.row_bytes * (size_t)rows, offset));
    for (int64_t some = 1; some <= ROWS; some++) {
      const size_t bytes = r.row_bytes * (size_t)some;
      probe_compare(&r, ALIGNMENT, ROWS - some, some, t->one, arena_place_first(t->one, bytes));
      probe_compare(&r, ALIGNMENT, 0, some, t->one, arena_place(t->one, bytes, true));
      for (size_t before = posenc_dtype_bytes(p.dtype); before <= LINE; before *= 2)
        probe_compare(&r, ALIGNMENT, 0, some, t->one, arena_place_off(t->one, bytes, PAGE - before));
    }
    probe_close(&r);
  }
}

/* Compares rows of a large call, which has written them at `all`, with a call for them alone. */
static void compare_piece(probe *r, int64_t row, int64_t some, int64_t rows, const unsigned char *all) {
  stress *t = r->t;
  const size_t bytes = r->row_bytes * (size_t)some;
  unsigned char *piece = arena_place(t->one, bytes, false);
  probe_run(r, row, some, t->one, piece);
  t->s->checks[CALL_SIZE].compared += some * row_width(&r->of.problem);
  if (memcmp(piece, all + r->row_bytes * (size_t)row, bytes) != 0)
    check_break(&t->s->checks[CALL_SIZE], t->s, &r->of.problem,
                "a call of %" PRId64 " rows has other bits from p = %" PRId64 " on", rows, r->of.problem.first + row);
}

/* Makes a call of many rows, and compares some of them with calls of few rows. Returns the seconds of all calls. */
static double try_large_call(probe *r, int64_t rows, const arena *large, unsigned char *all) {
  enum { PIECES = 6, FEW = 4 };
  const double start = clock_thread_seconds();
  stress_say("calls of many rows");
  probe_run(r, 0, rows, large, all);
  for (int n = 0; n < PIECES; n++) {
    const int64_t some = least(FEW, rows), last = rows - some,
                  row = n == 0   ? 0
                        : n == 1 ? last
                                 : (int64_t)random_below(r->t->random, (uint64_t)last + 1);
    compare_piece(r, row, some, rows, all);
  }
  return clock_thread_seconds() - start;
}

/* Checks more than 2^8, 2^12, 2^16 and 2^20 rows with few columns, all of them against calls for a part. Each number
   takes 16 times as long as the one before, or 256 times for a kernel that computes each row from the first one on; so
   it is left out if it may take too long when the time grows as it last did. */
static bool check_many_rows(stress *t) {
  enum { ROWS = (1 << 20) + (1 << 18), TIMES = 16, PART = STRESS_ROWS - 5, PAIRS = 2 };
  posenc_problem p = variant_problem(t, ROWS, 2 * (1 + (int64_t)random_below(t->random, PAIRS)));
  probe r;
  p.heads = 1;
  if (p.op == POSENC_ROPE) p.inverse = random_below(t->random, 2);
  if (t->apply_known || !probe_open(&r, t, &p, false)) return true;
  arena *large = arena_create(r.row_bytes * (size_t)ROWS);
  double seconds = 0.0, growth = TIMES;
  for (int octave = 8; large && octave <= 20 && !subject_takes_long(growth * seconds); octave += 4) {
    const int64_t least_rows = (INT64_C(1) << octave) + 1,
                  rows = least_rows + (int64_t)random_below(t->random, (uint64_t)least_rows / 4);
    unsigned char *all = arena_place(large, r.row_bytes * (size_t)rows, false);
    const double taken = try_large_call(&r, rows, large, all);
    if (seconds > 0.0) growth = fmax(TIMES, taken / seconds);
    seconds = taken;
    for (int64_t row = 0; row < rows; row += PART) compare_piece(&r, row, least(PART, rows - row), rows, all);
  }
  const bool enough = large;
  probe_close(&r);
  arena_destroy(large);
  return enough;
}

/* Checks every number of rows up to 64; then calls that are four times as large as the one before, also off alignment
   except for the largest, or the two largest of a slow kernel. */
bool check_call_sizes(stress *t) {
  enum { ROWS = 64, WIDTH = 1024 };
  posenc_problem p = variant_done(t, ROWS, 0);
  probe r;
  if (probe_open(&r, t, &p, true)) {
    for (int64_t rows = 1; rows <= ROWS; rows++)
      probe_compare(&r, CALL_SIZE, ROWS - rows, rows, t->one, arena_place(t->one, r.row_bytes * (size_t)rows, true));
    probe_close(&r);
  }
  if (!check_many_rows(t)) return false;
  const size_t element = posenc_dtype_bytes(p.dtype), row_bytes = WIDTH * element,
               most = (size_t)(p.dtype == POSENC_F32 ? 64 : 16) << 20; /* large enough for streaming stores */
  p = variant_problem(t, (int64_t)(most / row_bytes) + 1, p.op == POSENC_ROPE ? WIDTH / 8 : WIDTH);
  if (p.op == POSENC_ROPE) p.heads = 8;
  if (t->apply_known || !probe_open(&r, t, &p, false)) return true; /* no larger calls reach the kernel then */
  arena *large = arena_create((size_t)p.rows * row_bytes);
  /* The seconds of the call before, at most twice the limit; the next call takes four times as long. It may be the
     first with streaming stores, so it is made in a build with a sanitizer, too, which is ten times as slow. */
  double seconds = 0.0;
  for (size_t bytes = row_bytes; large && bytes <= most && !subject_takes_long(seconds / 2.0); bytes *= 4) {
    const int64_t rows = (int64_t)(bytes / row_bytes) + 1;
    const size_t placed = row_bytes * (size_t)rows;
    seconds = try_large_call(&r, rows, large, arena_place(large, placed, false));
    if (bytes < most && !subject_takes_long(seconds))
      try_large_call(&r, rows, large, arena_place_off(large, placed, element));
  }
  const bool enough = large;
  probe_close(&r);
  arena_destroy(large);
  return enough;
}

/* Checks rows one after another, as decoding needs them; then single rows anywhere in the domain, some of them by a
   plan of their own. */
void check_decoding(stress *t) {
  const int64_t steps = 1 << 13, plans = 128, draws = 8;
  posenc_problem p = variant_done(t, steps, (int)random_below(t->random, VARIANT_DIMS));
  probe r;
  if (probe_open(&r, t, &p, true)) {
    stress_say("one row after another");
    const double start = clock_thread_seconds();
    for (int64_t row = 0; row < steps && (row % 64 || !subject_takes_long(clock_thread_seconds() - start)); row++)
      probe_compare(&r, DECODING, row, 1, t->one,
                    arena_place_off(t->one, r.row_bytes, (size_t)row * 4 * posenc_dtype_bytes(p.dtype) % 256));
    probe_close(&r);
  }
  int64_t firsts[FIRSTS];
  const int count = variant_firsts(t, firsts);
  p.rows = FAR_ROWS;
  const double start = clock_thread_seconds();
  for (int64_t n = 0; n < plans && count && !subject_takes_long(clock_thread_seconds() - start); n++) {
    p.first = firsts[random_below(t->random, (uint64_t)count)];
    if (!probe_open(&r, t, &p, true)) continue;
    for (int64_t draw = 0; draw < draws; draw++)
      probe_compare(&r, DECODING, (int64_t)random_below(t->random, FAR_ROWS), 1, t->one,
                    arena_place(t->one, r.row_bytes, true));
    probe_close(&r);
  }
}

/* Checks the same few rows many times. The environment is checked at intervals. */
void check_endurance(stress *t) {
  enum { ROWS = 64, DIM = 8, HEADS = 3, AT_A_TIME = 1 << 12 };
  const int64_t calls = 1 << 17;
  const posenc_problem p = variant_problem(t, ROWS, DIM);
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  check *c = &t->s->checks[ENDURANCE];
  double out[3 * HEADS * DIM];
  const double start = clock_thread_seconds();
  for (int64_t done = 0; done < calls && !subject_takes_long(clock_thread_seconds() - start); done += AT_A_TIME) {
    stress_say("a long run of calls");
    subject_begin_calls();
    for (int64_t n = done; n < done + AT_A_TIME; n++) {
      const int64_t row = n % (ROWS - 3), rows = 1 + n % 3;
      probe_call(&r, r.s.plan, row, rows, (unsigned char *)out);
      if (memcmp(out, r.rows + r.row_bytes * (size_t)row, r.row_bytes * (size_t)rows) != 0)
        check_break(c, t->s, &p, "other bits in call %" PRId64 ", at p = %" PRId64, n + 1, p.first + row);
    }
    c->compared += AT_A_TIME * 2 * row_width(&p);
    subject_end_calls(t->s, p.first);
  }
  probe_close(&r);
}

/* Checks calls with the thread bound to one CPU after the other. */
void check_cpus(stress *t) {
  enum { ROWS = 40 };
  const posenc_problem p = variant_done(t, ROWS, 5);
  cpu_set_t all, one;
  probe r;
  if (sched_getaffinity(0, sizeof all, &all) != 0) {
    t->s->checks[CPUS].skip = "the system does not tell the CPUs of a thread";
    return;
  }
  if (!probe_open(&r, t, &p, true)) return;
  stress_say("each CPU");
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) continue;
    probe_compare(&r, CPUS, 0, ROWS, t->one, arena_place(t->one, r.row_bytes * ROWS, false));
  }
  sched_setaffinity(0, sizeof all, &all);
  probe_close(&r);
}
