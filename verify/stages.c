/* SPDX-License-Identifier: MIT */
#include "common/contract.h"
#include "common/memory.h"
#include "common/number.h"
#include "reference/scaling.h"
#include "verify/checks.h"

#include <math.h>
#include <stdlib.h>

void staged_pairs_create(staged_pairs *t, int64_t pairs) {
  *t = (staged_pairs){.cases = memory_take((size_t)pairs, sizeof *t->cases),
                      .stages = memory_take((size_t)pairs, sizeof *t->stages)};
}

void staged_pairs_free(staged_pairs *t) {
  free(t->cases);
  free(t->stages);
  *t = (staged_pairs){0};
}

bool staged_pairs_take(staged_pairs *t, subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t pairs = problem->dim / 2;
  t->count = 0;
  if (!posenc_plan_stages(plan, row, rows, t->stages)) return false;
  const unsigned char *out = subject_execute(s, plan, row, rows, a);
  for (int64_t r = 0; r < rows; r++) {
    const int64_t position = problem->first + row + r;
    if (position == problem->padding && problem->padding != POSENC_NO_PADDING) continue;
    for (int64_t i = 0; i < pairs; i++) {
      const int64_t column = r * problem->dim + i * at.step;
      t->cases[t->count++] = (split_case){.at = {position, i},
                                          .stages = t->stages[r * pairs + i],
                                          .sine = format_element(problem->dtype, out, column + at.sin),
                                          .cosine = format_element(problem->dtype, out, column + at.cos)};
    }
  }
  return true;
}

/* Whether the element is the value rounded once. */
static bool is_rounded(const format *f, posenc_sum value, double element) {
  const double rounded = format_nearest_sum(f, value.high, value.low);
  return rounded == element && signbit(rounded) == signbit(element);
}

static void check_staged(check *c, const format *f, const staged_pairs *t) {
  for (size_t n = 0; n < t->count; n++) {
    const split_case *one = &t->cases[n];
    c->compared += 2;
    const int wrong = !is_rounded(f, one->stages.sine, one->sine) + !is_rounded(f, one->stages.cosine, one->cosine);
    if (!wrong) continue;
    if (!c->broken) {
      c->worst = 1.0;
      c->position = one->at.position;
      c->index = one->at.index;
    }
    c->broken += wrong;
  }
}

/* Returns the reason why a plan has no stages. Where the library changes rows, they are not those of the kernel. */
static const char *untold(const subject *s) {
  const posenc_problem *problem = &s->shape->problem;
  if (!s->kernel->stages) return STAGES_UNTOLD;
  if (s->kernel->f32_only && problem->dtype != POSENC_F32)
    return "its rows are rounded again, and stages are of rows of f32";
  if (!attention_is_one(problem)) return "its rows have a factor, and stages are of rows before that";
  return STAGES_UNTOLD;
}

void subject_check_stages(subject *s, arena *a, uint64_t *random) {
  enum { WINDOWS = 4, ROWS = 16, PAIRS = 1 << 16 };
  const posenc_problem *problem = &s->shape->problem;
  const format *f = format_of(problem->dtype);
  const int64_t fitting = least(ROWS, PAIRS / (problem->dim / 2) + 1), rows = least(fitting, problem->rows),
                last = problem->rows - rows;
  check *c = &s->checks[STAGES];
  staged_pairs t;
  staged_pairs_create(&t, rows * problem->dim / 2);
  for (int n = 0; n < WINDOWS && !c->skip; n++) {
    const int64_t row = n < 2 ? n * last : (int64_t)random_below(random, (uint64_t)last + 1);
    if (staged_pairs_take(&t, s, s->plan, row, rows, a))
      check_staged(c, f, &t);
    else
      c->skip = untold(s);
  }
  staged_pairs_free(&t);
}

static void add_sizes(split_parts *sum, const split_parts *parts) {
  sum->frequency += fabs(parts->frequency);
  sum->phase += fabs(parts->phase);
  sum->trig += fabs(parts->trig);
  sum->store += fabs(parts->store);
}

split_parts staged_pairs_mean(const staged_pairs *t, const oracle *reference) {
  const double elements = 2.0 * (double)t->count;
  split_pair *pairs = memory_take(t->count, sizeof *pairs);
  split_errors(reference, t->cases, t->count, pairs);
  split_parts sum = {.frequency = 0.0};
  for (size_t n = 0; n < t->count; n++) {
    add_sizes(&sum, &pairs[n].sine);
    add_sizes(&sum, &pairs[n].cosine);
  }
  free(pairs);
  return (split_parts){sum.frequency / elements, sum.phase / elements, sum.trig / elements, sum.store / elements};
}

record_parts parts_record(const split_parts *parts) {
  return (record_parts){
      .there = true, .frequency = parts->frequency, .phase = parts->phase, .trig = parts->trig, .store = parts->store};
}

/* ---- attribution of errors ------------------------------------------------------------------------------------ */

enum { ROWS = 16 };

/* Returns the largest error in parts; what is not there in the padding row, where nothing is computed. */
static record_explained_error explain_worst(subject *s, const oracle *reference, arena *a, staged_pairs *t) {
  const witness *w = &s->found.max_abs;
  staged_pairs_take(t, s, s->plan, w->position - s->shape->problem.first, 1, a);
  if (!t->count) return (record_explained_error){0};
  split_pair pair;
  split_errors(reference, &t->cases[w->index], 1, &pair);
  const split_parts *parts = w->cosine ? &pair.cosine : &pair.sine;
  return (record_explained_error){.there = true,
                                  .position = w->position,
                                  .index = w->index,
                                  .function = w->cosine ? "cos" : "sin",
                                  .error = (w->got - w->exact_high) - w->exact_low,
                                  .parts = {.there = true,
                                            .frequency = parts->frequency,
                                            .phase = parts->phase,
                                            .trig = parts->trig,
                                            .store = parts->store}};
}

/* Returns the least power of two above a position, at most 2^62. */
static int64_t next_power(int64_t position) {
  int64_t power = 1;
  while (power <= position && power < INT64_C(1) << 62) power *= 2;
  return power;
}

/* The most powers of two that a position can be, and the first row. */
enum { EXPLAINED_MOST = 64 };

/* Adds the means of the rows from a position on. */
static void add_rows(record_explained_rows *list, size_t *count, subject *s, const oracle *reference, arena *a,
                     staged_pairs *t, int64_t position) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t row = position - problem->first;
  staged_pairs_take(t, s, s->plan, row, least(ROWS, problem->rows - row), a);
  if (!t->count) return; /* the padding row is left out */
  const split_parts mean = staged_pairs_mean(t, reference);
  list[(*count)++] = (record_explained_rows){.there = true, .position = position, .parts = parts_record(&mean)};
}

/* Returns the number of rows in `list`, which has room for EXPLAINED_MOST. */
static size_t explain_rows(record_explained_rows *list, subject *s, const oracle *reference, arena *a,
                           staged_pairs *t) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t last = problem->first + (problem->rows - 1);
  size_t count = 0;
  add_rows(list, &count, s, reference, a, t, problem->first);
  for (int64_t position = next_power(problem->first), before = problem->first; position <= last && position > before;
       before = position, position = next_power(position))
    add_rows(list, &count, s, reference, a, t, position);
  return count;
}

record_explanation explain(subject *s, arena *a, record_memory *in) {
  const posenc_problem *problem = &s->shape->problem;
  staged_pairs t;
  record_explanation made = {.there = problem->rows == 0};
  if (problem->rows == 0) return made;
  staged_pairs_create(&t, ROWS * problem->dim / 2);
  oracle *reference = allocated(oracle_create(problem));
  if (staged_pairs_take(&t, s, s->plan, 0, 1, a)) {
    record_explained_rows *rows = record_allocate(in, EXPLAINED_MOST, sizeof *rows);
    made = (record_explanation){.there = true, .worst = explain_worst(s, reference, a, &t), .rows = rows};
    made.rows_count = explain_rows(rows, s, reference, a, &t);
  }
  oracle_destroy(reference);
  staged_pairs_free(&t);
  return made;
}
