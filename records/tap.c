/* SPDX-License-Identifier: MIT */
#include "records/print.h"

#include "common/field.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Returns infinity for NaN, which stands for null in the record. */
static double infinite_if_null(double x) {
  return isnan(x) ? INFINITY : x;
}

/* Prints "p = 3, i = 1, cos: exact 0x1p-1, got 0x1p-1"; for rope "p = 3, head 2, i = 1, first of 0x1p-1 0x1p+0: exact
   …". */
static void print_place(const record_witness *witness, FILE *stream) {
  fprintf(stream, "p = %s, ", field_text(json_object_get(witness->json, "position")).text);
  if (witness->head != RECORD_NONE) fprintf(stream, "head %" PRId64 ", ", witness->head);
  fprintf(stream, "i = %" PRId64 ", %s", witness->index, witness->function);
  for (size_t i = 0; i < witness->x_count; i++) fprintf(stream, "%s%s", i ? " " : " of ", witness->x[i]);
  fprintf(stream, ": exact %s, got %s", witness->exact, witness->got);
}

static void print_accuracy(const record_result *result, const record_check *check, FILE *stream) {
  const bool cases = strcmp(result->mode, "cases") == 0;
  const int digits = cases ? 12 : 6; /* cases differ in the last digits of values near 1/2 */
  if (cases)
    fprintf(stream, ": %" PRId64 " cases, %" PRId64 " misrounded", result->elements, result->misrounded);
  else
    fprintf(stream, ": %s %" PRId64, result->mode, result->elements);
  fprintf(stream, "; max %.*g ulp at ", digits, infinite_if_null(result->max_ulp.ulp));
  print_place(&result->max_ulp, stream);
  fprintf(stream, "; max abs %.3g at ", infinite_if_null(result->max_abs.abs));
  print_place(&result->max_abs, stream);
  fprintf(stream, "; %.3g of the bound at ", infinite_if_null(check->worst));
  print_place(&result->worst, stream);
  if (!cases) fprintf(stream, "; misrounded %" PRId64, result->misrounded);
}

static void print_check(const record_result *result, const record_check *check, int point, FILE *stream) {
  const char *property = check->property;
  fprintf(stream, "%sok %d - %s %s %s", check->ok ? "" : "not ", point, result->kernel, property, result->shape.name);
  if (check->skipped) {
    fprintf(stream, " # SKIP %s\n", check->note);
    return;
  }
  if (strcmp(property, "accuracy") == 0)
    print_accuracy(result, check, stream);
  else if (strcmp(property, "baseline") == 0)
    fprintf(stream, "%s%s", check->ok && *check->note ? ": " : "", check->ok ? check->note : "");
  else if (strcmp(property, "survival") != 0)
    fprintf(stream, ": worst %.6g, bound %.6g, %" PRId64 " compared", infinite_if_null(check->worst),
            infinite_if_null(check->bound), check->compared);
  if (!check->ok || strcmp(property, "search") == 0) fprintf(stream, "; %s", check->note);
  fputc('\n', stream);
  if (!check->ok) fprintf(stream, "# replay: %s\n", result->replay);
}

/* Prints "# 6 of 7 kernels ran; cr-avx512 did not: this CPU lacks …". */
static void print_absent(const record_accuracy *record, FILE *stream) {
  const char *separator = "; ";
  size_t ran = 0;
  if (record->kernels_count == 0) return; /* a check of a file has no kernels */
  RECORD_EACH(kernel, record, kernels) ran += !*kernel->refusal;
  fprintf(stream, "# %zu of %zu kernels ran", ran, record->kernels_count);
  RECORD_EACH(kernel, record, kernels)
    if (*kernel->refusal) fprintf(stream, "%s%s did not: %s", separator, kernel->name, kernel->refusal);
  fputc('\n', stream);
}

void record_print_tap(const json_t *json, FILE *stream) {
  const record_accuracy *record = record_take_accuracy(json);
  char why[200];
  int point = 0;
  fprintf(stream, "TAP version 13\n1..%" PRId64 "\n", record->passed + record->failed + record->skipped);
  RECORD_EACH(result, record, records) {
    if (*result->refusal)
      fprintf(stream, "ok %d - %s %s # SKIP %s\n", ++point, result->kernel, result->shape.name, result->refusal);
    RECORD_EACH(check, result, checks) {
      print_check(result, check, ++point, stream);
      if (strcmp(check->property, "accuracy") == 0) record_print_explained(result, "# ", stream);
    }
  }
  print_absent(record, stream);
  record_print_proposals(record, "# ", stream);
  if (record_mistrust(json, why, sizeof why)) fprintf(stream, "# MISTRUSTED: %s\n", why);
  fprintf(stream, "# %" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped", record->passed, record->failed,
          record->skipped);
  if (record->seed != RECORD_NONE) fprintf(stream, "; seed %" PRId64, record->seed);
  fputc('\n', stream);
  record_free(record);
}
