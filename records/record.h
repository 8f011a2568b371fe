/* SPDX-License-Identifier: MIT */
/* Records: structs, the JSON that they are read from, checked, and made into, and how they differ. */
#ifndef POSENC_RECORDS_RECORD_H
#define POSENC_RECORDS_RECORD_H

#include "common/number.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The value of an integer that is null or missing in the record. */
#define RECORD_NONE INT64_MIN

/* The text of a field that is null, "". */
extern const char record_null[];

/* Whether a field that may be null, or missing, has a text. */
static inline bool record_is_text(const char *text) {
  return text && text != record_null;
}

/* The number whole + part. An integer is `whole` alone, as a double would round one of more than 53 bits; any other
   number has its fraction in `part`, and one of 2^63 or more, or NaN, is `part` alone. */
typedef struct record_number {
  int64_t whole;
  double part;
} record_number;

static inline record_number record_number_of(double x) {
  const int64_t whole = fabs(x) < 0x1p63 ? (int64_t)x : 0;
  return (record_number){whole, x - (double)whole};
}

static inline double record_number_value(record_number n) {
  return (double)n.whole + n.part;
}

/* Whether the numbers are equal, where NaN equals NaN. */
static inline bool record_same_number(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

/* Returns infinity for NaN, as which null in a record is read. */
static inline double record_or_infinity(double x) {
  return isnan(x) ? (double)INFINITY : x;
}

/* Formats all digits of an integer, and another number as a position. */
static inline number_text record_number_text(record_number n) {
  number_text made;
  if (n.part != 0.0) return number_of_position(record_number_value(n));
  snprintf(made.text, sizeof made.text, "%" PRId64, n.whole);
  return made;
}

/* A fact: a text, or another value as JSON in one line. */
typedef struct record_fact {
  const char *key, *value;
  bool is_text;
} record_fact;

/* Facts in the order of the record. there: the object is in the record. */
typedef struct record_facts {
  bool there;
  const record_fact *list;
  size_t list_count;
} record_facts;

/*
 * record_bound, record_kernel … record_report: see fields.def. Texts, facts and `json` belong to the JSON, which
 * record_read_… and record_take_… keep until record_free. Only records/ looks into that.
 *
 * there: an inner object is in the record. If it is not, its fields have the values of missing ones.
 * has_KEY: of a field that MAY be there, it is in the record. record_write_… writes such a field if this is true, or if
 * its value is not nothing: 0, NaN, false, "" or null.
 */
#define HAS_MUST(key)
#define HAS_MAY(key) bool has_##key;
#define BEGIN(type, ...)                                                                                               \
  typedef struct record_##type {                                                                                       \
    json_t *json; /* what was parsed; null if nothing was */                                                           \
    bool there;
#define END(type)                                                                                                      \
  }                                                                                                                    \
  record_##type;
#define STRING(need, key, ...)                                                                                         \
  const char *key;                                                                                                     \
  HAS_##need(key)
#define STRING_OR_NULL(need, key, ...) STRING(need, key, "")
#define WORD(need, key, ...) STRING(need, key, "")
#define STRINGS(need, key, ...)                                                                                        \
  const char *const *key;                                                                                              \
  size_t key##_count;
#define INTEGER(need, key, ...)                                                                                        \
  int64_t key;                                                                                                         \
  HAS_##need(key)
#define INTEGER_OR_NULL(need, key, ...) INTEGER(need, key, "")
#define COUNT(need, key, ...) INTEGER(need, key, "")
#define COUNT_OR_NULL(need, key, ...) INTEGER(need, key, "")
#define COUNTS(need, key, ...)                                                                                         \
  const int64_t *key;                                                                                                  \
  size_t key##_count;
#define PAIR_OR_NULL(need, key, ...) COUNTS(need, key, "")
#define PLACES_OR_NULL(need, key, ...)                                                                                 \
  const record_number *key;                                                                                            \
  size_t key##_count;
#define NUMBERS(need, key, ...)                                                                                        \
  const double *key;                                                                                                   \
  size_t key##_count;
#define LATER(type) struct record_##type;
#define AT(need, type, key, ...) const struct record_##type *key;
#define REAL(need, key, ...)                                                                                           \
  double key;                                                                                                          \
  HAS_##need(key)
#define NUMBER(need, key, ...) REAL(need, key, "")
#define AMOUNT(need, key, ...) REAL(need, key, "")
#define POSITION(need, key, ...)                                                                                       \
  record_number key;                                                                                                   \
  HAS_##need(key)
#define SIZE(need, key, ...) REAL(need, key, "")
#define BOOLEAN(need, key, ...)                                                                                        \
  bool key;                                                                                                            \
  HAS_##need(key)
#define FACTS(need, key, ...) record_facts key;
#define FACTS_OR_NULL(need, key, ...)                                                                                  \
  record_facts key;                                                                                                    \
  HAS_##need(key)
#define OBJECT(need, type, key, ...) record_##type key;
#define OBJECT_OR_NULL(need, type, key, ...)                                                                           \
  record_##type key;                                                                                                   \
  HAS_##need(key)
#define ARRAY(need, type, key, ...)                                                                                    \
  const record_##type *key;                                                                                            \
  size_t key##_count;
#define ARRAY_OF_NULLABLE(need, type, key, ...) ARRAY(need, type, key, "")
#define MAP(need, type, key, ...)                                                                                      \
  const record_##type *key;                                                                                            \
  const char *const *key##_names;                                                                                      \
  size_t key##_count;
#define OPAQUE(need, key, ...) json_t *key;
#define LIST(need, key, ...) json_t *key;
#define MORE
#define MORE_FACTS(key) record_facts key;
#define TEXTS_OF(key, ...)
#include "records/fields.def"
#undef HAS_MUST
#undef HAS_MAY

/* The memory of a record that is made, not read: texts, lists and JSON, all released at once. Zero has none. */
typedef struct record_memory {
  struct record_block *first;
} record_memory;

/* Returns memory that is all zeros. */
void *record_allocate(record_memory *in, size_t count, size_t size);
__attribute__((format(printf, 2, 3))) const char *record_format(record_memory *in, const char *format, ...);
const char *record_utf8(record_memory *in, const char *text);                   /* as field_utf8 has it */
const char *record_name(record_memory *in, const char *name, const char *also); /* as field_name has it */
bool record_is_utf8(const char *text);
json_t *record_hold(record_memory *in, json_t *json); /* takes a reference over, and returns it */
void record_release(record_memory *all);

/* A list without elements, where null is no list: it is written as [], not as null. */
extern const void *const record_empty_list;

/* Loops over the elements of the array `list` of a struct, with `item` as pointer. An empty array may be null. */
#define RECORD_EACH(item, holder, list)                                                                                \
  for (__typeof__(&*(holder)->list) item = (holder)->list;                                                             \
       (holder)->list##_count > 0 && item < (holder)->list + (holder)->list##_count; item++)

/* Size of a buffer for mode, shape or kernel of a benchmark's name, in bytes with the terminating zero. Longer parts
   are refused. */
enum { REPETITION_NAME = 80 };

/* The defect of a record, with its path: "records[3].bound.ulp is missing", without a line end. */
typedef struct record_fault {
  char text[256];
} record_fault;

/* Returns the JSON in a stream, a new reference, whose texts are plain (common/terminal.h); null, and the reason, if
   there is none. flags: as for json_loadf. */
json_t *record_load(FILE *from, size_t flags, json_error_t *why);

/* Returns the schema of a record, of timings that of their context; "" if it has none. */
const char *record_schema_of(const json_t *json);
/* Whether it is that of a kind of record, in any version: "posenc-accuracy-". */
bool record_is_of(const json_t *json, const char *prefix);

/*
 * Returns a record of that schema in which all required fields are present and of the right kind, to be released with
 * record_free; else null, and a fault. Takes the JSON over in both cases. Unknown fields are accepted: a later version
 * may add them. An accuracy record must also agree with itself: its totals are those of its checks, and its results are
 * of kernels that it lists.
 */
const record_accuracy *record_read_accuracy(json_t *json, record_fault *fault);
const record_timing *record_read_timing(json_t *json, record_fault *fault);
const record_report *record_read_report(json_t *json, record_fault *fault);
const record_published *record_read_published(json_t *json, record_fault *fault);
const record_baseline *record_read_baseline(json_t *json, record_fault *fault);
const record_package_errors *record_read_package_errors(json_t *json, record_fault *fault);

/* Returns a record from JSON of any version, and from timings by any program, to be released with record_free. Takes
   the JSON over. Fields of another kind count as missing. */
const record_accuracy *record_take_accuracy(json_t *json);
const record_timing *record_take_timing(json_t *json);
const record_report *record_take_report(json_t *json);
const record_baseline *record_take_baseline(json_t *json);
const record_machines *record_take_machines(json_t *json);
const record_published *record_take_published(json_t *json);
const record_comparison *record_take_comparison(json_t *json);
const record_choice *record_take_choice(json_t *json);
const record_history *record_take_history(json_t *json);
const record_run *record_take_run(json_t *json);
const record_result *record_take_result(json_t *json);
const record_profile *record_take_profile(json_t *json);
const record_unique *record_take_unique(json_t *json);
const record_encodings *record_take_encodings(json_t *json);
const record_file_check *record_take_file_check(json_t *json);
const record_identified *record_take_identified(json_t *json);
const record_package_times *record_take_package_times(json_t *json);
const record_fitness *record_take_fitness(json_t *json);

/* Returns the record as JSON, a new reference, with the fields in the order of fields.def. What infinity and NaN are
   there, null, is NaN when it is read again. */
json_t *record_write_accuracy(const record_accuracy *from);
json_t *record_write_timing(const record_timing *from);
json_t *record_write_report(const record_report *from);
json_t *record_write_baseline(const record_baseline *from);
json_t *record_write_machines(const record_machines *from);
json_t *record_write_published(const record_published *from);
json_t *record_write_comparison(const record_comparison *from);
json_t *record_write_choice(const record_choice *from);
json_t *record_write_history(const record_history *from);
json_t *record_write_shape(const record_shape *from);
json_t *record_write_check(const record_check *from);
json_t *record_write_run(const record_run *from);
json_t *record_write_result(const record_result *from);
json_t *record_write_profile(const record_profile *from);
json_t *record_write_unique(const record_unique *from);
json_t *record_write_encodings(const record_encodings *from);
json_t *record_write_file_check(const record_file_check *from);
json_t *record_write_identified(const record_identified *from);
json_t *record_write_scaling(const record_scaling *from);
json_t *record_write_fitness(const record_fitness *from);

/* Return a struct with the values of what is not there: of its fields and of those of inner objects. */
record_accuracy record_empty_accuracy(void);
record_report record_empty_report(void);
record_table record_empty_table(void);
record_row record_empty_row(void);
record_result record_empty_result(void);
record_benchmark record_empty_benchmark(void);
record_row_timing record_empty_row_timing(void);
record_spread record_empty_spread(void);
record_ratio record_empty_ratio(void);

/* Returns the share of the processors that other processes used while times were taken; NaN if it is not known. */
static inline double record_others(const record_report *report) {
  return report->stability.there ? report->stability.others : NAN;
}

/* Return what both have, as a row of a table and the shape of a table. */
record_row record_row_of(const record_result *result);
record_result record_result_of(const record_row *row, const record_table_shape *shape);
record_table_shape record_table_shape_of(const record_shape *shape);

/* A field in which two structs, or two lists of facts, differ. */
typedef struct record_unlike {
  const char *key;
  char a[96], b[96]; /* the values; empty if both are lists */
  bool are_lists;
} record_unlike;

/* Whether two runs differ, and in what: the first difference, in an inner object rather than of it. */
bool record_unlike_runs(const record_run *a, const record_run *b, record_unlike *told);

/* Returns how two facts differ. Either may be null. */
record_unlike record_unlike_facts(const char *key, const record_fact *a, const record_fact *b);

/* ---- which elements a result is of: every comparison of errors or bits asks this, of structs that these macros make.
   `record` is an accuracy record, a baseline or a report: what has DRAW_FIELDS of fields.def. ---- */

/* By what a record's rows of samples, and x of add and rope, were drawn. */
typedef struct record_draw {
  int64_t seed, budget, row_rule, x_rule;
} record_draw;
#define RECORD_DRAW_OF(record) ((record_draw){(record)->seed, (record)->budget, (record)->row_rule, (record)->x_rule})

/* The compared elements of a result: `found` is a result, an entry of a baseline, or a row of a report. */
typedef struct record_elements {
  const char *mode, *op;
  int64_t count;
  record_draw by;
} record_elements;
#define RECORD_ELEMENTS_OF(found, shape, record)                                                                       \
  ((record_elements){(found)->mode, (shape)->op, (found)->elements, RECORD_DRAW_OF(record)})

/* Sets what a record that is made of another one was drawn by. */
#define RECORD_COPY_DRAW(made, record)                                                                                 \
  do {                                                                                                                 \
    (made)->seed = (record)->seed, (made)->has_seed = (record)->has_seed;                                              \
    (made)->budget = (record)->budget, (made)->has_budget = (record)->has_budget;                                      \
    (made)->row_rule = (record)->row_rule, (made)->has_row_rule = (record)->has_row_rule;                              \
    (made)->x_rule = (record)->x_rule, (made)->has_x_rule = (record)->has_x_rule;                                      \
  } while (0)

/* Whether results of one kernel and shape are of other elements, and what decides that. A rule, the seed and the budget
   decide it only where something was drawn. */
bool record_unlike_elements(const record_elements *a, const record_elements *b, record_unlike *told);

/* Whether rows or x, where either is asked for, were drawn otherwise, and by what. */
bool record_unlike_draws(const record_draw *a, const record_draw *b, bool rows, bool x, record_unlike *told);

/* Whether all fields are the same, and the same ones are there. */
bool record_same_kernel(const record_kernel *a, const record_kernel *b);
bool record_same_bound(const record_bound *a, const record_bound *b);
bool record_same_shape(const record_shape *a, const record_shape *b);
bool record_same_table_shape(const record_table_shape *a, const record_table_shape *b);
bool record_same_environments(const record_environments *a, const record_environments *b);

/* Return what record_write_… makes of a record, read again: a record of its own, for record_free. */
const record_accuracy *record_keep_accuracy(const record_accuracy *made);
const record_timing *record_keep_timing(const record_timing *made);
const record_result *record_keep_result(const record_result *made);
const record_file_check *record_keep_file_check(const record_file_check *made);
const record_run *record_keep_run(const record_run *made);

/* Return the accuracy record of what was found of encodings, and of files: one that was read or kept, whose texts and
   lists it has. The list of results is in `in`. */
record_accuracy record_of_encodings(const record_encodings *from, record_memory *in);
record_accuracy record_of_file_check(const record_file_check *from, record_memory *in);

/* Replaces a record by what record_keep_… makes of a changed copy, which may have texts and lists of it. */
void record_change_accuracy(const record_accuracy **record, const record_accuracy *changed);
void record_change_timing(const record_timing **record, const record_timing *changed);

/* Print the contracts as a list. */
void record_print_kernels(const record_kernel *list, size_t count, FILE *stream);
void record_print_encodings(const record_encoding *list, size_t count, FILE *stream);

/* Prints facts as an object, as commands write JSON. */
void record_print_facts(const record_facts *facts, FILE *stream);

/* Prints JSON as commands write it, and releases it. Errors are left in the stream's error indicator. */
void record_print(json_t *record, FILE *stream);

/* The same with flags of json_dumpf. */
void record_print_as(json_t *record, size_t flags, FILE *stream);

/* The same, with a line for each element of its lists, so that a diff of two shows which ones have changed. */
void record_print_lines(json_t *record, FILE *stream);

/* Returns JSON in one line, to be freed, and releases it. */
char *record_text(json_t *record);

/* Return the record of such a line, for record_free; null if it is null or none, as when a process has ended while it
   wrote it. */
const record_result *record_of_text_result(const char *text);
const record_profile *record_of_text_profile(const char *text);
const record_unique *record_of_text_unique(const char *text);
const record_encodings *record_of_text_encodings(const char *text);
const record_identified *record_of_text_identified(const char *text);

/* Returns the JSON that record_read_…, record_take_… or record_keep_… has made the record of, a new reference. */
json_t *record_as_read(const void *record);

/* Releases a record of record_read_…, record_take_… or record_keep_…, or null. */
void record_free(const void *record);

/* Returns the kernel, the result or the check of that name, or null if there is none. */
const record_kernel *record_find_kernel(const record_kernel *kernels, size_t count, const char *name);
const record_result *record_find_result(const record_accuracy *record, const char *kernel, const char *shape);
const record_check *record_find_check(const record_check *checks, size_t count, const char *property);

/* Adds checks to the numbers of those that passed, failed and were skipped. */
typedef struct record_counts {
  int64_t passed, failed, skipped;
} record_counts;
void record_count(record_counts *to, const record_check *checks, size_t size);

/* Sets passed, failed and skipped to what results and profiles have, which were read: a refusal counts as skipped, a
   kernel that did not survive its profile as failed. */
void record_total(record_accuracy *record);

/* Returns real_time in ns, NaN if it is missing or in a unit that Google Benchmark does not write. */
double record_nanoseconds(const record_benchmark *entry);

/* Returns the seconds since 1970 of "2026-11-28", "2026-11-28T22:44:38Z" or "2026-11-28T22:44:38+00:00"; RECORD_NONE
   for other texts. */
int64_t record_seconds(const char *date);

/* Returns the members of an object as facts, whose texts are those of the JSON; and as facts with texts of their own,
   where it releases the object. */
record_facts record_facts_of(const json_t *from, record_memory *in);
record_facts record_keep_facts(json_t *from, record_memory *in);

/* Return the fact of that name, null if there is none; and its text, "" if it is none. */
const record_fact *record_find_fact(const record_facts *facts, const char *key);
const char *record_fact_text(const record_facts *facts, const char *key);

/* Sets a fact, in its place or behind the others. Its texts are copied; the list is a new one, in `in`. */
void record_set_fact(record_facts *facts, const record_fact *one, record_memory *in);
void record_set_text(record_facts *facts, const char *key, const char *text, record_memory *in);

/* Whether two facts, or two lists of facts in any order, have the same values. Either fact may be null. */
bool record_same_fact(const record_fact *a, const record_fact *b);
bool record_same_facts(const record_facts *a, const record_facts *b);

/* Whether the facts of a record identify the sources: a commit, unmodified. */
bool record_names_sources(const record_facts *facts);

/* ---- accuracy records, printed for people and for programs (print.c) ------------------------------------------ */

/* The record is one that record_read_…, record_take_…, record_keep_… or record_of_… returns. */

/* Prints the record as TAP on `stream`: one point per kernel × property × shape, then which kernels did not run, and
   why. */
void record_print_tap(const record_accuracy *record, FILE *stream);

/* Prints the record as JUnit XML: one suite per kernel × shape, one case per property. */
void record_print_junit(const record_accuracy *record, FILE *stream);

/* Prints the failures as annotations of GitHub Actions, one line each, at most 10. `place` is "FILE" or "FILE:LINE" of
   a source. files: of a record of record_of_file_check, what that was made of; else null. */
void record_print_github(const record_accuracy *record, const record_file_check *files, const char *place,
                         FILE *stream);

/* Prints the record for people: each failed check with the command that repeats it, then a line for each kernel with
   its tables, its checks, and its largest absolute error. */
void record_print_text(const record_accuracy *record, FILE *stream);

/* Returns null, or why a record without failures proves nothing: no kernel computed a table, no element of a kernel was
   compared, as for an empty table, or nothing of a kernel was compared with its baseline. Writes into `text`, of `size`
   bytes. */
const char *record_mistrust(const record_accuracy *record, char *text, size_t size);

/* Prints the proposed bounds, as lines of a contract that begin with `prefix`, or why there is none. */
void record_print_proposals(const record_accuracy *record, const char *prefix, FILE *stream);

/* Prints the part of each step in the errors of one result, as lines that begin with `prefix`. Prints nothing for
   results without stages. */
void record_print_explained(const record_result *result, const char *prefix, FILE *stream);

#endif
