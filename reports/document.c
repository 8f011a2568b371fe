/* SPDX-License-Identifier: MIT */
#include "reports/document.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/shapes.h"
#include "posenc.h"
#include "reports/causes.h"
#include "reports/claims.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* What speed-ups are over, and the shape that the headline shows. */
static const char baseline[] = "naive";
static const char reference_shape[] = "transformer-base";

/* What the fastest kernel in the answer must promise: one ulp just below 1. */
static const double answer_error = 0x1p-24;

typedef struct maker {
  const json_t *accuracy, *timing;
  json_t *document;
  double *values; /* room for one number per benchmark entry */
  bool failed;    /* out of memory, somewhere on the way */
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

/* Copies part `index` of "hot/shape/kernel/…"; false if there is none or it does not fit. */
static bool name_part(const char *name, int index, char *part, size_t size) {
  for (int skipped = 0; skipped < index; skipped++) {
    name = strchr(name, '/');
    if (!name) return false;
    name++;
  }
  const size_t length = index == 2 ? kernel_name_length(name) : strcspn(name, "/");
  if (length == 0 || length >= size) return false;
  memcpy(part, name, length);
  part[length] = '\0';
  return true;
}

/* Is it one repetition of that operation on that shape by that kernel (null: any)? */
static bool is_repetition(const json_t *entry, const char *operation, const char *shape_name, const char *kernel) {
  const char *type = field_string(entry, "run_type");
  if ((*type && strcmp(type, "iteration") != 0) || json_is_true(json_object_get(entry, "error_occurred"))) return false;
  const char *const wanted[] = {operation, shape_name, kernel};
  const char *name = field_string(entry, "name");
  for (int i = 0; i < 3; i++) {
    char part[80];
    if (!name_part(name, i, part, sizeof part) || (wanted[i] && strcmp(part, wanted[i]) != 0)) return false;
  }
  return true;
}

/* The counter of an entry; "plan_ns" is the time of an iteration. */
static double measured(const json_t *entry, const char *counter) {
  if (strcmp(counter, "plan_ns") != 0) return field_number(entry, counter);
  static const struct {
    const char *name;
    double ns;
  } units[] = {{"ns", 1.0}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
  const char *unit = field_string(entry, "time_unit");
  for (size_t i = 0; i < sizeof units / sizeof *units; i++)
    if (strcmp(units[i].name, unit) == 0) return field_number(entry, "real_time") * units[i].ns;
  return NAN;
}

/* Collects that counter of all repetitions into m->values. */
static size_t collect(maker *m, const char *operation, const char *shape_name, const char *kernel,
                      const char *counter) {
  const json_t *entries = json_object_get(m->timing, "benchmarks");
  size_t count = 0;
  for (size_t i = 0; i < json_array_size(entries); i++) {
    const json_t *entry = json_array_get(entries, i);
    if (!is_repetition(entry, operation, shape_name, kernel)) continue;
    const double value = measured(entry, counter);
    if (isfinite(value)) m->values[count++] = value;
  }
  return count;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* SPREAD of that counter, or JSON null if it was never measured. */
static json_t *spread(maker *m, const char *operation, const char *shape_name, const char *kernel,
                      const char *counter) {
  const size_t count = collect(m, operation, shape_name, kernel, counter);
  if (count == 0) return json_null();
  qsort(m->values, count, sizeof *m->values, ascending);
  const double median = m->values[(count - 1) / 2] / 2 + m->values[count / 2] / 2; /* no sum that overflows */
  return json_pack("{s:f, s:f, s:f}", "median", median, "min", m->values[0], "max", m->values[count - 1]);
}

static json_t *make_timing(maker *m, const char *shape_name, const char *kernel) {
  static const char *const sizes[] = {"rows", "rows_timed"};
  static const char *const counters[] = {"ns_per_element", "bytes_per_second", "of_limit", "limit_bytes_per_second"};
  const size_t repetitions = collect(m, "hot", shape_name, kernel, "ns_per_element");
  if (repetitions == 0) return json_null();
  json_t *timing = json_pack("{s:I}", "repetitions", (json_int_t)repetitions);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    put(m, timing, sizes[i], collect(m, "hot", shape_name, kernel, sizes[i]) ? real(m->values[0]) : json_null());
  for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
    put(m, timing, counters[i], spread(m, "hot", shape_name, kernel, counters[i]));
  put(m, timing, "plan_ns", spread(m, "plan", shape_name, kernel, "plan_ns"));
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
  put(m, row, "isa", copy(json_object_get(contract, "isa")));
  if (!result) put(m, row, "refusal", copy(json_object_get(contract, "refusal")));
  put(m, row, "timing", make_timing(m, shape_name, kernel));
  return row;
}

static void put_speed_ups(maker *m, const json_t *rows) {
  const double slow = median_ns(field_find(rows, "kernel", baseline));
  for (size_t i = 0; i < json_array_size(rows); i++) {
    json_t *row = json_array_get(rows, i);
    json_t *timing = json_object_get(row, "timing");
    if (json_is_object(timing)) put(m, timing, "speed_up", real(slow / median_ns(row)));
  }
}

/* The shape of that name in one of the lists that common/shapes.h has. */
static const shape *find_shape(const shape *(*list)(size_t *count), const char *name) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(shapes[i].name, name) == 0) return &shapes[i];
  return NULL;
}

/* What is known of a shape: from the accuracy record, the lists, or the counters. */
static json_t *describe_shape(maker *m, const char *name) {
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *known = json_object_get(json_array_get(results, i), "shape");
    if (strcmp(field_string(known, "name"), name) == 0) return json_deep_copy(known);
  }
  const shape *listed = find_shape(shapes_sweep, name);
  if (!listed) listed = find_shape(shapes_applied, name);
  if (listed) return shape_json(listed);
  const double rows = collect(m, "hot", name, NULL, "rows") ? m->values[0] : NAN;
  const double dim = collect(m, "hot", name, NULL, "dim") ? m->values[0] : NAN;
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

static json_t *make_shape(maker *m, const char *name, const json_t *kernels) {
  json_t *rows = json_array();
  for (size_t i = 0; i < json_array_size(kernels); i++)
    append(m, rows, make_row(m, name, json_string_value(json_array_get(kernels, i))));
  put_speed_ups(m, rows);
  json_t *made = json_pack("{s:b}", "sweep", find_shape(shapes_sweep, name) != NULL);
  json_t *described = describe_shape(m, name);
  put(m, made, "applied", json_boolean(is_applied(described)));
  put(m, made, "bytes", real(shape_bytes(described)));
  put(m, made, "shape", described);
  put(m, made, "limit_bytes_per_second", spread(m, "hot", name, NULL, "limit_bytes_per_second"));
  put(m, made, "rows", rows);
  return made;
}

/* Names of the shapes of a list that were timed. */
static void add_timed(maker *m, json_t *names, const shape *(*list)(size_t *count)) {
  size_t count;
  const shape *shapes = list(&count);
  for (size_t i = 0; i < count; i++)
    if (collect(m, "hot", shapes[i].name, NULL, "ns_per_element") > 0) add_name(m, names, shapes[i].name);
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
  const json_t *entries = json_object_get(m->timing, "benchmarks");
  for (size_t i = 0; i < json_array_size(entries); i++) {
    const json_t *entry = json_array_get(entries, i);
    char part[80];
    if (!is_repetition(entry, "hot", NULL, NULL)) continue;
    if (name_part(field_string(entry, "name"), 1, part, sizeof part)) add_name(m, shapes, part);
    if (name_part(field_string(entry, "name"), 2, part, sizeof part)) add_name(m, kernels, part);
  }
}

static json_t *make_shapes(maker *m) {
  json_t *made = json_array(), *shapes = json_array(), *kernels = json_array();
  collect_names(m, shapes, kernels);
  for (size_t i = 0; i < json_array_size(shapes); i++)
    append(m, made, make_shape(m, json_string_value(json_array_get(shapes, i)), kernels));
  json_decref(kernels);
  json_decref(shapes);
  return made;
}

const json_t *document_shape(const json_t *document, const char *name) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *candidate = json_array_get(shapes, i);
    if (strcmp(field_string(json_object_get(candidate, "shape"), "name"), name) == 0) return candidate;
  }
  return NULL;
}

const json_t *document_row(const json_t *table, const char *kernel) {
  return field_find(json_object_get(table, "rows"), "kernel", kernel);
}

posenc_bound document_bound(const json_t *kernel) {
  const json_t *bound = json_object_get(kernel, "bound");
  return (posenc_bound){
      .ulp = field_number(bound, "ulp"),
      .abs = field_number(bound, "abs"),
      .growth = field_number(bound, "growth"),
      .max_position = json_integer_value(json_object_get(bound, "max_position")),
      .derived = json_is_true(json_object_get(bound, "derived")),
  };
}

/* The reference shape, or the first that was verified. */
static json_t *make_headline(const maker *m) {
  const json_t *shown = document_shape(m->document, reference_shape);
  if (!shown && json_array_size(json_object_get(m->accuracy, "records")) > 0)
    shown = json_array_get(json_object_get(m->document, "shapes"), 0);
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

/* Shapes by how much of them was compared: {"exhaustive", "sampled"}. */
static json_t *count_shapes(maker *m) {
  json_t *counts = json_pack("{s:i, s:i}", "exhaustive", 0, "sampled", 0), *seen = json_array();
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    const size_t before = json_array_size(seen);
    if (!json_is_array(json_object_get(result, "checks"))) continue;
    add_name(m, seen, field_string(json_object_get(result, "shape"), "name"));
    if (json_array_size(seen) > before) increment(m, counts, is_sampled(result) ? "sampled" : "exhaustive");
  }
  json_decref(seen);
  return counts;
}

static json_t *make_failure(maker *m, const json_t *result, const json_t *check) {
  json_t *failure = json_deep_copy(check);
  put(m, failure, "kernel", json_string(field_string(result, "kernel")));
  put(m, failure, "shape", json_string(field_string(json_object_get(result, "shape"), "name")));
  return failure;
}

/* Counts the checks of one kernel by property, and lists what failed. */
static json_t *count_checks(maker *m, const char *kernel, json_t *properties, json_t *failures) {
  json_t *counts = json_object();
  const json_t *results = json_object_get(m->accuracy, "records");
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    if (strcmp(field_string(result, "kernel"), kernel) != 0) continue;
    const json_t *checks = json_object_get(result, "checks");
    for (size_t k = 0; k < json_array_size(checks); k++) {
      const json_t *check = json_array_get(checks, k);
      add_name(m, properties, field_string(check, "property"));
      if (json_is_true(json_object_get(check, "skipped"))) continue;
      count_check(m, counts, check, is_sampled(result));
      if (!json_is_true(json_object_get(check, "ok"))) append(m, failures, make_failure(m, result, check));
    }
  }
  return counts;
}

static json_t *make_checks(maker *m, const json_t *kernels) {
  json_t *checks = json_object(), *properties = json_array(), *failures = json_array(), *counted = json_array();
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    json_t *kernel = json_array_get(kernels, i);
    const char *name = field_string(kernel, "name");
    const size_t failed_before = json_array_size(failures);
    json_t *counts = count_checks(m, name, properties, failures);
    const bool holds = json_object_size(counts) > 0 && json_array_size(failures) == failed_before;
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

/* ---- the answer ---- */

/* Does the kernel prove that it is accurate enough on that shape, and was nothing found against it? */
static bool is_trusted(const json_t *kernel, const json_t *described) {
  const posenc_bound bound = document_bound(kernel);
  const int64_t first = json_integer_value(json_object_get(described, "first"));
  const int64_t rows = json_integer_value(json_object_get(described, "rows"));
  int64_t last;
  if (!bound.derived || !json_is_true(json_object_get(kernel, "holds"))) return false;
  if (json_is_true(json_object_get(kernel, "keeps_rows"))) return false; /* its time is that of a copy */
  if (bound.max_position < 0 || first < -bound.max_position || __builtin_add_overflow(first, rows, &last) ||
      last > bound.max_position)
    return false;
  return posenc_bound_at(&bound, POSENC_F32, first) <= answer_error &&
         posenc_bound_at(&bound, POSENC_F32, last) <= answer_error;
}

static const char *fastest(const maker *m, const json_t *table) {
  const json_t *kernels = json_object_get(m->document, "kernels");
  const json_t *described = json_object_get(table, "shape");
  const char *best = NULL;
  double best_ns = INFINITY;
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    const char *name = field_string(kernel, "name");
    const double ns = median_ns(document_row(table, name));
    if (!(ns < best_ns) || !is_trusted(kernel, described)) continue;
    best = name;
    best_ns = ns;
  }
  return best;
}

/* The largest timed table of f32 that takes at most so many bytes, if a trusted kernel does it. */
static void answer_for(maker *m, json_t *answer, const char *footprint, double most) {
  const json_t *shapes = json_object_get(m->document, "shapes");
  const json_t *chosen = NULL;
  double bytes = 0;
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i);
    const double size = field_number(table, "bytes");
    if (json_is_true(json_object_get(table, "applied"))) continue;
    if (strcmp(field_string(json_object_get(table, "shape"), "dtype"), dtype_name(POSENC_F32)) != 0) continue;
    if (!(size > 0 && size >= bytes && size <= most) || !fastest(m, table)) continue;
    chosen = table;
    bytes = size;
  }
  if (!chosen) return;
  append(m, answer,
         json_pack("{s:s, s:s, s:s}", "shape", field_string(json_object_get(chosen, "shape"), "name"), "kernel",
                   fastest(m, chosen), "footprint", footprint));
}

static json_t *make_answer(maker *m) {
  json_t *answer = json_array();
  const char *l2 = field_string(json_object_get(m->timing, "context"), "l2");
  const double cache = strtod(l2, NULL);
  answer_for(m, answer, "largest", INFINITY);
  answer_for(m, answer, "in cache", cache / 2); /* the other half for everything else that wants to be there */
  return answer;
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
  const json_t *context = json_object_get(m->timing, "context");
  put(m, environment, "accuracy", facts(m, json_object_get(m->accuracy, "environment")));
  put(m, environment, "timing", context ? facts(m, context) : json_null());
  return environment;
}

json_t *document_make(const json_t *accuracy, const json_t *timing, const char *command) {
  const size_t entries = json_array_size(json_object_get(timing, "benchmarks"));
  maker m = {
      .accuracy = accuracy, .timing = timing, .document = json_object(), .values = calloc(entries + 1, sizeof(double))};
  m.failed = !m.document || !m.values;
  if (!m.failed) {
    json_t *kernels = json_deep_copy(json_object_get(accuracy, "kernels"));
    json_t *checks = make_checks(&m, kernels);
    put(&m, m.document, "schema", json_string("posenc-report-1"));
    put(&m, m.document, "command", text(command));
    put(&m, m.document, "seed", copy(json_object_get(accuracy, "seed")));
    put(&m, m.document, "kernels", kernels);
    put(&m, m.document, "checks", checks);
    put(&m, m.document, "shapes", make_shapes(&m));
    put(&m, m.document, "headline", make_headline(&m));
    put(&m, m.document, "answer", make_answer(&m));
    put(&m, m.document, "profile", copy(json_object_get(accuracy, "profile")));
    put(&m, m.document, "unique", copy(json_object_get(accuracy, "unique")));
    put(&m, m.document, "causes", causes_make(json_object_get(accuracy, "profile")));
    put(&m, m.document, "environment", make_environment(&m));
    put(&m, m.document, "claims", claims_make(m.document));
  }
  free(m.values);
  if (!m.failed) return m.document;
  json_decref(m.document);
  return NULL;
}
