/* SPDX-License-Identifier: MIT */
/* Calls for rows of one plan: where they go, how many they are, and how many calls there are. */
#include "verify/stress.h"

#include "common/clock.h"
#include "verify/applied.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of a size about 1, any will do. */
static void draw_x(const stress *t, posenc_dtype dtype, unsigned char *x, size_t bytes) {
  enum { DRAWN = 1 << 12 };
  const size_t element = posenc_dtype_bytes(dtype);
  for (size_t at = 0; at < bytes && at < DRAWN; at += element) {
    const float value = (float)random_below(t->random, 1 << 20) * 0x1p-18f - 2.0f;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    const uint16_t upper = (uint16_t)(bits >> 16);
    memcpy(x + at, element == 2 ? (const void *)&upper : (const void *)&bits, element);
  }
  for (size_t at = DRAWN; at < bytes; at += DRAWN) memcpy(x + at, x, bytes - at < DRAWN ? bytes - at : DRAWN);
}

static unsigned char *x_at(const rows_of *r, int64_t row) {
  return r->x ? r->x + r->row_bytes * (size_t)row : NULL;
}

static void call(const rows_of *r, const posenc_plan *plan, int64_t row, int64_t rows, const unsigned char *x,
                 unsigned char *out) {
  const posenc_slice slice = posenc_rows(row, rows);
  if (r->x)
    posenc_apply(plan, &slice, x, out);
  else
    posenc_execute(plan, row, rows, out);
}

void rows_call(const rows_of *r, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out) {
  call(r, plan, row, rows, x_at(r, row), out);
}

bool rows_open(rows_of *r, stress *t, const posenc_problem *problem, bool all_rows) {
  *r = (rows_of){.t = t, .of = shape_of(problem)};
  r->row_bytes = (size_t)(problem->heads * problem->dim) * posenc_dtype_bytes(problem->dtype);
  if (subject_open(&r->s, t->s->kernel, &r->of, &t->options)) return false;
  const size_t bytes = r->row_bytes * (size_t)problem->rows;
  const bool takes_x = op_is_applied(problem->op);
  if (takes_x) r->x = malloc(bytes);
  if (all_rows) r->rows = malloc(bytes);
  if ((takes_x && !r->x) || (all_rows && !r->rows)) {
    rows_close(r);
    return false;
  }
  if (r->x) draw_x(t, problem->dtype, r->x, bytes);
  if (r->rows) {
    subject_begin_calls();
    rows_call(r, r->s.plan, 0, problem->rows, r->rows);
    subject_check_conduct(t->s, problem->first);
  }
  return true;
}

void rows_close(rows_of *r) {
  subject_close(&r->s);
  free(r->x);
  free(r->rows);
}

void rows_run(rows_of *r, int64_t row, int64_t rows, const arena *a, unsigned char *out) {
  stress *t = r->t;
  const posenc_problem *problem = &r->of.problem;
  const int64_t position = problem->first + row;
  const size_t bytes = r->row_bytes * (size_t)rows, element = posenc_dtype_bytes(problem->dtype);
  const unsigned char *x = x_at(r, row);
  size_t first;
  if (x && bytes <= STRESS_BYTES) {
    const bool at_guard = (uintptr_t)out % 64 == 0;
    unsigned char *copy = at_guard ? arena_place(t->other, bytes, true)
                                   : arena_place_off(t->other, bytes, ((uintptr_t)out * 5 + 3 * element) % 128);
    x = memcpy(copy, x, bytes);
  }
  subject_begin_calls();
  call(r, r->s.plan, row, rows, x, out);
  subject_check_conduct(t->s, position);
  check *memory = &t->s->checks[MEMORY];
  memory->compared += (int64_t)(bytes / element);
  if (arena_spills(a))
    check_break(memory, t->s, problem, "bytes beside %" PRId64 " rows at p = %" PRId64 " are written", rows, position);
  if (arena_untouched(out, bytes, element, &first))
    check_break(memory, t->s, problem, "elements of %" PRId64 " rows at p = %" PRId64 " are not written", rows,
                position);
  if (x && memcmp(x, x_at(r, row), bytes) != 0)
    check_break(memory, t->s, problem, "x of %" PRId64 " rows at p = %" PRId64 " is written", rows, position);
}

void rows_compare(rows_of *r, property p, int64_t row, int64_t rows, const arena *a, unsigned char *out) {
  check *c = &r->t->s->checks[p];
  const size_t bytes = r->row_bytes * (size_t)rows;
  rows_run(r, row, rows, a, out);
  c->compared += rows * r->of.problem.heads * r->of.problem.dim;
  if (memcmp(out, r->rows + r->row_bytes * (size_t)row, bytes) != 0)
    check_break(c, r->t->s, &r->of.problem,
                "other bits in a call of %" PRId64 " rows at p = %" PRId64 ", %zu bytes behind a multiple of 64", rows,
                r->of.problem.first + row, (size_t)((uintptr_t)out % 64));
}

/* Wherever the element type allows it, across the begin of a page, and next to the guards on either side. */
void stress_alignment(stress *t) {
  enum { ROWS = 5, LINE = 64, PAGE = 4096 };
  for (int n = 0; n < STRESS_DIMS; n++) {
    const posenc_problem p = stress_problem(t, ROWS, stress_dim(t, n));
    rows_of r;
    if (!rows_open(&r, t, &p, true)) continue;
    const int64_t rows = 1 + n % ROWS;
    for (size_t offset = 0; offset < 2 * LINE; offset += posenc_dtype_bytes(p.dtype))
      rows_compare(&r, ALIGNMENT, 0, rows, t->one, arena_place_off(t->one, r.row_bytes * (size_t)rows, offset));
    for (int64_t some = 1; some <= ROWS; some++) {
      const size_t bytes = r.row_bytes * (size_t)some;
      rows_compare(&r, ALIGNMENT, ROWS - some, some, t->one, arena_place_first(t->one, bytes));
      rows_compare(&r, ALIGNMENT, 0, some, t->one, arena_place(t->one, bytes, true));
      for (size_t before = posenc_dtype_bytes(p.dtype); before <= LINE; before *= 2)
        rows_compare(&r, ALIGNMENT, 0, some, t->one, arena_place_off(t->one, bytes, PAGE - before));
    }
    rows_close(&r);
  }
}

/* Kernels of ours never need so long; what computes an element in microseconds gets fewer and smaller calls. */
static bool takes_long(double seconds) {
  return seconds > 0.5;
}

/* A call of so many rows; some of them are compared with calls of few. Returns how many seconds it took. */
static double try_large_call(rows_of *r, int64_t rows, const arena *large, unsigned char *all) {
  enum { PIECES = 6, FEW = 4 };
  stress *t = r->t;
  const double start = clock_seconds();
  stress_say("calls of many rows");
  rows_run(r, 0, rows, large, all);
  const double seconds = clock_seconds() - start;
  for (int n = 0; n < PIECES; n++) {
    const int64_t some = least(FEW, rows), last = rows - some,
                  row = n == 0   ? 0
                        : n == 1 ? last
                                 : (int64_t)random_below(t->random, (uint64_t)last + 1);
    const size_t bytes = r->row_bytes * (size_t)some;
    unsigned char *piece = arena_place(t->one, bytes, false);
    rows_run(r, row, some, t->one, piece);
    t->s->checks[CALL_SIZE].compared += some * r->of.problem.heads * r->of.problem.dim;
    if (memcmp(piece, all + r->row_bytes * (size_t)row, bytes) != 0)
      check_break(&t->s->checks[CALL_SIZE], t->s, &r->of.problem,
                  "a call of %" PRId64 " rows has other bits from p = %" PRId64 " on", rows, r->of.problem.first + row);
  }
  return seconds;
}

/* Every number of rows to 64; then calls four times as large as the one before, all but the largest off alignment too. */
bool stress_call_sizes(stress *t) {
  enum { ROWS = 64, WIDTH = 1024 };
  posenc_problem p = stress_problem(t, ROWS, stress_dim(t, 0));
  rows_of r;
  if (rows_open(&r, t, &p, true)) {
    for (int64_t rows = 1; rows <= ROWS; rows++)
      rows_compare(&r, CALL_SIZE, ROWS - rows, rows, t->one, arena_place(t->one, r.row_bytes * (size_t)rows, true));
    rows_close(&r);
  }
  const size_t element = posenc_dtype_bytes(p.dtype), row_bytes = WIDTH * element,
               most = (size_t)64 << 20;
  p = stress_problem(t, (int64_t)(most / row_bytes) + 1, p.op == POSENC_ROPE ? WIDTH / 8 : WIDTH);
  if (p.op == POSENC_ROPE) p.heads = 8;
  if (!rows_open(&r, t, &p, false)) return true;
  arena *large = arena_create((size_t)p.rows * row_bytes);
  double seconds = 0.0; /* of the call before */
  for (size_t bytes = row_bytes; large && bytes <= most && !takes_long(4.0 * seconds); bytes *= 4) {
    const int64_t rows = (int64_t)(bytes / row_bytes) + 1;
    const size_t placed = row_bytes * (size_t)rows;
    seconds = try_large_call(&r, rows, large, arena_place(large, placed, false));
    if (bytes < most) try_large_call(&r, rows, large, arena_place_off(large, placed, element));
  }
  rows_close(&r);
  arena_destroy(large);
  return large;
}

/* One row after another, as decoding asks for them; then single rows anywhere in the domain, against the middle one of three. */
void stress_decoding(stress *t) {
  const int64_t steps = 1 << 13, draws = 512;
  posenc_problem p = stress_problem(t, steps, stress_dim(t, (int)random_below(t->random, STRESS_DIMS)));
  rows_of r;
  if (rows_open(&r, t, &p, true)) {
    stress_say("one row after another");
    const double start = clock_seconds();
    for (int64_t row = 0; row < steps && !takes_long(clock_seconds() - start); row++)
      rows_compare(&r, DECODING, row, 1, t->one,
                   arena_place_off(t->one, r.row_bytes, (size_t)row * 4 * posenc_dtype_bytes(p.dtype) % 256));
    rows_close(&r);
  }
  int64_t firsts[FIRSTS];
  const int count = stress_firsts(t, firsts);
  p.rows = 3;
  const double start = clock_seconds();
  for (int64_t n = 0; n < draws && count && !takes_long(clock_seconds() - start); n++) {
    p.first = firsts[random_below(t->random, (uint64_t)count)] + (int64_t)random_below(t->random, FAR_ROWS / 2);
    if (!rows_open(&r, t, &p, true)) continue;
    rows_compare(&r, DECODING, 1, 1, t->one, arena_place(t->one, r.row_bytes, true));
    rows_close(&r);
  }
}

/* Few rows, again and again. The environment is looked at now and then. */
void stress_endurance(stress *t) {
  enum { ROWS = 64, DIM = 8, HEADS = 3, AT_A_TIME = 1 << 12 };
  const int64_t calls = 1 << 17;
  const posenc_problem p = stress_problem(t, ROWS, DIM);
  rows_of r;
  if (!rows_open(&r, t, &p, true)) return;
  check *c = &t->s->checks[ENDURANCE];
  double out[3 * HEADS * DIM];
  const double start = clock_seconds();
  for (int64_t done = 0; done < calls && !takes_long(clock_seconds() - start); done += AT_A_TIME) {
    stress_say("a long run of calls");
    subject_begin_calls();
    for (int64_t n = done; n < done + AT_A_TIME; n++) {
      const int64_t row = n % (ROWS - 3), rows = 1 + n % 3;
      rows_call(&r, r.s.plan, row, rows, (unsigned char *)out);
      if (memcmp(out, r.rows + r.row_bytes * (size_t)row, r.row_bytes * (size_t)rows) != 0)
        check_break(c, t->s, &p, "other bits in call %" PRId64 ", at p = %" PRId64, n + 1, p.first + row);
    }
    c->compared += AT_A_TIME * 2 * p.heads * p.dim;
    subject_check_conduct(t->s, p.first);
  }
  rows_close(&r);
}
