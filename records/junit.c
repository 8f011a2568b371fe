/* SPDX-License-Identifier: MIT */
/* Prints the record as JUnit XML: a suite for each kernel and shape, a case for each property. */
#include "records/print.h"

#include <inttypes.h>
#include <string.h>

/* Escapes text of an attribute or an element. Control characters, which XML does not allow, become spaces. */
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

static void print_outcome(const record_result *result, const record_check *check, FILE *stream) {
  if (check->skipped) {
    fputs("<skipped", stream);
    print_attribute("message", check->note, stream);
    fputs("/>", stream);
  } else if (!check->ok) {
    fputs("<failure", stream);
    print_attribute("message", check->note, stream);
    fputs(">replay: ", stream);
    print_escaped(result->replay, stream);
    fputs("</failure>", stream);
  }
}

static void print_case(const record_result *result, const record_check *check, FILE *stream) {
  fputs("    <testcase", stream);
  print_attribute("classname", result->kernel, stream);
  print_attribute("name", check->property, stream);
  fputc('>', stream);
  print_outcome(result, check, stream);
  if (strcmp(check->property, "accuracy") == 0 && result->has_explain) {
    fputs("<system-out>\n", stream); /* words and numbers alone, so nothing needs to be escaped */
    record_print_explained(result, "", stream);
    fputs("</system-out>", stream);
  }
  fputs("</testcase>\n", stream);
}

static void print_suite(const record_result *result, FILE *stream) {
  const size_t refusals = *result->refusal != '\0';
  size_t failures = 0, skipped = refusals;
  RECORD_EACH(check, result, checks) {
    failures += !check->ok;
    skipped += check->skipped;
  }
  char name[200];
  snprintf(name, sizeof name, "%s on %s", result->kernel, result->shape.name);
  fputs("  <testsuite", stream);
  print_attribute("name", name, stream);
  fprintf(stream, " tests=\"%zu\" failures=\"%zu\" skipped=\"%zu\">\n", result->checks_count + refusals, failures,
          skipped);
  if (refusals) {
    fputs("    <testcase name=\"refusal\"", stream);
    print_attribute("classname", result->kernel, stream);
    fputs("><skipped", stream);
    print_attribute("message", result->refusal, stream);
    fputs("/></testcase>\n", stream);
  }
  RECORD_EACH(check, result, checks) print_case(result, check, stream);
  fputs("  </testsuite>\n", stream);
}

/* A record that is mistrusted fails, though none of its checks may. */
static void print_mistrust(const char *why, FILE *stream) {
  fputs("  <testsuite name=\"trust\" tests=\"1\" failures=\"1\" skipped=\"0\">\n"
        "    <testcase classname=\"posenc\" name=\"trust\"><failure",
        stream);
  print_attribute("message", why, stream);
  fputs("/></testcase>\n  </testsuite>\n", stream);
}

static void print_proposal(const record_proposal *one, FILE *stream) {
  fprintf(stream,
          "  <testsuite name=\"propose-bound\" tests=\"1\" failures=\"%d\" skipped=\"0\">\n    <testcase "
          "name=\"proposal\"",
          *one->why != '\0');
  print_attribute("classname", one->kernel, stream);
  fputs(*one->why ? "><failure" : "><system-out>", stream);
  if (*one->why) {
    print_attribute("message", one->why, stream);
    fputs("/>", stream);
  } else {
    print_escaped(one->contract, stream);
    fputs("\n.basis = &#34;", stream);
    print_escaped(one->basis, stream);
    fputs("&#34;,</system-out>", stream);
  }
  fputs("</testcase>\n  </testsuite>\n", stream);
}

void record_print_junit(const json_t *json, FILE *stream) {
  const record_accuracy *record = record_take_accuracy(json);
  char text[200];
  const char *why = record_mistrust(json, text, sizeof text);
  size_t unproposed = 0;
  RECORD_EACH(one, record, proposals) unproposed += *one->why != '\0';
  fprintf(stream,
          "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"posenc\" tests=\"%" PRId64
          "\" failures=\"%" PRId64 "\" skipped=\"%" PRId64 "\">\n",
          record->passed + record->failed + record->skipped + (int64_t)record->proposals_count + (why != NULL),
          record->failed + (int64_t)unproposed + (why != NULL), record->skipped);
  RECORD_EACH(result, record, records) print_suite(result, stream);
  RECORD_EACH(one, record, proposals) print_proposal(one, stream);
  if (why) print_mistrust(why, stream);
  fputs("</testsuites>\n", stream);
  record_free(record);
}
