/* SPDX-License-Identifier: MIT */
/* Calls of one plan: with memory that is not new, as it holds right rows but for a few elements, or what another call
   left; with the stack that they take; and with other addresses, numbers of rows and CPUs. */
#include "config.h"

#include "common/clock.h"
#include "common/memory.h"
#include "common/number.h"
#include "verify/stress.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int64_t below(const stress *t, int64_t end) {
  return (int64_t)random_below(t->random, (uint64_t)end);
}

/* ---- memory that is right already ----------------------------------------------------------------------------- */

/* Changes an element: a bit of it, or all. */
static void spoil(const stress *t, unsigned char *element, size_t bytes) {
  if (below(t, 2)) {
    memset(element, below(t, 2) ? ARENA_POISON : 0x3c, bytes);
  } else {
    const int64_t bit = below(t, 8 * (int64_t)bytes);
    element[bit / 8] ^= (unsigned char)(1 << bit % 8);
  }
}

/* Makes calls whose memory holds the right rows but for one to three elements that nobody can predict; every call is
   made several times in the same memory. */
void check_contents(stress *t) {
  enum { ROWS = 40, CALLS = 3, TIMES = 4 };
  for (int n = 0; n < VARIANT_DIMS; n++) {
    const posenc_problem p = variant_problem(t, ROWS, variant_dim(t, n));
    probe r;
    if (!probe_open(&r, t, &p, true)) continue;
    stress_say("memory that holds rows already");
    for (int call = 0; call < CALLS; call++) {
      const int64_t rows = call ? 1 + below(t, ROWS) : 1, row = below(t, ROWS - rows + 1);
      const size_t bytes = r.row_bytes * (size_t)rows, element = posenc_dtype_bytes(p.dtype);
      for (int time = 0; time < TIMES; time++) {
        unsigned char *out = arena_place(t->one, bytes, n % 2);
        memcpy(out, r.rows + r.row_bytes * (size_t)row, bytes);
        for (int64_t wrong = 1 + below(t, 3); wrong > 0; wrong--)
          spoil(t, out + element * (size_t)below(t, rows * row_width(&p)), element);
        probe_compare(&r, MEMORY, row, rows, t->one, out);
      }
    }
    probe_close(&r);
  }
}

/* ---- addresses that were those of others ---------------------------------------------------------------------- */

/* A content of x, the result for it, and the result for that. */
typedef struct content {
  unsigned char *x, *once, *twice;
} content;

static void apply_all(const probe *r, const unsigned char *x, unsigned char *out) {
  const posenc_slice slice = posenc_rows(0, r->of.problem.rows);
  subject_call(r->s.plan, &slice, x, out);
}

/* Calls single rows in place or not, at the same addresses with one content of x and another. */
static void check_other_contents(stress *t, probe *r, content contents[2]) {
  enum { TIMES = 48 };
  const posenc_problem *p = &r->of.problem;
  check *c = &t->s->checks[DECODING];
  for (int n = 0; n < TIMES; n++) {
    const int64_t row = below(t, p->rows);
    const content *mine = &contents[below(t, 2)];
    const size_t at = r->row_bytes * (size_t)row, bytes = r->row_bytes;
    const posenc_slice slice = posenc_rows(row, 1);
    const bool in_place = below(t, 2), again = in_place && below(t, 2);
    unsigned char *x = arena_place(t->other, bytes, true), *out = in_place ? x : arena_place(t->one, bytes, true);
    memcpy(x, mine->x + at, bytes);
    subject_begin_calls();
    subject_call(r->s.plan, &slice, x, out);
    if (again) subject_call(r->s.plan, &slice, x, out);
    subject_end_calls(t->s, p->first + row);
    c->compared += row_width(p);
    if (memcmp(out, (again ? mine->twice : mine->once) + at, bytes) != 0)
      check_break(c, t->s, p, "row %" PRId64 " has other bits%s%s, where x was another before", row,
                  again || in_place ? " in place" : "", again ? ", the second time" : "");
  }
}

static void check_x_of_before(stress *t) {
  enum { ROWS = 3, CONTENTS = 2, PARTS = 3 };
  const posenc_problem p = variant_done(t, ROWS, (int)below(t, VARIANT_DIMS));
  probe r;
  if (!probe_open(&r, t, &p, false)) return;
  const size_t bytes = r.row_bytes * ROWS;
  unsigned char *room = memory_grow(NULL, CONTENTS * PARTS * bytes, 1);
  content contents[CONTENTS];
  for (int n = 0; n < CONTENTS; n++) {
    unsigned char *const mine = room + (size_t)n * PARTS * bytes;
    contents[n] = (content){mine, mine + bytes, mine + 2 * bytes};
    for (int64_t j = 0; j < ROWS * row_width(&p); j++)
      operand_store(p.dtype, contents[n].x, j, (float)(random_unit(t->random) - 0.5));
    subject_begin_calls();
    apply_all(&r, contents[n].x, contents[n].once);
    apply_all(&r, contents[n].once, contents[n].twice);
    subject_end_calls(t->s, p.first);
  }
  check_other_contents(t, &r, contents);
  free(room);
  probe_close(&r);
}

/* Calls single rows at the same address by turns, of plans that differ in base and first position alone. */
static void check_plans_by_turns(stress *t) {
  enum { ROWS = 3, PLANS_ALIVE = 3, TIMES = 48 };
  posenc_problem p = variant_done(t, ROWS, (int)below(t, VARIANT_DIMS));
  probe of[PLANS_ALIVE];
  int count = 0;
  if (below(t, 2))
    p.first = 1 + below(t, least(t->s->bound.max_position, t->s->bound.derived ? 1 << 20 : 1 << 12) - ROWS);
  for (int n = 0; n < PLANS_ALIVE; n++) {
    posenc_problem mine = p;
    if (n == 1) mine.base = p.base * 3.0 + 1.0;
    if (n == 2) mine.first++;
    if (probe_open(&of[count], t, &mine, true)) count++;
  }
  for (int n = 0; n < TIMES && count; n++)
    probe_compare(&of[below(t, count)], DECODING, below(t, ROWS), 1, t->one,
                  arena_place(t->one, of[0].row_bytes, true));
  while (count) probe_close(&of[--count]);
}

void check_addresses(stress *t) {
  enum { ROUNDS = 6 };
  stress_say("rows at the addresses of others");
  for (int n = 0; n < ROUNDS; n++) {
    check_plans_by_turns(t);
    if (op_is_applied(t->s->shape->problem.op) && !t->apply_known) check_x_of_before(t);
  }
}

/* ---- the stack ------------------------------------------------------------------------------------------------ */

/* A thread's stack of its own, of which is counted what was touched. It is larger than that of most threads, so that a
   call that takes too much can be told. */
enum { STACK_MOST = 1 << 19, STACK_BYTES = 1 << 24 };

typedef struct stack_call {
  probe *r;
  unsigned char *out;
} stack_call;

static void *call_on_stack(void *argument) {
  const stack_call *mine = argument;
  probe_call(mine->r, mine->r->s.plan, 0, mine->r->of.problem.rows, mine->out);
  return NULL;
}

/* Returns how many bytes of a stack were touched; -1 if the system does not tell. */
static int64_t touched(unsigned char *stack) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = STACK_BYTES / page;
  unsigned char *is_in = memory_take(pages, 1);
  size_t first = 0;
  const bool told = mincore(stack, STACK_BYTES, is_in) == 0;
  while (told && first < pages && !(is_in[first] & 1)) first++;
  free(is_in);
  return told ? (int64_t)((pages - first) * page) : -1;
}

/* Returns the bytes of stack of a call for all rows in a new thread, or -1. */
static int64_t stack_of_call(probe *r) {
  const size_t bytes = r->row_bytes * (size_t)r->of.problem.rows;
  unsigned char *stack =
      mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  stack_call call = {r, memory_grow(NULL, bytes, 1)};
  pthread_attr_t attributes;
  pthread_t thread;
  int64_t used = -1;
  if (stack != MAP_FAILED && pthread_attr_init(&attributes) == 0) {
#ifdef MADV_NOHUGEPAGE
    madvise(stack, STACK_BYTES, MADV_NOHUGEPAGE);
#endif
    subject_begin_calls();
    if (pthread_attr_setstack(&attributes, stack, STACK_BYTES) == 0 &&
        pthread_create(&thread, &attributes, call_on_stack, &call) == 0) {
      pthread_join(thread, NULL);
      used = touched(stack);
    }
    subject_end_calls(r->t->s, r->of.problem.first);
    pthread_attr_destroy(&attributes);
  }
  free(call.out);
  if (stack != MAP_FAILED) munmap(stack, STACK_BYTES);
  return used;
}

void check_stack(stress *t) {
  static const int64_t sizes[][2] = {{3, 64}, {2, 8192}, {1 << 13, 64}, {1 << 16, 4}};
  /* A kernel without a derived bound may compute each row from position 0 on: the most rows are too many for it. */
  const size_t count = sizeof sizes / sizeof *sizes - !t->s->bound.derived;
  check *c = &t->s->checks[STACK];
  if (SANITIZED) {
    c->skip = "a sanitizer takes stack of its own";
    return;
  }
  for (size_t n = 0; n < count; n++) {
    posenc_problem p = variant_problem(t, sizes[n][0], sizes[n][1]);
    probe r;
    p.heads = 1;
    if (!probe_open(&r, t, &p, false)) continue;
    const int64_t used = stack_of_call(&r);
    probe_close(&r);
    if (used < 0) continue;
    c->compared++;
    if (used > STACK_MOST)
      check_break(c, t->s, &p, "a call of %" PRId64 " rows takes %" PRId64 " KiB of stack", p.rows, used / 1024);
  }
  if (!c->compared) c->skip = "the system does not tell how much of a stack is used";
}

/* ---- addresses, numbers of rows, calls after calls, and CPUs --------------------------------------------------- */

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
                  row = n < 2 ? n * last : (int64_t)random_below(r->t->random, (uint64_t)last + 1);
    compare_piece(r, row, some, rows, all);
  }
  return clock_thread_seconds() - start;
}

/* Checks more than 2^8, 2^12, 2^16 and 2^20 rows with few columns, all of them against calls for a part. Each number
   takes 16 times as long as the one before, or 256 times for a kernel that computes each row from the first one on; so
   it is left out if it may take too long when the time grows as it last did. */
enum { MANY_ROWS = (1 << 20) + (1 << 18), MANY_PAIRS = 2 };
static void check_many_rows(stress *t, arena *large) {
  enum { TIMES = 16, PART = STRESS_ROWS - 5 };
  posenc_problem p = variant_problem(t, MANY_ROWS, 2 * (1 + (int64_t)random_below(t->random, MANY_PAIRS)));
  probe r;
  p.heads = 1;
  if (p.op == POSENC_ROPE) p.inverse = random_below(t->random, 2);
  if (t->apply_known || !probe_open(&r, t, &p, false)) return;
  double seconds = 0.0, growth = TIMES;
  for (int octave = 8; octave <= 20 && !subject_takes_long(growth * seconds); octave += 4) {
    const int64_t least_rows = (INT64_C(1) << octave) + 1,
                  rows = least_rows + (int64_t)random_below(t->random, (uint64_t)least_rows / 4);
    unsigned char *all = arena_place(large, r.row_bytes * (size_t)rows, false);
    const double taken = try_large_call(&r, rows, large, all);
    if (seconds > 0.0) growth = fmax(TIMES, taken / seconds);
    seconds = taken;
    for (int64_t row = 0; row < rows; row += PART) compare_piece(&r, row, least(PART, rows - row), rows, all);
  }
  probe_close(&r);
}

/* Checks every number of rows up to 64. */
static void check_few_rows(stress *t) {
  enum { ROWS = 64 };
  const posenc_problem p = variant_done(t, ROWS, 0);
  probe r;
  if (!probe_open(&r, t, &p, true)) return;
  for (int64_t rows = 1; rows <= ROWS; rows++)
    probe_compare(&r, CALL_SIZE, ROWS - rows, rows, t->one, arena_place(t->one, r.row_bytes * (size_t)rows, true));
  probe_close(&r);
}

/* Checks calls that are four times as large as the one before, also off alignment except for the largest, or the two
   largest of a slow kernel. */
static void check_large_calls(stress *t, size_t most, arena *large) {
  enum { WIDTH = 1024 };
  const posenc_problem like = *posenc_plan_problem(t->s->plan);
  const size_t element = posenc_dtype_bytes(like.dtype), row_bytes = WIDTH * element;
  posenc_problem p = variant_problem(t, (int64_t)(most / row_bytes) + 1, like.op == POSENC_ROPE ? WIDTH / 8 : WIDTH);
  probe r;
  if (p.op == POSENC_ROPE) p.heads = 8;
  if (t->apply_known || !probe_open(&r, t, &p, false)) return; /* no larger calls reach the kernel then */
  /* The seconds of the call before, at most twice the limit; the next call takes four times as long. It may be the
     first with streaming stores, so it is made in a build with a sanitizer, too, which is ten times as slow. */
  double seconds = 0.0;
  for (size_t bytes = row_bytes; bytes <= most && !subject_takes_long(seconds / 2.0); bytes *= 4) {
    const int64_t rows = (int64_t)(bytes / row_bytes) + 1;
    const size_t placed = row_bytes * (size_t)rows;
    seconds = try_large_call(&r, rows, large, arena_place(large, placed, false));
    if (bytes < most && !subject_takes_long(seconds))
      try_large_call(&r, rows, large, arena_place_off(large, placed, element));
  }
  probe_close(&r);
}

/* Calls of many rows and large ones share an arena: new pages take longer than a fast kernel's calls. */
void check_call_sizes(stress *t) {
  const posenc_dtype dtype = posenc_plan_problem(t->s->plan)->dtype;
  const size_t most = (size_t)(dtype == POSENC_F32 ? 64 : 16) << 20, /* large enough for streaming stores */
      beyond = 1 << 16, narrow = (size_t)MANY_ROWS * 2 * MANY_PAIRS * posenc_dtype_bytes(dtype);
  arena *large = arena_create(most > narrow ? most + beyond : narrow);
  check_few_rows(t);
  check_many_rows(t, large);
  check_large_calls(t, most, large);
  arena_destroy(large);
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
