/* SPDX-License-Identifier: MIT */
#include "records/baseline.h"

#include "common/field.h"
#include "records/read.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A largest share of the bound is noted as smaller if it has decreased by this factor. */
static const double much_better = 8.0;

static json_t *entry_of(const record_accuracy *record, const record_result *result) {
  const record_kernel *kernel = record_find_kernel(record->kernels, record->kernels_count, result->kernel);
  const record_check *accuracy = record_find_check(result->checks, result->checks_count, "accuracy");
  if (!kernel || !accuracy) return NULL;
  return json_pack("{s:s, s:O, s:b, s:O, s:s, s:I, s:o, s:o, s:o, s:I, s:O, s:o, s:O}", "kernel", result->kernel,
                   "shape", result->shape.json, "reproducible", (int)kernel->reproducible, "bound", kernel->bound.json,
                   "mode", result->mode, "elements", (json_int_t)result->elements, "max_ulp",
                   field_real(result->max_ulp.ulp), "max_abs", field_real(result->max_abs.abs), "mean_ulp",
                   field_real(result->mean_ulp), "misrounded", (json_int_t)result->misrounded, "histogram",
                   json_object_get(result->json, "histogram"), "share", field_real(accuracy->worst), "digest",
                   json_object_get(result->json, "digest"));
}

json_t *baseline_of(const json_t *json) {
  const record_accuracy *record = record_take_accuracy(json);
  if (!record) return NULL;
  json_t *entries = json_array();
  /* A kernel that refused or died has no figures. */
  RECORD_EACH(result, record, records)
    if (*result->mode) json_array_append_new(entries, entry_of(record, result));
  json_t *made = json_pack("{s:s, s:O, s:O, s:O, s:O, s:o}", "schema", "posenc-baseline-1", "libc",
                           json_object_get(record->environment, "libc"), "kernel_abi",
                           json_object_get(record->environment, "kernel_abi"), "seed", json_object_get(json, "seed"),
                           "budget", json_object_get(json, "budget"), "entries", entries);
  record_free(record);
  return made;
}

void baseline_print(const json_t *baseline, FILE *stream) {
  const char *key, *before = "{";
  const json_t *value;
  json_object_foreach((json_t *)baseline, key, value) {
    fprintf(stream, "%s\n  \"%s\": ", before, key);
    before = ",";
    if (!json_is_array(value)) json_dumpf(value, stream, JSON_ENCODE_ANY);
    for (size_t i = 0; i < json_array_size(value); i++) {
      fputs(i ? ",\n    " : "[\n    ", stream);
      json_dumpf(json_array_get(value, i), stream, JSON_ENCODE_ANY);
    }
    if (json_is_array(value)) fputs(json_array_size(value) ? "\n  ]" : "[]", stream);
  }
  fputs("\n}\n", stream);
}

static const record_baseline_entry *find_entry(const record_baseline *baseline, const record_result *result) {
  RECORD_EACH(entry, baseline, entries)
    if (strcmp(entry->kernel, result->kernel) == 0 && json_equal(entry->shape.json, result->shape.json)) return entry;
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

/* Returns infinity for NaN, which stands for null in the record. */
static double infinite_if_missing(double x) {
  return isnan(x) ? INFINITY : x;
}

static void compare_figure(verdict *v, const char *name, double before, double after) {
  const double was = infinite_if_missing(before), now = infinite_if_missing(after);
  if (now > was)
    say(v, true, "%s grew from %.9g to %.9g", name, was, now);
  else if (now < was)
    say(v, false, "%s fell from %.9g to %.9g", name, was, now);
}

/* Notes the first bin of the histogram that differs. */
static void compare_histograms(verdict *v, const record_baseline_entry *was, const record_result *is) {
  for (size_t i = 0; i < was->histogram_count && i < is->histogram_count; i++) {
    const record_bin *a = &was->histogram[i], *b = &is->histogram[i];
    if (json_equal(a->json, b->json)) continue;
    say(v, false, "errors below %g ulp: %" PRId64 " then, %" PRId64 " now", infinite_if_missing(a->below), a->count,
        b->count);
    return;
  }
}

static void compare(verdict *v, const record_baseline_entry *entry, const record_result *result,
                    const record_kernel *kernel) {
  if (entry->reproducible && *entry->digest && strcmp(entry->digest, result->digest) != 0)
    say(v, true, "bits changed, %s to %s", entry->digest, result->digest);
  compare_figure(v, "max ulp", entry->max_ulp, result->max_ulp.ulp);
  compare_figure(v, "max error", entry->max_abs, result->max_abs.abs);
  compare_figure(v, "misrounded", (double)entry->misrounded, (double)result->misrounded);
  compare_histograms(v, entry, result);
  if (!kernel || !json_equal(entry->bound.json, kernel->bound.json)) say(v, false, "another bound is claimed");
  const record_check *accuracy = record_find_check(result->checks, result->checks_count, "accuracy");
  const double share_now = infinite_if_missing(accuracy ? accuracy->worst : NAN);
  if (share_now * much_better < infinite_if_missing(entry->share))
    say(v, false, "the claim has become loose: %.3g of it is used, %.3g was", share_now,
        infinite_if_missing(entry->share));
}

/* Whether elements are drawn at random: the rows of a sample, or the x of add and rope. */
static bool is_drawn(const record_result *result) {
  return strcmp(result->mode, "sampled") == 0 || strcmp(result->shape.op, "table") != 0;
}

static void judge(verdict *v, const record_accuracy *record, const record_baseline *baseline,
                  const record_result *result, bool allow_new) {
  const record_baseline_entry *entry = find_entry(baseline, result);
  const record_kernel *kernel = record_find_kernel(record->kernels, record->kernels_count, result->kernel);
  const bool same_libm = strcmp(baseline->libc, field_string(record->environment, "libc")) == 0;
  if (!entry && allow_new)
    v->skip = "the baseline has no such entry";
  else if (!entry)
    say(v, true, "the baseline has no such entry; --allow-new skips what is new");
  else if (entry->elements != result->elements || strcmp(entry->mode, result->mode) != 0 ||
           (is_drawn(result) && baseline->seed != record->seed))
    v->skip = "the baseline is of other elements: use its --seed and --budget";
  else if (!entry->reproducible && !same_libm)
    v->skip = "it stands on libm, and the baseline was saved with another one";
  else
    compare(v, entry, result, kernel);
}

static void add(json_t *record, const char *count) {
  json_object_set_new(record, count, json_integer(json_integer_value(json_object_get(record, count)) + 1));
}

bool baseline_hold(json_t *json, const json_t *baseline, bool allow_new) {
  record_fault fault;
  const record_accuracy *record = record_take_accuracy(json);
  const record_baseline *before = record_read_baseline(baseline, &fault);
  for (size_t i = 0; record && before && i < record->records_count; i++) {
    const record_result *result = &record->records[i];
    if (!*result->mode) continue;
    verdict v = {.broken = false};
    judge(&v, record, before, result, allow_new);
    add(json, v.skip ? "skipped" : v.broken ? "failed" : "passed");
    json_array_append_new(json_object_get(result->json, "checks"),
                          json_pack("{s:s, s:b, s:b, s:i, s:i, s:I, s:s}", "property", "baseline", "ok", !v.broken,
                                    "skipped", v.skip != NULL, "worst", (int)v.broken, "bound", 0, "compared",
                                    (json_int_t)result->elements, "note", v.skip ? v.skip : v.note));
  }
  const bool is_held = record && before;
  record_free(before);
  record_free(record);
  return is_held;
}
