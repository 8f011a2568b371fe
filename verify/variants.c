/* SPDX-License-Identifier: MIT */
#include "verify/variants.h"

#include "common/random.h"
#include "common/work.h"
#include "verify/applied.h"
#include "verify/checks.h"
#include "verify/propose.h"

#include <inttypes.h>
#include <stdlib.h>

void stress_say(const char *doing) {
  isolate_say(doing, 1.0);
}

/* ---- problems -------------------------------------------------------------------------------------------------- */

posenc_layout variant_layout(posenc_op op, int number) {
  static const posenc_layout of_rope[] = {POSENC_INTERLEAVED, POSENC_SPLIT};
  return op == POSENC_ROPE ? of_rope[number % 2] : (posenc_layout)(number % 4);
}

posenc_problem variant_problem(const stress *t, int64_t rows, int64_t dim) {
  posenc_problem p = *posenc_plan_problem(t->s->plan);
  const posenc_scaling none = posenc_scaling_none();
  p.rows = rows;
  p.positions = NULL;
  p.axes = NULL;
  p.odd = POSENC_ODD_REFUSED;
  p.padding = POSENC_NO_PADDING;
  p.layout = variant_layout(p.op, (int)random_below(t->random, 4));
  if (p.op == POSENC_ROPE) p.heads = 1 + (int64_t)random_below(t->random, 3);
  if ((double)dim / 2.0 - p.shift <= 0.0) p.shift = 0.0;
  if (p.scaling.factors && dim > p.dim) p.scaling = none;
  p.dim = dim;
  if (posenc_problem_refusal(&p)) p.scaling = none;
  return p;
}

int64_t variant_dim(const stress *t, int number) {
  return 2 * (number + 1) + 16 * (int64_t)random_below(t->random, 4);
}

posenc_problem variant_done(const stress *t, int64_t rows, int number) {
  posenc_problem p;
  for (int n = 0; n < VARIANT_DIMS; n++) {
    p = variant_problem(t, rows, variant_dim(t, (number + n) % VARIANT_DIMS));
    if (!posenc_kernel_refusal(t->s->kernel, &p, &t->options)) break;
  }
  return p;
}

int variant_firsts(const stress *t, int64_t firsts[FIRSTS]) {
  /* A kernel without a derived bound may compute each row from position 0 on. */
  const int64_t most = t->s->bound.derived ? INT64_MAX - 64 : 1 << 16, end = least(t->s->bound.max_position, most);
  int count = 0;
  for (int k = 12; k < 63; k++) {
    const int64_t power = INT64_C(1) << k, wanted[] = {power - FAR_ROWS / 3, -power - FAR_ROWS / 3};
    for (int i = 0; i < 2; i++)
      if (llabs(wanted[i]) <= end - FAR_ROWS) firsts[count++] = wanted[i];
  }
  const int64_t others[] = {-1, -FAR_ROWS, -1000003, end - FAR_ROWS + 1, -end};
  for (int i = 0; i < 5; i++)
    if (llabs(others[i]) <= end) firsts[count++] = others[i];
  return count;
}

/* ---- exams ----------------------------------------------------------------------------------------------------- */

void variant_collect(stress *t, subject *other, property p) {
  const posenc_problem *problem = &other->shape->problem;
  check_bound(&other->checks[ACCURACY], &other->found);
  if (propose_takes(problem)) accuracy_merge(&t->s->beside, &other->found);
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

bool variant_examine_window(stress *t, subject *other, window w, fast_oracle *reference, bool again) {
  other->origin = 0;
  if (!op_is_applied(other->shape->problem.op)) {
    subject_check_window(other, w, reference, t->one, t->other, again, t->random);
    return true;
  }
  const bool enough = applied_begin(t->applied, other, random_below(t->random, UINT64_MAX), reference);
  if (enough) applied_check_window(t->applied, w, again, t->random);
  applied_end(t->applied);
  return enough;
}

static bool examine_rows(stress *t, subject *other, fast_oracle *reference) {
  const posenc_problem *problem = &other->shape->problem;
  const int64_t rows = op_is_applied(problem->op) ? least(problem->rows, CHECKED_ROWS) : problem->rows;
  if (rows_are_special(problem)) {
    other->origin = 0;
    const sampling every = sampling_of(other->kernel, problem, INT64_MAX);
    return subject_check_rows(other, &every);
  }
  return variant_examine_window(t, other, (window){0, rows}, reference, true);
}

bool variant_examine(stress *t, subject *other, fast_oracle *reference, property p) {
  const bool enough = examine_rows(t, other, reference);
  variant_collect(t, other, p);
  return enough;
}

fast_oracle *variant_reference(const posenc_problem *problem) {
  posenc_problem table = posenc_table_of(problem);
  table.first = 0;
  return fast_create(&table, 0);
}
