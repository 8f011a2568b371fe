/* SPDX-License-Identifier: MIT */
/* The record as JUnit XML: a suite for each kernel and shape, a case for each property. */
#include "records/print.h"

#include "common/field.h"

#include <string.h>

/* In an attribute or an element; control characters, which XML cannot hold, become spaces. */
static void print_escaped(const char *from, FILE *stream) {
  for (; *from; from++) {
    const char *special = strchr("&<>\"'", *from);
    if (special)
      fprintf(stream, "&#%d;", *special);
    else
      fputc((unsigned char)*from < ' ' ? ' ' : *from, stream);
  }
}

static void print_attribute(const char *name, const char *value, FILE *stream) {
  fprintf(stream, " %s=\"", name);
  print_escaped(value, stream);
  fputc('"', stream);
}

static void print_outcome(const json_t *record, const json_t *check, FILE *stream) {
  if (json_is_true(json_object_get(check, "skipped"))) {
    fputs("<skipped", stream);
    print_attribute("message", field_string(check, "note"), stream);
    fputs("/>", stream);
  } else if (!json_is_true(json_object_get(check, "ok"))) {
    fputs("<failure", stream);
    print_attribute("message", field_string(check, "note"), stream);
    fputs(">replay: ", stream);
    print_escaped(field_string(record, "replay"), stream);
    fputs("</failure>", stream);
  }
}

static void print_case(const json_t *record, const json_t *check, FILE *stream) {
  const char *property = field_string(check, "property");
  fputs("    <testcase", stream);
  print_attribute("classname", field_string(record, "kernel"), stream);
  print_attribute("name", property, stream);
  fputc('>', stream);
  print_outcome(record, check, stream);
  if (strcmp(property, "accuracy") == 0 && json_object_get(record, "explain")) {
    fputs("<system-out>\n", stream); /* of words and numbers, so nothing needs to be escaped */
    record_print_explained(record, "", stream);
    fputs("</system-out>", stream);
  }
  fputs("</testcase>\n", stream);
}

static void print_suite(const json_t *record, FILE *stream) {
  const json_t *checks = json_object_get(record, "checks");
  const char *refusal = field_string(record, "refusal");
  size_t i, failures = 0, skipped = *refusal ? 1 : 0;
  json_t *check;
  json_array_foreach(checks, i, check) {
    failures += !json_is_true(json_object_get(check, "ok"));
    skipped += json_is_true(json_object_get(check, "skipped"));
  }
  char name[200];
  snprintf(name, sizeof name, "%s on %s", field_string(record, "kernel"),
           field_string(json_object_get(record, "shape"), "name"));
  fputs("  <testsuite", stream);
  print_attribute("name", name, stream);
  fprintf(stream, " tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", json_array_size(checks) + (*refusal ? 1 : 0),
          failures, skipped);
  if (*refusal) {
    fputs("    <testcase name=\"refusal\"", stream);
    print_attribute("classname", field_string(record, "kernel"), stream);
    fputs("><skipped", stream);
    print_attribute("message", refusal, stream);
    fputs("/></testcase>\n", stream);
  }
  json_array_foreach(checks, i, check) print_case(record, check, stream);
  fputs("  </testsuite>\n", stream);
}

void record_print_junit(const json_t *record, FILE *stream) {
  const json_t *records = json_object_get(record, "records");
  size_t i;
  json_t *one;
  const json_int_t failed = json_integer_value(json_object_get(record, "failed")),
                   skipped = json_integer_value(json_object_get(record, "skipped"));
  const json_int_t all = json_integer_value(json_object_get(record, "passed")) + failed + skipped;
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"posenc\" tests=\"%" JSON_INTEGER_FORMAT
          "\" failures=\"%" JSON_INTEGER_FORMAT "\" skipped=\"%" JSON_INTEGER_FORMAT "\">\n",
          all, failed, skipped);
  json_array_foreach(records, i, one) print_suite(one, stream);
  fputs("</testsuites>\n", stream);
}
