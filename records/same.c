/* SPDX-License-Identifier: MIT */
/* Compares structs of records, by the rows of fields.def that also read them. */
#include "records/record.h"

#include <string.h>

static bool is_same_text(const char *a, const char *b) {
  if (!a || !b) return a == b;
  return (a == record_null) == (b == record_null) && strcmp(a, b) == 0;
}

static bool is_same_position(record_number a, record_number b) {
  return a.whole == b.whole && record_same_number(a.part, b.part);
}

static bool are_same_texts(const char *const *a, size_t count, const char *const *b, size_t other) {
  bool same = count == other;
  for (size_t i = 0; same && i < count; i++) same = is_same_text(a[i], b[i]);
  return same;
}

static bool are_same_integers(const int64_t *a, size_t count, const int64_t *b, size_t other) {
  bool same = count == other;
  for (size_t i = 0; same && i < count; i++) same = a[i] == b[i];
  return same;
}

static bool are_same_positions(const record_number *a, size_t count, const record_number *b, size_t other) {
  bool same = count == other;
  for (size_t i = 0; same && i < count; i++) same = is_same_position(a[i], b[i]);
  return same;
}

static bool are_same_numbers(const double *a, size_t count, const double *b, size_t other) {
  bool same = count == other;
  for (size_t i = 0; same && i < count; i++) same = record_same_number(a[i], b[i]);
  return same;
}

static bool are_same_values(const json_t *a, const json_t *b) {
  return a == b || json_equal(a, b);
}

/* ---- what differs: these tell it, unless `told` is null, and return false; what is not there is "none" ---- */

static bool tell_texts(record_unlike *told, const char *key, const char *a, const char *b) {
  if (!told) return false;
  *told = (record_unlike){.key = key};
  snprintf(told->a, sizeof told->a, "%.80s", record_is_text(a) ? a : "none");
  snprintf(told->b, sizeof told->b, "%.80s", record_is_text(b) ? b : "none");
  return false;
}

static bool tell_integers(record_unlike *told, const char *key, bool has_a, int64_t a, bool has_b, int64_t b) {
  const number_text one = record_number_text((record_number){a, 0.0}),
                    other = record_number_text((record_number){b, 0.0});
  return tell_texts(told, key, has_a && a != RECORD_NONE ? one.text : NULL,
                    has_b && b != RECORD_NONE ? other.text : NULL);
}

static bool tell_numbers(record_unlike *told, const char *key, bool has_a, double a, bool has_b, double b) {
  const number_text one = number_of_position(a), other = number_of_position(b);
  return tell_texts(told, key, has_a && !isnan(a) ? one.text : NULL, has_b && !isnan(b) ? other.text : NULL);
}

static bool tell_booleans(record_unlike *told, const char *key, bool has_a, bool a, bool has_b, bool b) {
  static const char *const words[] = {"no", "yes"};
  return tell_texts(told, key, has_a ? words[a] : NULL, has_b ? words[b] : NULL);
}

static bool tell_lists(record_unlike *told, const char *key) {
  if (told) *told = (record_unlike){.key = key, .are_lists = true};
  return false;
}

/* Compares two structs, and tells the first field that differs. */
typedef bool struct_comparer(const void *a, const void *b, record_unlike *told);

static bool are_same_arrays(const void *a, size_t count, const void *b, size_t other, size_t bytes,
                            struct_comparer *inner) {
  bool same = count == other;
  for (size_t i = 0; same && i < count; i++)
    same = inner((const char *)a + i * bytes, (const char *)b + i * bytes, NULL);
  return same;
}

#define A_HAS_MUST(key) true
#define B_HAS_MUST(key) true
#define A_HAS_MAY(key) a->has_##key
#define B_HAS_MAY(key) b->has_##key
#define SIDES(need, key) A_HAS_##need(key), a->key, B_HAS_##need(key), b->key
#define BOTH(key) a->key, a->key##_count, b->key, b->key##_count
#define BOTH_HAVE(need, key) A_HAS_##need(key) == B_HAS_##need(key)
/* Unused: of objects that no record has inside, only some are compared. */
#define BEGIN(type, ...)                                                                                               \
  __attribute__((unused)) static bool is_same_##type(const void *one, const void *other, record_unlike *told) {        \
    const record_##type *a = one, *b = other;                                                                          \
    return (a->there == b->there || tell_booleans(told, "there", true, a->there, true, b->there)) &&
#define END(type)                                                                                                      \
  true;                                                                                                                \
  }
#define STRING(need, key, ...)                                                                                         \
  ((BOTH_HAVE(need, key) && is_same_text(a->key, b->key)) || tell_texts(told, #key, a->key, b->key)) &&
#define STRING_OR_NULL(need, key, ...) STRING(need, key, "")
#define WORD(need, key, ...) STRING(need, key, "")
#define STRINGS(need, key, ...) (are_same_texts(BOTH(key)) || tell_lists(told, #key)) &&
#define INTEGER(need, key, ...)                                                                                        \
  ((BOTH_HAVE(need, key) && a->key == b->key) || tell_integers(told, #key, SIDES(need, key))) &&
#define INTEGER_OR_NULL(need, key, ...) INTEGER(need, key, "")
#define COUNT(need, key, ...) INTEGER(need, key, "")
#define COUNT_OR_NULL(need, key, ...) INTEGER(need, key, "")
#define COUNTS(need, key, ...) (are_same_integers(BOTH(key)) || tell_lists(told, #key)) &&
#define PAIR_OR_NULL(need, key, ...) COUNTS(need, key, "")
#define PLACES_OR_NULL(need, key, ...) (are_same_positions(BOTH(key)) || tell_lists(told, #key)) &&
#define NUMBERS(need, key, ...) (are_same_numbers(BOTH(key)) || tell_lists(told, #key)) &&
#define LATER(type) static bool is_same_##type(const void *one, const void *other, record_unlike *told);
#define AT(need, type, key, ...)                                                                                       \
  (a->key && b->key ? is_same_##type(a->key, b->key, told) : (a->key == b->key || tell_lists(told, #key))) &&
#define REAL(need, key, ...)                                                                                           \
  ((BOTH_HAVE(need, key) && record_same_number(a->key, b->key)) || tell_numbers(told, #key, SIDES(need, key))) &&
#define NUMBER(need, key, ...) REAL(need, key, "")
#define AMOUNT(need, key, ...) REAL(need, key, "")
#define POSITION(need, key, ...)                                                                                       \
  ((BOTH_HAVE(need, key) && is_same_position(a->key, b->key)) ||                                                       \
   tell_numbers(told, #key, A_HAS_##need(key), record_number_value(a->key), B_HAS_##need(key),                         \
                record_number_value(b->key))) &&
#define SIZE(need, key, ...) REAL(need, key, "")
#define BOOLEAN(need, key, ...)                                                                                        \
  ((BOTH_HAVE(need, key) && a->key == b->key) || tell_booleans(told, #key, SIDES(need, key))) &&
#define FACTS(need, key, ...) (record_same_facts(&a->key, &b->key) || tell_lists(told, #key)) &&
#define FACTS_OR_NULL(need, key, ...) FACTS(need, key, "")
#define OBJECT(need, type, key, ...) is_same_##type(&a->key, &b->key, told) &&
#define OBJECT_OR_NULL(need, type, key, ...) OBJECT(need, type, key, "")
#define ARRAY(need, type, key, ...)                                                                                    \
  (are_same_arrays(BOTH(key), sizeof *a->key, is_same_##type) || tell_lists(told, #key)) &&
#define ARRAY_OF_NULLABLE(need, type, key, ...) ARRAY(need, type, key, "")
#define MAP(need, type, key, ...)                                                                                      \
  are_same_texts(a->key##_names, a->key##_count, b->key##_names, b->key##_count) && ARRAY(need, type, key, "")
#define OPAQUE(need, key, ...) (are_same_values(a->key, b->key) || tell_lists(told, #key)) &&
#define LIST(need, key, ...) OPAQUE(need, key, "")
#define MORE
#define MORE_FACTS(key) (record_same_facts(&a->key, &b->key) || tell_lists(told, #key)) &&
#define TEXTS_OF(key, ...)
#include "records/fields.def"

/* Makes: record_same_bound, record_same_kernel, record_same_shape, record_same_table_shape,
   record_same_environments. */
#define SAME(type)                                                                                                     \
  bool record_same_##type(const record_##type *a, const record_##type *b) {                                            \
    return is_same_##type(a, b, NULL);                                                                                 \
  }
SAME(bound)
SAME(kernel)
SAME(shape)
SAME(table_shape)
SAME(environments)

bool record_unlike_runs(const record_run *a, const record_run *b, record_unlike *told) {
  return !is_same_run(a, b, told);
}

/* Returns the number of a rule. Records that lack it are of the first rule. */
static int64_t rule_of(int64_t told) {
  return told ? told : 1;
}

/* Whether two numbers differ, by which something was drawn. */
static bool differ(record_unlike *told, const char *key, int64_t a, int64_t b) {
  return a != b && !tell_integers(told, key, true, a, true, b);
}

bool record_unlike_draws(const record_draw *a, const record_draw *b, bool rows, bool x, record_unlike *told) {
  return (rows && differ(told, "row_rule", rule_of(a->row_rule), rule_of(b->row_rule))) ||
         (x && differ(told, "x_rule", rule_of(a->x_rule), rule_of(b->x_rule))) ||
         ((rows || x) && differ(told, "seed", a->seed, b->seed)) ||
         (rows && differ(told, "budget", a->budget, b->budget));
}

/* The draw is compared first: it is the cause where mode and number differ, too. */
bool record_unlike_elements(const record_elements *a, const record_elements *b, record_unlike *told) {
  const bool are_rows_drawn = strcmp(a->mode, "sampled") == 0 || strcmp(b->mode, "sampled") == 0,
             is_x_drawn = strcmp(a->op, "add") == 0 || strcmp(a->op, "rope") == 0;
  if (record_unlike_draws(&a->by, &b->by, are_rows_drawn, is_x_drawn, told)) return true;
  if (strcmp(a->mode, b->mode) != 0) return !tell_texts(told, "mode", a->mode, b->mode);
  return differ(told, "elements", a->count, b->count);
}

/* Returns what is told of a fact: other values than texts are JSON. */
static const char *shown(const record_fact *fact) {
  if (!fact || (!fact->is_text && strcmp(fact->value, "null") == 0)) return NULL;
  if (fact->is_text) return fact->value;
  if (strcmp(fact->value, "true") == 0) return "yes";
  if (strcmp(fact->value, "false") == 0) return "no";
  return strchr("[{", *fact->value) ? "a list" : fact->value;
}

record_unlike record_unlike_facts(const char *key, const record_fact *a, const record_fact *b) {
  record_unlike told;
  tell_texts(&told, key, shown(a), shown(b));
  told.are_lists = a && b && !a->is_text && !b->is_text && *a->value == '[' && *b->value == '[';
  return told;
}
