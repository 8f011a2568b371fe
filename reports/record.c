/* SPDX-License-Identifier: MIT */
#include "reports/record.h"

#include <stdio.h>
#include <string.h>

#define TYPE(type) (1u << (type))

typedef struct kind {
  unsigned types; /* set of json_type */
  const char *name;
} kind;

static const kind string = {TYPE(JSON_STRING), "a string"};
static const kind string_or_null = {TYPE(JSON_STRING) | TYPE(JSON_NULL), "a string or null"};
static const kind integer = {TYPE(JSON_INTEGER), "an integer"};
static const kind integer_or_null = {TYPE(JSON_INTEGER) | TYPE(JSON_NULL), "an integer or null"};
static const kind real = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL), "a number"};
/* JSON has no infinity and no NaN: null stands for them. */
static const kind number = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL) | TYPE(JSON_NULL), "a number or null"};
static const kind boolean = {TYPE(JSON_TRUE) | TYPE(JSON_FALSE), "true or false"};
static const kind object = {TYPE(JSON_OBJECT), "an object"};
static const kind array = {TYPE(JSON_ARRAY), "an array"};

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
    {"name", &string, true, NULL},
    {"summary", &string, false, NULL},
    {"algorithm", &string, false, NULL},
    {"provenance", &string, false, NULL},
    {"isa", &string_or_null, false, NULL},
    {"basis", &string_or_null, false, NULL},
    {"reproducible", &boolean, false, NULL},
    {"threaded", &boolean, false, NULL},
    {"refusal", &string_or_null, false, NULL},
    {"bound", &object, true, bound_rules},
    {NULL, NULL, false, NULL},
};

static const rule shape_rules[] = {
    {"name", &string, true, NULL},
    {"rows", &integer, true, NULL},
    {"dim", &integer, true, NULL},
    {"first", &integer, false, NULL},
    {"base", &number, false, NULL},
    {"shift", &number, false, NULL},
    {"padding", &integer_or_null, false, NULL},
    {"layout", &string, false, NULL},
    {"dtype", &string, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule witness_rules[] = {
    {"ulp", &number, false, NULL},    {"abs", &number, false, NULL},      {"position", &integer, false, NULL},
    {"index", &integer, false, NULL}, {"function", &string, false, NULL}, {"exact", &string, false, NULL},
    {"got", &string, false, NULL},    {"replay", &string, false, NULL},   {NULL, NULL, false, NULL},
};

static const rule check_rules[] = {
    {"property", &string, true, NULL},      {"ok", &boolean, true, NULL},    {"skipped", &boolean, true, NULL},
    {"worst", &number, false, NULL},        {"bound", &number, false, NULL}, {"compared", &integer, false, NULL},
    {"note", &string_or_null, false, NULL}, {NULL, NULL, false, NULL},
};

static const rule result_rules[] = {
    {"kernel", &string, true, NULL},
    {"shape", &object, true, shape_rules},
    {"refusal", &string_or_null, false, NULL},
    {"mode", &string, false, NULL},
    {"elements", &integer, false, NULL},
    {"of", &integer, false, NULL},
    {"max_ulp", &object, false, witness_rules},
    {"max_abs", &object, false, witness_rules},
    {"mean_ulp", &number, false, NULL},
    {"mean_abs", &number, false, NULL},
    {"misrounded", &integer, false, NULL},
    {"checks", &array, false, check_rules},
    {NULL, NULL, false, NULL},
};

static const rule point_rules[] = {
    {"position", &integer, true, NULL},
    {"max_abs", &number, true, NULL},
    {"max_ulp", &number, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule profile_rules[] = {
    {"kernel", &string, true, NULL},       {"dim", &integer, false, NULL}, {"base", &number, false, NULL},
    {"points", &array, true, point_rules}, {NULL, NULL, false, NULL},
};

static const rule accuracy_rules[] = {
    {"environment", &object, true, NULL},
    {"kernels", &array, true, kernel_rules},
    {"seed", &integer, false, NULL},
    {"records", &array, true, result_rules},
    {"profile", &array, false, profile_rules},
    {"passed", &integer, true, NULL},
    {"failed", &integer, true, NULL},
    {"skipped", &integer, true, NULL},
    {NULL, NULL, false, NULL},
};

static const rule benchmark_rules[] = {
    {"name", &string, true, NULL},
    {"run_type", &string, false, NULL},
    {"real_time", &number, false, NULL},
    {"time_unit", &string, false, NULL},
    {"error_occurred", &boolean, false, NULL},
    {"bytes_per_second", &number, false, NULL},
    {"ns_per_element", &number, false, NULL},
    {"fill_bytes_per_second", &number, false, NULL},
    {"of_fill", &number, false, NULL},
    {"rows", &number, false, NULL},
    {"dim", &number, false, NULL},
    {"rows_timed", &number, false, NULL},
    {NULL, NULL, false, NULL},
};

static const rule timing_rules[] = {
    {"context", &object, true, NULL},
    {"benchmarks", &array, true, benchmark_rules},
    {NULL, NULL, false, NULL},
};

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
    if (!(rules->kind->types & TYPE(json_typeof(field)))) {
      snprintf(fault->text, sizeof fault->text, "%s is not %s", path, rules->kind->name);
      return false;
    }
    if (!rules->inner) continue;
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

bool record_is_accuracy(const json_t *record, record_fault *fault) {
  return has_schema(record, "schema", "posenc-accuracy-1", fault) && follows(record, accuracy_rules, "", fault);
}

bool record_is_timing(const json_t *record, record_fault *fault) {
  return has_schema(json_object_get(record, "context"), "posenc_schema", "posenc-bench-1", fault) &&
         follows(record, timing_rules, "", fault);
}
