/* SPDX-License-Identifier: MIT */
#include "verify/stages.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/random.h"
#include "reference/scaling.h"

#include <stdlib.h>

bool stage_samples_create(stage_samples *t, int64_t pairs) {
  const size_t room = pairs > 0 ? (size_t)pairs : 1;
  *t = (stage_samples){.cases = calloc(room, sizeof *t->cases), .stages = calloc(room, sizeof *t->stages)};
  if (t->cases && t->stages) return true;
  stage_samples_free(t);
  return false;
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

bool subject_check_stages(subject *s, arena *a, uint64_t *random) {
  enum { WINDOWS = 4, ROWS = 16, PAIRS = 1 << 16 };
  const posenc_problem *problem = &s->shape->problem;
  const format *f = format_of(problem->dtype);
  const int64_t fitting = least(ROWS, PAIRS / (problem->dim / 2) + 1), rows = least(fitting, problem->rows),
                last = problem->rows - rows;
  check *c = &s->checks[STAGES];
  stage_samples t;
  if (!stage_samples_create(&t, rows * problem->dim / 2)) return false;
  for (int n = 0; n < WINDOWS && !c->skip; n++) {
    const int64_t row = n == 0 ? 0 : n == 1 ? last : (int64_t)random_below(random, (uint64_t)last + 1);
    if (stage_samples_take(&t, s, s->plan, row, rows, a))
      check_samples(c, f, &t);
    else
      c->skip = untold(s);
  }
  stage_samples_free(&t);
  return true;
}

static void add_sizes(split_parts *sum, const split_parts *parts) {
  sum->frequency += fabs(parts->frequency);
  sum->phase += fabs(parts->phase);
  sum->trig += fabs(parts->trig);
  sum->store += fabs(parts->store);
}

bool stage_samples_mean(const stage_samples *t, const oracle *reference, split_parts *mean) {
  const double elements = 2.0 * (double)t->count;
  split_pair *pairs = calloc(t->count ? t->count : 1, sizeof *pairs);
  if (!pairs) return false;
  split_errors(reference, t->cases, t->count, pairs);
  split_parts sum = {.frequency = 0.0};
  for (size_t n = 0; n < t->count; n++) {
    add_sizes(&sum, &pairs[n].sine);
    add_sizes(&sum, &pairs[n].cosine);
  }
  *mean = (split_parts){sum.frequency / elements, sum.phase / elements, sum.trig / elements, sum.store / elements};
  free(pairs);
  return true;
}

json_t *parts_json(const split_parts *parts) {
  return json_pack("{s:o, s:o, s:o, s:o}", "frequency", field_real(parts->frequency), "phase", field_real(parts->phase),
                   "trig", field_real(parts->trig), "store", field_real(parts->store));
}
