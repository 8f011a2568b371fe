/* SPDX-License-Identifier: MIT */
#include "verify/explain.h"

#include "common/field.h"
#include "verify/stages.h"

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

/* Adds the means of the rows from a position on. Returns false if memory runs out. */
static bool add_rows(json_t *list, subject *s, const oracle *reference, arena *a, stage_samples *t, int64_t position) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t row = position - problem->first;
  split_parts mean;
  stage_samples_take(t, s, s->plan, row, least(ROWS, problem->rows - row), a);
  if (!t->count) return true; /* the padding row is left out */
  return stage_samples_mean(t, reference, &mean) &&
         json_array_append_new(
             list, json_pack("{s:I, s:o}", "position", (json_int_t)position, "parts", parts_json(&mean))) == 0;
}

static json_t *explain_rows(subject *s, const oracle *reference, arena *a, stage_samples *t) {
  const posenc_problem *problem = &s->shape->problem;
  const int64_t last = problem->first + (problem->rows - 1);
  json_t *list = json_array();
  bool enough = list && add_rows(list, s, reference, a, t, problem->first);
  for (int64_t position = next_power(problem->first), before = problem->first;
       enough && position <= last && position > before; before = position, position = next_power(position))
    enough = add_rows(list, s, reference, a, t, position);
  if (enough) return list;
  json_decref(list);
  return NULL;
}

json_t *explain_json(subject *s, arena *a) {
  const posenc_problem *problem = &s->shape->problem;
  stage_samples t;
  if (problem->rows == 0) return json_pack("{s:n, s:[]}", "worst", "rows");
  if (!stage_samples_create(&t, ROWS * problem->dim / 2)) return NULL;
  oracle *reference = oracle_create(problem);
  json_t *made = NULL;
  if (reference && !stage_samples_take(&t, s, s->plan, 0, 1, a))
    made = json_null();
  else if (reference)
    made =
        json_pack("{s:o, s:o}", "worst", explain_worst(s, reference, a, &t), "rows", explain_rows(s, reference, a, &t));
  oracle_destroy(reference);
  stage_samples_free(&t);
  return made;
}
