/* SPDX-License-Identifier: MIT */
#include "records/read.h"

#include "common/contract.h"
#include "common/field.h"
#include "records/samples.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define TYPE(type) (1u << (type))

typedef struct kind {
  unsigned types; /* set of json_type */
  const char *name;
  bool negative;   /* may be */
  size_t integers; /* of an array, if not 0: so many integers of 0 or more */
} kind;

#define ANY_NUMBER SIZE_MAX

static const kind string = {TYPE(JSON_STRING), "a string", false, 0};
static const kind string_or_null = {TYPE(JSON_STRING) | TYPE(JSON_NULL), "a string or null", false, 0};
static const kind integer = {TYPE(JSON_INTEGER), "an integer", true, 0};
static const kind integer_or_null = {TYPE(JSON_INTEGER) | TYPE(JSON_NULL), "an integer or null", true, 0};
static const kind count = {TYPE(JSON_INTEGER), "an integer of 0 or more", false, 0};
static const kind real = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL), "a number", true, 0};
/* JSON has no infinity and no NaN: null stands for them. */
static const kind number = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL) | TYPE(JSON_NULL), "a number or null", true, 0};
static const kind amount = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL) | TYPE(JSON_NULL), "a number of 0 or more, or null",
                            false, 0};
static const kind boolean = {TYPE(JSON_TRUE) | TYPE(JSON_FALSE), "true or false", false, 0};
static const kind object = {TYPE(JSON_OBJECT), "an object", false, 0};
static const kind count_or_null = {TYPE(JSON_INTEGER) | TYPE(JSON_NULL), "an integer of 0 or more, or null", false, 0};
static const kind object_or_null = {TYPE(JSON_OBJECT) | TYPE(JSON_NULL), "an object or null", false, 0};
static const kind array = {TYPE(JSON_ARRAY), "an array", false, 0};
static const kind counts = {TYPE(JSON_ARRAY), "an array of integers of 0 or more", false, ANY_NUMBER};
static const kind pair_or_null = {TYPE(JSON_ARRAY) | TYPE(JSON_NULL), "two integers of 0 or more, or null", false, 2};

typedef struct rule {
  const char *key;
  const kind *kind;
  bool required;
  const struct rule *inner; /* of the object, or of every object of the array */
} rule;

static const rule bound_rules[] = {
    {"ulp", &real, true, NULL},        {"abs", &real, true, NULL},
    {"growth", &real, true, NULL},     {"max_position", &integer, true, NULL},
    {"derived", &boolean, true, NULL}, {NULL, NULL, false, NULL},
};

static const rule kernel_rules[] = {
    {"name", &string, true, NULL},           {"summary", &string, false, NULL},
    {"algorithm", &string, false, NULL},     {"provenance", &string, false, NULL},
    {"isa", &string_or_null, false, NULL},   {"basis", &string_or_null, false, NULL},
    {"reproducible", &boolean, false, NULL}, {"threaded", &boolean, false, NULL},
    {"keeps_rows", &boolean, false, NULL},   {"refusal", &string_or_null, false, NULL},
    {"bound", &object, true, bound_rules},   {NULL, NULL, false, NULL},
};

static const rule shape_rules[] = {
    {"name", &string, true, NULL},
    {"rows", &count, true, NULL},
    {"dim", &count, true, NULL},
    {"first", &integer, false, NULL},
    {"base", &number, false, NULL},
    {"shift", &number, false, NULL},
    {"padding", &integer_or_null, false, NULL},
    {"layout", &string, false, NULL},
    {"dtype", &string, false, NULL},
    {"op", &string, false, NULL},
    {"heads", &count, false, NULL},
    {"inverse", &boolean, false, NULL},
    {NULL, NULL, false, NULL},
};

/* Of a shape that is in timings alone, and in no list, less is known. */
static const rule shape_or_less_rules[] = {
    {"name", &string, true, NULL},    {"rows", &amount, true, NULL},   {"dim", &amount, true, NULL},
    {"first", &integer, false, NULL}, {"dtype", &string, false, NULL}, {"op", &string, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule witness_rules[] = {
    {"ulp", &amount, false, NULL},  {"abs", &amount, false, NULL},      {"position", &integer, false, NULL},
    {"index", &count, false, NULL}, {"function", &string, false, NULL}, {"exact", &string, false, NULL},
    {"got", &string, false, NULL},  {"replay", &string, false, NULL},   {"head", &count, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule check_rules[] = {
    {"property", &string, true, NULL},      {"ok", &boolean, true, NULL},    {"skipped", &boolean, true, NULL},
    {"worst", &amount, false, NULL},        {"bound", &number, false, NULL}, {"compared", &count, false, NULL},
    {"note", &string_or_null, false, NULL}, {NULL, NULL, false, NULL},
};

static const rule search_rules[] = {
    {"reach", &count, true, NULL},
    {"worst", &object, true, witness_rules},
    {"nearest", &object, true, witness_rules},
    {"from_tie", &amount, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule parts_rules[] = {
    {"frequency", &amount, true, NULL}, {"phase", &amount, true, NULL}, {"trig", &amount, true, NULL},
    {"store", &amount, true, NULL},     {NULL, NULL, false, NULL},
};

/* Of one error, they have its signs. */
static const rule signed_parts_rules[] = {
    {"frequency", &number, true, NULL}, {"phase", &number, true, NULL}, {"trig", &number, true, NULL},
    {"store", &number, true, NULL},     {NULL, NULL, false, NULL},
};

static const rule explained_error_rules[] = {
    {"position", &integer, true, NULL},
    {"index", &count, true, NULL},
    {"function", &string, true, NULL},
    {"error", &number, true, NULL},
    {"parts", &object, true, signed_parts_rules},
    {NULL, NULL, false, NULL},
};

static const rule explained_rows_rules[] = {
    {"position", &integer, true, NULL},
    {"parts", &object, true, parts_rules},
    {NULL, NULL, false, NULL},
};

static const rule explain_rules[] = {
    {"worst", &object_or_null, true, explained_error_rules},
    {"rows", &array, true, explained_rows_rules},
    {NULL, NULL, false, NULL},
};

static const rule bin_rules[] = {
    {"below", &amount, true, NULL},
    {"count", &count, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule result_rules[] = {
    {"kernel", &string, true, NULL},
    {"shape", &object, true, shape_rules},
    {"refusal", &string_or_null, false, NULL},
    {"mode", &string, false, NULL},
    {"elements", &count, false, NULL},
    {"of", &count, false, NULL},
    {"max_ulp", &object, false, witness_rules},
    {"max_abs", &object, false, witness_rules},
    {"mean_ulp", &amount, false, NULL},
    {"mean_abs", &amount, false, NULL},
    {"misrounded", &count, false, NULL},
    {"worst", &object, false, witness_rules},
    {"histogram", &array, false, bin_rules},
    {"replay", &string, false, NULL},
    {"search", &object, false, search_rules},
    {"checks", &array, false, check_rules},
    {"explain", &object_or_null, false, explain_rules},
    {NULL, NULL, false, NULL},
};

static const rule point_rules[] = {
    {"position", &integer, true, NULL}, {"rows", &count, true, NULL},   {"max_abs", &amount, true, NULL},
    {"max_ulp", &amount, false, NULL},  {"index", &count, false, NULL}, {"parts", &object_or_null, false, parts_rules},
    {"relative", &amount, false, NULL}, {NULL, NULL, false, NULL},
};

static const rule column_rules[] = {
    {"index", &count, true, NULL},
    {"max_abs", &amount, true, NULL},
    {"position", &count, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule passes_rules[] = {
    {"f32", &count_or_null, true, NULL},
    {"f16", &count_or_null, true, NULL},
    {"bf16", &count_or_null, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule norm_rules[] = {
    {"worst", &amount, true, NULL},
    {"position", &count, true, NULL},
    {"index", &count, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule collisions_rules[] = {
    {"f32", &pair_or_null, true, NULL},
    {"f16", &pair_or_null, true, NULL},
    {"bf16", &pair_or_null, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule context_rules[] = {
    {"position", &count, true, NULL},
    {"max_abs", &amount, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule table_rules[] = {
    {"dim", &count, true, NULL},
    {"base", &number, true, NULL},
    {"points", &array, true, context_rules},
    {NULL, NULL, false, NULL},
};

static const rule profile_rules[] = {
    {"kernel", &string, true, NULL},
    {"dim", &count, false, NULL},
    {"base", &number, false, NULL},
    {"points", &array, true, point_rules},
    {"failure", &object, false, check_rules},
    {"rows", &count_or_null, false, NULL},
    {"columns", &array, false, column_rules},
    {"passes", &object, false, passes_rules},
    {"norm", &object, false, norm_rules},
    {"collisions", &object, false, collisions_rules},
    {"shift", &number, false, NULL},
    {"tables", &array, false, table_rules},
    {NULL, NULL, false, NULL},
};

static const rule unique_rules[] = {
    {"dim", &count, true, NULL},       {"base", &number, true, NULL}, {"rows", &count, true, NULL},
    {"distance", &amount, true, NULL}, {"apart", &count, true, NULL}, {NULL, NULL, false, NULL},
};

static const rule part_rules[] = {
    {"kernels", &array, true, NULL},
    {"shapes", &array, true, shape_rules},
    {"profile", &count, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule verified_rules[] = {{"parts", &array, true, part_rules}, {NULL, NULL, false, NULL}};
static const rule timed_rules[] = {
    {"kernels", &array, true, NULL},
    {"shapes", &array, true, shape_rules},
    {NULL, NULL, false, NULL},
};

static const rule verify_shard_rules[] = {
    {"number", &count, true, NULL},         {"of", &count, true, NULL},
    {"exams", &counts, true, NULL},         {"profiles", &counts, true, NULL},
    {"run", &object, true, verified_rules}, {NULL, NULL, false, NULL},
};

static const rule bench_shard_rules[] = {
    {"number", &count, true, NULL},      {"of", &count, true, NULL}, {"shapes", &counts, true, NULL},
    {"run", &object, true, timed_rules}, {NULL, NULL, false, NULL},
};

static const rule context_facts_rules[] = {
    {"shard", &object, false, bench_shard_rules},
    {NULL, NULL, false, NULL},
};

/* What does no table has shapes of a name alone. */
static const rule encoded_shape_rules[] = {{"name", &string, true, NULL}, {NULL, NULL, false, NULL}};

static const rule encoded_rules[] = {
    {"kernel", &string, true, NULL},           {"shape", &object, true, encoded_shape_rules},
    {"refusal", &string_or_null, false, NULL}, {"mode", &string, false, NULL},
    {"elements", &count, false, NULL},         {"of", &count, false, NULL},
    {"checks", &array, false, check_rules},    {NULL, NULL, false, NULL},
};

static const rule encoding_rules[] = {{"name", &string, true, NULL}, {NULL, NULL, false, NULL}};

static const rule encodings_rules[] = {
    {"encodings", &array, true, encoding_rules},
    {"records", &array, true, encoded_rules},
    {"passed", &count, true, NULL},
    {"failed", &count, true, NULL},
    {"skipped", &count, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule accuracy_rules[] = {
    {"environment", &object, true, NULL},
    {"kernels", &array, true, kernel_rules},
    {"seed", &integer, false, NULL},
    {"budget", &integer, false, NULL},
    {"records", &array, true, result_rules},
    {"profile", &array, false, profile_rules},
    {"unique", &object_or_null, false, unique_rules},
    {"shard", &object, false, verify_shard_rules},
    {"encodings", &object, false, encodings_rules},
    {"passed", &count, true, NULL},
    {"failed", &count, true, NULL},
    {"skipped", &count, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule benchmark_rules[] = {
    {"name", &string, true, NULL},
    {"run_name", &string, false, NULL},
    {"run_type", &string, false, NULL},
    {"real_time", &amount, false, NULL},
    {"time_unit", &string, false, NULL},
    {"error_occurred", &boolean, false, NULL},
    {"bytes_per_second", &amount, false, NULL},
    {"ns_per_element", &amount, false, NULL},
    {"limit_bytes_per_second", &amount, false, NULL},
    {"of_limit", &amount, false, NULL},
    {"rows", &amount, false, NULL},
    {"dim", &amount, false, NULL},
    {"heads", &amount, false, NULL},
    {"batch", &amount, false, NULL},
    {"rows_timed", &amount, false, NULL},
    {"plan_share", &amount, false, NULL},
    {"turn", &amount, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule timing_rules[] = {
    {"context", &object, true, context_facts_rules},
    {"benchmarks", &array, true, benchmark_rules},
    {NULL, NULL, false, NULL},
};

static const rule spread_rules[] = {
    {"median", &amount, true, NULL},
    {"min", &amount, true, NULL},
    {"max", &amount, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule row_timing_rules[] = {
    {"ns_per_element", &object_or_null, false, spread_rules},
    {"bytes_per_second", &object_or_null, false, spread_rules},
    {"of_limit", &object_or_null, false, spread_rules},
    {NULL, NULL, false, NULL},
};

static const rule row_rules[] = {
    {"kernel", &string, true, NULL},
    {"mode", &string, false, NULL},
    {"elements", &count, false, NULL},
    {"max_ulp", &object, false, witness_rules},
    {"max_abs", &object, false, witness_rules},
    {"misrounded", &count, false, NULL},
    {"digest", &string_or_null, false, NULL},
    {"checks", &array, false, check_rules},
    {"timing", &object_or_null, false, row_timing_rules},
    {NULL, NULL, false, NULL},
};

static const rule report_shape_rules[] = {
    {"shape", &object, true, shape_or_less_rules},
    {"bytes", &amount, true, NULL},
    {"rows", &array, true, row_rules},
    {NULL, NULL, false, NULL},
};

static const rule failed_rules[] = {{"failed", &count, true, NULL}, {NULL, NULL, false, NULL}};

static const rule environments_rules[] = {
    {"accuracy", &object, true, NULL},
    {"timing", &object_or_null, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule report_rules[] = {
    {"kernels", &array, true, kernel_rules},
    {"shapes", &array, true, report_shape_rules},
    {"checks", &object, true, failed_rules},
    {"environment", &object, true, environments_rules},
    {"seed", &integer_or_null, false, NULL},
    {"budget", &integer_or_null, false, NULL},
    {NULL, NULL, false, NULL},
};

static bool is_kind(const json_t *value, const kind *wanted) {
  if (!(wanted->types & TYPE(json_typeof(value)))) return false;
  if (!wanted->negative && json_number_value(value) < 0) return false;
  if (!wanted->integers || !json_is_array(value)) return true;
  for (size_t i = 0; i < json_array_size(value); i++)
    if (!is_kind(json_array_get(value, i), &count)) return false;
  return wanted->integers == ANY_NUMBER || json_array_size(value) == wanted->integers;
}

static bool follows(const json_t *value, const rule *rules, const char *where, record_fault *fault);

static bool elements_follow(const json_t *list, const rule *rules, const char *where, record_fault *fault) {
  for (size_t i = 0; i < json_array_size(list); i++) {
    char element[96];
    snprintf(element, sizeof element, "%s[%zu]", where, i);
    if (!follows(json_array_get(list, i), rules, element, fault)) return false;
  }
  return true;
}

/* `where` is the path of `value`, empty for the record itself. */
static bool follows(const json_t *value, const rule *rules, const char *where, record_fault *fault) {
  if (!json_is_object(value)) {
    snprintf(fault->text, sizeof fault->text, "%s is not an object", *where ? where : "the record");
    return false;
  }
  for (; rules->key; rules++) {
    char path[96];
    snprintf(path, sizeof path, "%s%s%s", where, *where ? "." : "", rules->key);
    const json_t *field = json_object_get(value, rules->key);
    if (!field) {
      if (!rules->required) continue;
      snprintf(fault->text, sizeof fault->text, "%s is missing", path);
      return false;
    }
    if (!is_kind(field, rules->kind)) {
      snprintf(fault->text, sizeof fault->text, "%s is not %s", path, rules->kind->name);
      return false;
    }
    if (!rules->inner || json_is_null(field)) continue;
    if (!(json_is_array(field) ? elements_follow : follows)(field, rules->inner, path, fault)) return false;
  }
  return true;
}

static bool has_schema(const json_t *holder, const char *key, const char *schema, record_fault *fault) {
  const char *found = json_string_value(json_object_get(holder, key));
  if (found && strcmp(found, schema) == 0) return true;
  snprintf(fault->text, sizeof fault->text, "%s is not '%s'", key, schema);
  return false;
}

/* What the results say of themselves, beside what the record says of them. */
typedef struct totals {
  json_int_t passed, failed, skipped;
} totals;

static void add_checks(totals *t, const json_t *checks) {
  for (size_t i = 0; i < json_array_size(checks); i++) {
    const json_t *check = json_array_get(checks, i);
    if (json_is_true(json_object_get(check, "skipped")))
      t->skipped++;
    else if (json_is_true(json_object_get(check, "ok")))
      t->passed++;
    else
      t->failed++;
  }
}

static bool has_total(const json_t *record, const char *where, const char *key, json_int_t counted,
                      record_fault *fault) {
  const json_int_t said = json_integer_value(json_object_get(record, key));
  if (said == counted) return true;
  snprintf(fault->text, sizeof fault->text,
           "%s%s is %" JSON_INTEGER_FORMAT ", but by the checks it is %" JSON_INTEGER_FORMAT, where, key, said,
           counted);
  return false;
}

/* Which elements its figures are of: none if it refused or died. */
static bool has_mode(const json_t *result) {
  static const char *const modes[] = {"exhaustive", "sampled", "cases"};
  const char *mode = json_string_value(json_object_get(result, "mode"));
  for (size_t i = 0; mode && i < sizeof modes / sizeof *modes; i++)
    if (strcmp(mode, modes[i]) == 0) return true;
  return !mode;
}

/* Page and exit status go by the totals, and the page lists by kernel: neither may hide a failed check. The list `known` has all kernels;
   `where` is the path of the record, with its dot, or empty. */
static bool agrees_with_itself(const json_t *record, const char *where, const char *known, record_fault *fault) {
  const json_t *results = json_object_get(record, "records");
  totals t = {0, 0, 0};
  for (size_t i = 0; i < json_array_size(results); i++) {
    const json_t *result = json_array_get(results, i);
    const char *kernel = field_string(result, "kernel");
    if (!field_find(json_object_get(record, known), "name", kernel)) {
      snprintf(fault->text, sizeof fault->text, "%srecords[%zu].kernel is '%.80s', which is not in %s", where, i,
               kernel, known);
      return false;
    }
    if (!has_mode(result)) {
      snprintf(fault->text, sizeof fault->text, "%srecords[%zu].mode is not exhaustive, sampled or cases", where, i);
      return false;
    }
    if (json_is_string(json_object_get(result, "refusal")))
      t.skipped++;
    else
      add_checks(&t, json_object_get(result, "checks"));
  }
  const json_t *profiles = json_object_get(record, "profile");
  for (size_t i = 0; i < json_array_size(profiles); i++)
    t.failed += json_object_get(json_array_get(profiles, i), "failure") != NULL;
  return has_total(record, where, "passed", t.passed, fault) && has_total(record, where, "failed", t.failed, fault) &&
         has_total(record, where, "skipped", t.skipped, fault);
}

bool record_is_accuracy(const json_t *record, record_fault *fault) {
  const json_t *encodings = json_object_get(record, "encodings");
  return has_schema(record, "schema", "posenc-accuracy-1", fault) && follows(record, accuracy_rules, "", fault) &&
         agrees_with_itself(record, "", "kernels", fault) &&
         (!encodings || agrees_with_itself(encodings, "encodings.", "encodings", fault));
}

/* A report takes the parts of "hot/shape/kernel/…" in: what it could not must not vanish. */
static bool names_fit(const json_t *record, record_fault *fault) {
  const json_t *entries = json_object_get(record, "benchmarks");
  for (size_t i = 0; i < json_array_size(entries); i++) {
    const char *name = field_string(json_array_get(entries, i), "name");
    for (int part = 0; part < 3; part++) {
      const size_t length = part == 2 ? kernel_name_length(name) : strcspn(name, "/");
      if (length >= SAMPLE_NAME) {
        snprintf(fault->text, sizeof fault->text, "benchmarks[%zu].name has a part of %zu bytes, which is too long", i,
                 length);
        return false;
      }
      if (name[length] == '\0') break;
      name += length + 1;
    }
  }
  return true;
}

bool record_is_timing(const json_t *record, record_fault *fault) {
  return has_schema(json_object_get(record, "context"), "posenc_schema", "posenc-bench-2", fault) &&
         follows(record, timing_rules, "", fault) && names_fit(record, fault);
}

bool record_is_report(const json_t *record, record_fault *fault) {
  return has_schema(record, "schema", "posenc-report-1", fault) && follows(record, report_rules, "", fault);
}

bool record_names_sources(const json_t *facts) {
  const char *commit = field_string(facts, "commit");
  return *commit && !strstr(commit, "modified") && strcmp(commit, "unknown") != 0;
}
