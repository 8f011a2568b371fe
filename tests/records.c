/* SPDX-License-Identifier: MIT */
/* A record that is read and written again is the same, with its keys in the same order. Arguments: records of posenc;
   without any, records that are made here. */
#include "records/record.h"
#include "tests/tap.h"

#include "common/field.h"
#include "records/merge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KIND(type)                                                                                                     \
  static json_t *again_##type(json_t *json) {                                                                          \
    const record_##type *record = record_take_##type(json_incref(json));                                               \
    json_t *made = record_write_##type(record);                                                                        \
    record_free(record);                                                                                               \
    return made;                                                                                                       \
  }
KIND(accuracy)
KIND(timing)
KIND(report)
KIND(baseline)
KIND(machines)
KIND(published)
KIND(comparison)
KIND(choice)
KIND(history)
KIND(file_check)
KIND(identified)

static json_t *again(json_t *json) {
  static const struct {
    const char *schema;
    json_t *(*again)(json_t *json);
  } kinds[] = {{"posenc-accuracy-1", again_accuracy},   {"posenc-report-1", again_report},
               {"posenc-baseline-1", again_baseline},   {"posenc-machines-1", again_machines},
               {"posenc-published-2", again_published}, {"posenc-compare-1", again_comparison},
               {"posenc-choice-1", again_choice},       {"posenc-history-1", again_history},
               {"posenc-check-1", again_file_check},    {"posenc-identify-2", again_identified}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (strcmp(field_string(json, "schema"), kinds[i].schema) == 0) return kinds[i].again(json);
  return again_timing(json);
}

static void test_file(const char *name) {
  json_error_t error;
  json_t *json = json_load_file(name, 0, &error), *made = json ? again(json) : NULL;
  char *before = json ? json_dumps(json, JSON_INDENT(1)) : NULL,
       *after = made ? json_dumps(made, JSON_INDENT(1)) : NULL;
  const bool same = before && after && strcmp(before, after) == 0;
  ok(same, "%s is the same when it is written again", name);
  if (before && after && !same) {
    size_t at = 0, line = 0;
    for (; before[at] == after[at]; at++)
      if (before[at] == '\n') line = at + 1;
    printf("# %.*s\n# %.*s\n", (int)strcspn(before + line, "\n"), before + line, (int)strcspn(after + line, "\n"),
           after + line);
  }
  free(after);
  free(before);
  json_decref(made);
  json_decref(json);
}

/* Whether JSON, which is released, has that text. */
static bool is_text(json_t *json, const char *text) {
  char *made = json_dumps(json, JSON_COMPACT);
  const bool same = made && strcmp(made, text) == 0;
  if (!same) printf("# %s\n", made);
  free(made);
  json_decref(json);
  return same;
}

/* Tests numbers that JSON lacks, which are written as null, and fields that are not there. */
static void test_nothing(void) {
  const record_compared row = {.name = "a", .verdict = "same", .note = "", .old = INFINITY, .new = 0, .has_new = true};
  const char *const gone[] = {"b"};
  const int64_t samples[] = {0, 3};
  record_compared other = row;
  other.samples = samples, other.samples_count = 2;
  other.old = NAN, other.has_new = false;
  const record_compared rows[] = {row, other};
  const record_comparison made = {.schema = "posenc-compare-1",
                                  .kind = "speed",
                                  .rows = rows,
                                  .rows_count = 2,
                                  .gone = gone,
                                  .gone_count = 1,
                                  .smallest = 2};
  ok(is_text(record_write_comparison(&made),
             "{\"schema\":\"posenc-compare-1\",\"kind\":\"speed\",\"environment\":[],\"rows\":["
             "{\"name\":\"a\",\"verdict\":\"same\",\"note\":\"\",\"old\":null,\"new\":0.0},"
             "{\"name\":\"a\",\"verdict\":\"same\",\"note\":\"\",\"samples\":[0,3]}],"
             "\"gone\":[\"b\"],\"new\":[],\"worse\":0,\"better\":0,\"same\":0,\"undecided\":0,\"smallest\":2.0}"),
     "a field that may be there is written if it is something");
}

static void test_null(void) {
  const record_choice made = {.schema = "posenc-choice-1",
                              .shape = "a",
                              .mode = "hot",
                              .others = NAN,
                              .max_ulp = 0.5,
                              .max_abs = INFINITY,
                              .once = record_null,
                              .has_once = true};
  ok(is_text(record_write_choice(&made), "{\"schema\":\"posenc-choice-1\",\"shape\":\"a\",\"mode\":\"hot\","
                                         "\"environment\":{},\"others\":null,\"max_ulp\":0.5,\"max_abs\":null,"
                                         "\"candidates\":[],\"choice\":null,\"once\":null,\"next\":null}"),
     "what is null where it may be");
}

static void test_inner(void) {
  const record_result result = {
      .kernel = "k",
      .shape = {.name = "s", .rows = 2, .dim = 4, .padding = RECORD_NONE, .has_padding = true},
      .refusal = record_null,
      .has_refusal = true,
      .max_ulp = {.there = true, .position = {INT64_C(9007199254740993), 0.0}},
      .max_abs = {.there = true, .abs = 0.5, .position = record_number_of(-2.5), .head = 0, .has_head = true},
      .misrounded = 0,
      .has_misrounded = true,
      .has_explain = true};
  const record_accuracy made = {
      .schema = "posenc-accuracy-1", .seed = RECORD_NONE, .has_seed = true, .records = &result, .records_count = 1};
  ok(is_text(
         record_write_accuracy(&made),
         "{\"schema\":\"posenc-accuracy-1\",\"environment\":{},\"kernels\":[],\"seed\":null,\"records\":[{\"kernel\":"
         "\"k\",\"shape\":{\"name\":\"s\",\"rows\":2,\"dim\":4,\"padding\":null},\"refusal\":null,"
         "\"max_ulp\":{\"position\":9007199254740993},\"max_abs\":{\"abs\":0.5,"
         "\"position\":-2.5,\"head\":0},\"misrounded\":0,\"explain\":null}],\"passed\":0,\"failed\":0,\"skipped\":0}"),
     "inner objects are written where they are there");
  json_t *json = record_write_accuracy(&made), *same = again_accuracy(json);
  ok(json_equal(json, same), "and read again, a position beyond 2^53 to its last digit");
  json_decref(same);
  json_decref(json);
}

/* Members that are no fields stay in benchmarks and in the context, and go elsewhere. */
static void test_more(void) {
  json_t *json =
      json_loads("{\"context\":{\"date\":\"today\",\"others\":\"many\",\"kernel_failed.a\":\"b\"},\"more\":1,"
                 "\"benchmarks\":[{\"iterations\":3,\"name\":\"a\",\"rows\":2.0,\"dim\":\"wide\"}]}",
                 0, NULL);
  ok(is_text(again_timing(json), "{\"context\":{\"date\":\"today\",\"kernel_failed.a\":\"b\"},"
                                 "\"benchmarks\":[{\"iterations\":3,\"name\":\"a\",\"rows\":2.0}]}"),
     "other members of a timing record are written again, fields of a wrong type are not");
  json_decref(json);
}

/* A record takes over what it is read from. */
static void test_owner(void) {
  json_t *json = json_loads("{\"entries\":[],\"schema\":\"posenc-baseline-1\"}", 0, NULL);
  const record_baseline *record = record_take_baseline(json);
  ok(is_text(record_write_baseline(record), "{\"schema\":\"posenc-baseline-1\",\"entries\":[]}"),
     "a record has the texts of the JSON that it was read from");
  record_free(record);
}

/* Returns an accuracy record of one result, whose totals are none. */
static const record_accuracy *one_result(const char *kernel, const char *field) {
  char text[400];
  snprintf(
      text, sizeof text,
      "{\"schema\":\"posenc-accuracy-1\",\"seed\":7,\"records\":[{\"kernel\":\"%s\",\"shape\":{\"name\":\"8x8\"},%s}]}",
      kernel, field);
  return record_take_accuracy(json_loads(text, 0, NULL));
}

/* Two records are joined: the results of both in their order, their checks counted, and all else of the first. */
static void test_joined(void) {
  static const char held[] = "\"checks\":[{\"ok\":true,\"skipped\":false},{\"ok\":true,\"skipped\":true}]",
                    broken[] = "\"checks\":[{\"ok\":false,\"skipped\":false}]";
  const record_accuracy *record = one_result("a", held);
  merge_results(&record, one_result("b", broken));
  merge_results(&record, one_result("c", "\"refusal\":\"not here\""));
  ok(record->records_count == 3 && strcmp(record->records[0].kernel, "a") == 0 &&
         strcmp(record->records[1].kernel, "b") == 0 && strcmp(record->records[2].kernel, "c") == 0,
     "joined records have the results of both");
  ok(record->passed == 1 && record->failed == 1 && record->skipped == 2 && record->seed == 7,
     "their checks and refusals are counted: %d, %d, %d", (int)record->passed, (int)record->failed,
     (int)record->skipped);
  record_free(record);
}

int main(int count, char **names) {
  for (int i = 1; i < count; i++) test_file(names[i]);
  if (count > 1) return tap_done();
  char name[4096];
  const char *srcdir = getenv("srcdir");
  snprintf(name, sizeof name, "%s/tests/baseline.json", srcdir ? srcdir : ".");
  test_file(name);
  test_nothing();
  test_null();
  test_inner();
  test_more();
  test_owner();
  test_joined();
  return tap_done();
}
