/* SPDX-License-Identifier: MIT */
/* Prints an accuracy record: as TAP, for people, as JUnit XML, and as annotations of GitHub Actions. */
#include "records/record.h"

#include "common/contract.h"
#include "common/memory.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- TAP ------------------------------------------------------------------------------------------------- */

/* Returns infinity for NaN, which stands for null in the record. */
static double infinite_if_null(double x) {
  return isnan(x) ? INFINITY : x;
}

/* Prints "p = 3, i = 1, cos: exact 0x1p-1, got 0x1p-1"; for rope "p = 3, head 2, i = 1, first of 0x1p-1 0x1p+0: exact
   …". */
static void print_place(const record_witness *witness, FILE *stream) {
  fprintf(stream, "p = %s, ", record_number_text(witness->position).text);
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

void record_print_tap(const record_accuracy *record, FILE *stream) {
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
  if (record_mistrust(record, why, sizeof why)) fprintf(stream, "# MISTRUSTED: %s\n", why);
  fprintf(stream, "# %" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped", record->passed, record->failed,
          record->skipped);
  if (record->seed != RECORD_NONE) fprintf(stream, "; seed %" PRId64, record->seed);
  fputc('\n', stream);
}

/* ---- text ------------------------------------------------------------------------------------------------ */

/* Prints the record for people: failures, why checks were skipped, then a line for each kernel. */

/* All results of a kernel, and the result with the largest error. */
typedef struct kernel_line {
  const char *kernel, *refusal;
  size_t tables;
  record_counts counts;
  const record_result *worst;
  double abs;
} kernel_line;

static kernel_line *line_of(kernel_line *lines, size_t *used, const char *kernel) {
  for (size_t i = 0; i < *used; i++)
    if (strcmp(lines[i].kernel, kernel) == 0) return &lines[i];
  lines[*used] = (kernel_line){.kernel = kernel, .abs = -1};
  return &lines[(*used)++];
}

static void add_result(kernel_line *of, const record_result *result, FILE *stream) {
  const double abs = isnan(result->max_abs.abs) ? INFINITY : result->max_abs.abs;
  if (*result->refusal) {
    of->refusal = result->refusal;
    of->counts.skipped++;
  }
  of->tables += !*result->refusal;
  record_count(&of->counts, result->checks, result->checks_count);
  RECORD_EACH(check, result, checks) {
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

static void print_line(const kernel_line *of, int width, FILE *stream) {
  fprintf(stream, "%-*s %7zu %7" PRId64 " %7" PRId64 " %7" PRId64 "  ", width, of->kernel, of->tables,
          of->counts.passed, of->counts.failed, of->counts.skipped);
  if (of->worst)
    fprintf(stream, "%.3g at p = %s of %s", of->abs, record_number_text(of->worst->max_abs.position).text,
            of->worst->shape.name);
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

void record_print_text(const record_accuracy *record, FILE *stream) {
  kernel_line *lines = memory_take(record->records_count, sizeof *lines);
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
  if (record_mistrust(record, why, sizeof why)) fprintf(stream, "MISTRUSTED: %s\n", why);
  fprintf(stream, "%" PRId64 " passed, %" PRId64 " failed, %" PRId64 " skipped\n", record->passed, record->failed,
          record->skipped);
  free(lines);
}

/* ---- JUnit ----------------------------------------------------------------------------------------------- */

/* Prints the record as JUnit XML: a suite for each kernel and shape, a case for each property. */

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

void record_print_junit(const record_accuracy *record, FILE *stream) {
  char text[200];
  const char *why = record_mistrust(record, text, sizeof text);
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
}

/* ---- GitHub ---------------------------------------------------------------------------------------------- */

/* Prints failures as annotations: the workflow commands of GitHub Actions, "::error file=F,line=L,title=T::MESSAGE". */

/* GitHub shows this many annotations of a step. */
enum { ANNOTATIONS_MOST = 10 };

/* Escapes "%" and line ends, and in a property also ':' and ','. */
static void print_percent(const char *text, bool is_property, FILE *stream) {
  for (; *text; text++)
    if (strchr(is_property ? "%\r\n:," : "%\r\n", *text))
      fprintf(stream, "%%%02X", (unsigned)(unsigned char)*text);
    else
      fputc(*text, stream);
}

/* Returns the digits after the last colon of FILE:LINE, or null. */
static const char *line_in(const char *place) {
  const char *colon = strrchr(place, ':');
  return colon && colon > place && colon[1] && colon[1 + strspn(colon + 1, "0123456789")] == '\0' ? colon + 1 : NULL;
}

static void begin(const char *place, const char *title, FILE *stream) {
  const char *line = line_in(place);
  char *file = allocated(strndup(place, line ? (size_t)(line - place) - 1 : strlen(place)));
  fputs("::error file=", stream);
  print_percent(file, true, stream);
  if (line) fprintf(stream, ",line=%s", line);
  fputs(",title=", stream);
  print_percent(title, true, stream);
  fputs("::", stream);
  free(file);
}

/* `file`: what files have beside the result, or null. */
static void print_failure(const record_result *of, const record_file *file, const record_check *check,
                          const char *place, FILE *stream) {
  char title[200];
  snprintf(title, sizeof title, "posenc: %s", of->kernel);
  begin(place, title, stream);
  fprintf(stream, "%s of ", check->property);
  print_percent(of->kernel, false, stream);
  fprintf(stream, ", %s: ", of->shape.name);
  print_percent(check->note, false, stream);
  if (strcmp(check->property, "accuracy") == 0)
    fprintf(stream, "; off by up to %.3g", infinite_if_null(of->max_abs.abs));
  if (file && *file->cause && strcmp(file->cause, check->note) != 0)
    fprintf(stream, "%%0Alikely cause: %s", file->cause);
  fputs("%0A", stream);
  print_percent(of->replay, false, stream);
  fputc('\n', stream);
}

void record_print_github(const record_accuracy *record, const record_file_check *files, const char *place,
                         FILE *stream) {
  int printed = 0;
  char why[200];
  RECORD_EACH(one, record, records) {
    const record_file *file = files ? &files->records[one - record->records] : NULL;
    const int before = printed;
    RECORD_EACH(check, one, checks)
      if (!check->ok && printed++ < ANNOTATIONS_MOST) print_failure(one, file, check, place, stream);
    if (file && printed == before && file->not_finite && printed++ < ANNOTATIONS_MOST) {
      begin(place, "posenc", stream);
      print_percent(one->kernel, false, stream);
      fprintf(stream, ": %" PRId64 " elements are NaN or infinite\n", file->not_finite);
    }
  }
  if (record_mistrust(record, why, sizeof why)) {
    begin(place, "posenc", stream);
    print_percent(why, false, stream);
    fputc('\n', stream);
  }
}

/* ---- stages and proposals -------------------------------------------------------------------------------- */

static void print_worst(const record_explained_error *worst, const char *prefix, FILE *stream) {
  const record_signed_parts *parts = &worst->parts;
  fprintf(stream,
          "%sthe largest error, %+.3g at p = %" PRId64 ", i = %" PRId64
          ", %s: frequency %+.3g, phase %+.3g, trig %+.3g, store %+.3g\n",
          prefix, worst->error, worst->position, worst->index, worst->function, parts->frequency, parts->phase,
          parts->trig, parts->store);
}

static void print_rows(const record_explanation *explained, const char *prefix, FILE *stream) {
  fprintf(stream, "%smean size of each part, up to 16 rows from\n%s%20s %10s %10s %10s %10s\n", prefix, prefix,
          "position", "frequency", "phase", "trig", "store");
  RECORD_EACH(one, explained, rows)
    fprintf(stream, "%s%20" PRId64 " %10.3g %10.3g %10.3g %10.3g\n", prefix, one->position, one->parts.frequency,
            one->parts.phase, one->parts.trig, one->parts.store);
}

void record_print_explained(const record_result *result, const char *prefix, FILE *stream) {
  const record_explanation *explained = &result->explain;
  if (result->has_explain && !result->explain.there)
    fprintf(stream, "%sno telling where its error comes from: %s\n", prefix,
            strcmp(result->shape.op, "table") == 0 ? STAGES_UNTOLD : "stages are of tables");
  if (explained->worst.there) print_worst(&explained->worst, prefix, stream);
  if (explained->rows_count > 0) print_rows(explained, prefix, stream);
}

/* Returns why the result of a kernel proves nothing; null if it does. */
static const char *emptiness_of(const record_result *result) {
  const record_check *accurate = record_find_check(result->checks, result->checks_count, "accuracy");
  if (result->elements == 0) return result->of ? "no element was compared" : "the table is empty, nothing was compared";
  return accurate && strcmp(accurate->note, CONTRACT_WITHOUT_BOUND) == 0 ? "its errors were " CONTRACT_WITHOUT_BOUND
                                                                         : NULL;
}

const char *record_mistrust(const record_accuracy *record, char *text, size_t size) {
  bool any = false;
  if (record->uncompared_count) {
    const char *more = record->uncompared_count > 1 ? " and others" : "";
    snprintf(text, size, "the baseline has %.60s%s, of which nothing was compared with it", record->uncompared[0],
             more);
    return text;
  }
  RECORD_EACH(result, record, records) {
    if (!*result->mode) continue; /* the kernel refused or died */
    any = true;
    const char *why = emptiness_of(result);
    if (!why) continue;
    snprintf(text, size, "%s on %s: %s", result->kernel, result->shape.name, why);
    return text;
  }
  if (any || record->failed > 0 || record->shard.there) return NULL; /* a shard may have no elements */
  snprintf(text, size, "no kernel did any of the tables");
  return text;
}
