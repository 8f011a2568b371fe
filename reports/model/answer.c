/* SPDX-License-Identifier: MIT */
#include "reports/model/answer.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/shapes.h"
#include "reports/model/document.h"

#include <stdint.h>
#include <stdlib.h>

static const char baseline[] = "naive";

typedef enum budget { HALF, ONE, ANY, BUDGETS } budget;

static const char *const budgets[BUDGETS] = {"half", "one", "any"};

/* ---- who may be the answer ---- */

/* Does it prove that it is within so much everywhere on that shape? */
static bool is_within(const json_t *kernel, const json_t *described, budget most) {
  static const double one_ulp = 0x1p-24; /* just below 1 */
  const posenc_bound bound = document_bound(kernel);
  const int64_t first = json_integer_value(json_object_get(described, "first"));
  const double rows = field_number(described, "rows"); /* timings alone tell it as a real */
  int64_t last;
  if (most == ANY) return true;
  if (!(rows >= 0 && rows < 0x1p62)) return false;
  if (!bound.derived || bound.max_position < 0 || first < -bound.max_position ||
      __builtin_add_overflow(first, (int64_t)rows - 1, &last) || last > bound.max_position)
    return false;
  if (most == HALF) return bound.ulp <= 0.5 && bound.abs <= 0 && bound.growth <= 0;
  return posenc_bound_at(&bound, POSENC_F32, first) <= one_ulp && posenc_bound_at(&bound, POSENC_F32, last) <= one_ulp;
}

static bool is_candidate(const json_t *kernel, const json_t *described, budget most) {
  if (!json_is_true(json_object_get(kernel, "holds"))) return false;
  if (json_is_true(json_object_get(kernel, "keeps_rows"))) return false; /* its time is that of a copy */
  if (json_is_true(json_object_get(kernel, "recipe"))) return false;
  return is_within(kernel, described, most);
}

static double median_ns(const json_t *table, const char *kernel) {
  const json_t *timing = json_object_get(document_row(table, kernel), "timing");
  return field_number(json_object_get(timing, "ns_per_element"), "median");
}

/* But for one kernel, or null; null if there is none. */
static const char *fastest(const json_t *document, const json_t *table, budget most, const char *but) {
  const json_t *kernels = json_object_get(document, "kernels");
  const char *best = NULL;
  double best_ns = INFINITY;
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    const char *name = field_string(kernel, "name");
    const double ns = median_ns(table, name);
    if (!(ns < best_ns) || (but && strcmp(name, but) == 0)) continue;
    if (!is_candidate(kernel, json_object_get(table, "shape"), most)) continue;
    best = name;
    best_ns = ns;
  }
  return best;
}

const char *answer_fastest(const json_t *document, const json_t *table, const char *named) {
  for (budget most = HALF; most < BUDGETS; most++)
    if (strcmp(budgets[most], named) == 0) return fastest(document, table, most, NULL);
  return NULL;
}

/* ---- by how much ---- */

/* With the second's name; JSON null without one, null when memory runs out. */
static json_t *compare(samples *times, const char *table, const char *first, const char *second) {
  if (!second || strcmp(first, second) == 0) return json_null();
  json_t *ratio = samples_ratio(times, "hot", table, first, second);
  if (ratio) json_object_set_new(ratio, "kernel", json_string(second));
  return ratio;
}

static bool add_answer(json_t *answers, const json_t *document, samples *times, const json_t *table,
                       const char *footprint, budget most) {
  const char *name = field_string(json_object_get(table, "shape"), "name");
  const char *kernel = fastest(document, table, most, NULL);
  if (!kernel) return true;
  const char *slow = isfinite(median_ns(table, baseline)) ? baseline : NULL;
  return json_array_append_new(answers, json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "shape", name, "footprint",
                                                  footprint, "budget", budgets[most], "kernel", kernel, "next",
                                                  compare(times, name, kernel, fastest(document, table, most, kernel)),
                                                  "naive", compare(times, name, kernel, slow))) == 0;
}

/* ---- on which tables ---- */

/* Of f32, which the answer is about, and timed. */
static bool is_asked(const json_t *table) {
  return document_is_f32_table(table) && json_is_object(json_object_get(table, "limit_bytes_per_second"));
}

/* The largest table that takes at most so many bytes; null if there is none. */
static const json_t *largest(const json_t *document, double most) {
  const json_t *shapes = json_object_get(document, "shapes"), *chosen = NULL;
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    const double bytes = field_number(table, "bytes");
    if (is_asked(table) && bytes > 0 && bytes <= most && (!chosen || bytes >= field_number(chosen, "bytes")))
      chosen = table;
  }
  return chosen;
}

json_t *answer_make(const json_t *document, samples *times) {
  const json_t *context = json_object_get(json_object_get(document, "environment"), "timing");
  const json_t *reference = document_shape(document, field_string(json_object_get(document, "headline"), "shape"));
  const double cache = strtod(field_string(context, "l2"), NULL);
  const struct {
    const char *footprint;
    const json_t *table;
  } asked[] = {
      {"reference", reference && is_asked(reference) ? reference : NULL},
      {"largest", largest(document, INFINITY)},
      {"in cache", largest(document, cache / 2)}, /* the other half for everything else that wants to be there */
  };
  json_t *answers = json_array();
  bool done = answers;
  for (size_t i = 0; done && i < sizeof asked / sizeof *asked; i++) {
    bool again = false; /* one table may be two of them */
    for (size_t k = 0; k < i; k++) again = again || asked[k].table == asked[i].table;
    for (budget most = HALF; done && asked[i].table && !again && most < BUDGETS; most++)
      done = add_answer(answers, document, times, asked[i].table, asked[i].footprint, most);
  }
  if (done) return answers;
  json_decref(answers);
  return NULL;
}
