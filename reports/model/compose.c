/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/model/compose.h"

#include "common/field.h"
#include "common/memory.h"
#include "common/shapes.h"
#include "posenc.h"
#include "records/make.h"
#include "records/statistics.h"
#include "records/timings.h"
#include "reports/model/answer.h"
#include "reports/model/choice.h"
#include "reports/model/document.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The tables of "hot" are in "shapes", with their plans. Those of the other states have fields of their own. */
#define STATE(name) #name,
static const char *const modes[] = {"hot", REPORT_STATES(STATE)};
#undef STATE
enum { MODES = sizeof modes / sizeof *modes };

typedef struct row_records {
  const record_accuracy *accuracy;
  const record_timing *timing; /* or null */
  samples *times;
} row_records;

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

static const record_kernel *contract_of(const row_records *m, const char *kernel) {
  return record_find_kernel(m->accuracy->kernels, m->accuracy->kernels_count, kernel);
}

static bool has_recipe_name(const char *kernel) {
  static const char prefix[] = "recipe/";
  return strncmp(kernel, prefix, sizeof prefix - 1) == 0;
}

/* Whether a kernel is listed apart, as a recipe. If the record has only recipes, they are listed among the kernels. */
static bool is_recipe(const row_records *m, const char *kernel) {
  bool any_kernel = false;
  RECORD_EACH(one, m->accuracy, kernels) any_kernel = any_kernel || !has_recipe_name(one->name);
  return any_kernel && has_recipe_name(kernel) && contract_of(m, kernel);
}

/* ---- the timing record ---- */

/* Returns the first number of a counter. Null as kernel selects any. */
static json_t *first_of(const row_records *m, const char *mode, const char *shape_name, const char *kernel,
                        const char *counter) {
  return field_real(samples_collect(m->times, mode, shape_name, kernel, counter) ? m->times->values[0] : NAN);
}

static json_t *make_speed_up(const row_records *m, const char *mode, const char *shape_name, const char *kernel) {
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

static json_t *make_timing(const row_records *m, const char *mode, const char *shape_name, const char *kernel) {
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

static json_t *make_row(const row_records *m, const char *shape_name, const char *kernel) {
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
static json_t *describe_shape(const row_records *m, const char *mode, const char *name) {
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
static json_t *make_table(const row_records *m, const char *mode, const char *name, json_t *rows) {
  json_t *described = describe_shape(m, mode, name);
  return json_pack("{s:b, s:b, s:o, s:o, s:o, s:o}", "sweep", shapes_find(shapes_sweep, name) != NULL, "applied",
                   (int)is_applied(described), "bytes", field_real(shape_bytes(described)), "shape", described,
                   "limit_bytes_per_second", samples_spread(m->times, mode, name, NULL, "limit_bytes_per_second"),
                   "rows", rows);
}

static json_t *make_shape(const row_records *m, const char *name, const json_t *kernels) {
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
static json_t *make_mode(const row_records *m, const char *mode, const json_t *shapes) {
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

static bool was_timed(const row_records *m, const char *shape_name) {
  for (size_t i = 0; i < MODES; i++)
    if (samples_collect(m->times, modes[i], shape_name, NULL, "ns_per_element") > 0) return true;
  return false;
}

/* Adds the names of the shapes of a list that were timed. */
static void add_timed(const row_records *m, json_t *names, const shape *(*list)(size_t *count)) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (was_timed(m, shapes[i].name)) add_name(names, shapes[i].name);
}

/* Returns the names, each once, in the order of the records. Benchmarks run in random order, so listed shapes have the
   order of their list. */
static json_t *shape_names(const row_records *m) {
  json_t *names = json_array();
  RECORD_EACH(result, m->accuracy, records) add_name(names, result->shape.name);
  add_timed(m, names, shapes_sweep);
  add_timed(m, names, shapes_applied);
  for (size_t i = 0; i < m->times->count; i++)
    if (strcmp(m->times->all[i].mode, "hot") == 0) add_name(names, m->times->all[i].shape);
  return names;
}

static json_t *kernel_names(const row_records *m) {
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

static void put_shapes(const row_records *m, json_t *document) {
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
static json_t *make_headline(const row_records *m, const json_t *shapes) {
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
static json_t *count_shapes(const row_records *m) {
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
static json_t *count_checks(const row_records *m, const char *kernel, json_t *failures, size_t *made) {
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
static json_t *property_names(const row_records *m) {
  json_t *names = json_array();
  RECORD_EACH(kernel, m->accuracy, kernels)
    RECORD_EACH(result, m->accuracy, records)
      if (strcmp(result->kernel, kernel->name) == 0 && !is_case(result))
        RECORD_EACH(check, result, checks) add_name(names, check->property);
  return names;
}

/* Returns the checks. Also makes "kernels" of the report: the contract of each kernel, and whether its checks
   passed. */
static json_t *make_checks(const row_records *m, json_t **kernels) {
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

static json_t *make_environment(const row_records *m) {
  return json_pack("{s:o, s:o}", "accuracy", copy_facts(m->accuracy->environment), "timing",
                   m->timing ? copy_facts(m->timing->context.json) : json_null());
}

/* Makes the parts of the document that are computed from the records alone. */
static json_t *make_base(const row_records *m, const char *command) {
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
  const row_records m = {accuracy, timing, samples_open(timing)};
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

/* ---- stability ------------------------------------------------------------------------------------------- */

static const char mode[] = "hot", counter[] = "limit_bytes_per_second";

/* Returns the width of the middle half of n sorted numbers, or a little more, as a share of their median; NaN if n is
   1. */
static double middle_half(const double *sorted, size_t n, double median) {
  return n > 1 ? (sorted[n - 1 - n / 4] - sorted[n / 4]) / median : NAN;
}

static double most_turns(const samples *times) {
  double most = 0;
  for (size_t i = 0; i < times->count; i++) most = fmax(most, times->all[i].entry->turn); /* fmax ignores NaN */
  return most;
}

typedef struct found {
  double *halves, *early,
      *late; /* room for a number of every sample; the latter two are shares of the median of a shape */
  size_t shapes, half_count, early_count, late_count, measured;
  double worst;
  const char *shape;
} found;

/* Adds a shape, all of whose repetitions are adjacent in the order by name. */
static void add_shape(found *f, samples *times, size_t first, size_t end, double turns) {
  const char *of = times->by_name[first]->shape;
  const size_t count = samples_collect(times, mode, of, NULL, counter);
  if (count == 0) return;
  const double median = statistics_median(times->values, count); /* sorts the values */
  const double half = middle_half(times->values, count, median);
  f->measured += count;
  if (!(median > 0)) return;
  f->shapes++;
  if (isfinite(half)) {
    f->halves[f->half_count++] = half;
    if (!f->shape || half > f->worst) {
      f->worst = half;
      f->shape = of;
    }
  }
  for (size_t i = first; i < end; i++) {
    const record_benchmark *entry = times->by_name[i]->entry;
    const double turn = entry->turn, share = entry->limit_bytes_per_second / median;
    if (!isfinite(share) || !(share > 0) || !isfinite(turn)) continue;
    if (turn <= turns / 3) f->early[f->early_count++] = share;
    if (turn > turns * 2 / 3) f->late[f->late_count++] = share;
  }
}

json_t *stability_make(samples *times, double others) {
  found f = {.halves = memory_take(times->count, sizeof *f.halves),
             .early = memory_take(times->count, sizeof *f.early),
             .late = memory_take(times->count, sizeof *f.late)};
  const double turns = most_turns(times);
  for (size_t first = 0, end; first < times->count; first = end) {
    const sample *one = times->by_name[first];
    for (end = first + 1; end < times->count && strcmp(times->by_name[end]->mode, one->mode) == 0 &&
                          strcmp(times->by_name[end]->shape, one->shape) == 0;)
      end++;
    if (strcmp(one->mode, mode) == 0) add_shape(&f, times, first, end, turns);
  }
  const bool turned = f.early_count && f.late_count;
  json_t *drift = turned ? samples_ratio_of(f.early, f.early_count, f.late, f.late_count) : json_null();
  const double typical = f.half_count ? statistics_median(f.halves, f.half_count) : NAN;
  json_t *made = !f.shapes ? json_null()
                           : json_pack("{s:I, s:I, s:o, s:o, s:s?, s:o, s:o}", "measured", (json_int_t)f.measured,
                                       "shapes", (json_int_t)f.shapes, "typical", field_real(typical), "worst",
                                       field_real(f.half_count ? f.worst : NAN), "shape", f.shape, "drift", drift,
                                       "others", field_real(others));
  free(f.halves);
  free(f.early);
  free(f.late);
  return made;
}

/* ---- the cost of choices --------------------------------------------------------------------------------- */

/* Whether the library could have chosen this kernel: its error is within the library's default, and it rounds correctly
   if the chosen one does. */
static bool is_rival(const record_kernel *kernel, const record_table *table, const record_kernel *chosen, bool serial) {
  posenc_dtype dtype = POSENC_F32;
  if (!table->applied) dtype_parse(table->shape.dtype, &dtype); /* rows for add and rope are of f32 */
  if (answer_class(chosen, table) == ANSWER_HALF && answer_class(kernel, table) != ANSWER_HALF) return false;
  return posenc_kernel_find(kernel->name) && answer_counts(kernel) && (!serial || !kernel->threaded) &&
         answer_is_within(kernel, &table->shape, dtype, choice_default_abs(dtype));
}

/* Returns a new entry, or JSON null if the chosen kernel was not timed. */
static json_t *make_one(const record_report *report, samples *times, const record_table *table, const char *chosen,
                        bool serial) {
  const char *fastest = chosen, *name = table->shape.name;
  const record_kernel *taken = report_kernel(report, chosen);
  double least = report_median_ns(table, chosen);
  if (!taken || !isfinite(least)) return json_null();
  RECORD_EACH(kernel, report, kernels) {
    const double ns = report_median_ns(table, kernel->name);
    if (!(ns < least) || !is_rival(kernel, table, taken, serial)) continue;
    fastest = kernel->name;
    least = ns;
  }
  json_t *ratio = fastest == chosen ? json_null() : samples_ratio(times, "hot", name, fastest, chosen);
  return json_pack("{s:s, s:b, s:s, s:s, s:o}", "shape", name, "serial", (int)serial, "kernel", chosen, "fastest",
                   fastest, "ratio", ratio);
}

json_t *regret_make(const record_report *report, samples *times) {
  json_t *made = json_array();
  RECORD_EACH(choice, report, choices) {
    const record_table *table = report_table(report, choice->shape);
    for (int serial = 1; table && serial >= 0; serial--) {
      json_t *one = make_one(report, times, table, serial ? choice->kernel : choice->all_threads, serial);
      if (json_is_null(one)) continue;
      field_append(made, one);
    }
  }
  return made;
}

regret_summary regret_sum_up(const record_report *report, bool serial) {
  regret_summary sum = {.worst = 1};
  double logs = 0;
  RECORD_EACH(one, report, regret) {
    if (one->serial != serial) continue;
    const double ratio = one->ratio.there ? one->ratio.estimate : 1;
    logs += log(ratio);
    sum.count++;
    if (ratio <= sum.worst) continue;
    sum.worst = ratio;
    sum.of_worst = one;
  }
  sum.mean = exp(logs / sum.count);
  return sum;
}

/* ---- causes of errors ------------------------------------------------------------------------------------ */

const char *const cause_names[CAUSES] = {"frequency", "phase", "trig", "store"};

static const double notable = 0.2;

/* ---- points ---- */

/* Returns the sum of the parts, NaN if one is missing. */
static double sum_of(const record_parts *parts) {
  return parts->frequency + parts->phase + parts->trig + parts->store;
}

/* Returns the points from position 1 on whose parts are known and not all 0. */
static json_t *points_of(const record_profile *profile) {
  json_t *made = json_array();
  RECORD_EACH(point, profile, points) {
    const record_parts *parts = &point->parts;
    const double sum = sum_of(parts);
    if (point->position < 1 || !isfinite(sum) || !(sum > 0)) continue;
    json_t *shares =
        json_pack("{s:f, s:f, s:f, s:f}", cause_names[0], parts->frequency / sum, cause_names[1], parts->phase / sum,
                  cause_names[2], parts->trig / sum, cause_names[3], parts->store / sum);
    field_append(made, json_pack("{s:I, s:O, s:f, s:o}", "position", (json_int_t)point->position, "parts", parts->json,
                                 "sum", sum, "shares", shares));
  }
  return made;
}

/* ---- spans ---- */

static double share_of(const json_t *points, size_t number, size_t cause) {
  return field_number(json_object_get(json_array_get(points, number), "shares"), cause_names[cause]);
}

/* Returns the causes of most of a point's error, as a set. */
static unsigned notable_causes(const json_t *points, size_t number) {
  unsigned causes = 0;
  for (unsigned i = 0; i < CAUSES; i++)
    if (share_of(points, number, i) >= notable) causes |= 1u << i;
  return causes;
}

/* Returns the smallest and the largest share of each of these causes over points [from, to). */
static json_t *ranges_of(const json_t *points, size_t from, size_t to, unsigned causes) {
  json_t *ranges = json_object();
  for (size_t i = 0; i < CAUSES; i++) {
    double least = INFINITY, most = 0;
    if (!(causes & 1u << i)) continue;
    for (size_t k = from; k < to; k++) {
      least = fmin(least, share_of(points, k, i));
      most = fmax(most, share_of(points, k, i));
    }
    field_put(ranges, cause_names[i], json_pack("{s:f, s:f}", "least", least, "most", most));
  }
  return ranges;
}

static json_t *spans_of(const json_t *points) {
  json_t *spans = json_array();
  for (size_t from = 0, to; from < json_array_size(points); from = to) {
    const unsigned causes = notable_causes(points, from);
    for (to = from + 1; to < json_array_size(points); to++)
      if (notable_causes(points, to) != causes) break;
    field_append(spans, json_pack("{s:O, s:O, s:o}", "from", json_object_get(json_array_get(points, from), "position"),
                                  "to", json_object_get(json_array_get(points, to - 1), "position"), "shares",
                                  ranges_of(points, from, to, causes)));
  }
  return spans;
}

/* ---- kernels with the same points ---- */

static json_t *find_points(const json_t *groups, const json_t *points) {
  for (size_t i = 0; i < json_array_size(groups); i++) {
    json_t *group = json_array_get(groups, i);
    if (json_equal(json_object_get(group, "points"), points)) return group;
  }
  return NULL;
}

/* Adds a kernel to the group with the same points. */
static void add_kernel(json_t *groups, const char *kernel, json_t *points) {
  json_t *group = find_points(groups, points);
  if (group)
    field_append(json_object_get(group, "kernels"), json_string(kernel));
  else
    field_append(groups,
                 json_pack("{s:[s], s:O, s:o}", "kernels", kernel, "points", points, "spans", spans_of(points)));
}

json_t *causes_make(const record_accuracy *record) {
  json_t *groups = json_array();
  RECORD_EACH(profile, record, profile) {
    json_t *points = points_of(profile);
    if (json_array_size(points)) add_kernel(groups, profile->kernel, points); /* without stages there are none */
    json_decref(points);
  }
  return groups;
}
