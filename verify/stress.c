/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/stress.h"

#include "common/clock.h"
#include "verify/applied.h"
#include "verify/isolate.h"
#include "verify/seal.h"

#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool open_stress(stress *t, subject *s, bool thorough, uint64_t *random) {
  *t = (stress){s, thorough, random, arena_create(STRESS_BYTES), arena_create(STRESS_BYTES), *s->options, 1};
#ifdef _OPENMP
  t->threads = omp_get_max_threads();
  omp_set_num_threads(1);
#endif
  if (t->options.threads == 0) t->options.threads = t->threads;
  return t->one && t->other;
}

static void close_stress(stress *t) {
#ifdef _OPENMP
  omp_set_num_threads(t->threads);
#endif
  arena_destroy(t->one);
  arena_destroy(t->other);
}

static void say(const char *doing) {
  isolate_say(doing, 1.0);
}

/* ---- problems ------------------------------------------------------------------------------------------- */

static posenc_layout draw_layout(const stress *t, posenc_op op) {
  static const posenc_layout of_rope[] = {POSENC_INTERLEAVED, POSENC_SPLIT};
  return op == POSENC_ROPE ? of_rope[random_below(t->random, 2)] : (posenc_layout)random_below(t->random, 4);
}

posenc_problem stress_problem(const stress *t, int64_t rows, int64_t dim) {
  posenc_problem p = *posenc_plan_problem(t->s->plan);
  const posenc_scaling none = posenc_table(1, 2).scaling;
  p.rows = rows;
  p.positions = NULL;
  p.odd = POSENC_ODD_REFUSED;
  p.padding = POSENC_NO_PADDING;
  p.layout = draw_layout(t, p.op);
  if (p.op == POSENC_ROPE) p.heads = 1 + (int64_t)random_below(t->random, 3);
  if ((double)dim / 2.0 - p.shift <= 0.0) p.shift = 0.0;
  if (p.scaling.factors && dim > p.dim) p.scaling = none;
  p.dim = dim;
  if (posenc_problem_refusal(&p)) p.scaling = none;
  return p;
}

int64_t stress_dim(const stress *t, int number) {
  return 2 * (number + 1) + 16 * (int64_t)random_below(t->random, 4);
}

/* First positions of windows of FAR_ROWS rows: around powers of two, negative ones, and the ends of the bound's domain. Returns how many. */
enum { FAR_ROWS = 24, FIRSTS = 192 };
static int draw_firsts(const stress *t, int64_t firsts[FIRSTS]) {
  /* What claims nothing, and only tells what was measured, may walk to each position. */
  const int64_t most = t->s->bound.derived ? INT64_MAX - 64 : 1 << 16, end = least(t->s->bound.max_position, most);
  int count = 0;
  for (int k = 12; k < 63; k++) {
    const int64_t power = INT64_C(1) << k, drawn = power + (int64_t)random_below(t->random, (uint64_t)power);
    const int64_t wanted[] = {power - FAR_ROWS / 3, -power - FAR_ROWS / 3, k % 2 ? drawn : -drawn};
    for (int i = 0; i < 3; i++)
      if (llabs(wanted[i]) <= end - FAR_ROWS) firsts[count++] = wanted[i];
  }
  const int64_t others[] = {-1, -FAR_ROWS, -1000003, end - FAR_ROWS + 1, -end};
  for (int i = 0; i < 5; i++)
    if (llabs(others[i]) <= end) firsts[count++] = others[i];
  return count;
}

/* ---- exams of other problems -------------------------------------------------------------------------------- */

/* Takes in what the exam of another problem has found: under `p`, or under its own property if that is about a call. */
static void collect(stress *t, subject *other, property p) {
  const posenc_problem *problem = &other->shape->problem;
  check_bound(&other->checks[ACCURACY], &other->found);
  t->s->checks[p].compared += other->found.elements;
  for (property q = 0; q < PROPERTIES; q++) {
    const bool is_of_call = q == MEMORY || q == ENVIRONMENT || q == READ_ONLY;
    const check *found = &other->checks[q];
    check *into = &t->s->checks[is_of_call ? q : p];
    if (is_of_call) into->compared += found->compared;
    if (check_ok(found)) continue;
    if (*found->note)
      check_break(into, t->s, problem, "%s: %s", property_name(q), found->note);
    else
      check_break(into, t->s, problem, "%s: %" PRId64 " of %" PRId64 " wrong, at p = %" PRId64 ", i = %" PRId64,
                  property_name(q), found->broken, found->compared, found->position, found->index);
  }
}

/* All rows in one window, against the truth of the same frequencies, from position 0 on. False when memory runs out. */
static bool examine_rows(stress *t, subject *other, fast_oracle *truth) {
  const window all = {0, other->shape->problem.rows};
  other->origin = 0;
  if (!op_is_applied(other->shape->problem.op)) {
    subject_check_window(other, all, truth, t->one, t->other, true, t->random);
    return true;
  }
  applied a;
  const bool enough = applied_open(&a, other, all.rows, random_below(t->random, UINT64_MAX), truth);
  if (enough) applied_check_window(&a, all, true, t->random);
  applied_close(&a);
  return enough;
}

/* False when memory runs out. That the kernel does not do it is none of our business. */
static bool examine_other(stress *t, const posenc_problem *problem, posenc_stores stores, fast_oracle *truth,
                          property p) {
  posenc_options options = t->options;
  const shape of = shape_of(problem);
  subject other;
  options.stores = stores;
  if (subject_open(&other, t->s->kernel, &of, &options)) return true;
  const bool enough = examine_rows(t, &other, truth);
  collect(t, &other, p);
  subject_close(&other);
  return enough;
}

/* The truth of a problem, from position 0 on. */
static fast_oracle *truth_of(const posenc_problem *problem) {
  posenc_problem table = posenc_table_of(problem);
  table.first = 0;
  return fast_create(&table, 0);
}

/* Dims, layouts, ways to store; and positions: each dim has its share of them. */
static bool check_problems(stress *t) {
  enum { ROWS = 37 };
  int64_t firsts[FIRSTS];
  const int count = draw_firsts(t, firsts);
  bool enough = true;
  for (int n = 0; enough && n < STRESS_DIMS; n++) {
    posenc_problem p = stress_problem(t, ROWS, stress_dim(t, n));
    fast_oracle *truth = truth_of(&p);
    enough = truth;
    say("other dims");
    for (posenc_stores stores = POSENC_STORES_REGULAR; enough && stores <= POSENC_STORES_STREAMING; stores++)
      enough = examine_other(t, &p, stores, truth, WIDTHS);
    p.rows = FAR_ROWS;
    for (int i = n; enough && i < count; i += STRESS_DIMS) {
      char doing[80];
      snprintf(doing, sizeof doing, "rows from position %" PRId64 " on", firsts[i]);
      say(doing);
      p.first = firsts[i];
      enough = examine_other(t, &p, t->options.stores, truth, FAR_POSITIONS);
    }
    fast_destroy(truth);
  }
  return enough;
}

static bool check_heads(stress *t) {
  static const int64_t heads[] = {4, 5, 7, 8, 12, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65, 71, 96, 100, 127, 128};
  posenc_problem p = stress_problem(t, 19, stress_dim(t, (int)random_below(t->random, STRESS_DIMS)));
  if (p.op != POSENC_ROPE) return true;
  fast_oracle *truth = truth_of(&p);
  bool enough = truth;
  say("other numbers of heads");
  for (size_t n = 0; enough && n < sizeof heads / sizeof *heads; n++) {
    p.heads = heads[n];
    p.layout = draw_layout(t, p.op);
    enough = examine_other(t, &p, t->options.stores, truth, HEAD_COUNTS);
  }
  fast_destroy(truth);
  return enough;
}

/* ---- calls ------------------------------------------------------------------------------------------------- */

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

static void call(const rows_of *r, int64_t row, int64_t rows, const unsigned char *x, unsigned char *out) {
  const posenc_slice slice = posenc_rows(row, rows);
  if (r->x)
    posenc_apply(r->s.plan, &slice, x, out);
  else
    posenc_execute(r->s.plan, row, rows, out);
}

static unsigned char *x_at(const rows_of *r, int64_t row) {
  return r->x ? r->x + r->row_bytes * (size_t)row : NULL;
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
  if (r->rows) call(r, 0, problem->rows, r->x, r->rows);
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
  const conduct before = conduct_begin();
  call(r, row, rows, x, out);
  conduct_end(t->s, &before, position);
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

/* Wherever the element type allows it, and next to the guards on either side. */
static void check_alignment(stress *t) {
  enum { ROWS = 5, LINE = 64 };
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
    }
    rows_close(&r);
  }
}

/* Kernels of ours never need so long; what computes an element in microseconds gets fewer and smaller calls. */
static bool takes_long(double seconds) {
  return seconds > 4.0;
}

/* Every number of rows to 64; then calls four times as large as the one before. Of the large ones some rows are compared with calls of few. */
static bool check_call_sizes(stress *t) {
  enum { ROWS = 64, PIECES = 6, FEW = 4, WIDTH = 1024 };
  posenc_problem p = stress_problem(t, ROWS, stress_dim(t, 0));
  rows_of r;
  if (rows_open(&r, t, &p, true)) {
    for (int64_t rows = 1; rows <= ROWS; rows++)
      rows_compare(&r, CALL_SIZE, ROWS - rows, rows, t->one, arena_place(t->one, r.row_bytes * (size_t)rows, true));
    rows_close(&r);
  }
  const size_t row_bytes = WIDTH * posenc_dtype_bytes(p.dtype), most = (size_t)(t->thorough ? 64 : 1) << 20;
  p = stress_problem(t, (int64_t)(most / row_bytes) + 1, p.op == POSENC_ROPE ? WIDTH / 8 : WIDTH);
  if (p.op == POSENC_ROPE) p.heads = 8;
  if (!rows_open(&r, t, &p, false)) return true;
  arena *large = arena_create((size_t)p.rows * row_bytes);
  double seconds = 0.0; /* of the call before */
  for (size_t bytes = row_bytes; large && bytes <= most && !takes_long(4.0 * seconds); bytes *= 4) {
    const int64_t rows = (int64_t)(bytes / row_bytes) + (bytes == most);
    say("calls of many rows");
    unsigned char *all = arena_place(large, row_bytes * (size_t)rows, false);
    const double start = clock_seconds();
    rows_run(&r, 0, rows, large, all);
    seconds = clock_seconds() - start;
    for (int n = 0; n < PIECES; n++) {
      const int64_t some = least(FEW, rows), last = rows - some,
                    row = n == 0   ? 0
                          : n == 1 ? last
                                   : (int64_t)random_below(t->random, (uint64_t)last + 1);
      unsigned char *piece = arena_place(t->one, row_bytes * (size_t)some, false);
      rows_run(&r, row, some, t->one, piece);
      t->s->checks[CALL_SIZE].compared += some * WIDTH;
      if (memcmp(piece, all + row_bytes * (size_t)row, row_bytes * (size_t)some) != 0)
        check_break(&t->s->checks[CALL_SIZE], t->s, &p,
                    "a call of %" PRId64 " rows has other bits from p = %" PRId64 " on", rows, p.first + row);
    }
  }
  rows_close(&r);
  arena_destroy(large);
  return large;
}

/* One row after another, as decoding asks for them; then single rows anywhere in the domain, against the middle one of three. */
static void check_decoding(stress *t) {
  const int64_t steps = t->thorough ? 1 << 13 : 1 << 10, draws = t->thorough ? 512 : 32;
  posenc_problem p = stress_problem(t, steps, stress_dim(t, (int)random_below(t->random, STRESS_DIMS)));
  rows_of r;
  if (rows_open(&r, t, &p, true)) {
    say("one row after another");
    const double start = clock_seconds();
    for (int64_t row = 0; row < steps && !takes_long(clock_seconds() - start); row++)
      rows_compare(&r, DECODING, row, 1, t->one,
                   arena_place_off(t->one, r.row_bytes, (size_t)row * 4 * posenc_dtype_bytes(p.dtype) % 256));
    rows_close(&r);
  }
  int64_t firsts[FIRSTS];
  const int count = draw_firsts(t, firsts);
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
static void check_endurance(stress *t) {
  enum { ROWS = 64, DIM = 8, HEADS = 3, AT_A_TIME = 1 << 12 };
  const int64_t calls = t->thorough ? 1 << 18 : 1 << 12;
  const posenc_problem p = stress_problem(t, ROWS, DIM);
  rows_of r;
  if (!rows_open(&r, t, &p, true)) return;
  check *c = &t->s->checks[ENDURANCE];
  double out[3 * HEADS * DIM];
  const double start = clock_seconds();
  for (int64_t done = 0; done < calls && !takes_long(clock_seconds() - start); done += AT_A_TIME) {
    const conduct before = conduct_begin();
    say("a long run of calls");
    for (int64_t n = done; n < done + AT_A_TIME; n++) {
      const int64_t row = n % (ROWS - 3), rows = 1 + n % 3;
      call(&r, row, rows, x_at(&r, row), (unsigned char *)out);
      if (memcmp(out, r.rows + r.row_bytes * (size_t)row, r.row_bytes * (size_t)rows) != 0)
        check_break(c, t->s, &p, "other bits in call %" PRId64 ", at p = %" PRId64, n + 1, p.first + row);
    }
    c->compared += AT_A_TIME * 2 * p.heads * p.dim;
    conduct_end(t->s, &before, p.first);
  }
  rows_close(&r);
}

/* ---- plans ------------------------------------------------------------------------------------------------- */

enum { ALIVE = 6 };

/* Their rows once more, to the guard. */
static void compare_all(rows_of *r) {
  const int64_t rows = r->of.problem.rows;
  rows_compare(r, PLANS, 0, rows, r->t->one, arena_place(r->t->one, r->row_bytes * (size_t)rows, true));
}

static void shuffle(const stress *t, int order[ALIVE]) {
  for (int n = ALIVE; n > 1; n--) {
    const int other = (int)random_below(t->random, (uint64_t)n), last = order[n - 1];
    order[n - 1] = order[other];
    order[other] = last;
  }
}

/* Problems that differ in one thing each; all plans are alive at once, and end one after the other. */
static bool check_plans(stress *t) {
  enum { ROWS = 9, ROUNDS = 3 };
  const int64_t dim = 2 * (4 + (int64_t)random_below(t->random, 12));
  const posenc_problem like = stress_problem(t, ROWS, dim);
  posenc_problem p[ALIVE] = {like, like, like, like, like, like};
  rows_of r[ALIVE];
  int order[ALIVE] = {0, 1, 2, 3, 4, 5};
  bool enough = true, open[ALIVE];
  p[1].base = like.base * 3.0 + 7.0;
  p[2].layout = draw_layout(t, like.op);
  p[3].dim = dim > 16 ? dim - 8 : dim + 8;
  p[4].first = 1000;
  p[5].base = 31.0;
  for (int n = 0; n < ALIVE; n++) {
    open[n] = !posenc_problem_refusal(&p[n]) && rows_open(&r[n], t, &p[n], true);
    if (!open[n] || !enough) continue;
    fast_oracle *truth = truth_of(&p[n]);
    enough = truth && examine_rows(t, &r[n].s, truth);
    collect(t, &r[n].s, PLANS);
    fast_destroy(truth);
  }
  for (int round = 0; round < ROUNDS; round++) {
    shuffle(t, order);
    for (int n = 0; n < ALIVE; n++)
      if (open[order[n]]) compare_all(&r[order[n]]);
  }
  for (int n = 0; n < ALIVE; n++) {
    if (open[order[n]]) rows_close(&r[order[n]]);
    for (int k = n + 1; k < ALIVE; k++)
      if (open[order[k]]) compare_all(&r[order[k]]);
  }
  return enough;
}

/* can_do, prepare, execute and apply get a problem, options and a slice that they may not write to. */
static void check_const(stress *t) {
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
static void check_cpus(rows_of *r) {
  stress *t = r->t;
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) {
    t->s->checks[CPUS].skip = "the system does not tell the CPUs of a thread";
    return;
  }
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &all)) continue;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    if (sched_setaffinity(0, sizeof one, &one) != 0) continue;
    const int64_t rows = r->of.problem.rows;
    rows_compare(r, CPUS, 0, rows, t->one, arena_place(t->one, r->row_bytes * (size_t)rows, false));
  }
  sched_setaffinity(0, sizeof all, &all);
}

static size_t make_plan(rows_of *r) {
  posenc_plan *plan;
  if (subject_plan(&r->s, &r->of.problem, &plan) != POSENC_OK) return 0;
  posenc_plan *const kept = r->s.plan;
  r->s.plan = plan;
  call(r, 0, 1, r->x, r->rows);
  r->s.plan = kept;
  return subject_drop(plan);
}

static size_t make_row(rows_of *r) {
  call(r, 1, 1, x_at(r, 1), r->rows);
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
  enum { BLOCKS = 5, SETTLED = 2 };
  check *c = &r->t->s->checks[LEAK];
  uint64_t allocated = UINT64_MAX, mapped = UINT64_MAX, left = UINT64_MAX;
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

static void check_surroundings(stress *t) {
  enum { ROWS = 40 };
  const posenc_problem p = stress_problem(t, ROWS, stress_dim(t, 5));
  rows_of r;
  const int64_t threads = process_threads();
  if (!rows_open(&r, t, &p, true)) return;
  check_cpus(&r);
  say("the same calls again and again");
  check_growth(&r, "calls of one row", t->thorough ? 2048 : 128, make_row);
  check_growth(&r, "plans", t->thorough ? 128 : 8, make_plan);
  if (!t->s->kernel->threaded && process_threads() > threads)
    check_break(&t->s->checks[PROCESS], t->s, &p, "it is not threaded, and leaves threads running");
  rows_close(&r);
}

void subject_check_process(subject *s, const process_state *before) {
  process_state *now = process_read();
  const char *difference = now && before ? process_difference(before, now) : NULL;
  check *c = &s->checks[PROCESS];
  c->compared++;
  if (difference) check_break(c, s, &s->shape->problem, "%s", difference);
  process_free(now);
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

/* The properties that nothing was compared for get that reason, but for PROCESS, which is looked at later. */
static void skip_rest(subject *s, const char *why) {
  for (property p = READ_ONLY; p <= LEAK; p++) {
    check *c = &s->checks[p];
    if (p != PROCESS && !c->compared && !c->broken && !c->skip) c->skip = why;
  }
}

static bool is_sound(const subject *s) {
  for (property p = 0; p < PROPERTIES; p++)
    if (!check_ok(&s->checks[p])) return false;
  return s->found.beyond == 0;
}

bool subject_stress(subject *s, bool thorough, uint64_t *random) {
  stress t;
  if (!seal_works()) s->checks[READ_ONLY].skip = "this build cannot make the memory of plans read-only";
  if (!is_sound(s)) {
    skip_rest(s, "the rows of the shape itself are wrong already");
    return true;
  }
  bool enough = open_stress(&t, s, thorough, random);
  if (enough) {
    check_const(&t);
    enough = check_problems(&t) && check_heads(&t) && check_plans(&t) && check_call_sizes(&t) &&
             (!op_is_applied(s->shape->problem.op) || stress_slices(&t));
  }
  if (enough) {
    say("rows at every alignment");
    check_alignment(&t);
    check_decoding(&t);
    check_endurance(&t);
    check_surroundings(&t);
    skip_rest(s, "it does no other problem like this one");
  }
  close_stress(&t);
  return enough;
}
