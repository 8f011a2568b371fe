/* SPDX-License-Identifier: MIT */
/* The record for people: what failed, then a line for each kernel. */
#include "records/print.h"

#include "common/field.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *table_of(const json_t *result) {
  return field_string(json_object_get(result, "shape"), "name");
}

/* All results of a kernel; of the one with the largest error, the result. */
typedef struct line {
  const char *kernel, *refusal;
  size_t tables, passed, failed, skipped;
  const json_t *worst;
  double abs;
} line;

static line *line_of(line *lines, size_t *used, const char *kernel) {
  for (size_t i = 0; i < *used; i++)
    if (strcmp(lines[i].kernel, kernel) == 0) return &lines[i];
  lines[*used] = (line){.kernel = kernel, .abs = -1};
  return &lines[(*used)++];
}

static void add_result(line *of, const json_t *result, FILE *stream) {
  const double abs = field_number_or(json_object_get(result, "max_abs"), "abs", INFINITY);
  size_t i;
  json_t *check;
  if (*field_string(result, "refusal")) {
    of->refusal = field_string(result, "refusal");
    of->skipped++;
    return;
  }
  of->tables++;
  json_array_foreach(json_object_get(result, "checks"), i, check) {
    const bool ok = json_is_true(json_object_get(check, "ok")),
               skipped = json_is_true(json_object_get(check, "skipped"));
    *(skipped ? &of->skipped : ok ? &of->passed : &of->failed) += 1;
    if (!ok && !skipped)
      fprintf(stream, "FAIL  %s, %s of %s: %s\n      again: %s\n", of->kernel, field_string(check, "property"),
              table_of(result), field_string(check, "note"), field_string(result, "replay"));
  }
  record_print_explained(result, "      ", stream);
  if (json_object_get(result, "max_abs") && (!of->worst || abs > of->abs)) {
    of->worst = result;
    of->abs = abs;
  }
}

static void print_line(const line *of, FILE *stream) {
  fprintf(stream, "%-24s %7zu %7zu %7zu %7zu  ", of->kernel, of->tables, of->passed, of->failed, of->skipped);
  if (of->worst) {
    const json_t *at = json_object_get(of->worst, "max_abs");
    fprintf(stream, "%.3g at p = %s of %s", of->abs, field_text(json_object_get(at, "position")).text,
            table_of(of->worst));
  } else if (of->refusal) {
    fprintf(stream, "did not run: %s", of->refusal);
  }
  fputc('\n', stream);
}

void record_print_text(const json_t *record, FILE *stream) {
  const json_t *results = json_object_get(record, "records");
  size_t used = 0, i;
  json_t *result;
  char why[200];
  line *lines = calloc(json_array_size(results) + 1, sizeof *lines);
  if (!lines) return;
  json_array_foreach(results, i, result)
      add_result(line_of(lines, &used, field_string(result, "kernel")), result, stream);
  fprintf(stream, "%-24s %7s %7s %7s %7s  %s\n", "kernel", "tables", "passed", "failed", "skipped", "largest error");
  for (i = 0; i < used; i++) print_line(&lines[i], stream);
  free(lines);
  if (record_mistrust(record, why, sizeof why)) fprintf(stream, "MISTRUSTED: %s\n", why);
  fprintf(stream,
          "%" JSON_INTEGER_FORMAT " passed, %" JSON_INTEGER_FORMAT " failed, %" JSON_INTEGER_FORMAT " skipped\n",
          field_integer(record, "passed"), field_integer(record, "failed"), field_integer(record, "skipped"));
}
