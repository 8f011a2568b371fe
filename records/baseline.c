/* SPDX-License-Identifier: MIT */
#include "records/baseline.h"

#include "common/field.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A claim that is so many times looser against the error than it was is told. */
static const double much_better = 8.0;

/* Infinite where the record has null. */
static double number(const json_t *object, const char *key) {
  return field_number_or(object, key, INFINITY);
}

static json_t *shared(const json_t *object, const char *key) {
  return json_incref(json_object_get(object, key));
}

static json_t *find_kernel(const json_t *record, const char *name) {
  return field_find(json_object_get(record, "kernels"), "name", name);
}

static json_t *find_check(const json_t *result, const char *property) {
  return field_find(json_object_get(result, "checks"), "property", property);
}

static json_t *entry_of(const json_t *record, const json_t *result) {
  const json_t *kernel = find_kernel(record, field_string(result, "kernel"));
  return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "kernel",
                   shared(result, "kernel"), "shape", shared(result, "shape"), "reproducible",
                   shared(kernel, "reproducible"), "bound", shared(kernel, "bound"), "mode", shared(result, "mode"),
                   "elements", shared(result, "elements"), "max_ulp", shared(json_object_get(result, "max_ulp"), "ulp"),
                   "max_abs", shared(json_object_get(result, "max_abs"), "abs"), "mean_ulp", shared(result, "mean_ulp"),
                   "misrounded", shared(result, "misrounded"), "histogram", shared(result, "histogram"), "share",
                   shared(find_check(result, "accuracy"), "worst"), "digest", shared(result, "digest"));
}

json_t *baseline_of(const json_t *record) {
  const json_t *environment = json_object_get(record, "environment");
  json_t *entries = json_array(), *result;
  size_t i;
  json_array_foreach(json_object_get(record, "records"), i, result) {
    /* What refused or died has no figures to hold anyone to. */
    if (json_object_get(result, "mode")) json_array_append_new(entries, entry_of(record, result));
  }
  return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "posenc-baseline-1", "libc", shared(environment, "libc"),
                   "kernel_abi", shared(environment, "kernel_abi"), "seed", shared(record, "seed"), "budget",
                   shared(record, "budget"), "entries", entries);
}

const char *baseline_fault(const json_t *baseline) {
  size_t i;
  json_t *entry;
  if (strcmp(field_string(baseline, "schema"), "posenc-baseline-1") != 0)
    return "not a baseline of posenc (schema posenc-baseline-1)";
  if (!json_is_array(json_object_get(baseline, "entries"))) return "a baseline without entries";
  json_array_foreach(json_object_get(baseline, "entries"), i, entry) {
    if (!*field_string(entry, "kernel") || !json_is_object(json_object_get(entry, "shape")) ||
        !json_is_integer(json_object_get(entry, "elements")) || !json_is_integer(json_object_get(entry, "misrounded")))
      return "an entry lacks its kernel, shape, elements or misrounded";
  }
  return NULL;
}

static const json_t *find_entry(const json_t *baseline, const json_t *result) {
  size_t i;
  json_t *entry;
  json_array_foreach(json_object_get(baseline, "entries"), i, entry) {
    if (strcmp(field_string(entry, "kernel"), field_string(result, "kernel")) == 0 &&
        json_equal(json_object_get(entry, "shape"), json_object_get(result, "shape")))
      return entry;
  }
  return NULL;
}

typedef struct verdict {
  char note[400];
  size_t used;
  bool broken;
  const char *skip;
} verdict;

__attribute__((format(printf, 3, 4))) static void say(verdict *v, bool broken, const char *format, ...) {
  va_list arguments;
  v->broken = v->broken || broken;
  if (v->used + 2 >= sizeof v->note) return;
  if (v->used) v->used += (size_t)snprintf(v->note + v->used, sizeof v->note - v->used, "; ");
  va_start(arguments, format);
  const int length = vsnprintf(v->note + v->used, sizeof v->note - v->used, format, arguments);
  va_end(arguments);
  v->used += length > 0 ? (size_t)length : 0;
  if (v->used >= sizeof v->note) v->used = sizeof v->note - 1;
}

static void compare_figure(verdict *v, const char *name, double was, double now) {
  if (now > was)
    say(v, true, "%s grew from %.9g to %.9g", name, was, now);
  else if (now < was)
    say(v, false, "%s fell from %.9g to %.9g", name, was, now);
}

/* The first bin of the histogram that differs. */
static void compare_histograms(verdict *v, const json_t *was, const json_t *now) {
  for (size_t i = 0; i < json_array_size(was) && i < json_array_size(now); i++) {
    const json_t *a = json_array_get(was, i), *b = json_array_get(now, i);
    if (json_equal(a, b)) continue;
    say(v, false, "errors below %g ulp: %.0f then, %.0f now", number(a, "below"), number(a, "count"),
        number(b, "count"));
    return;
  }
}

static void compare(verdict *v, const json_t *entry, const json_t *result, const json_t *kernel) {
  const char *was = field_string(entry, "digest"), *now = field_string(result, "digest");
  if (json_is_true(json_object_get(entry, "reproducible")) && *was && strcmp(was, now) != 0)
    say(v, true, "bits changed, %s to %s", was, now);
  compare_figure(v, "max ulp", number(entry, "max_ulp"), number(json_object_get(result, "max_ulp"), "ulp"));
  compare_figure(v, "max error", number(entry, "max_abs"), number(json_object_get(result, "max_abs"), "abs"));
  compare_figure(v, "misrounded", number(entry, "misrounded"), number(result, "misrounded"));
  compare_histograms(v, json_object_get(entry, "histogram"), json_object_get(result, "histogram"));
  if (!json_equal(json_object_get(entry, "bound"), json_object_get(kernel, "bound")))
    say(v, false, "another bound is claimed");
  const double share = number(entry, "share"), share_now = number(find_check(result, "accuracy"), "worst");
  if (share_now * much_better < share)
    say(v, false, "the claim has become loose: %.3g of it is used, %.3g was", share_now, share);
}

/* Rows of a sample are drawn, and so is what add and rope are given. */
static bool is_drawn(const json_t *result) {
  return strcmp(field_string(result, "mode"), "sampled") == 0 ||
         strcmp(field_string(json_object_get(result, "shape"), "op"), "table") != 0;
}

static void judge(verdict *v, const json_t *record, const json_t *baseline, const json_t *result) {
  const json_t *entry = find_entry(baseline, result), *kernel = find_kernel(record, field_string(result, "kernel"));
  const bool same_libm =
      strcmp(field_string(baseline, "libc"), field_string(json_object_get(record, "environment"), "libc")) == 0;
  if (!entry)
    v->skip = "the baseline has no such entry";
  else if (!json_equal(json_object_get(entry, "elements"), json_object_get(result, "elements")) ||
           strcmp(field_string(entry, "mode"), field_string(result, "mode")) != 0 ||
           (is_drawn(result) && !json_equal(json_object_get(baseline, "seed"), json_object_get(record, "seed"))))
    v->skip = "the baseline is of other elements: use its --seed and --budget";
  else if (!json_is_true(json_object_get(entry, "reproducible")) && !same_libm)
    v->skip = "it stands on libm, and the baseline was saved with another one";
  else
    compare(v, entry, result, kernel);
}

static void add(json_t *record, const char *count) {
  json_object_set_new(record, count, json_integer(json_integer_value(json_object_get(record, count)) + 1));
}

void baseline_hold(json_t *record, const json_t *baseline) {
  size_t i;
  json_t *result;
  json_array_foreach(json_object_get(record, "records"), i, result) {
    if (!json_object_get(result, "mode")) continue;
    verdict v = {.broken = false};
    judge(&v, record, baseline, result);
    add(record, v.skip ? "skipped" : v.broken ? "failed" : "passed");
    json_array_append_new(json_object_get(result, "checks"),
                          json_pack("{s:s, s:b, s:b, s:i, s:i, s:O, s:s}", "property", "baseline", "ok", !v.broken,
                                    "skipped", v.skip != NULL, "worst", (int)v.broken, "bound", 0, "compared",
                                    json_object_get(result, "elements"), "note", v.skip ? v.skip : v.note));
  }
}
