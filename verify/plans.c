/* SPDX-License-Identifier: MIT */
#include "verify/variants.h"

#include "common/random.h"
#include "verify/probe.h"

#include <assert.h>
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
bool check_plans(stress *t) {
  /* Plans are destroyed and created in random order: in a fixed order each might get the same memory again. */
  enum { ROWS = 9, ROUNDS = 3, ANEW = 8 };
  const int64_t dim = 2 * (4 + (int64_t)random_below(t->random, 12));
  problems p = {.of = {variant_problem(t, ROWS, dim)}, .count = 1};
  probe r[ALIVE];
  int order[ALIVE];
  bool enough = true, open[ALIVE];
  add_changes(&p, t);
  add_scalings(&p);
  stress_say("plans of other problems");
  for (int n = 0; n < p.count; n++) {
    order[n] = n;
    open[n] = !posenc_problem_refusal(&p.of[n]) && probe_open(&r[n], t, &p.of[n], true);
    if (!open[n] || !enough) continue;
    fast_oracle *reference = variant_reference(&p.of[n]);
    enough = reference && variant_examine(t, &r[n].s, reference, PLANS);
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
  return enough;
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
