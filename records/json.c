/* SPDX-License-Identifier: MIT */
/* Makes JSON of records, by the rows of fields.def that also read them. */
#include "records/record.h"

#include "common/field.h"

/* ---- values: a new reference, or null if the field is not there. `has`: it is there, even if its value is nothing. */

static json_t *write_text(const char *text, bool has, bool nullable) {
  if (!has && !(text && *text)) return NULL;
  if (nullable && !record_is_text(text)) return json_null();
  return field_utf8(text ? text : "");
}

static json_t *write_integer(int64_t n, bool has, bool nullable) {
  if (!has && (n == 0 || n == RECORD_NONE)) return NULL;
  return n == RECORD_NONE && nullable ? json_null() : allocated(json_integer((json_int_t)n));
}

static json_t *write_real(double x, bool has) {
  return has || (x != 0 && !isnan(x)) ? allocated(field_real(x)) : NULL;
}

static json_t *write_whole(double x, bool has) {
  return has || (x != 0 && !isnan(x)) ? allocated(field_whole(x)) : NULL;
}

static json_t *position_json(record_number n) {
  return allocated(n.part == 0 ? json_integer((json_int_t)n.whole) : field_real(record_number_value(n)));
}

static json_t *write_position(record_number n, bool has) {
  return has || n.whole || (n.part != 0 && !isnan(n.part)) ? position_json(n) : NULL;
}

static json_t *write_positions(const record_number *list, size_t count, bool has) {
  if (!list) return has ? json_null() : NULL;
  json_t *made = allocated(json_array());
  for (size_t i = 0; i < count; i++) field_append(made, position_json(list[i]));
  return made;
}

static json_t *write_boolean(bool is_so, bool has) {
  return has || is_so ? json_boolean(is_so) : NULL;
}

/* Puts facts into an object, in their order. */
static void put_facts(json_t *made, const record_facts *facts) {
  RECORD_EACH(fact, facts, list)
    field_put(made, fact->key,
              fact->is_text ? field_utf8(fact->value) : json_loads(fact->value, JSON_DECODE_ANY, NULL));
}

static json_t *write_facts(const record_facts *facts, bool has, bool nullable) {
  if (!facts->there && !has) return NULL;
  if (!facts->there && nullable) return json_null();
  json_t *made = allocated(json_object());
  put_facts(made, facts);
  return made;
}

static json_t *write_integers(const int64_t *list, size_t count, bool has, bool nullable) {
  if (!list && !has) return NULL;
  if (!list && nullable) return json_null();
  json_t *made = allocated(json_array());
  for (size_t i = 0; i < count; i++) field_append(made, json_integer((json_int_t)list[i]));
  return made;
}

static json_t *write_texts(const char *const *list, size_t count, bool has) {
  if (!list && !has) return NULL;
  json_t *made = allocated(json_array());
  for (size_t i = 0; i < count; i++) field_append(made, field_utf8(list[i]));
  return made;
}

static json_t *write_numbers(const double *list, size_t count, bool has) {
  if (!list && !has) return NULL;
  json_t *made = allocated(json_array());
  for (size_t i = 0; i < count; i++) field_append(made, field_real(list[i]));
  return made;
}

/* Makes JSON of a struct. */
typedef json_t *struct_writer(const void *from);

static json_t *write_object(const void *from, bool there, bool has, bool nullable, struct_writer *inner) {
  if (there) return inner(from);
  if (!has) return NULL;
  return nullable ? json_null() : inner(from);
}

/* Returns the array of structs of `bytes` bytes each. */
static json_t *write_array(const void *list, size_t count, size_t bytes, bool has, struct_writer *inner) {
  if (!list && !has) return NULL;
  json_t *made = allocated(json_array());
  for (size_t i = 0; i < count; i++) field_append(made, inner((const char *)list + i * bytes));
  return made;
}

/* Returns an object of structs of `bytes` bytes each. */
static json_t *write_map(const void *list, const char *const *names, size_t count, size_t bytes, bool has,
                         struct_writer *inner) {
  if (!list && !has) return NULL;
  json_t *made = allocated(json_object());
  for (size_t i = 0; i < count; i++) field_put(made, names[i], inner((const char *)list + i * bytes));
  return made;
}

/* Puts a field into an object; removes it if it is not there, as the object may be a copy of what was read. */
static void put(json_t *made, const char *key, json_t *value) {
  if (value)
    field_put(made, key, value);
  else
    json_object_del(made, key);
}

#define HAS_MUST(key) true
#define HAS_MAY(key) from->has_##key
#define IN_MUST true
#define IN_MAY false
#define BEGIN(type, ...)                                                                                               \
  static json_t *write_##type(const void *struct_of) {                                                                 \
    const record_##type *from = struct_of;                                                                             \
    json_t *made = allocated(json_object());
#define END(type)                                                                                                      \
  return made;                                                                                                         \
  }                                                                                                                    \
  static inline json_t *write_nullable_##type(const void *struct_of) {                                                 \
    return ((const record_##type *)struct_of)->there ? write_##type(struct_of) : json_null();                          \
  }
#define STRING(need, key, ...) put(made, #key, write_text(from->key, HAS_##need(key), false));
#define STRING_OR_NULL(need, key, ...) put(made, #key, write_text(from->key, HAS_##need(key), true));
#define WORD(need, key, ...) STRING(need, key, "")
#define STRINGS(need, key, ...) put(made, #key, write_texts(from->key, from->key##_count, IN_##need));
#define INTEGER(need, key, ...) put(made, #key, write_integer(from->key, HAS_##need(key), false));
#define INTEGER_OR_NULL(need, key, ...) put(made, #key, write_integer(from->key, HAS_##need(key), true));
#define COUNT(need, key, ...) INTEGER(need, key, "")
#define COUNT_OR_NULL(need, key, ...) INTEGER_OR_NULL(need, key, "")
#define COUNTS(need, key, ...) put(made, #key, write_integers(from->key, from->key##_count, IN_##need, false));
#define PAIR_OR_NULL(need, key, ...) put(made, #key, write_integers(from->key, from->key##_count, IN_##need, true));
#define PLACES_OR_NULL(need, key, ...) put(made, #key, write_positions(from->key, from->key##_count, IN_##need));
#define NUMBERS(need, key, ...) put(made, #key, write_numbers(from->key, from->key##_count, IN_##need));
#define LATER(type) static json_t *write_##type(const void *struct_of);
#define AT(need, type, key, ...) put(made, #key, from->key ? write_##type(from->key) : NULL);
#define REAL(need, key, ...) put(made, #key, write_real(from->key, HAS_##need(key)));
#define NUMBER(need, key, ...) REAL(need, key, "")
#define AMOUNT(need, key, ...) REAL(need, key, "")
#define POSITION(need, key, ...) put(made, #key, write_position(from->key, HAS_##need(key)));
#define SIZE(need, key, ...) put(made, #key, write_whole(from->key, HAS_##need(key)));
#define BOOLEAN(need, key, ...) put(made, #key, write_boolean(from->key, HAS_##need(key)));
#define FACTS(need, key, ...) put(made, #key, write_facts(&from->key, IN_##need, false));
#define FACTS_OR_NULL(need, key, ...) put(made, #key, write_facts(&from->key, HAS_##need(key), true));
#define OBJECT(need, type, key, ...)                                                                                   \
  put(made, #key, write_object(&from->key, from->key.there, IN_##need, false, write_##type));
#define OBJECT_OR_NULL(need, type, key, ...)                                                                           \
  put(made, #key, write_object(&from->key, from->key.there, HAS_##need(key), true, write_##type));
#define ARRAY(need, type, key, ...)                                                                                    \
  put(made, #key, write_array(from->key, from->key##_count, sizeof *from->key, IN_##need, write_##type));
#define ARRAY_OF_NULLABLE(need, type, key, ...)                                                                        \
  put(made, #key, write_array(from->key, from->key##_count, sizeof *from->key, IN_##need, write_nullable_##type));
#define MAP(need, type, key, ...)                                                                                      \
  put(made, #key,                                                                                                      \
      write_map(from->key, from->key##_names, from->key##_count, sizeof *from->key, IN_##need, write_##type));
#define OPAQUE(need, key, ...) put(made, #key, json_incref(from->key));
#define LIST(need, key, ...) OPAQUE(need, key, "")
/* The other members are those of what was read. */
#define MORE json_object_update(made, from->json);
#define MORE_FACTS(key) put_facts(made, &from->key);
#define TEXTS_OF(key, ...)
#include "records/fields.def"

/* Makes: record_write_accuracy, record_write_timing, record_write_report, record_write_baseline,
   record_write_machines, record_write_published, record_write_comparison, record_write_choice, record_write_history,
   record_write_shape, record_write_check, record_write_run, record_write_result, record_write_profile,
   record_write_unique, record_write_encodings, record_write_file_check, record_write_identified,
   record_write_scaling, record_write_fitness. */
#define WRITE(type)                                                                                                    \
  json_t *record_write_##type(const record_##type *from) {                                                             \
    return write_##type(from);                                                                                         \
  }
WRITE(accuracy)
WRITE(timing)
WRITE(report)
WRITE(baseline)
WRITE(machines)
WRITE(published)
WRITE(comparison)
WRITE(choice)
WRITE(history)
WRITE(shape)
WRITE(check)
WRITE(run)
WRITE(result)
WRITE(profile)
WRITE(unique)
WRITE(encodings)
WRITE(file_check)
WRITE(identified)
WRITE(scaling)
WRITE(fitness)

/* Makes: record_keep_accuracy, record_keep_timing, record_keep_result, record_keep_file_check, record_keep_run. */
#define KEEP(type)                                                                                                     \
  const record_##type *record_keep_##type(const record_##type *made) {                                                 \
    return record_take_##type(write_##type(made));                                                                     \
  }
KEEP(accuracy)
KEEP(timing)
KEEP(result)
KEEP(file_check)
KEEP(run)

/* Makes: record_change_accuracy, record_change_timing. */
#define CHANGE(type)                                                                                                   \
  void record_change_##type(const record_##type **record, const record_##type *changed) {                              \
    const record_##type *kept = record_keep_##type(changed);                                                           \
    record_free(*record);                                                                                              \
    *record = kept;                                                                                                    \
  }
CHANGE(accuracy)
CHANGE(timing)

void record_print_kernels(const record_kernel *list, size_t count, FILE *stream) {
  record_print(write_array(list, count, sizeof *list, true, write_kernel), stream);
}

void record_print_encodings(const record_encoding *list, size_t count, FILE *stream) {
  record_print(write_array(list, count, sizeof *list, true, write_encoding), stream);
}

void record_print_facts(const record_facts *facts, FILE *stream) {
  record_print(write_facts(facts, true, false), stream);
}

void record_print_as(json_t *record, size_t flags, FILE *stream) {
  json_dumpf(record, stream, flags);
  fputc('\n', stream);
  json_decref(record);
}

void record_print(json_t *record, FILE *stream) {
  record_print_as(record, JSON_INDENT(2), stream);
}

void record_print_lines(json_t *record, FILE *stream) {
  const char *key, *before = "{";
  const json_t *value;
  json_object_foreach(record, key, value) {
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
  json_decref(record);
}

char *record_text(json_t *record) {
  char *text = allocated(json_dumps(record, JSON_COMPACT));
  json_decref(record);
  return text;
}

/* ---- what a file has ---- */

json_t *record_load(FILE *from, size_t flags, json_error_t *why) {
  json_t *json = json_loadf(from, flags, why);
  return json ? allocated(field_plain(json)) : NULL;
}

const char *record_schema_of(const json_t *json) {
  const char *schema = field_string(json, "schema");
  return *schema ? schema : field_string(json_object_get(json, "context"), "posenc_schema");
}

bool record_is_of(const json_t *json, const char *prefix) {
  return strncmp(record_schema_of(json), prefix, strlen(prefix)) == 0;
}

/* ---- facts ---- */

static const char *json_in_line(const json_t *value, record_memory *in) {
  char *text = allocated(json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT));
  const char *kept = record_format(in, "%s", text);
  free(text);
  return kept;
}

record_facts record_facts_of(const json_t *from, record_memory *in) {
  record_facts made = {.there = json_is_object(from)};
  record_fact *all = record_allocate(in, json_object_size(from), sizeof *all);
  const char *key;
  json_t *value;
  json_object_foreach((json_t *)(uintptr_t)from, key, value) {
    const char *text = json_string_value(value);
    all[made.list_count++] = (record_fact){key, text ? text : json_in_line(value, in), text != NULL};
  }
  made.list = all;
  return made;
}

record_facts record_keep_facts(json_t *from, record_memory *in) {
  const record_facts told = record_facts_of(from, in);
  record_fact *kept = record_allocate(in, told.list_count, sizeof *kept);
  for (size_t i = 0; i < told.list_count; i++)
    kept[i] = (record_fact){record_format(in, "%s", told.list[i].key), record_format(in, "%s", told.list[i].value),
                            told.list[i].is_text};
  json_decref(from);
  return (record_facts){told.there, kept, told.list_count};
}

const record_fact *record_find_fact(const record_facts *facts, const char *key) {
  RECORD_EACH(fact, facts, list)
    if (strcmp(fact->key, key) == 0) return fact;
  return NULL;
}

const char *record_fact_text(const record_facts *facts, const char *key) {
  const record_fact *found = record_find_fact(facts, key);
  return found && found->is_text ? found->value : "";
}

void record_set_fact(record_facts *facts, const record_fact *one, record_memory *in) {
  record_fact *all = record_allocate(in, facts->list_count + 1, sizeof *all), *place = all;
  if (facts->list_count) memcpy(all, facts->list, facts->list_count * sizeof *all);
  while (place < all + facts->list_count && strcmp(place->key, one->key) != 0) place++;
  facts->list_count += place == all + facts->list_count;
  *place = (record_fact){record_format(in, "%s", one->key), record_format(in, "%s", one->value), one->is_text};
  facts->list = all;
  facts->there = true;
}

void record_set_text(record_facts *facts, const char *key, const char *text, record_memory *in) {
  record_set_fact(facts, &(record_fact){key, text, true}, in);
}

bool record_same_fact(const record_fact *a, const record_fact *b) {
  return a && b && a->is_text == b->is_text && strcmp(a->value, b->value) == 0;
}

bool record_same_facts(const record_facts *a, const record_facts *b) {
  if (a->there != b->there || a->list_count != b->list_count) return false;
  RECORD_EACH(fact, a, list)
    if (!record_same_fact(fact, record_find_fact(b, fact->key))) return false;
  return true;
}

bool record_names_sources(const record_facts *facts) {
  const char *commit = record_fact_text(facts, "commit");
  return *commit && !strstr(commit, "modified") && strcmp(commit, "unknown") != 0;
}
