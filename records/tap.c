/* SPDX-License-Identifier: MIT */
#include "records/print.h"

#include "common/field.h"

#include <math.h>
#include <string.h>

/* Infinite where the record has null. */
static double number(const json_t *object, const char *key) {
  return field_number_or(object, key, INFINITY);
}

static json_int_t count(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

/* "p = 3, i = 1, cos: exact 0x1p-1, got 0x1p-1"; of rope "p = 3, head 2, i = 1, first of 0x1p-1 0x1p+0: exact …" */
static void print_place(const json_t *witness, FILE *stream) {
  const json_t *x = json_object_get(witness, "x");
  fprintf(stream, "p = %s, ", field_text(json_object_get(witness, "position")).text);
  if (json_object_get(witness, "head")) fprintf(stream, "head %" JSON_INTEGER_FORMAT ", ", count(witness, "head"));
  fprintf(stream, "i = %" JSON_INTEGER_FORMAT ", %s", count(witness, "index"), field_string(witness, "function"));
  for (size_t i = 0; i < json_array_size(x); i++)
    fprintf(stream, "%s%s", i ? " " : " of ", json_string_value(json_array_get(x, i)));
  fprintf(stream, ": exact %s, got %s", field_string(witness, "exact"), field_string(witness, "got"));
}

static void print_accuracy(const json_t *record, const json_t *check, FILE *stream) {
  const json_t *ulp = json_object_get(record, "max_ulp"), *abs = json_object_get(record, "max_abs");
  const bool cases = strcmp(field_string(record, "mode"), "cases") == 0;
  const int digits = cases ? 12 : 6; /* cases are about the last ones of 1/2 */
  if (cases)
    fprintf(stream, ": %" JSON_INTEGER_FORMAT " cases, %" JSON_INTEGER_FORMAT " misrounded", count(record, "elements"),
            count(record, "misrounded"));
  else
    fprintf(stream, ": %s %" JSON_INTEGER_FORMAT, field_string(record, "mode"), count(record, "elements"));
  fprintf(stream, "; max %.*g ulp at ", digits, number(ulp, "ulp"));
  print_place(ulp, stream);
  fprintf(stream, "; max abs %.3g at ", number(abs, "abs"));
  print_place(abs, stream);
  fprintf(stream, "; %.3g of the bound at ", number(check, "worst"));
  print_place(json_object_get(record, "worst"), stream);
  if (!cases) fprintf(stream, "; misrounded %" JSON_INTEGER_FORMAT, count(record, "misrounded"));
}

static void print_check(const json_t *record, const json_t *check, int point, FILE *stream) {
  const bool ok = json_is_true(json_object_get(check, "ok")), skipped = json_is_true(json_object_get(check, "skipped"));
  fprintf(stream, "%sok %d - %s %s %s", ok ? "" : "not ", point, field_string(record, "kernel"),
          field_string(check, "property"), field_string(json_object_get(record, "shape"), "name"));
  if (skipped) {
    fprintf(stream, " # SKIP %s\n", field_string(check, "note"));
    return;
  }
  if (strcmp(field_string(check, "property"), "accuracy") == 0)
    print_accuracy(record, check, stream);
  else if (strcmp(field_string(check, "property"), "baseline") == 0)
    fprintf(stream, "%s%s", ok && *field_string(check, "note") ? ": " : "", ok ? field_string(check, "note") : "");
  else if (strcmp(field_string(check, "property"), "survival") != 0)
    fprintf(stream, ": worst %.6g, bound %.6g, %" JSON_INTEGER_FORMAT " compared", number(check, "worst"),
            number(check, "bound"), count(check, "compared"));
  if (!ok || strcmp(field_string(check, "property"), "search") == 0)
    fprintf(stream, "; %s", field_string(check, "note"));
  fputc('\n', stream);
  if (!ok) fprintf(stream, "# replay: %s\n", field_string(record, "replay"));
}

/* "# 6 of 7 kernels ran; cr-avx512 did not: this CPU lacks …" */
static void print_absent(const json_t *record, FILE *stream) {
  const json_t *kernels = json_object_get(record, "kernels");
  const char *separator = "; ";
  size_t i, ran = 0;
  json_t *kernel;
  if (json_array_size(kernels) == 0) return; /* a table in a file has none */
  json_array_foreach(kernels, i, kernel) ran += !*field_string(kernel, "refusal");
  fprintf(stream, "# %zu of %zu kernels ran", ran, json_array_size(kernels));
  json_array_foreach(kernels, i, kernel) {
    if (!*field_string(kernel, "refusal")) continue;
    fprintf(stream, "%s%s did not: %s", separator, field_string(kernel, "name"), field_string(kernel, "refusal"));
  }
  fputc('\n', stream);
}

void record_print_tap(const json_t *record, FILE *stream) {
  const json_t *records = json_object_get(record, "records");
  json_int_t points = count(record, "passed") + count(record, "failed") + count(record, "skipped");
  size_t i, j;
  json_t *one, *check;
  int point = 0;
  fprintf(stream, "TAP version 13\n1..%" JSON_INTEGER_FORMAT "\n", points);
  json_array_foreach(records, i, one) {
    if (*field_string(one, "refusal"))
      fprintf(stream, "ok %d - %s %s # SKIP %s\n", ++point, field_string(one, "kernel"),
              field_string(json_object_get(one, "shape"), "name"), field_string(one, "refusal"));
    json_array_foreach(json_object_get(one, "checks"), j, check) {
      print_check(one, check, ++point, stream);
      if (strcmp(field_string(check, "property"), "accuracy") == 0) record_print_explained(one, "# ", stream);
    }
  }
  char why[200];
  print_absent(record, stream);
  if (record_mistrust(record, why, sizeof why)) fprintf(stream, "# MISTRUSTED: %s\n", why);
  fprintf(stream,
          "# %" JSON_INTEGER_FORMAT " passed, %" JSON_INTEGER_FORMAT " failed, %" JSON_INTEGER_FORMAT " skipped",
          count(record, "passed"), count(record, "failed"), count(record, "skipped"));
  if (json_object_get(record, "seed")) fprintf(stream, "; seed %" JSON_INTEGER_FORMAT, count(record, "seed"));
  fputc('\n', stream);
}
