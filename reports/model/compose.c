/* SPDX-License-Identifier: MIT */
#include "reports/model/compose.h"

#include "common/field.h"
#include "common/shapes.h"
#include "posenc.h"
#include "records/make.h"
#include "records/timings.h"
#include "reports/model/answer.h"
#include "reports/model/causes.h"
#include "reports/model/document.h"
#include "reports/model/regret.h"

#include <stdbool.h>
#include <string.h>

/* The tables of "hot" are in "shapes", with their plans. Those of the other states have fields of their own. */
#define STATE(name) #name,
static const char *const modes[] = {"hot", REPORT_STATES(STATE)};
#undef STATE
enum { MODES = sizeof modes / sizeof *modes };

typedef struct maker {
  const record_accuracy *accuracy;
  const record_timing *timing; /* or null */
  samples *times;
} maker;

_Static_assert((int)SHAPE_NAME <= (int)SAMPLE_NAME, "a record may have the name of any shape");

/* ---- small pieces ---- */

/* Returns a copy, or JSON null for null. */
static json_t *copy(const json_t *value) {
  return value ? json_deep_copy(value) : json_null();
}

static json_t *copy_field(const json_t *object, const char *key) {
  return copy(json_object_get(object, key));
}

static void add_name(json_t *names, const char *name) {
  for (size_t i = 0; i < json_array_size(names); i++)
    if (strcmp(json_string_value(json_array_get(names, i)), name) == 0) return;
  field_append(names, json_string(name));
}

static const record_kernel *contract_of(const maker *m, const char *kernel) {
  return record_find_kernel(m->accuracy->kernels, m->accuracy->kernels_count, kernel);
}

static bool has_recipe_name(const char *kernel) {
  static const char prefix[] = "recipe/";
  return strncmp(kernel, prefix, sizeof prefix - 1) == 0;
}

/* Whether a kernel is listed apart, as a recipe. If the record has only recipes, they are listed among the kernels. */
static bool is_recipe(const maker *m, const char *kernel) {
  bool any_kernel = false;
  RECORD_EACH(one, m->accuracy, kernels) any_kernel = any_kernel || !has_recipe_name(one->name);
  return any_kernel && has_recipe_name(kernel) && contract_of(m, kernel);
}

/* ---- the timing record ---- */

/* Returns the first number of a counter. Null as kernel selects any. */
static json_t *first_of(const maker *m, const char *mode, const char *shape_name, const char *kernel,
                        const char *counter) {
  return field_real(samples_collect(m->times, mode, shape_name, kernel, counter) ? m->times->values[0] : NAN);
}

static json_t *make_speed_up(const maker *m, const char *mode, const char *shape_name, const char *kernel) {
  if (strcmp(kernel, answer_literal) == 0 ||
      !samples_collect(m->times, mode, shape_name, answer_literal, "ns_per_element"))
    return json_null();
  return samples_ratio(m->times, mode, shape_name, kernel, answer_literal);
}

/* The form of a counter in a report, see counters.def. */
typedef enum in_report { NONE, ONE, SPREAD } in_report;

static const struct {
  const char *name;
  in_report as;
} counters[] = {
#define COUNTER(in_report, name, unit, meaning) {#name, in_report},
#include "records/counters.def"
};

static json_t *make_timing(const maker *m, const char *mode, const char *shape_name, const char *kernel) {
  const size_t repetitions = samples_collect(m->times, mode, shape_name, kernel, "ns_per_element");
  if (repetitions == 0) return json_null();
  json_t *timing = json_pack("{s:I}", "repetitions", (json_int_t)repetitions);
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
    const char *name = counters[i].name;
    if (counters[i].as == ONE)
      field_put(timing, name, first_of(m, mode, shape_name, kernel, name));
    else if (counters[i].as == SPREAD)
      field_put(timing, name, samples_spread(m->times, mode, shape_name, kernel, name));
  }
  if (strcmp(mode, "hot") == 0)
    field_put(timing, "plan_ns", samples_spread(m->times, "plan", shape_name, kernel, "plan_ns"));
  return field_put(timing, "speed_up", make_speed_up(m, mode, shape_name, kernel));
}

/* ---- rows and shapes ---- */

static json_t *make_row(const maker *m, const char *shape_name, const char *kernel) {
  const record_kernel *contract = contract_of(m, kernel);
  const record_result *result = record_find_result(m->accuracy, kernel, shape_name);
  const json_t *facts = contract ? contract->json : NULL;
  json_t *row = result ? json_deep_copy(result->json) : json_pack("{s:s}", "kernel", kernel);
  json_object_del(row, "shape"); /* the row is within its shape */
  field_put(row, "recipe", json_boolean(is_recipe(m, kernel)));
  field_put(row, "isa", copy_field(facts, "isa"));
  if (!result) field_put(row, "refusal", copy_field(facts, "refusal"));
  return field_put(row, "timing", make_timing(m, "hot", shape_name, kernel));
}

/* Whether the kernel was verified or timed on that shape, or the record gives the reason why not. */
static bool tells_something(const json_t *row) {
  return json_object_get(row, "checks") || *field_string(row, "refusal") ||
         json_is_object(json_object_get(row, "timing"));
}

/* Returns the facts of a shape: from the accuracy record, the lists, or the counters. */
static json_t *describe_shape(const maker *m, const char *mode, const char *name) {
  RECORD_EACH(result, m->accuracy, records)
    if (strcmp(result->shape.name, name) == 0) return json_deep_copy(result->shape.json);
  const shape *listed = shapes_find(shapes_sweep, name);
  if (!listed) listed = shapes_find(shapes_applied, name);
  if (listed) return shape_json(listed);
  return json_pack("{s:s, s:o, s:o}", "name", name, "rows", first_of(m, mode, name, NULL, "rows"), "dim",
                   first_of(m, mode, name, NULL, "dim"));
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
  const double tables = is_cache && layout != POSENC_SPLIT ? 2 : 1; /* each table of split has half of the columns */
  return tables * field_number(described, "rows") * field_number_or(described, "heads", 1) *
         field_number(described, "dim") * (double)posenc_dtype_bytes(dtype);
}

/* Returns a shape with all results. */
static json_t *make_table(const maker *m, const char *mode, const char *name, json_t *rows) {
  json_t *described = describe_shape(m, mode, name);
  return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o}", "sweep", shapes_find(shapes_sweep, name) != NULL, "applied",
                   (int)is_applied(described), "bytes", field_real(shape_bytes(described)), "shape", described,
                   "limit_bytes_per_second", samples_spread(m->times, mode, name, NULL, "limit_bytes_per_second"),
                   "rows", rows);
}

static json_t *make_shape(const maker *m, const char *name, const json_t *kernels) {
  json_t *rows = json_array();
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    json_t *row = make_row(m, name, json_string_value(json_array_get(kernels, i)));
    if (tells_something(row))
      field_append(rows, row);
    else
      json_decref(row);
  }
  return make_table(m, "hot", name, rows);
}

/* Returns every shape that was timed in that mode, with the kernels that were timed. */
static json_t *make_mode(const maker *m, const char *mode, const json_t *shapes) {
  json_t *made = json_array();
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *hot = json_array_get(shapes, i), *kernels = json_object_get(hot, "rows");
    const char *name = field_string(json_object_get(hot, "shape"), "name");
    json_t *rows = json_array();
    for (size_t k = 0; k < json_array_size(kernels); k++) {
      const char *kernel = field_string(json_array_get(kernels, k), "kernel");
      json_t *timing = make_timing(m, mode, name, kernel);
      if (!json_is_null(timing)) field_append(rows, json_pack("{s:s, s:o}", "kernel", kernel, "timing", timing));
    }
    if (json_array_size(rows) > 0)
      field_append(made, make_table(m, mode, name, rows));
    else
      json_decref(rows);
  }
  return made;
}

static bool was_timed(const maker *m, const char *shape_name) {
  for (size_t i = 0; i < MODES; i++)
    if (samples_collect(m->times, modes[i], shape_name, NULL, "ns_per_element") > 0) return true;
  return false;
}

/* Adds the names of the shapes of a list that were timed. */
static void add_timed(const maker *m, json_t *names, const shape *(*list)(size_t *count)) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (was_timed(m, shapes[i].name)) add_name(names, shapes[i].name);
}

/* Returns the names, each once, in the order of the records. Benchmarks run in random order, so listed shapes have the
   order of their list. */
static json_t *shape_names(const maker *m) {
  json_t *names = json_array();
  RECORD_EACH(result, m->accuracy, records) add_name(names, result->shape.name);
  add_timed(m, names, shapes_sweep);
  add_timed(m, names, shapes_applied);
  for (size_t i = 0; i < m->times->count; i++)
    if (strcmp(m->times->all[i].mode, "hot") == 0) add_name(names, m->times->all[i].shape);
  return names;
}

static json_t *kernel_names(const maker *m) {
  json_t *names = json_array();
  RECORD_EACH(kernel, m->accuracy, kernels) add_name(names, kernel->name);
  RECORD_EACH(result, m->accuracy, records) add_name(names, result->kernel);
  for (size_t i = 0; i < m->times->count; i++)
    if (strcmp(m->times->all[i].mode, "hot") == 0) add_name(names, m->times->all[i].kernel);
  return names;
}

/* Whether the table is of hard-to-round cases, which are listed apart. */
static bool is_of_cases(const json_t *table) {
  const json_t *rows = json_object_get(table, "rows");
  for (size_t k = 0; k < json_array_size(rows); k++)
    if (strcmp(field_string(json_array_get(rows, k), "mode"), "cases") == 0) return true;
  return false;
}

static void put_shapes(const maker *m, json_t *document) {
  json_t *made = json_array(), *cases = json_array(), *shapes = shape_names(m), *kernels = kernel_names(m);
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    json_t *one = make_shape(m, json_string_value(json_array_get(shapes, i)), kernels);
    field_append(is_of_cases(one) ? cases : made, one);
  }
  json_decref(kernels);
  json_decref(shapes);
  field_put(field_put(document, "shapes", made), "cases", cases);
}

/* Returns the reference shape, else the first that was verified; null if the record has only hard-to-round cases. */
static json_t *make_headline(const maker *m, const json_t *shapes) {
  const json_t *shown = m->accuracy->records_count ? json_array_get(shapes, 0) : NULL;
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *one = json_array_get(shapes, i);
    if (strcmp(field_string(json_object_get(one, "shape"), "name"), report_reference) == 0) shown = one;
  }
  if (!shown) return json_null();
  return json_pack("{s:s, s:O}", "shape", field_string(json_object_get(shown, "shape"), "name"), "rows",
                   json_object_get(shown, "rows"));
}

/* ---- checks ---- */

static bool is_case(const record_result *result) {
  return strcmp(result->mode, "cases") == 0;
}

static void count_check(json_t *counts, const record_check *check, bool sampled) {
  const json_t *before = json_object_get(counts, check->property);
  field_put(counts, check->property,
            json_pack("{s:I, s:I, s:I}", "passed", field_integer(before, "passed") + check->ok, "of",
                      field_integer(before, "of") + 1, "sampled", field_integer(before, "sampled") + sampled));
}

/* Counts the shapes on which all kernels were compared in full, and the others: {"exhaustive", "sampled"}. */
static json_t *count_shapes(const maker *m) {
  json_t *all = json_array(), *sampled = json_array();
  RECORD_EACH(result, m->accuracy, records) {
    if (!result->checks_count || is_case(result)) continue;
    add_name(all, result->shape.name);
    if (strcmp(result->mode, "exhaustive") != 0) add_name(sampled, result->shape.name);
  }
  const int part = (int)json_array_size(sampled);
  json_t *counts = json_pack("{s:i, s:i}", "exhaustive", (int)json_array_size(all) - part, "sampled", part);
  json_decref(all);
  json_decref(sampled);
  return counts;
}

static json_t *make_failure(const record_check *check, const char *kernel, const char *shape_name) {
  json_t *failure = field_put(json_deep_copy(check->json), "kernel", json_string(kernel));
  return field_put(failure, "shape", json_string(shape_name));
}

/* Counts the checks of one kernel by property, except those of hard-to-round cases, and lists the failed ones. *made is
   the number of checks. */
static json_t *count_checks(const maker *m, const char *kernel, json_t *failures, size_t *made) {
  json_t *counts = json_object();
  *made = 0;
  RECORD_EACH(result, m->accuracy, records) {
    if (strcmp(result->kernel, kernel) != 0) continue;
    RECORD_EACH(check, result, checks) {
      if (check->skipped) continue;
      ++*made;
      if (!is_case(result)) count_check(counts, check, strcmp(result->mode, "exhaustive") != 0);
      if (!check->ok) field_append(failures, make_failure(check, kernel, result->shape.name));
    }
  }
  RECORD_EACH(profile, m->accuracy, profile)
    if (strcmp(profile->kernel, kernel) == 0 && profile->failure.there)
      field_append(failures, make_failure(&profile->failure, kernel, "profile"));
  return counts;
}

/* Returns the names of the properties in the order of the kernels. */
static json_t *property_names(const maker *m) {
  json_t *names = json_array();
  RECORD_EACH(kernel, m->accuracy, kernels)
    RECORD_EACH(result, m->accuracy, records)
      if (strcmp(result->kernel, kernel->name) == 0 && !is_case(result))
        RECORD_EACH(check, result, checks) add_name(names, check->property);
  return names;
}

/* Returns the checks. Also makes "kernels" of the report: the contract of each kernel, and whether its checks
   passed. */
static json_t *make_checks(const maker *m, json_t **kernels) {
  json_t *failures = json_array(), *counted = json_array();
  *kernels = json_array();
  RECORD_EACH(kernel, m->accuracy, kernels) {
    const size_t failed_before = json_array_size(failures);
    size_t made;
    json_t *counts = count_checks(m, kernel->name, failures, &made);
    const bool holds = made > 0 && json_array_size(failures) == failed_before;
    json_t *one = field_put(json_deep_copy(kernel->json), "holds", json_boolean(holds));
    field_put(one, "recipe", json_boolean(is_recipe(m, kernel->name)));
    field_append(*kernels, one);
    field_append(counted, json_pack("{s:s, s:o}", "kernel", kernel->name, "properties", counts));
  }
  return json_pack("{s:I, s:I, s:I, s:o, s:o, s:o, s:o}", "passed", (json_int_t)m->accuracy->passed, "failed",
                   (json_int_t)m->accuracy->failed, "skipped", (json_int_t)m->accuracy->skipped, "shapes",
                   count_shapes(m), "properties", property_names(m), "kernels", counted, "failures", failures);
}

/* ---- the whole ---- */

/* Returns the facts that are strings, as Google Benchmark's context also has lists, except those that identify the
   person who ran it. */
static json_t *copy_facts(const json_t *object) {
  json_t *kept = json_object();
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)object, key, value) {
    if (strcmp(key, "host_name") == 0 || strcmp(key, "executable") == 0) continue;
    if (json_is_string(value)) field_put(kept, key, copy(value));
  }
  return kept;
}

static json_t *make_environment(const maker *m) {
  return json_pack("{s:o, s:o}", "accuracy", copy_facts(m->accuracy->environment), "timing",
                   m->timing ? copy_facts(m->timing->context.json) : json_null());
}

/* Makes the parts of the document that are computed from the records alone. */
static json_t *make_base(const maker *m, const char *command) {
  const json_t *json = m->accuracy->json;
  json_t *kernels, *checks = make_checks(m, &kernels);
  json_t *made =
      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "schema", "posenc-report-1", "command", field_utf8(command), "seed",
                copy_field(json, "seed"), "budget", copy_field(json, "budget"), "kernels", kernels, "checks", checks);
  put_shapes(m, made);
  const json_t *shapes = json_object_get(made, "shapes");
  for (size_t i = 1; i < MODES; i++) field_put(made, modes[i], make_mode(m, modes[i], shapes));
  field_put(made, "headline", make_headline(m, shapes));
  field_put(made, "profile", copy_field(json, "profile"));
  field_put(made, "unique", copy_field(json, "unique"));
  field_put(made, "causes", causes_make(m->accuracy));
  const json_t *choices = m->timing ? json_object_get(m->timing->context.json, "choices") : NULL;
  field_put(made, "choices", choices ? copy(choices) : json_array());
  return field_put(made, "environment", make_environment(m));
}

json_t *document_make(const record_accuracy *accuracy, const record_timing *timing, const char *command) {
  const maker m = {accuracy, timing, samples_open(timing)};
  json_t *made = make_base(&m, command);
  const record_report *base = record_take_report(made);
  field_put(made, "answer", answer_make(base, m.times));
  json_t *uses = answer_uses(base, m.times);
  field_put(
      made, "subjects",
      answer_subjects(base, m.times, json_string_value(json_object_get(field_find(uses, "use", "default"), "kernel"))));
  field_put(made, "uses", uses);
  field_put(made, "regret", regret_make(base, m.times));
  field_put(made, "stability", stability_make(m.times, timing ? timing->context.others : NAN));
  field_put(made, "claims", claims_make(base));
  samples_close(m.times);
  record_free(base);
  return made;
}
