/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "verify/stress.h"

#include "common/work.h"
#include "verify/applied.h"

#include <inttypes.h>
#ifdef _OPENMP
#include <omp.h>
#endif
#include <stdio.h>

static bool open_stress(stress *t, subject *s, uint64_t *random) {
  *t = (stress){s, random, arena_create(STRESS_BYTES), arena_create(STRESS_BYTES), *s->options, 1};
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

void stress_say(const char *doing) {
  isolate_say(doing, 1.0);
}

/* ---- problems ------------------------------------------------------------------------------------------- */

posenc_layout stress_layout(posenc_op op, int number) {
  static const posenc_layout of_rope[] = {POSENC_INTERLEAVED, POSENC_SPLIT};
  return op == POSENC_ROPE ? of_rope[number % 2] : (posenc_layout)(number % 4);
}

posenc_problem stress_problem(const stress *t, int64_t rows, int64_t dim) {
  posenc_problem p = *posenc_plan_problem(t->s->plan);
  const posenc_scaling none = posenc_table(1, 2).scaling;
  p.rows = rows;
  p.positions = NULL;
  p.odd = POSENC_ODD_REFUSED;
  p.padding = POSENC_NO_PADDING;
  p.layout = stress_layout(p.op, (int)random_below(t->random, 4));
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

int stress_firsts(const stress *t, int64_t firsts[FIRSTS]) {
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

bool stress_examine(stress *t, subject *other, fast_oracle *truth, property p) {
  const bool enough = examine_rows(t, other, truth);
  collect(t, other, p);
  return enough;
}

fast_oracle *stress_truth(const posenc_problem *problem) {
  posenc_problem table = posenc_table_of(problem);
  table.first = 0;
  return fast_create(&table, 0);
}

/* False when memory runs out. That the kernel does not do it is none of our business. */
static bool examine_other(stress *t, const posenc_problem *problem, posenc_stores stores, fast_oracle *truth,
                          property p) {
  posenc_options options = t->options;
  const shape of = shape_of(problem);
  subject other;
  options.stores = stores;
  if (subject_open(&other, t->s->kernel, &of, &options)) return true;
  const bool enough = stress_examine(t, &other, truth, p);
  subject_close(&other);
  return enough;
}

/* A dim of each residue with each layout, from 2 to 64, and a larger one, with either way to store. */
static bool check_widths(stress *t) {
  enum { ROWS = 37, LAYOUTS = 4, VECTOR = 16, KINDS = LAYOUTS + 1 };
  const int first = (int)random_below(t->random, LAYOUTS);
  bool enough = true;
  for (int n = 0; enough && n < STRESS_DIMS * KINDS; n++) {
    const int residue = n / KINDS, kind = n % KINDS;
    const int64_t vectors =
        kind < LAYOUTS ? (first + residue + kind) % LAYOUTS : LAYOUTS + (int64_t)random_below(t->random, 32);
    posenc_problem p = stress_problem(t, kind < LAYOUTS ? ROWS : ROWS / 4, 2 * (residue + 1) + VECTOR * vectors);
    if (kind < LAYOUTS) p.layout = stress_layout(p.op, kind);
    fast_oracle *truth = stress_truth(&p);
    enough = truth;
    stress_say("other dims");
    for (posenc_stores stores = POSENC_STORES_REGULAR; enough && stores <= POSENC_STORES_STREAMING; stores++)
      enough = examine_other(t, &p, stores, truth, WIDTHS);
    fast_destroy(truth);
  }
  return enough;
}

/* Each of some dims has its share of the positions. */
static bool check_positions(stress *t) {
  int64_t firsts[FIRSTS];
  const int count = stress_firsts(t, firsts);
  bool enough = true;
  for (int n = 0; enough && n < STRESS_DIMS; n++) {
    posenc_problem p = stress_problem(t, FAR_ROWS, stress_dim(t, n));
    fast_oracle *truth = stress_truth(&p);
    enough = truth;
    for (int i = n; enough && i < count; i += STRESS_DIMS) {
      char doing[80];
      snprintf(doing, sizeof doing, "rows from position %" PRId64 " on", firsts[i]);
      stress_say(doing);
      p.first = firsts[i];
      enough = examine_other(t, &p, t->options.stores, truth, FAR_POSITIONS);
    }
    fast_destroy(truth);
  }
  return enough;
}

/* Around the numbers that vectors, cache lines and models have, and every one. */
static bool check_heads(stress *t) {
  static const int64_t heads[] = {4, 5, 7, 8, 12, 16, 20, 24, 31, 32, 33, 40, 48, 63, 64, 65, 71, 96, 100, 127, 128};
  posenc_problem p = stress_problem(t, 19, stress_dim(t, (int)random_below(t->random, STRESS_DIMS)));
  if (p.op != POSENC_ROPE) return true;
  fast_oracle *truth = stress_truth(&p);
  bool enough = truth;
  stress_say("other numbers of heads");
  for (size_t n = 0; enough && n < sizeof heads / sizeof *heads; n++) {
    p.heads = heads[n];
    p.layout = stress_layout(p.op, (int)random_below(t->random, 2));
    enough = examine_other(t, &p, t->options.stores, truth, HEAD_COUNTS);
  }
  p.rows = 2;
  for (p.heads = 1; enough && p.heads <= 128; p.heads++)
    enough = examine_other(t, &p, t->options.stores, truth, HEAD_COUNTS);
  fast_destroy(truth);
  return enough;
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

bool subject_stress(subject *s, uint64_t *random) {
  stress t;
  bool enough = open_stress(&t, s, random);
  const bool sound = is_sound(s);
  if (enough) stress_cpus(&t);
  if (enough && sound) {
    stress_const(&t);
    enough = check_widths(&t) && check_positions(&t) && check_heads(&t) && stress_plans(&t) && stress_call_sizes(&t) &&
             (!op_is_applied(s->shape->problem.op) || stress_slices(&t));
  }
  if (enough && sound) {
    stress_alignment(&t);
    stress_decoding(&t);
    stress_endurance(&t);
    stress_growth(&t);
  }
  skip_rest(s, sound ? "it does no other problem like this one" : "the rows of the shape itself are wrong already");
  close_stress(&t);
  return enough;
}
