/* SPDX-License-Identifier: MIT */
#include "verify/plans.h"

#include "verify/probe.h"

#include <string.h>

enum { ALIVE = 8 };

/* Their rows once more, to the guard. */
static void compare_all(probe *r) {
  const int64_t rows = r->of.problem.rows;
  probe_compare(r, PLANS, 0, rows, r->t->one, arena_place(r->t->one, r->row_bytes * (size_t)rows, true));
}

/* A plan in the memory of one that has ended: the C library reuses memory so, sealed memory never. */
static void compare_anew(probe *r) {
  const posenc_problem *problem = &r->of.problem;
  posenc_options options = r->t->options;
  posenc_plan *plan;
  options.kernel = r->s.kernel;
  if (posenc_plan_create(&plan, problem, &options) != POSENC_OK) return;
  const size_t bytes = r->row_bytes * (size_t)problem->rows;
  unsigned char *out = arena_place(r->t->one, bytes, false);
  probe_call(r, plan, 0, problem->rows, out);
  posenc_plan_destroy(plan);
  subject_begin_calls();
  subject_end_calls(r->t->s, problem->first);
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
bool check_plans(stress *t) {
  /* Plans are made anew in orders that are drawn: in one order again and again each might get its own place back. */
  enum { ROWS = 9, ROUNDS = 3, ANEW = 16 };
  const int64_t dim = 2 * (4 + (int64_t)random_below(t->random, 12));
  const posenc_problem like = variant_problem(t, ROWS, dim);
  posenc_problem p[ALIVE];
  probe r[ALIVE];
  int order[ALIVE];
  bool enough = true, open[ALIVE];
  for (int n = 0; n < ALIVE; n++) {
    p[n] = like;
    order[n] = n;
  }
  p[1].base = like.base * 3.0 + 7.0;
  p[2].layout = variant_layout(like.op, (int)like.layout + 1);
  p[3].dim = dim > 16 ? dim - 8 : dim + 8;
  p[4].first = least(1000, t->s->bound.max_position / 2);
  p[5].base = 31.0;
  p[6].shift = like.shift == 1.0 ? 0.0 : 1.0;
  p[7].scale = like.scale == 0.375 ? 1.0 : 0.375;
  for (int n = 0; n < ALIVE; n++) {
    open[n] = !posenc_problem_refusal(&p[n]) && probe_open(&r[n], t, &p[n], true);
    if (!open[n] || !enough) continue;
    fast_oracle *reference = variant_reference(&p[n]);
    enough = reference && variant_examine(t, &r[n].s, reference, PLANS);
    fast_destroy(reference);
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
    if (open[order[n]]) probe_close(&r[order[n]]);
    for (int k = n + 1; k < ALIVE; k++)
      if (open[order[k]]) compare_all(&r[order[k]]);
  }
  return enough;
}

/* can_do, prepare, execute and apply get a problem, options and a slice that they may not write to. */
void check_const(stress *t) {
  const posenc_kernel *kernel = t->s->kernel;
  const posenc_problem whole = variant_done(t, 4, 3), table = posenc_table_of(&whole);
  posenc_problem given = table, applied_to = whole;
  posenc_options options = t->options;
  posenc_slice slice = posenc_rows(0, 4);
  probe r;
  void *constants = NULL;
  options.kernel = kernel;
  const posenc_options same = options;
  slice.stride = 4 * whole.heads * whole.dim;
  const posenc_slice same_slice = slice;
  if (posenc_attention(&whole) != 1.0 || !probe_open(&r, t, &whole, false)) return;
  if (kernel->can_do) kernel->can_do(&given);
  if (!kernel->prepare || kernel->prepare(&given, &options, &constants) == POSENC_OK) {
    unsigned char *out = arena_place(t->one, 4 * (size_t)(whole.heads * whole.dim) * sizeof(double), false);
    kernel->execute(constants, &given, 0, 4, out);
    if (r.x && kernel->apply) kernel->apply(constants, &applied_to, &slice, r.x, out);
    if (kernel->release) kernel->release(constants);
    subject_begin_calls();
    subject_end_calls(t->s, whole.first);
  }
  probe_close(&r);
  t->s->checks[READ_ONLY].compared++;
  if (memcmp(&given, &table, sizeof table) != 0 || memcmp(&applied_to, &whole, sizeof whole) != 0 ||
      memcmp(&options, &same, sizeof same) != 0 || memcmp(&slice, &same_slice, sizeof slice) != 0)
    check_break(&t->s->checks[READ_ONLY], t->s, &whole,
                "the problem, the options or the slice it was given are written to");
}
