/* SPDX-License-Identifier: MIT */
#include "records/compare.h"

#include "common/field.h"
#include "common/memory.h"
#include "records/compare-timings.h"
#include "records/read.h"
#include "records/timings.h"

#include <stdlib.h>
#include <string.h>

/* ---- environment ---- */

static const char *const environment_keys[] = {
    "cpu",      "isa",    "cores",          "governor", "os",       "kernel_release",    "libc",
    "compiler", "cflags", "posenc_version", "commit",   "num_cpus", "library_build_type"};

/* Returns a text or a number as text, which the caller frees. */
static char *text_of(const json_t *value) {
  if (!value || json_is_string(value)) return memory_copy_text(value ? json_string_value(value) : "");
  return allocated(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
}

static void add_differences(const json_t *before, const json_t *after, json_t *found) {
  for (size_t i = 0; i < sizeof environment_keys / sizeof *environment_keys; i++) {
    char *was = text_of(json_object_get(before, environment_keys[i])),
         *is = text_of(json_object_get(after, environment_keys[i]));
    if (strcmp(was, is) != 0)
      json_array_append_new(found, json_pack("{s:s, s:s, s:s}", "what", environment_keys[i], "old", was, "new", is));
    free(was);
    free(is);
  }
}

/* ---- accuracy ---- */

static const char *const figures[] = {"max_ulp", "max_abs", "misrounded"};
enum { FIGURES = sizeof figures / sizeof *figures };

static double figure_of(const record_result *result, int which) {
  return which == 0 ? result->max_ulp.ulp : which == 1 ? result->max_abs.abs : (double)result->misrounded;
}

/* Returns the result of the same kernel and problem. Other versions may have recorded more or fewer fields of the
   shape. */
static const record_result *counterpart(const record_accuracy *record, const record_result *result) {
  return record_find_result(record, result->kernel, result->shape.name);
}

static json_t *accuracy_name(const record_result *result) {
  return json_sprintf("%s/%s", result->kernel, result->shape.name);
}

static bool has_failed(const record_result *result) {
  RECORD_EACH(check, result, checks)
    if (!check->ok) return true;
  return false;
}

/* Whether two results are of the same elements. The error of a sample is a lower bound, so results of different samples
   cannot be compared. */
static bool are_alike(const record_result *before, const record_result *after) {
  return strcmp(before->mode, after->mode) == 0 && before->elements == after->elements &&
         (strcmp(before->mode, "exhaustive") == 0 || strcmp(before->replay, after->replay) == 0);
}

/* Returns the verdict on figures of the same elements. Adds the figures that differ to `told`. */
static const char *compare_figures(const record_result *before, const record_result *after,
                                   const compare_limits *limits, json_t *told) {
  int more = 0, fewer = 0;
  for (int i = 0; i < FIGURES; i++) {
    const double was = figure_of(before, i), is = figure_of(after, i);
    /* A NaN that was a number before is a larger error. */
    if (!(is <= was * (1.0 + limits->growth)) && !(isnan(is) && isnan(was))) more++;
    if (is < was) fewer++;
    if (is != was)
      json_array_append_new(
          told, json_pack("{s:s, s:o, s:o}", "what", figures[i], "old", field_real(was), "new", field_real(is)));
  }
  return more ? "worse" : fewer ? "better" : "same";
}

static json_t *compare_results(const record_result *before, const record_result *after, const compare_limits *limits) {
  const bool was_refused = *before->refusal, is_refused = *after->refusal;
  const char *verdict = "same", *note = "";
  json_t *told = json_array();
  if (was_refused || is_refused) {
    if (was_refused != is_refused) {
      verdict = is_refused ? "worse" : "better";
      note = is_refused ? "no longer done" : "done now";
    }
  } else if (!are_alike(before, after)) {
    verdict = "undecided";
    note = "other elements were looked at";
  } else {
    verdict = compare_figures(before, after, limits, told);
  }
  if (has_failed(after) && !has_failed(before)) {
    verdict = "worse";
    note = "a check fails that did not";
  }
  return json_pack("{s:o, s:s, s:s, s:o, s:s}", "name", accuracy_name(after), "verdict", verdict, "note", note,
                   "figures", told, "replay", after->replay);
}

/* The lists of a comparison. */
typedef struct lists {
  json_t *environment, *rows, *gone, *added;
} lists;

static lists new_lists(void) {
  return (lists){json_array(), json_array(), json_array(), json_array()};
}

static void compare_accuracy(const json_t *before, const json_t *after, const compare_limits *limits,
                             const lists *made) {
  const record_accuracy *was = record_take_accuracy(before), *is = record_take_accuracy(after);
  RECORD_EACH(result, is, records) {
    const record_result *old = counterpart(was, result);
    json_array_append_new(old ? made->rows : made->added,
                          old ? compare_results(old, result, limits) : accuracy_name(result));
  }
  RECORD_EACH(result, was, records)
    if (!counterpart(is, result)) json_array_append_new(made->gone, accuracy_name(result));
  record_free(was);
  record_free(is);
}

/* ---- accuracy and speed ---- */

bool compare_check(const json_t *json, char *why, size_t size) {
  return timings_check(json, why, size);
}

typedef enum record_kind { KIND_NONE, KIND_ACCURACY, KIND_SPEED } record_kind;

static record_kind kind_of(const json_t *record) {
  if (strncmp(field_string(record, "schema"), "posenc-accuracy-", 16) == 0) return KIND_ACCURACY;
  return json_is_array(json_object_get(record, "benchmarks")) ? KIND_SPEED : KIND_NONE;
}

static json_int_t count_of(const json_t *rows, const char *verdict) {
  json_int_t count = 0;
  for (size_t i = 0; i < json_array_size(rows); i++)
    count += strcmp(field_string(json_array_get(rows, i), "verdict"), verdict) == 0;
  return count;
}

/* Whether no row has times. Failures are printed even if nothing was timed. */
static bool tell_nothing(const json_t *rows) {
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (strcmp(field_string(json_array_get(rows, i), "note"), compare_no_times) != 0) return false;
  return true;
}

/* Returns the largest of the rows' smallest differences, NaN if an interval is open. */
static double smallest_of(const json_t *rows) {
  double most = json_array_size(rows) ? 0.0 : NAN;
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const double one = field_number(json_array_get(rows, i), "smallest");
    most = one <= most ? most : one; /* a NaN stays */
  }
  return most;
}

/* Makes the comparison from these lists, and takes them over. */
static json_t *assemble(const char *kind, lists made) {
  const json_int_t worse = count_of(made.rows, "worse"), better = count_of(made.rows, "better"),
                   same = count_of(made.rows, "same"), undecided = count_of(made.rows, "undecided");
  return json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:I, s:I, s:I, s:I}", "schema", "posenc-compare-1", "kind", kind,
                   "environment", made.environment, "rows", made.rows, "gone", made.gone, "new", made.added, "worse",
                   worse, "better", better, "same", same, "undecided", undecided);
}

json_t *compare_records(const json_t *before, const json_t *after, const compare_limits *limits, const char **why) {
  const record_kind kind = kind_of(after);
  *why = "neither an accuracy record nor Google Benchmark's JSON";
  if (kind == KIND_NONE || kind_of(before) == KIND_NONE) return NULL;
  *why = "one tells accuracy, the other speed";
  if (kind != kind_of(before)) return NULL;
  lists made = new_lists();
  if (kind == KIND_SPEED)
    compare_timings(before, after, limits, made.rows, made.gone, made.added);
  else
    compare_accuracy(before, after, limits, &made);
  *why = json_array_size(made.rows) ? "no benchmark has times in both" : "they have nothing in common";
  const bool nothing = tell_nothing(made.rows);
  const char *const place = kind == KIND_SPEED ? "context" : "environment";
  add_differences(json_object_get(before, place), json_object_get(after, place), made.environment);
  json_t *comparison = assemble(kind == KIND_SPEED ? "speed" : "accuracy", made);
  if (!nothing) return comparison;
  json_decref(comparison);
  return NULL;
}

json_t *compare_blocks(const blocks *all, const json_t *before, const json_t *after, const compare_limits *limits) {
  lists made = new_lists();
  blocks_compare(all, limits, made.rows);
  add_differences(json_object_get(before, "context"), json_object_get(after, "context"), made.environment);
  const json_int_t count = (json_int_t)blocks_count(all);
  const double smallest = smallest_of(made.rows);
  return field_put(field_put(assemble("speed", made), "blocks", json_integer(count)), "smallest", field_real(smallest));
}
