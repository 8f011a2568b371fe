/* SPDX-License-Identifier: MIT */
/* Calls whose memory is not new: it holds right rows but for a few elements, or what another call left; and the stack
   that a call takes. */
#include "config.h"

#include "common/random.h"
#include "common/sanitizer.h"
#include "verify/probe.h"
#include "verify/variants.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int64_t below(const stress *t, int64_t limit) {
  return (int64_t)random_below(t->random, (uint64_t)limit);
}

/* ---- memory that is right already -------------------------------------------------------------------------------- */

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

/* ---- addresses that were those of others ------------------------------------------------------------------------- */

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
      check_break(c, t->s, p, "row %" PRId64 " has other bits%s, where x was another before", row,
                  again      ? " in place, the second time"
                  : in_place ? " in place"
                             : "");
  }
}

static void check_x_of_before(stress *t) {
  enum { ROWS = 3, CONTENTS = 2, PARTS = 3 };
  const posenc_problem p = variant_done(t, ROWS, (int)below(t, VARIANT_DIMS));
  probe r;
  if (!probe_open(&r, t, &p, false)) return;
  const size_t bytes = r.row_bytes * ROWS;
  unsigned char *room = malloc(CONTENTS * PARTS * bytes);
  content contents[CONTENTS];
  for (int n = 0; room && n < CONTENTS; n++) {
    unsigned char *const mine = room + (size_t)n * PARTS * bytes;
    contents[n] = (content){mine, mine + bytes, mine + 2 * bytes};
    for (int64_t j = 0; j < ROWS * row_width(&p); j++)
      operand_store(p.dtype, contents[n].x, j, (float)(random_unit(t->random) - 0.5));
    subject_begin_calls();
    apply_all(&r, contents[n].x, contents[n].once);
    apply_all(&r, contents[n].once, contents[n].twice);
    subject_end_calls(t->s, p.first);
  }
  if (room) check_other_contents(t, &r, contents);
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

/* ---- the stack --------------------------------------------------------------------------------------------------- */

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
  unsigned char *is_in = malloc(pages);
  size_t first = 0;
  const bool told = is_in && mincore(stack, STACK_BYTES, is_in) == 0;
  while (told && first < pages && !(is_in[first] & 1)) first++;
  free(is_in);
  return told ? (int64_t)((pages - first) * page) : -1;
}

/* Returns the bytes of stack of a call for all rows in a new thread, or -1. */
static int64_t stack_of_call(probe *r) {
  const size_t bytes = r->row_bytes * (size_t)r->of.problem.rows;
  unsigned char *stack =
      mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  stack_call call = {r, malloc(bytes)};
  pthread_attr_t attributes;
  pthread_t thread;
  int64_t used = -1;
  if (stack != MAP_FAILED && call.out && pthread_attr_init(&attributes) == 0) {
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
