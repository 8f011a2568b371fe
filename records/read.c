/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "records/record.h"

#include "common/contract.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* ---- fields ---- */

typedef struct reader {
  record_fault *fault; /* if null, fields of another kind count as missing */
  record_memory memory;
} reader;

#define TYPE(type) (1u << (type))

typedef struct kind {
  unsigned types; /* set of json_type */
  const char *name;
  bool negative;   /* negative numbers are allowed */
  size_t integers; /* if not 0: an array of that many integers >= 0 */
} kind;

#define ANY_NUMBER SIZE_MAX

static const kind string = {TYPE(JSON_STRING), "a string", false, 0};
static const kind string_or_null = {TYPE(JSON_STRING) | TYPE(JSON_NULL), "a string or null", false, 0};
static const kind integer = {TYPE(JSON_INTEGER), "an integer", true, 0};
static const kind integer_or_null = {TYPE(JSON_INTEGER) | TYPE(JSON_NULL), "an integer or null", true, 0};
static const kind count = {TYPE(JSON_INTEGER), "an integer of 0 or more", false, 0};
static const kind real = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL), "a number", true, 0};
/* null stands for infinity and NaN, which JSON lacks */
static const kind number = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL) | TYPE(JSON_NULL), "a number or null", true, 0};
static const kind amount = {TYPE(JSON_INTEGER) | TYPE(JSON_REAL) | TYPE(JSON_NULL), "a number of 0 or more, or null",
                            false, 0};
static const kind boolean = {TYPE(JSON_TRUE) | TYPE(JSON_FALSE), "true or false", false, 0};
static const kind object = {TYPE(JSON_OBJECT), "an object", false, 0};
static const kind count_or_null = {TYPE(JSON_INTEGER) | TYPE(JSON_NULL), "an integer of 0 or more, or null", false, 0};
static const kind object_or_null = {TYPE(JSON_OBJECT) | TYPE(JSON_NULL), "an object or null", false, 0};
static const kind list = {TYPE(JSON_ARRAY) | TYPE(JSON_OBJECT), "a list", true, 0};
static const kind array = {TYPE(JSON_ARRAY), "an array", false, 0};
static const kind counts = {TYPE(JSON_ARRAY), "an array of integers of 0 or more", false, ANY_NUMBER};
static const kind number_list = {TYPE(JSON_ARRAY), "an array", true, 0};
static const kind places_or_null = {TYPE(JSON_ARRAY) | TYPE(JSON_NULL), "two numbers, or null", true, 0};
static const kind pair_or_null = {TYPE(JSON_ARRAY) | TYPE(JSON_NULL), "two integers of 0 or more, or null", false, 2};

static bool is_kind(const json_t *value, const kind *wanted) {
  if (!(wanted->types & TYPE(json_typeof(value)))) return false;
  if (!wanted->negative && json_number_value(value) < 0) return false;
  if (!wanted->integers || !json_is_array(value)) return true;
  for (size_t i = 0; i < json_array_size(value); i++)
    if (!is_kind(json_array_get(value, i), &count)) return false;
  return wanted->integers == ANY_NUMBER || json_array_size(value) == wanted->integers;
}

/* The object whose fields are read. */
typedef struct holder {
  reader *r;
  const json_t *object;
  const struct holder *parent; /* null for the record itself */
  const char *key;             /* the object's key in its parent */
  size_t index;                /* 1 + the object's index in the array under that key; 0 without an array */
} holder;

__attribute__((format(printf, 2, 3))) static void say(record_fault *fault, const char *format, ...) {
  va_list arguments;
  const size_t used = strlen(fault->text);
  va_start(arguments, format);
  vsnprintf(fault->text + used, sizeof fault->text - used, format, arguments);
  va_end(arguments);
}

/* Appends the path of the object: "records[3].bound". */
static void say_path(record_fault *fault, const holder *h) {
  if (!h->parent) return;
  say_path(fault, h->parent);
  say(fault, "%s%s", *fault->text ? "." : "", h->key);
  if (h->index) say(fault, "[%zu]", h->index - 1);
}

/* Stores the fault, unless the reader has no place for faults. Returns whether it did, which ends reading. */
static bool is_fault(const holder *of, const char *what, const char *wanted) {
  record_fault *fault = of->r->fault;
  if (!fault) return false;
  *fault->text = '\0';
  say_path(fault, of);
  say(fault, " is %s%s", what, wanted);
  return true;
}

typedef struct field {
  const char *key;
  bool must_be;
  bool *has; /* null, or where to store that the object has it */
  const kind *wanted;
} field;

/* Finds a field. Reports a fault and returns false if it is not as required. *value is null if it is missing. */
static bool find(const holder *h, const field *f, json_t **value) {
  const holder place = {h->r, NULL, h, f->key, 0};
  *value = json_object_get(h->object, f->key);
  if (!*value) return !f->must_be || !h->object || !is_fault(&place, "missing", "");
  const bool is_right = is_kind(*value, f->wanted);
  if (!is_right) *value = NULL;
  if (f->has) *f->has = is_right;
  return is_right || !is_fault(&place, "not ", f->wanted->name);
}

static bool read_text(const holder *h, const field *f, const char **to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  const char *none = json_is_null(value) ? record_null : "";
  *to = json_is_string(value) ? json_string_value(value) : none;
  return true;
}

static bool read_integer(const holder *h, const field *f, int64_t *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  const bool nullable = f->wanted->types & TYPE(JSON_NULL);
  *to = !json_is_integer(value) && nullable ? RECORD_NONE : json_integer_value(value);
  return true;
}

static bool read_real(const holder *h, const field *f, double *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  *to = json_is_number(value) ? json_number_value(value) : NAN;
  return true;
}

/* Returns NaN if the value is no number. */
static record_number position_of(const json_t *value) {
  return json_is_integer(value) ? (record_number){json_integer_value(value), 0.0}
                                : record_number_of(json_is_real(value) ? json_real_value(value) : NAN);
}

static bool read_position(const holder *h, const field *f, record_number *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  *to = position_of(value);
  return true;
}

static bool read_positions(const holder *h, const field *f, const record_number **to, size_t *size) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  if (!json_is_array(value)) return true;
  *size = json_array_size(value);
  record_number *numbers = record_allocate(&h->r->memory, *size, sizeof *numbers);
  for (size_t i = 0; i < *size; i++) numbers[i] = position_of(json_array_get(value, i));
  *to = numbers;
  return true;
}

static bool read_numbers(const holder *h, const field *f, const double **to, size_t *size) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  if (!value) return true;
  *size = json_array_size(value);
  double *numbers = record_allocate(&h->r->memory, *size, sizeof *numbers);
  for (size_t i = 0; i < *size; i++) {
    const json_t *one = json_array_get(value, i);
    if (!is_kind(one, &number) && is_fault(&(holder){h->r, NULL, h, f->key, i + 1}, "not ", number.name)) return false;
    numbers[i] = json_is_number(one) ? json_number_value(one) : NAN;
  }
  *to = numbers;
  return true;
}

static bool read_boolean(const holder *h, const field *f, bool *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  *to = json_is_true(value);
  return true;
}

static bool read_facts(const holder *h, const field *f, record_facts *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  *to = record_facts_of(value, &h->r->memory);
  return true;
}

static bool read_integers(const holder *h, const field *f, const int64_t **to, size_t *size) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  if (!json_is_array(value)) return true;
  *size = json_array_size(value);
  int64_t *integers = record_allocate(&h->r->memory, *size, sizeof *integers);
  for (size_t i = 0; i < *size; i++) integers[i] = json_integer_value(json_array_get(value, i));
  *to = integers;
  return true;
}

static bool read_texts(const holder *h, const field *f, const char *const **to, size_t *size) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  if (!value) return true;
  *size = json_array_size(value);
  const char **texts = record_allocate(&h->r->memory, *size, sizeof *texts);
  for (size_t i = 0; i < *size; i++) {
    const json_t *text = json_array_get(value, i);
    if (!json_is_string(text) && is_fault(&(holder){h->r, NULL, h, f->key, i + 1}, "not ", string.name)) return false;
    texts[i] = json_is_string(text) ? json_string_value(text) : "";
  }
  *to = texts;
  return true;
}

/* Reads the fields of an object into its struct. */
typedef bool struct_reader(const holder *h, void *made);

static bool read_object(const holder *h, const field *f, struct_reader *inner, void *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  return inner(&(holder){h->r, json_is_object(value) ? value : NULL, h, f->key, 0}, to);
}

/* Reads an object into a struct of `bytes` bytes of its own, to whose pointer `to` points; null if it is not there. */
static bool read_at(const holder *h, const field *f, struct_reader *inner, size_t bytes, void *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  if (!value) return true;
  void *made = record_allocate(&h->r->memory, 1, bytes);
  memcpy(to, &made, sizeof made);
  return inner(&(holder){h->r, value, h, f->key, 0}, made);
}

/* Reads an object of structs of `bytes` bytes each, by name. `to` is the address of the pointer to the first one. */
static bool read_map(const holder *h, const field *f, struct_reader *inner, size_t bytes, const char *const **names,
                     size_t *size, void *to) {
  json_t *value, *element;
  const char *key;
  if (!find(h, f, &value)) return false;
  if (!value) return true;
  char *structs = record_allocate(&h->r->memory, json_object_size(value), bytes);
  const char **keys = record_allocate(&h->r->memory, json_object_size(value), sizeof *keys);
  json_object_foreach(value, key, element) {
    const holder in = {h->r, NULL, h, f->key, 0}, of = {h->r, json_is_object(element) ? element : NULL, &in, key, 0};
    if (!of.object && is_fault(&of, "not ", object.name)) return false;
    if (!inner(&of, structs + *size * bytes)) return false;
    keys[(*size)++] = key;
  }
  *names = keys;
  memcpy(to, &structs, sizeof structs);
  return true;
}

/* Reads an array of structs of `bytes` bytes each. `to` is the address of the pointer to the first one. */
static bool read_array(const holder *h, const field *f, struct_reader *inner, size_t bytes, size_t *size, void *to) {
  json_t *value;
  if (!find(h, f, &value)) return false;
  if (!value) return true;
  *size = json_array_size(value);
  char *structs = record_allocate(&h->r->memory, *size, bytes);
  for (size_t i = 0; i < *size; i++) {
    const json_t *element = json_array_get(value, i);
    const holder of = {h->r, json_is_object(element) ? element : NULL, h, f->key, i + 1};
    if (!of.object && is_fault(&of, "not ", object.name)) return false;
    if (!inner(&of, structs + i * bytes)) return false;
  }
  memcpy(to, &structs, sizeof structs);
  return true;
}

#define HAS_MUST(key) true, NULL
#define HAS_MAY(key) false, &to->has_##key
#define FIELD(need, key, kind) (&(const field){#key, HAS_##need(key), &kind})
/* Arrays and inner objects tell by themselves whether they are there. */
#define IN_MUST true
#define IN_MAY false
#define HOLDER(need, key, kind) (&(const field){#key, IN_##need, NULL, &kind})
#define BEGIN(type, meaning)                                                                                           \
  static bool read_##type(const holder *h, void *made) {                                                               \
    record_##type *to = made;                                                                                          \
    to->json = (json_t *)(uintptr_t)h->object;                                                                         \
    to->there = h->object;                                                                                             \
    return
#define END(type)                                                                                                      \
  true;                                                                                                                \
  }
#define STRING(need, key, ...) read_text(h, FIELD(need, key, string), &to->key) &&
#define STRING_OR_NULL(need, key, ...) read_text(h, FIELD(need, key, string_or_null), &to->key) &&
#define WORD(need, key, ...) read_text(h, FIELD(need, key, string), &to->key) &&
#define STRINGS(need, key, ...) read_texts(h, HOLDER(need, key, array), &to->key, &to->key##_count) &&
#define INTEGER(need, key, ...) read_integer(h, FIELD(need, key, integer), &to->key) &&
#define INTEGER_OR_NULL(need, key, ...) read_integer(h, FIELD(need, key, integer_or_null), &to->key) &&
#define COUNT(need, key, ...) read_integer(h, FIELD(need, key, count), &to->key) &&
#define COUNT_OR_NULL(need, key, ...) read_integer(h, FIELD(need, key, count_or_null), &to->key) &&
#define COUNTS(need, key, ...) read_integers(h, HOLDER(need, key, counts), &to->key, &to->key##_count) &&
#define PAIR_OR_NULL(need, key, ...) read_integers(h, HOLDER(need, key, pair_or_null), &to->key, &to->key##_count) &&
#define PLACES_OR_NULL(need, key, ...)                                                                                 \
  read_positions(h, HOLDER(need, key, places_or_null), &to->key, &to->key##_count) &&
#define NUMBERS(need, key, ...) read_numbers(h, HOLDER(need, key, number_list), &to->key, &to->key##_count) &&
#define LATER(type) static bool read_##type(const holder *h, void *made);
#define AT(need, type, key, ...) read_at(h, HOLDER(need, key, object), read_##type, sizeof(record_##type), &to->key) &&
#define REAL(need, key, ...) read_real(h, FIELD(need, key, real), &to->key) &&
#define NUMBER(need, key, ...) read_real(h, FIELD(need, key, number), &to->key) &&
#define AMOUNT(need, key, ...) read_real(h, FIELD(need, key, amount), &to->key) &&
#define POSITION(need, key, ...) read_position(h, FIELD(need, key, number), &to->key) &&
#define SIZE(need, key, ...) AMOUNT(need, key, "")
#define BOOLEAN(need, key, ...) read_boolean(h, FIELD(need, key, boolean), &to->key) &&
#define FACTS(need, key, ...) read_facts(h, HOLDER(need, key, object), &to->key) &&
#define FACTS_OR_NULL(need, key, ...) read_facts(h, FIELD(need, key, object_or_null), &to->key) &&
#define OBJECT(need, type, key, ...) read_object(h, HOLDER(need, key, object), read_##type, &to->key) &&
#define OBJECT_OR_NULL(need, type, key, ...) read_object(h, FIELD(need, key, object_or_null), read_##type, &to->key) &&
#define ARRAY(need, type, key, ...)                                                                                    \
  read_array(h, HOLDER(need, key, array), read_##type, sizeof *to->key, &to->key##_count, &to->key) &&
#define ARRAY_OF_NULLABLE(need, type, key, ...) ARRAY(need, type, key, ...)
#define MAP(need, type, key, ...)                                                                                      \
  read_map(h, HOLDER(need, key, object), read_##type, sizeof *to->key, &to->key##_names, &to->key##_count, &to->key) &&
#define OPAQUE(need, key, ...) find(h, HOLDER(need, key, object), &to->key) &&
#define LIST(need, key, ...) find(h, HOLDER(need, key, list), &to->key) &&
#define MORE
#define MORE_FACTS(key) ((to->key = record_facts_of(h->object, &h->r->memory)), true) &&
#define TEXTS_OF(key, ...)
#include "records/fields.def"

#undef HAS_MUST
#undef HAS_MAY

/* ---- structs of nothing ---- */

/* Makes: record_empty_accuracy, record_empty_report, record_empty_table, record_empty_row, record_empty_result,
   record_empty_benchmark, record_empty_row_timing, record_empty_spread, record_empty_ratio. */
#define EMPTY(type)                                                                                                    \
  record_##type record_empty_##type(void) {                                                                            \
    reader r = {NULL, {NULL}};                                                                                         \
    record_##type made = {0};                                                                                          \
    read_##type(&(holder){&r, NULL, NULL, NULL, 0}, &made);                                                            \
    return made;                                                                                                       \
  }
EMPTY(accuracy)
EMPTY(report)
EMPTY(table)
EMPTY(row)
EMPTY(result)
EMPTY(benchmark)
EMPTY(row_timing)
EMPTY(spread)
EMPTY(ratio)

/* ---- checks of the whole record ---- */

/* A result of a record, and whether the record lists its kernel. */
typedef struct listed_result {
  const char *kernel, *refusal, *mode;
  const record_check *checks;
  size_t check_count;
  bool is_listed;
} listed_result;

/* Counts over the results of a record, whose path is `where`, with its dot, or empty. Its list `known` has all
   kernels. */
typedef struct totals {
  const char *where, *known;
  record_counts counted;
} totals;

/* Whether this is a mode of verification; results of kernels that refused or died have none. */
static bool is_mode(const char *mode) {
  static const char *const modes[] = {"", "exhaustive", "sampled", "cases"};
  for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
    if (strcmp(mode, modes[i]) == 0) return true;
  return false;
}

/* Adds a result's checks to the totals. Its kernel must be in the list, because the page shows results by kernel. */
static bool add_exam(totals *t, size_t i, const listed_result *e, record_fault *fault) {
  if (!e->is_listed)
    snprintf(fault->text, sizeof fault->text, "%srecords[%zu].kernel is '%.80s', which is not in %s", t->where, i,
             e->kernel, t->known);
  else if (!is_mode(e->mode))
    snprintf(fault->text, sizeof fault->text, "%srecords[%zu].mode is not exhaustive, sampled or cases", t->where, i);
  if (!e->is_listed || !is_mode(e->mode)) return false;
  t->counted.skipped += *e->refusal != '\0';
  record_count(&t->counted, e->checks, e->check_count);
  return true;
}

static bool is_total(const totals *t, const char *key, int64_t said, int64_t counted, record_fault *fault) {
  if (said == counted) return true;
  snprintf(fault->text, sizeof fault->text, "%s%s is %" PRId64 ", but by the checks it is %" PRId64, t->where, key,
           said, counted);
  return false;
}

/* Whether the totals agree with the results. Exit statuses depend on the totals, which must not hide a failed check. */
static bool are_totals(const totals *t, int64_t passed, int64_t failed, int64_t skipped, record_fault *fault) {
  return is_total(t, "passed", passed, t->counted.passed, fault) &&
         is_total(t, "failed", failed, t->counted.failed, fault) &&
         is_total(t, "skipped", skipped, t->counted.skipped, fault);
}

/* Whether each kernel is listed once: what is made of the results for each kernel has room for each result once. */
static bool is_each_once(const record_accuracy *record, record_fault *fault) {
  RECORD_EACH(kernel, record, kernels)
    if (record_find_kernel(record->kernels, record->kernels_count, kernel->name) != kernel) {
      snprintf(fault->text, sizeof fault->text, "kernels has '%.80s' twice", kernel->name);
      return false;
    }
  return true;
}

static bool is_consistent(const record_accuracy *record, record_fault *fault) {
  totals t = {.where = "", .known = "kernels"};
  if (!is_each_once(record, fault)) return false;
  for (size_t i = 0; i < record->records_count; i++) {
    const record_result *one = &record->records[i];
    const bool is_listed = record_find_kernel(record->kernels, record->kernels_count, one->kernel);
    const listed_result e = {one->kernel, one->refusal, one->mode, one->checks, one->checks_count, is_listed};
    if (!add_exam(&t, i, &e, fault)) return false;
  }
  RECORD_EACH(profile, record, profile) t.counted.failed += profile->failure.there;
  return are_totals(&t, record->passed, record->failed, record->skipped, fault);
}

static bool are_encodings_consistent(const record_encodings *record, record_fault *fault) {
  totals t = {.where = "encodings.", .known = "encodings"};
  for (size_t i = 0; i < record->records_count; i++) {
    const record_encoded *one = &record->records[i];
    bool is_listed = false;
    RECORD_EACH(encoding, record, encodings) is_listed = is_listed || strcmp(encoding->name, one->kernel) == 0;
    const listed_result e = {one->kernel, one->refusal, one->mode, one->checks, one->checks_count, is_listed};
    if (!add_exam(&t, i, &e, fault)) return false;
  }
  return are_totals(&t, record->passed, record->failed, record->skipped, fault);
}

/* Whether the parts of a name fit. A report copies the parts of "hot/shape/kernel/…" into buffers, and would leave out
   a benchmark whose parts do not fit. */
static bool names_fit(const record_timing *record, record_fault *fault) {
  for (size_t i = 0; i < record->benchmarks_count; i++) {
    const char *name = record->benchmarks[i].name;
    for (int part = 0; part < 3; part++) {
      const size_t length = part == 2 ? kernel_name_length(name) : strcspn(name, "/");
      if (length >= REPETITION_NAME) {
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

/* ---- records ---- */

/* Returns the record, which has taken the JSON over; null, with a fault if `fault` is not null, if it is none. */
static void *read_record(json_t *json, struct_reader *inner, size_t bytes, record_fault *fault) {
  reader r = {fault, {NULL}};
  json_t *kept = json_is_object(json) ? json : NULL;
  void *made = record_allocate(&r.memory, 1, bytes);
  const bool is_read = inner(&(holder){&r, kept, NULL, NULL, 0}, made);
  if (!is_read) record_release(&r.memory);
  if (!is_read || !kept) json_decref(json);
  return is_read ? made : NULL;
}

/* The same of a record of that schema, whose name is in the field `key`. */
static void *read_of(json_t *json, const char *key, const char *schema, struct_reader *inner, size_t bytes,
                     record_fault *fault) {
  if (strcmp(record_schema_of(json), schema) == 0) return read_record(json, inner, bytes, fault);
  snprintf(fault->text, sizeof fault->text, "%s is not '%s'", key, schema);
  json_decref(json);
  return NULL;
}

const record_accuracy *record_read_accuracy(json_t *json, record_fault *fault) {
  record_accuracy *made = read_of(json, "schema", "posenc-accuracy-1", read_accuracy, sizeof *made, fault);
  if (!made || (is_consistent(made, fault) && are_encodings_consistent(&made->encodings, fault))) return made;
  record_free(made);
  return NULL;
}

const record_timing *record_read_timing(json_t *json, record_fault *fault) {
  record_timing *made = read_of(json, "posenc_schema", "posenc-bench-2", read_timing, sizeof *made, fault);
  if (!made || names_fit(made, fault)) return made;
  record_free(made);
  return NULL;
}

/* Makes: record_read_report, record_read_published, record_read_baseline, record_read_package_errors. */
#define READ(type, schema)                                                                                             \
  const record_##type *record_read_##type(json_t *json, record_fault *fault) {                                         \
    return read_of(json, "schema", schema, read_##type, sizeof(record_##type), fault);                                 \
  }
READ(report, "posenc-report-1")
READ(published, "posenc-published-2")
READ(baseline, "posenc-baseline-1")
READ(package_errors, "posenc-peers-errors-1")

/* Makes: record_take_accuracy, record_take_timing, record_take_report, record_take_baseline, record_take_machines,
   record_take_published, record_take_comparison, record_take_choice, record_take_history, record_take_run,
   record_take_result, record_take_profile, record_take_unique, record_take_encodings, record_take_file_check,
   record_take_identified, record_take_package_times, record_take_fitness. */
#define TAKE(type)                                                                                                     \
  const record_##type *record_take_##type(json_t *json) {                                                              \
    return read_record(json, read_##type, sizeof(record_##type), NULL);                                                \
  }
TAKE(accuracy)
TAKE(timing)
TAKE(report)
TAKE(baseline)
TAKE(machines)
TAKE(published)
TAKE(comparison)
TAKE(choice)
TAKE(history)
TAKE(run)
TAKE(result)
TAKE(profile)
TAKE(unique)
TAKE(encodings)
TAKE(file_check)
TAKE(identified)
TAKE(package_times)
TAKE(fitness)

/* Makes: record_of_text_result, record_of_text_profile, record_of_text_unique, record_of_text_encodings,
   record_of_text_identified. */
#define OF_TEXT(type)                                                                                                  \
  const record_##type *record_of_text_##type(const char *text) {                                                       \
    json_t *json = text ? json_loads(text, 0, NULL) : NULL;                                                            \
    return json ? record_take_##type(json) : NULL;                                                                     \
  }
OF_TEXT(result)
OF_TEXT(profile)
OF_TEXT(unique)
OF_TEXT(encodings)
OF_TEXT(identified)

const record_kernel *record_find_kernel(const record_kernel *kernels, size_t size, const char *name) {
  for (size_t i = 0; i < size; i++)
    if (strcmp(kernels[i].name, name) == 0) return &kernels[i];
  return NULL;
}

const record_result *record_find_result(const record_accuracy *record, const char *kernel, const char *shape) {
  RECORD_EACH(result, record, records)
    if (strcmp(result->kernel, kernel) == 0 && strcmp(result->shape.name, shape) == 0) return result;
  return NULL;
}

const record_check *record_find_check(const record_check *checks, size_t size, const char *property) {
  for (size_t i = 0; i < size; i++)
    if (strcmp(checks[i].property, property) == 0) return &checks[i];
  return NULL;
}

void record_count(record_counts *to, const record_check *checks, size_t size) {
  for (size_t i = 0; i < size; i++) {
    if (checks[i].skipped)
      to->skipped++;
    else if (checks[i].ok)
      to->passed++;
    else
      to->failed++;
  }
}

void record_total(record_accuracy *record) {
  record_counts found = {0};
  RECORD_EACH(result, record, records) {
    found.skipped += *result->refusal != '\0';
    record_count(&found, result->checks, result->checks_count);
  }
  RECORD_EACH(profile, record, profile) found.failed += profile->failure.there;
  record->passed = found.passed;
  record->failed = found.failed;
  record->skipped = found.skipped;
}

int64_t record_seconds(const char *date) {
  struct tm utc = {0};
  int hours = 0, minutes = 0, length = 0;
  const char *rest = strptime(date, "%Y-%m-%d", &utc);
  if (rest && *rest == 'T') rest = strptime(rest, "T%H:%M:%S", &utc);
  if (!rest) return RECORD_NONE;
  const char sign = *rest;
  if (strcmp(rest, "") != 0 && strcmp(rest, "Z") != 0 &&
      !((sign == '+' || sign == '-') && sscanf(rest + 1, "%2d:%2d%n", &hours, &minutes, &length) == 2 &&
        rest[1 + length] == '\0'))
    return RECORD_NONE;
  const int64_t ahead = 60 * (60 * (int64_t)hours + minutes);
  return (int64_t)timegm(&utc) + (sign == '-' ? ahead : -ahead);
}
