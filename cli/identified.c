/* SPDX-License-Identifier: MIT */
#include "cli/identified.h"

#include "cli/catalogue.h"
#include "cli/expect.h"
#include "cli/identify-array.h"
#include "cli/model.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/threads.h"
#include "common/work.h"
#include "identify/grid.h"
#include "identify/identify.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Returns the recipes, those of plugins included, as a new array. */
static const posenc_kernel **recipes(size_t *count_of) {
  size_t all;
  const posenc_kernel *const *kernels = catalogue_kernels(&all);
  const posenc_kernel **some = calloc(all, sizeof(*some));
  if (!some) die("out of memory");
  *count_of = 0;
  for (size_t n = 0; n < all; n++)
    if (strncmp(kernels[n]->name, "recipe/", strlen("recipe/")) == 0) some[(*count_of)++] = kernels[n];
  return some;
}

/* Identifies a table of one axis; *is_whole: its formula explains all elements. */
static json_t *identify_one(const identify_request *request, bool *is_table, bool *is_whole) {
  identity *found = identify(request);
  json_t *record = found ? identity_json(found, request) : NULL;
  *is_table = found && identity_is_table(found);
  *is_whole = *is_table && !found->unexplained && !found->damage_count;
  identity_free(found);
  return record;
}

/* Returns {"record": that of identity_json(), identify_grid() or identify_lists(), "is_table": bool}; null if memory
   runs out. */
static json_t *identify_once(const identify_request *request) {
  bool failed, is_table = true, is_whole;
  threads_limit();
  json_t *record = identify_grid(request, &failed);
  if (record)
    is_whole = json_is_string(json_object_get(record, "check"));
  else if (!failed)
    record = identify_one(request, &is_table, &is_whole);
  if (!record) return NULL;
  json_t *lists = is_whole ? NULL : identify_lists(request, &failed);
  if (lists) {
    json_decref(record);
    record = lists;
    is_table = true;
  }
  return json_pack("{s:o, s:b}", "record", record, "is_table", (int)is_table);
}

/* The argument of identify_in_worker, which runs identify_once in a process of its own because it runs kernels of
   plugins. */
typedef struct job {
  identify_request request;
  bool *left_out;
} job;

static void identify_in_worker(void *argument) {
  job *of = argument;
  identify_request mine = of->request;
  const posenc_kernel **kernels = calloc(mine.kernel_count + 1, sizeof(*kernels));
  if (!kernels) return;
  mine.kernels = kernels;
  mine.kernel_count = 0;
  for (size_t n = 0; n < of->request.kernel_count; n++)
    if (!of->left_out[n]) kernels[mine.kernel_count++] = of->request.kernels[n];
  json_t *result = identify_once(&mine);
  char *text = result ? json_dumps(result, JSON_COMPACT) : NULL;
  if (text) isolate_result(text);
  free(text);
  json_decref(result);
  free(kernels);
}

static void print_lost(const posenc_kernel *kernel, const char *words, void *argument) {
  bool *lost = argument;
  *lost = true;
  note("%s is left out: %s", kernel->name, words);
}

/* Returns the result of identify_once; null on failure, with the reason in `why`. */
static json_t *identified_isolated(const identify_request *request, double silence, bool *lost, char *why,
                                   size_t size) {
  job of = {*request, calloc(request->kernel_count + 1, sizeof *of.left_out)};
  if (!of.left_out) die("out of memory");
  const isolation how = {request->kernels, request->kernel_count, silence, NULL, lost, NULL};
  const isolated end = isolate_team(identify_in_worker, &of, &how, of.left_out, print_lost);
  if (!end.result) describe_exit(&end, why, size);
  json_t *result = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  free(of.left_out);
  return result;
}

/* ---- findings ---------------------------------------------------------------------------------- */

/* Adds {"property", "ok", "note"} and the other members of a record's check to the findings. */
static void add_finding(json_t *record, const char *property, bool is_ok, const char *text) {
  json_t *findings = json_object_get(record, "findings");
  if (!findings) json_object_set_new(record, "findings", findings = json_array());
  json_array_append_new(findings,
                        json_pack("{s:s, s:b, s:b, s:i, s:i, s:i, s:s}", "property", property, "ok", (int)is_ok,
                                  "skipped", 0, "worst", (int)!is_ok, "bound", 0, "compared", 1, "note", text));
}

static void add_agreement(const options *given, json_t *record) {
  const json_t *agreement = json_object_get(record, "agreement");
  bool agrees = json_is_true(json_object_get(agreement, "agrees"));
  const char *cause = field_string(agreement, "cause"), *name = field_string(agreement, "name");
  char text[400] = "";
  if (agrees && !model_applies(given, json_object_get(record, "applied"), text, sizeof text))
    agrees = false;
  else if (agrees)
    snprintf(text, sizeof text, "%.200s%s%s", given->config, *name ? ", " : "", name);
  else if (!json_is_object(agreement))
    snprintf(text, sizeof text, "%s", field_string(record, "sentence"));
  else
    snprintf(text, sizeof text, "%s", *cause ? cause : "the cause is not known");
  add_finding(record, "config", agrees, text);
}

static void add_findings(const options *given, json_t *record, bool *is_right) {
  char text[400];
  size_t n;
  json_t *finding;
  if (given->model) add_agreement(given, record);
  if (given->expect) add_finding(record, "expect", expect_is_met(given->expect, record, text, sizeof text), text);
  json_array_foreach(json_object_get(record, "findings"), n, finding) {
    *is_right = *is_right && json_is_true(json_object_get(finding, "ok"));
  }
}

/* ---- files ------------------------------------------------------------------------------------- */

/* Returns the record of a table. applied: that of recover_applied, or null; error: the largest error of its values. */
static json_t *record_of(const options *given, table_file *table, const char *file, json_t *applied, double error,
                         bool *is_right) {
  static suspect_list expected, suspects;
  if (table_stored(table)->dim > IDENTIFY_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be looked at", file, table_stored(table)->dim,
        IDENTIFY_COLUMNS_MAX);
  identify_request request = {.table = table, .name = file, .error = error};
  if (given->model) {
    model_problems(given, table_stored(table), &expected, &suspects);
    request.expected = &expected;
    request.suspects = &suspects;
  }
  const posenc_kernel **kernels = recipes(&request.kernel_count);
  request.kernels = kernels;
  bool lost = false;
  char why[400] = "out of memory";
  json_t *result = catalogue_options() ? identified_isolated(&request, given->silence, &lost, why, sizeof why)
                                       : identify_once(&request);
  if (!result) die("%s", why);
  *is_right = json_is_true(json_object_get(result, "is_table")) && !lost;
  json_t *record = json_incref(json_object_get(result, "record"));
  json_decref(result);
  free(kernels);
  if (applied) record_applied(record, applied);
  add_findings(given, record, is_right);
  return record;
}

json_t *identified_table(const options *given, table_file *table, const char *file, bool *is_right) {
  return record_of(given, table, file, NULL, 0.0, is_right);
}

json_t *identified_array(const options *given, const char *file, bool *is_right) {
  json_t *applied = NULL, *record;
  recovered from = {0};
  fault why;
  if (recover_applied(given, file, &from, &applied, &why)) {
    record = record_of(given, from.table, file, applied, from.error, is_right);
    recovered_free(&from);
  } else {
    json_t *x = field_name(given->x, "");
    record = json_pack("{s:s, s:o, s:o}", "verdict", "none", "file", field_name(file, ""), "sentence",
                       json_sprintf("no %s of %s: %s", op_name(given->problem.op), json_string_value(x), why.text));
    json_decref(x);
    *is_right = false;
    if (given->model) add_finding(record, "config", false, field_string(record, "sentence"));
    if (given->expect) add_finding(record, "expect", false, field_string(record, "sentence"));
  }
  json_decref(applied);
  if (!record) die("out of memory");
  return record;
}
