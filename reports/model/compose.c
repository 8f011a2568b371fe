/* SPDX-License-Identifier: MIT */
#include "reports/model/compose.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/shapes.h"
#include "posenc.h"
#include "records/samples.h"
#include "reports/model/answer.h"
#include "reports/model/causes.h"
#include "reports/model/claims.h"
#include "reports/model/document.h"
#include "reports/model/stability.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Modes whose tables stand apart: "hot" is in "shapes", with its plans. */
static const char *const further_modes[] = {"cold", "fresh", "first", "row"};

/* What speed-ups are over, and the shape that the headline shows. */
static const char baseline[] = "naive";
typedef struct maker {
  const json_t *accuracy;
  const record_timing *timing; /* or null */
  json_t *document;
  samples *times;
  bool failed; /* out of memory, somewhere on the way */
} maker;

/* ---- small pieces ---- */

static void put(maker *m, json_t *object, const char *key, json_t *value) {
  if (json_object_set_new(object, key, value) != 0) m->failed = true;
}

static void append(maker *m, json_t *array, json_t *value) {
  if (json_array_append_new(array, value) != 0) m->failed = true;
}

/* A copy, or null for what is not there. */
static json_t *copy(const json_t *value) {
  return value ? json_deep_copy(value) : json_null();
}

static json_t *real(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

/* Command lines need not be UTF-8, JSON must. */
static json_t *text(const char *bytes) {
  json_t *string = json_string(bytes);
  if (string) return string;
  char *ascii = strdup(bytes);
  if (!ascii) return NULL;
  for (char *c = ascii; *c; c++)
    if ((unsigned char)*c > 0x7e) *c = '?';
  string = json_string(ascii);
  free(ascii);
  return string;
}

static void add_name(maker *m, json_t *names, const char *name) {
  for (size_t i = 0; i < json_array_size(names); i++)
    if (strcmp(json_string_value(json_array_get(names, i)), name) == 0) return;
  append(m, names, json_string(name));
}

/* ---- the timing record ---- */

static json_t *make_timing(maker *m, const char *mode, const char *shape_name, const char *kernel) {
  static const char *const sizes[] = {"rows", "rows_timed"};
  static const char *const counters[] = {"ns_per_element", "bytes_per_second", "of_limit", "limit_bytes_per_second"};
  const size_t repetitions = samples_collect(m->times, mode, shape_name, kernel, "ns_per_element");
  if (repetitions == 0) return json_null();
  json_t *timing = json_pack("{s:I}", "repetitions", (json_int_t)repetitions);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    put(m, timing, sizes[i],
        samples_collect(m->times, mode, shape_name, kernel, sizes[i]) ? real(m->times->values[0]) : json_null());
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
    put(m, timing, counters[i], samples_spread(m->times, mode, shape_name, kernel, counters[i]));
  if (strcmp(mode, "hot") == 0)
    put(m, timing, "plan_ns", samples_spread(m->times, "plan", shape_name, kernel, "plan_ns"));
  return timing;
}

static double median_ns(const json_t *row) {
  return field_number(json_object_get(json_object_get(row, "timing"), "ns_per_element"), "median");
}

/* ---- rows and shapes ---- */

static const json_t *find_result(const maker *m, const char *shape_name, const char *kernel) {
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    if (strcmp(field_string(result, "kernel"), kernel) == 0 &&
        strcmp(field_string(json_object_get(result, "shape"), "name"), shape_name) == 0)
      return result;
  }
  return NULL;
}

static json_t *make_row(maker *m, const char *shape_name, const char *kernel) {
  const json_t *contract = field_find(json_object_get(m->accuracy, "kernels"), "name", kernel);
  const json_t *result = find_result(m, shape_name, kernel);
  json_t *row = result ? json_deep_copy(result) : json_pack("{s:s}", "kernel", kernel);
  json_object_del(row, "shape"); /* the row lies in it */
  put(m, row, "recipe", json_boolean(document_is_recipe(m->document, kernel)));
  put(m, row, "isa", copy(json_object_get(contract, "isa")));
  if (!result) put(m, row, "refusal", copy(json_object_get(contract, "refusal")));
  put(m, row, "timing", make_timing(m, "hot", shape_name, kernel));
  return row;
}

/* Was the kernel looked at or timed on that shape, or is it known why not? */
static bool tells_something(const json_t *row) {
  return json_object_get(row, "checks") || json_is_string(json_object_get(row, "refusal")) ||
         json_is_object(json_object_get(row, "timing"));
}

static void put_speed_ups(maker *m, const char *mode, const char *shape_name, const json_t *rows) {
  const bool known = isfinite(median_ns(field_find(rows, "kernel", baseline)));
  for (size_t i = 0; i < json_array_size(rows); i++) {
    json_t *row = json_array_get(rows, i), *timing = json_object_get(row, "timing");
    const char *kernel = field_string(row, "kernel");
    if (!json_is_object(timing)) continue;
    const bool compared = known && strcmp(kernel, baseline) != 0;
    put(m, timing, "speed_up", compared ? samples_ratio(m->times, mode, shape_name, kernel, baseline) : json_null());
  }
}

/* What is known of a shape: from the accuracy record, the lists, or the counters. */
static json_t *describe_shape(maker *m, const char *mode, const char *name) {
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *known = json_object_get(json_array_get(results, i), "shape");
    if (strcmp(field_string(known, "name"), name) == 0) return json_deep_copy(known);
  }
  const shape *listed = shapes_find(shapes_sweep, name);
  if (!listed) listed = shapes_find(shapes_applied, name);
  if (listed) return shape_json(listed);
  const double rows = samples_collect(m->times, mode, name, NULL, "rows") ? m->times->values[0] : NAN;
  const double dim = samples_collect(m->times, mode, name, NULL, "dim") ? m->times->values[0] : NAN;
  return json_pack("{s:s, s:o, s:o}", "name", name, "rows", real(rows), "dim", real(dim));
}

static bool is_applied(const json_t *described) {
  posenc_op op = POSENC_TABLE;
  return op_parse(field_string(described, "op"), &op) && op_is_applied(op);
}

static double shape_bytes(const json_t *described) {
  posenc_dtype dtype = POSENC_F32;
  posenc_op op = POSENC_TABLE;
  posenc_layout layout = POSENC_INTERLEAVED;
  dtype_parse(field_string(described, "dtype"), &dtype);
  layout_parse(field_string(described, "layout"), &layout);
  const bool is_cache = op_parse(field_string(described, "op"), &op) && op == POSENC_ROPE_CACHE;
  const double tables = is_cache && layout != POSENC_SPLIT ? 2 : 1; /* split, each of the two has half of the columns */
  return tables * field_number(described, "rows") * field_number_or(described, "heads", 1) *
         field_number(described, "dim") * (double)posenc_dtype_bytes(dtype);
}

/* What is known of a shape, beside its rows. */
static json_t *make_table(maker *m, const char *mode, const char *name, json_t *rows) {
  put_speed_ups(m, mode, name, rows);
  json_t *made = json_pack("{s:b}", "sweep", shapes_find(shapes_sweep, name) != NULL);
  json_t *described = describe_shape(m, mode, name);
  put(m, made, "applied", json_boolean(is_applied(described)));
  put(m, made, "bytes", real(shape_bytes(described)));
  put(m, made, "shape", described);
  put(m, made, "limit_bytes_per_second", samples_spread(m->times, mode, name, NULL, "limit_bytes_per_second"));
  put(m, made, "rows", rows);
  return made;
}

static json_t *make_shape(maker *m, const char *name, const json_t *kernels) {
  json_t *rows = json_array();
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    json_t *row = make_row(m, name, json_string_value(json_array_get(kernels, i)));
    if (tells_something(row))
      append(m, rows, row);
    else
      json_decref(row);
  }
  return make_table(m, "hot", name, rows);
}

/* Every shape that was timed in that mode, with those kernels that were. */
static json_t *make_mode(maker *m, const char *mode) {
  const json_t *shapes = json_object_get(m->document, "shapes");
  json_t *made = json_array();
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *hot = json_array_get(shapes, i), *kernels = json_object_get(hot, "rows");
    const char *name = field_string(json_object_get(hot, "shape"), "name");
    json_t *rows = json_array();
    for (size_t k = 0; k < json_array_size(kernels); k++) {
      const char *kernel = field_string(json_array_get(kernels, k), "kernel");
      json_t *timing = make_timing(m, mode, name, kernel);
      if (json_is_null(timing)) continue;
      append(m, rows, json_pack("{s:s, s:o}", "kernel", kernel, "timing", timing));
    }
    if (json_array_size(rows) > 0)
      append(m, made, make_table(m, mode, name, rows));
    else
      json_decref(rows);
  }
  return made;
}

static bool was_timed(maker *m, const char *shape_name) {
  if (samples_collect(m->times, "hot", shape_name, NULL, "ns_per_element") > 0) return true;
  for (size_t i = 0; i < sizeof further_modes / sizeof *further_modes; i++)
    if (samples_collect(m->times, further_modes[i], shape_name, NULL, "ns_per_element") > 0) return true;
  return false;
}

/* Names of the shapes of a list that were timed. */
static void add_timed(maker *m, json_t *names, const shape *(*list)(size_t *count)) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (was_timed(m, shapes[i].name)) add_name(m, names, shapes[i].name);
}

/* Names of all shapes and kernels of both records, each once, in the order in which they appear; but benchmarks run in
   random order, so the lists go by their own. */
static void collect_names(maker *m, json_t *shapes, json_t *kernels) {
  const json_t *contracts = json_object_get(m->accuracy, "kernels");
  for (size_t i = 0; i < json_array_size(contracts); i++)
    add_name(m, kernels, field_string(json_array_get(contracts, i), "name"));
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    add_name(m, shapes, field_string(json_object_get(result, "shape"), "name"));
    add_name(m, kernels, field_string(result, "kernel"));
  }
  add_timed(m, shapes, shapes_sweep);
  add_timed(m, shapes, shapes_applied);
  for (size_t i = 0; i < m->times->count; i++) {
    const sample *one = &m->times->all[i];
    if (strcmp(one->mode, "hot") != 0) continue;
    add_name(m, shapes, one->shape);
    add_name(m, kernels, one->kernel);
  }
}

/* Is it of hard-to-round cases alone? */
static bool is_of_cases(const json_t *result) {
  return strcmp(field_string(result, "mode"), "cases") == 0;
}

/* "shapes", and apart from them, "cases". */
static void put_shapes(maker *m) {
  json_t *made = json_array(), *cases = json_array(), *shapes = json_array(), *kernels = json_array();
  collect_names(m, shapes, kernels);
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    json_t *one = make_shape(m, json_string_value(json_array_get(shapes, i)), kernels);
    const json_t *rows = json_object_get(one, "rows");
    bool hard = false;
    for (size_t k = 0; k < json_array_size(rows); k++) hard = hard || is_of_cases(json_array_get(rows, k));
    append(m, hard ? cases : made, one);
  }
  json_decref(kernels);
  json_decref(shapes);
  put(m, m->document, "shapes", made);
  put(m, m->document, "cases", cases);
}

/* The reference shape, or the first that was verified. */
static json_t *make_headline(const maker *m) {
  const json_t *shown = document_shape(m->document, document_reference);
  if (!shown && json_array_size(json_object_get(m->accuracy, "records")) > 0)
    shown = json_array_get(json_object_get(m->document, "shapes"), 0); /* null if there are but cases */
  if (!shown) return json_null();
  return json_pack("{s:O, s:O}", "shape", json_object_get(json_object_get(shown, "shape"), "name"), "rows",
                   json_object_get(shown, "rows"));
}

/* ---- checks ---- */

/* Adds one to the number under that key. */
static void increment(maker *m, json_t *counts, const char *key) {
  put(m, counts, key, json_integer(json_integer_value(json_object_get(counts, key)) + 1));
}

static bool is_sampled(const json_t *result) {
  return strcmp(field_string(result, "mode"), "exhaustive") != 0;
}

static void count_check(maker *m, json_t *counts, const json_t *check, bool sampled) {
  const char *property = field_string(check, "property");
  json_t *count = json_object_get(counts, property);
  if (!count) {
    put(m, counts, property, json_pack("{s:i, s:i, s:i}", "passed", 0, "of", 0, "sampled", 0));
    count = json_object_get(counts, property);
  }
  if (json_is_true(json_object_get(check, "ok"))) increment(m, count, "passed");
  if (sampled) increment(m, count, "sampled");
  increment(m, count, "of");
}

/* Shapes by whether all kernels were compared on the whole of them: {"exhaustive", "sampled"}. */
static json_t *count_shapes(maker *m) {
  json_t *all = json_array(), *sampled = json_array();
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    if (!json_is_array(json_object_get(result, "checks")) || is_of_cases(result)) continue;
    const char *name = field_string(json_object_get(result, "shape"), "name");
    add_name(m, all, name);
    if (is_sampled(result)) add_name(m, sampled, name);
  }
  const int part = (int)json_array_size(sampled);
  json_t *counts = json_pack("{s:i, s:i}", "exhaustive", (int)json_array_size(all) - part, "sampled", part);
  json_decref(all);
  json_decref(sampled);
  return counts;
}

static json_t *make_failure(maker *m, const json_t *result, const json_t *check) {
  json_t *failure = json_deep_copy(check), *of = json_object_get(result, "shape");
  put(m, failure, "kernel", json_string(field_string(result, "kernel")));
  put(m, failure, "shape", json_string(of ? field_string(of, "name") : "profile"));
  return failure;
}

/* Counts the checks of one kernel by property, but for those of hard cases, and lists what failed. `made` is how many it was. */
static json_t *count_checks(maker *m, const char *kernel, json_t *properties, json_t *failures, size_t *made) {
  json_t *counts = json_object();
  *made = 0;
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    if (strcmp(field_string(result, "kernel"), kernel) != 0) continue;
    const json_t *checks = json_object_get(result, "checks");
    for (size_t k = 0; k < json_array_size(checks); k++) {
      const json_t *check = json_array_get(checks, k);
      if (!is_of_cases(result)) add_name(m, properties, field_string(check, "property"));
      if (json_is_true(json_object_get(check, "skipped"))) continue;
      ++*made;
      if (!is_of_cases(result)) count_check(m, counts, check, is_sampled(result));
      if (!json_is_true(json_object_get(check, "ok"))) append(m, failures, make_failure(m, result, check));
    }
  }
  const json_t *profile = field_find(json_object_get(m->accuracy, "profile"), "kernel", kernel),
               *failure = json_object_get(profile, "failure");
  if (failure) append(m, failures, make_failure(m, profile, failure));
  return counts;
}

static json_t *make_checks(maker *m, const json_t *kernels) {
  json_t *checks = json_object(), *properties = json_array(), *failures = json_array(), *counted = json_array();
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    json_t *kernel = json_array_get(kernels, i);
    const char *name = field_string(kernel, "name");
    const size_t failed_before = json_array_size(failures);
    size_t made;
    json_t *counts = count_checks(m, name, properties, failures, &made);
    const bool holds = made > 0 && json_array_size(failures) == failed_before;
    put(m, kernel, "holds", json_boolean(holds));
    append(m, counted, json_pack("{s:s, s:o}", "kernel", name, "properties", counts));
  }
  static const char *const totals[] = {"passed", "failed", "skipped"};
  for (size_t i = 0; i < sizeof totals / sizeof *totals; i++)
    put(m, checks, totals[i], copy(json_object_get(m->accuracy, totals[i])));
  put(m, checks, "shapes", count_shapes(m));
  put(m, checks, "properties", properties);
  put(m, checks, "kernels", counted);
  put(m, checks, "failures", failures);
  return checks;
}

static bool is_recipe(const json_t *kernel) {
  static const char prefix[] = "recipe/";
  return strncmp(field_string(kernel, "name"), prefix, sizeof prefix - 1) == 0;
}

/* Alone in a record, they are what it is about. */
static void mark_recipes(maker *m, json_t *kernels) {
  bool any_kernel = false;
  for (size_t i = 0; i < json_array_size(kernels); i++)
    any_kernel = any_kernel || !is_recipe(json_array_get(kernels, i));
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    json_t *kernel = json_array_get(kernels, i);
    put(m, kernel, "recipe", json_boolean(any_kernel && is_recipe(kernel)));
  }
}

/* ---- the whole ---- */

/* Strings alone, for Google Benchmark's context also holds lists; and nothing of the one who ran it. */
static json_t *facts(maker *m, const json_t *object) {
  json_t *kept = json_object();
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)object, key, value) {
    if (strcmp(key, "host_name") == 0 || strcmp(key, "executable") == 0) continue;
    if (json_is_string(value)) put(m, kept, key, copy(value));
  }
  return kept;
}

static json_t *make_environment(maker *m) {
  json_t *environment = json_object();
  put(m, environment, "accuracy", facts(m, json_object_get(m->accuracy, "environment")));
  put(m, environment, "timing", m->timing ? facts(m, m->timing->context.json) : json_null());
  return environment;
}

json_t *document_make(const json_t *accuracy, const record_timing *timing, const char *command) {
  maker m = {.accuracy = accuracy, .timing = timing, .document = json_object(), .times = samples_open(timing)};
  m.failed = !m.document || !m.times;
  if (!m.failed) {
    json_t *kernels = json_deep_copy(json_object_get(accuracy, "kernels"));
    json_t *checks = make_checks(&m, kernels);
    mark_recipes(&m, kernels);
    put(&m, m.document, "schema", json_string("posenc-report-1"));
    put(&m, m.document, "command", text(command));
    put(&m, m.document, "seed", copy(json_object_get(accuracy, "seed")));
    put(&m, m.document, "budget", copy(json_object_get(accuracy, "budget")));
    put(&m, m.document, "kernels", kernels);
    put(&m, m.document, "checks", checks);
    put_shapes(&m);
    for (size_t i = 0; i < sizeof further_modes / sizeof *further_modes; i++)
      put(&m, m.document, further_modes[i], make_mode(&m, further_modes[i]));
    put(&m, m.document, "headline", make_headline(&m));
    put(&m, m.document, "profile", copy(json_object_get(accuracy, "profile")));
    put(&m, m.document, "unique", copy(json_object_get(accuracy, "unique")));
    put(&m, m.document, "causes", causes_make(json_object_get(accuracy, "profile")));
    put(&m, m.document, "environment", make_environment(&m));
    put(&m, m.document, "answer", answer_make(m.document, m.times));
    put(&m, m.document, "stability", stability_make(m.times));
    put(&m, m.document, "claims", claims_make(m.document));
  }
  samples_close(m.times);
  if (!m.failed) return m.document;
  json_decref(m.document);
  return NULL;
}
