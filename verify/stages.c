/* SPDX-License-Identifier: MIT */
#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"
#include "common/random.h"
#include "reference/scaling.h"
#include "verify/checks.h"

#include <stdlib.h>

void stage_samples_create(stage_samples *t, int64_t pairs) {
  *t = (stage_samples){.cases = memory_take((size_t)pairs, sizeof *t->cases),
                       .stages = memory_take((size_t)pairs, sizeof *t->stages)};
}

void stage_samples_free(stage_samples *t) {
  free(t->cases);
  free(t->stages);
  *t = (stage_samples){0};
}

bool stage_samples_take(stage_samples *t, subject *s, const posenc_plan *plan, int64_t row, int64_t rows, arena *a) {
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

static void check_samples(check *c, const format *f, const stage_samples *t) {
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
  stage_samples t;
  stage_samples_create(&t, rows * problem->dim / 2);
  for (int n = 0; n < WINDOWS && !c->skip; n++) {
    const int64_t row = n == 0 ? 0 : n == 1 ? last : (int64_t)random_below(random, (uint64_t)last + 1);
    if (stage_samples_take(&t, s, s->plan, row, rows, a))
      check_samples(c, f, &t);
    else
      c->skip = untold(s);
  }
  stage_samples_free(&t);
}

static void add_sizes(split_parts *sum, const split_parts *parts) {
  sum->frequency += fabs(parts->frequency);
  sum->phase += fabs(parts->phase);
  sum->trig += fabs(parts->trig);
  sum->store += fabs(parts->store);
}

split_parts stage_samples_mean(const stage_samples *t, const oracle *reference) {
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

json_t *parts_json(const split_parts *parts) {
  return json_pack("{s:o, s:o, s:o, s:o}", "frequency", field_real(parts->frequency), "phase", field_real(parts->phase),
                   "trig", field_real(parts->trig), "store", field_real(parts->store));
}

/* ---- attribution of errors ------------------------------------------------------------------------------------ */

enum { ROWS = 16 };

/* Explains the element of the largest error; JSON's null in the padding row, where nothing is computed. */
static json_t *explain_worst(subject *s, const oracle *reference, arena *a, stage_samples *t) {
  const witness *w = &s->found.max_abs;
  stage_samples_take(t, s, s->plan, w->position - s->shape->problem.first, 1, a);
  if (!t->count) return json_null();
  split_pair pair;
  split_errors(reference, &t->cases[w->index], 1, &pair);
  return json_pack("{s:I, s:I, s:s, s:o, s:o}", "position", (json_int_t)w->position, "index", (json_int_t)w->index,
                   "function", w->cosine ? "cos" : "sin", "error", field_real((w->got - w->exact_high) - w->exact_low),
                   "parts", parts_json(w->cosine ? &pair.cosine : &pair.sine));
}

/* Returns the least power of two above a position, at most 2^62. */
static int64_t next_power(int64_t position) {
  int64_t power = 1;
  while (power <= position && power < INT64_C(1) << 62) power *= 2;
  return power;
}

/* Adds the means of the rows from a position on. */
static void add_rows(json_t *list, subject *s, const oracle *reference, arena *a, stage_samples *t, int64_t position) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t row = position - problem->first;
  stage_samples_take(t, s, s->plan, row, least(ROWS, problem->rows - row), a);
  if (!t->count) return; /* the padding row is left out */
  const split_parts mean = stage_samples_mean(t, reference);
  json_array_append_new(list, json_pack("{s:I, s:o}", "position", (json_int_t)position, "parts", parts_json(&mean)));
}

static json_t *explain_rows(subject *s, const oracle *reference, arena *a, stage_samples *t) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t last = problem->first + (problem->rows - 1);
  json_t *list = json_array();
  add_rows(list, s, reference, a, t, problem->first);
  for (int64_t position = next_power(problem->first), before = problem->first; position <= last && position > before;
       before = position, position = next_power(position))
    add_rows(list, s, reference, a, t, position);
  return list;
}

json_t *explain_json(subject *s, arena *a) {
  const posenc_problem *problem = &s->shape->problem;
  stage_samples t;
  if (problem->rows == 0) return json_pack("{s:n, s:[]}", "worst", "rows");
  stage_samples_create(&t, ROWS * problem->dim / 2);
  oracle *reference = allocated(oracle_create(problem));
  json_t *made = json_null();
  if (stage_samples_take(&t, s, s->plan, 0, 1, a))
    made =
        json_pack("{s:o, s:o}", "worst", explain_worst(s, reference, a, &t), "rows", explain_rows(s, reference, a, &t));
  oracle_destroy(reference);
  stage_samples_free(&t);
  return made;
}
