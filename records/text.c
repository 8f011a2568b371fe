/* SPDX-License-Identifier: MIT */
/* Prints the record for people: failures, why checks were skipped, then a line for each kernel. */
#include "records/print.h"

#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* All results of a kernel, and the result with the largest error. */
typedef struct line {
  const char *kernel, *refusal;
  size_t tables, passed, failed, skipped;
  const record_result *worst;
  double abs;
} line;

static line *line_of(line *lines, size_t *used, const char *kernel) {
  for (size_t i = 0; i < *used; i++)
    if (strcmp(lines[i].kernel, kernel) == 0) return &lines[i];
  lines[*used] = (line){.kernel = kernel, .abs = -1};
  return &lines[(*used)++];
}

static void add_result(line *of, const record_result *result, FILE *stream) {
  const double abs = isnan(result->max_abs.abs) ? INFINITY : result->max_abs.abs;
  if (*result->refusal) {
    of->refusal = result->refusal;
    of->skipped++;
  }
  of->tables += !*result->refusal;
  RECORD_EACH(check, result, checks) {
    *(check->skipped ? &of->skipped : check->ok ? &of->passed : &of->failed) += 1;
    if (!check->ok && !check->skipped)
      fprintf(stream, "FAIL  %s, %s of %s: %s\n      again: %s\n", of->kernel, check->property, result->shape.name,
              check->note, result->replay);
  }
  record_print_explained(result, "      ", stream);
  if (result->max_abs.there && (!of->worst || abs > of->abs)) {
    of->worst = result;
    of->abs = abs;
  }
}

/* Notes of checks: why they were skipped, or what a baseline's check that passed has found. */
typedef struct remark {
  const char *property, *text, *kernel, *shape; /* the kernel and the shape of the first; no property of a refusal */
  bool skipped;
  size_t results;
} remark;

static void add_remark(remark *all, size_t *used, const remark *one) {
  for (size_t i = 0; i < *used; i++) {
    if (all[i].skipped != one->skipped || strcmp(all[i].property, one->property) != 0 ||
        strcmp(all[i].text, one->text) != 0)
      continue;
    all[i].results++;
    return;
  }
  all[(*used)++] = *one;
}

/* Prints each reason once, with the first kernel and shape, and how many results have it. */
static void print_remarks(const record_accuracy *record, FILE *stream) {
  size_t used = 0, most = record->records_count;
  RECORD_EACH(result, record, records) most += result->checks_count;
  remark *all = memory_take(most, sizeof *all);
  RECORD_EACH(result, record, records) {
    remark one = {"", result->refusal, result->kernel, result->shape.name, true, 1};
    if (*result->refusal) add_remark(all, &used, &one);
    RECORD_EACH(check, result, checks) {
      one.property = check->property;
      one.text = check->note;
      one.skipped = check->skipped;
      if (check->skipped || (check->ok && *check->note && strcmp(check->property, "baseline") == 0))
        add_remark(all, &used, &one);
    }
  }
  for (size_t i = 0; i < used; i++) {
    fprintf(stream, "%s  %s, %s%s%s", all[i].skipped ? "SKIP" : "NOTE", all[i].kernel, all[i].property,
            *all[i].property ? " of " : "", all[i].shape);
    if (all[i].results > 1) fprintf(stream, " and %zu more", all[i].results - 1);
    fprintf(stream, ": %s\n", all[i].text);
  }
  free(all);
}

static void print_line(const line *of, int width, FILE *stream) {
  fprintf(stream, "%-*s %7zu %7zu %7zu %7zu  ", width, of->kernel, of->tables, of->passed, of->failed, of->skipped);
  if (of->worst)
    fprintf(stream, "%.3g at p = %s of %s", of->abs,
            field_text(json_object_get(of->worst->max_abs.json, "position")).text, of->worst->shape.name);
  else if (of->refusal)
    fprintf(stream, "did not run: %s", of->refusal);
  fputc('\n', stream);
}

void record_print_proposals(const record_accuracy *record, const char *prefix, FILE *stream) {
  RECORD_EACH(one, record, proposals)
    if (*one->why)
      fprintf(stream, "%sno bound to propose for %s: %s\n", prefix, one->kernel, one->why);
    else
      fprintf(stream, "%sproposed for the contract of %s:\n%s    %s\n%s    .basis = \"%s\",\n", prefix, one->kernel,
              prefix, one->contract, prefix, one->basis);
}

void record_print_text(const json_t *json, FILE *stream) {
  const record_accuracy *record = record_take_accuracy(json);
  line *lines = memory_take(record->records_count, sizeof *lines);
  size_t used = 0;
  char why[200];
  RECORD_EACH(result, record, records) add_result(line_of(lines, &used, result->kernel), result, stream);
  print_remarks(record, stream);
  int width = 24;
  for (size_t i = 0; i < used; i++) width = width_with(width, lines[i].kernel);
  fprintf(stream, "%-*s %7s %7s %7s %7s  %s\n", width, "kernel", "tables", "passed", "failed", "skipped",
          "largest error");
  for (size_t i = 0; i < used; i++) print_line(&lines[i], width, stream);
  record_print_proposals(record, "", stream);
  if (record_mistrust(json, why, sizeof why)) fprintf(stream, "MISTRUSTED: %s\n", why);
  fprintf(stream, "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", record->passed, record->failed,
          record->skipped);
  free(lines);
  record_free(record);
}
