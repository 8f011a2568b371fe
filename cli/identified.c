/* SPDX-License-Identifier: MIT */
#include "cli/identified.h"

#include "cli/catalogue.h"
#include "cli/model.h"
#include "cli/options.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/work.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/identity.h"
#include "inspect/models/model.h"
#include "verify/files.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --expect: values that a table must have ----------------------------------------------------- */

/* The fields of the record that have the values of the keys. Of several fields with one key, the first is used that the
   record has. */
static const struct {
  const char *key, *object, *field; /* object: null for the record itself */
  const char *error;                /* the field with the error of the number, or null */
} keys[] = {
    {"base", NULL, "base", "base_error"},
    {"dim", NULL, "dim", NULL},
    {"dim", NULL, "columns", NULL}, /* the field of a grid */
    {"shift", NULL, "shift", NULL},
    {"scale", NULL, "scale", "scale_error"},
    {"offset", NULL, "offset", NULL},
    {"layout", "applied", "pairs", NULL},
    {"layout", NULL, "layout", NULL},
    {"part", NULL, "part", NULL},
    {"dtype", NULL, "stored", NULL},
    {"attention", "scaling", "attention_factor", NULL},
    {"attention", NULL, "amplitude", "amplitude_error"},
    {"padding", NULL, "padding", NULL},
    {"scaling", "scaling", "kind", NULL},
    {"factor", "scaling", "factor", NULL},
    {"original", "scaling", "original", NULL},
    {"low", "scaling", "low", NULL},
    {"high", "scaling", "high", NULL},
    {"op", "applied", "op", NULL},
    {"start", "applied", "start", NULL},
    {"columns", "applied", "columns", NULL},
    {"inverse", "applied", "back", NULL},
};
enum { KEYS = sizeof keys / sizeof *keys };

/* Relative errors of numbers whose record has no error: of expected numbers, and of found numbers that are printed. */
static const double usual_error = 1e-6, shown_error = 1e-9;

void expect_require(const char *option, const char *text) {
  char *words = memory_copy_text(text), *rest = words;
  for (char *word; (word = strsep(&rest, ","));) {
    char *value = strchr(word, '=');
    const char *nearest = NULL;
    bool found = false;
    if (!value || !value[1]) die("%s %s: '%s' is no key=value", option, text, word);
    *value = '\0';
    for (int n = 0; n < KEYS; n++) {
      found = found || strcmp(keys[n].key, word) == 0;
      nearest = nearer_name(word, nearest, keys[n].key);
    }
    if (!found) die_unknown(option, word, "no such key", nearest, "base, dim, layout, scaling, offset are some");
  }
  free(words);
}

/* Returns the value of the key and sets its error; returns null if the record has none. */
static const json_t *find(const json_t *record, const char *key, double *error) {
  for (int n = 0; n < KEYS; n++) {
    const json_t *object = keys[n].object ? json_object_get(record, keys[n].object) : record;
    const json_t *value = json_object_get(object, keys[n].field);
    if (strcmp(keys[n].key, key) != 0 || !value || json_is_null(value)) continue;
    *error = keys[n].error ? field_number_or(object, keys[n].error, 0.0) : 0.0;
    return value;
  }
  return NULL;
}

/* Returns the value of the key; if a grid has none for all axes, the value of this axis's table. */
static const json_t *find_at(const json_t *record, size_t axis, const char *key, double *error) {
  const json_t *value = find(record, key, error), *axes = json_object_get(record, "axes");
  return value ? value : find(json_object_get(json_array_get(axes, axis), "table"), key, error);
}

/* Returns the value as --expect writes it, "none" if there is no value. */
static number_text found_text(const json_t *value, double error) {
  number_text text;
  if (json_is_number(value)) {
    const double number = json_number_value(value);
    return number_within(number, fabs(number) > 0.0 ? fmax(error / fabs(number), shown_error) : 0.0);
  }
  snprintf(text.text, sizeof text.text, "%.31s",
           json_is_boolean(value) ? (json_is_true(value) ? "yes" : "no")
           : value                ? json_string_value(value)
                                  : "none");
  return text;
}

static bool is_met(const json_t *value, double error, const char *expected) {
  char *end;
  const double number = strtod(expected, &end), found = json_number_value(value);
  if (!json_is_number(value)) return strcmp(found_text(value, error).text, expected) == 0;
  return *end == '\0' && fabs(found - number) <= fmax(error, usual_error * fabs(number));
}

/* Whether the record of posenc identify has these values; numbers are compared within their errors. Writes the
   differences to `why`. */
static bool expect_is_met(const char *text, const json_t *record, char *why, size_t size) {
  const size_t axes = json_array_size(json_object_get(record, "axes"));
  char *words = memory_copy_text(text), *rest = words;
  size_t used = 0;
  bool met = true;
  snprintf(why, size, "%s", text);
  for (char *word; (word = strsep(&rest, ","));) {
    double error = 0.0;
    char *expected = strchr(word, '=');
    *expected++ = '\0';
    const json_t *value = find_at(record, 0, word, &error);
    for (size_t axis = 1; axis < axes && is_met(value, error, expected); axis++)
      value = find_at(record, axis, word, &error);
    if (is_met(value, error, expected)) continue;
    if (used < size)
      used += (size_t)snprintf(why + used, size - used, "%s%s is %s, not %s", met ? "" : ", ", word,
                               found_text(value, error).text, expected);
    met = false;
  }
  free(words);
  return met;
}

/* ---- results of add and rope --------------------------------------------------------------------- */

/* Returns the table that --op has applied to --x, and the other findings in `applied`, a new reference. Returns null
   and the reason if no table explains the result. */
static table_file *recover_applied(const options *given, const char *file, recovered *found, json_t **applied,
                                   fault *why) {
  const bool is_rope = given->problem.op == POSENC_ROPE;
  const char *const op = op_name(given->problem.op);
  const applied_arrays from = open_arrays(given, file);
  const bool is_known = recover(&from, given->problem.op, found, why);
  if (found->bad_row >= 0) die_value("--x", given->x, why->text);
  if (is_known)
    *applied = json_pack("{s:s, s:o, s:s, s:I, s:s?, s:s*, s:I, s:I, s:b}", "op", op, "x", field_name(given->x, ""),
                         "axes", from.axes, "columns", (json_int_t)table_stored(from.x)->dim, "pairs",
                         is_rope ? layout_name(found->pairs) : NULL, "written",
                         found->written != found->pairs ? layout_name(found->written) : NULL, "start",
                         (json_int_t)found->start, "dim", (json_int_t)found->dim, "back", (int)found->back);
  table_close(from.x);
  table_close(from.out);
  return found->table;
}

/* Returns the options by which posenc check compares the result with the formula. They are made from those for the
   recovered table, whose layout differs from the result's. */
static json_t *options_for_check(const json_t *applied, const char *of_table) {
  static const char layout[] = "--layout split-cs";
  const char *const pairs = field_string(applied, "pairs"), *const begin = *pairs ? strstr(of_table, layout) : NULL;
  const int64_t begins = field_integer(applied, "start"), dim = field_integer(applied, "dim");
  const int ahead = (int)(begin ? begin - of_table : (ptrdiff_t)strlen(of_table));
  const char *const axes = field_string(applied, "axes"), *const usual = axes_usual(*pairs ? POSENC_ROPE : POSENC_ADD,
                                                                                    strlen(axes));
  const bool is_usual = usual && strcmp(axes, usual) == 0;
  char rotated[80] = "";
  if (dim != field_integer(applied, "columns"))
    snprintf(rotated, sizeof rotated, " --dim %" PRId64 " --start %" PRId64, dim, begins);
  return json_sprintf("--op %s --x X%s%s%s%s%s%s%s%.*s%s", field_string(applied, "op"), is_usual ? "" : " --axes ",
                      is_usual ? "" : axes, *pairs ? " --layout " : "", pairs, rotated,
                      json_is_true(json_object_get(applied, "back")) ? " --inverse" : "", ahead ? " " : "",
                      begin && ahead ? ahead - 1 : ahead, of_table, begin ? begin + strlen(layout) : "");
}

/* Adds `applied` to the record of the table, and replaces the options for check by those for the result. */
static void record_applied(json_t *record, json_t *applied) {
  const char *of_table = json_string_value(json_object_get(record, "check"));
  if (json_object_get(applied, "written"))
    json_object_set_new(record, "check", json_null()); /* no option says so */
  else if (of_table)
    json_object_set_new(record, "check", options_for_check(applied, of_table));
  json_object_set(record, "applied", applied);
}

void print_applied(const json_t *record, FILE *stream) {
  const json_t *applied = json_object_get(record, "applied");
  const int64_t begins = field_integer(applied, "start"), dim = field_integer(applied, "dim");
  fprintf(stream, "%-15s %s to %s, axes %s: columns %" PRId64 " to %" PRId64 " of %" JSON_INTEGER_FORMAT, "applied",
          field_string(applied, "op"), field_string(applied, "x"), field_string(applied, "axes"), begins,
          begins + dim - 1, field_integer(applied, "columns"));
  if (json_is_string(json_object_get(applied, "pairs")))
    fprintf(stream, ", pairs are %s%s, turned %s",
            strcmp(field_string(applied, "pairs"), "split") == 0 ? "halves" : "neighbours",
            !json_object_get(applied, "written")                     ? ""
            : strcmp(field_string(applied, "written"), "split") == 0 ? ", written as halves"
                                                                     : ", written as neighbours",
            json_is_true(json_object_get(applied, "back")) ? "back" : "forward");
  fputc('\n', stream);
}

/* Returns the recipes, those of plugins included, as a new array. */
static const posenc_kernel **recipes(size_t *count_of) {
  size_t all;
  const posenc_kernel *const *kernels = catalogue_kernels(&all);
  const posenc_kernel **some = memory_take(all, sizeof(*some));
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

/* Whether the file may be lists of positions on several axes. Such lists also explain damage of single elements in a
   table of one axis, which all expected problems may be. */
static bool may_have_axes(const identify_request *request) {
  const suspect_list *expected = request->expected;
  for (size_t n = 0; expected && n < expected->count; n++)
    if (expected->items[n].problem.axes) return true;
  return !expected;
}

/* Compares a file that was not found to have several axes with those that it is asked to have. Returns false if memory
   runs out. */
static bool compare_places(const identify_request *request, json_t *record) {
  identity *at = identify_places(request, NULL, NULL);
  axes_mistake mistakes[AXES_MISTAKES_MAX];
  const axes_mistake *of_rows = &mistakes[axes_mistakes(request->asked->axes, mistakes) - 1];
  if (!at) return false;
  if (at->agreement == NOT_COMPARED && strcmp(field_string(record, "verdict"), "table") == 0) {
    at->agreement = DISAGREES;
    snprintf(at->agreed, sizeof at->agreed, "%s", of_rows->words);
  }
  json_object_set_new(record, "agreement", identity_agreement_json(at));
  identity_free(at);
  return true;
}

/* Returns {"record": that of identity_json(), identify_grid() or identify_lists(), "is_table": bool}; null if memory
   runs out. */
static json_t *identify_once(const identify_request *request) {
  bool failed, is_table = true, is_whole = false;
  threads_limit(0);
  json_t *record = identify_grid(request, &failed), *lists = NULL;
  /* If axes are asked for, a table of several axes is tried first: to rule out one axis takes seconds. */
  if (!record && !failed && request_has_axes(request)) lists = identify_lists(request, &failed);
  if (record)
    is_whole = json_is_string(json_object_get(record, "check"));
  else if (!failed && !lists)
    record = identify_one(request, &is_table, &is_whole);
  if (!record && !lists) return NULL;
  const bool is_one = lists || is_whole || (is_table && !may_have_axes(request));
  if (!is_one) lists = identify_lists(request, &failed);
  if (lists) {
    json_decref(record);
    record = lists;
    is_table = true;
  }
  const bool is_grid = strcmp(field_string(record, "verdict"), "grid") == 0;
  if (request_has_axes(request) && !is_grid && !compare_places(request, record)) {
    json_decref(record);
    return NULL;
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
  job of = {*request, memory_take(request->kernel_count + 1, sizeof *of.left_out)};
  const isolation how = {
      .kernels = request->kernels, .kernel_count = request->kernel_count, .silence = silence, .argument = lost};
  const isolated end = isolate_team(identify_in_worker, &of, &how, of.left_out, print_lost);
  if (!end.result) describe_exit(&end, why, size);
  json_t *result = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  free(of.left_out);
  return result;
}

/* ---- findings ---------------------------------------------------------------------------------- */

record_check finding_of(const char *property, bool is_ok, const char *text) {
  return (record_check){.there = true,
                        .property = property,
                        .ok = is_ok,
                        .worst = !is_ok,
                        .has_worst = true,
                        .has_bound = true,
                        .compared = 1,
                        .note = text,
                        .has_note = true};
}

static void add_finding(json_t *record, const char *property, bool is_ok, const char *text) {
  const record_check finding = finding_of(property, is_ok, text);
  json_t *findings = json_object_get(record, "findings");
  if (!findings) json_object_set_new(record, "findings", findings = json_array());
  field_append(findings, record_write_check(&finding));
}

/* Finds why a file differs from --config, or from what check asks, and writes it to `text`; or else the name of what it
   agrees with. of_array: the cause that x and the result show, or "". Returns whether it agrees. */
static bool find_cause(const options *given, json_t *record, const char *of_array, char *text, size_t size) {
  const json_t *agreement = json_object_get(record, "agreement");
  const bool is_known = json_is_object(agreement), agrees = json_is_true(json_object_get(agreement, "agrees")),
             is_bent = strcmp(field_string(record, "verdict"), "bent") == 0;
  const char *cause = *of_array ? of_array : field_string(agreement, "cause");
  *text = '\0';
  if (*cause)
    snprintf(text, size, "%s", cause);
  else if (!is_known)
    snprintf(text, size, "%s", field_string(record, is_bent ? "reason" : "sentence"));
  else if (agrees && given->model)
    model_applies(given, json_object_get(record, "applied"), text, size);
  if (*text) json_object_set_new(record, "cause", json_string(text));
  if (*text || !agrees) return false;
  snprintf(text, size, "%s", field_string(agreement, "name"));
  return true;
}

static void add_agreement(const options *given, json_t *record, const char *of_array) {
  char text[400], name[640]; /* room for 200 bytes of the file, ", " and the text */
  const bool agrees = find_cause(given, record, of_array, text, sizeof text);
  if (!given->model) return;
  if (!agrees && !model_is_known(given, name, sizeof name))
    die("--config %s: whether the table agrees is not known: %s", given->config, name);
  snprintf(name, sizeof name, "%.200s%s%s", given->config, *text ? ", " : "", text);
  add_finding(record, "config", agrees, agrees ? name : *text ? text : "the cause is not known");
}

static void add_expected(const options *given, json_t *record) {
  char text[400];
  if (!given->expect) return;
  const bool is_met = expect_is_met(given->expect, record, text, sizeof text);
  add_finding(record, "expect", is_met, text);
}

bool findings_are_met(const json_t *record) {
  size_t n;
  json_t *finding;
  json_array_foreach(json_object_get(record, "findings"), n, finding) {
    if (!json_is_true(json_object_get(finding, "ok"))) return false;
  }
  return true;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* The problems that a file is compared with, and mistakes that may have been made instead. */
typedef struct rivals {
  suspect_list expected, suspects;
} rivals;

/* Returns the rivals, in static memory; null if nothing is asked. */
static const rivals *rivals_of(const options *given, const stored *at, const question *asked) {
  static rivals found;
  if (found.expected.count) return &found;
  if (given->model) {
    model_problems(given, at, &found.expected, &found.suspects);
  } else if (asked) {
    suspects_add(&found.expected, &asked->problem, "%s", "");
    formula_suspects(&asked->problem, &found.suspects);
  }
  return found.expected.count ? &found : NULL;
}

/* Returns the record of a table. applied: that of recover_applied, or null; error: the largest error of its values. */
static json_t *record_of(const options *given, table_file *table, const char *file, json_t *applied, double error,
                         const question *asked, bool *is_right) {
  if (table_stored(table)->dim > IDENTIFY_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be looked at", file, table_stored(table)->dim,
        IDENTIFY_COLUMNS_MAX);
  static const columns_part parts[] = {
      [TABLE_BOTH] = COLUMNS_BOTH, [TABLE_COS] = COLUMNS_COS, [TABLE_SIN] = COLUMNS_SIN};
  const rivals *of = rivals_of(given, table_stored(table), asked);
  identify_request request = {.table = table,
                              .name = file,
                              .expected = of ? &of->expected : NULL,
                              .suspects = of ? &of->suspects : NULL,
                              .asked = asked ? &asked->problem : NULL,
                              .as_asked = asked && !given->expect,
                              .part = asked ? parts[asked->part] : COLUMNS_BOTH,
                              .error = error};
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
  return record;
}

json_t *identified_table(const options *given, table_file *table, const char *file, const question *asked,
                         bool *is_right) {
  json_t *record = record_of(given, table, file, NULL, 0.0, asked, is_right);
  if (given->model || asked) add_agreement(given, record, "");
  add_expected(given, record);
  *is_right = *is_right && findings_are_met(record);
  return record;
}

/* Returns the layout of --layout, or that of the config's rope, or that which was found. */
static posenc_layout layout_asked(const options *given, const json_t *record) {
  const char *pairs = field_string(json_object_get(record, "applied"), "pairs");
  if (is_given(given, OPTION_LAYOUT) || given->problem.op != POSENC_ROPE) return given->problem.layout;
  if (given->rope.has_pairs || !*pairs) return given->rope.pairs;
  return strcmp(pairs, layout_name(POSENC_SPLIT)) == 0 ? POSENC_SPLIT : POSENC_INTERLEAVED;
}

/* Returns the cause that x and the result show: of what check asks, or else of the rope of --config at the positions
   that were found. */
static array_cause cause_of_array(const options *given, const char *file, const json_t *record, const question *asked) {
  const applied_arrays from = open_arrays(given, file);
  const stored *at = table_stored(from.x);
  const rivals *of = rivals_of(given, at, asked);
  const bool agrees = json_is_true(json_object_get(json_object_get(record, "agreement"), "agrees"));
  array_cause cause = {.text = ""};
  array_request request = {.arrays = from, .start = given->start, .suspects = of ? &of->suspects : NULL};
  if (asked) {
    request.problem = asked->problem;
    cause = array_cause_of(&request);
  } else if (of && !agrees && (given->layer_type || !model_layers(given->model)) &&
             !of->expected.items[0].problem.axes) {
    request.problem = of->expected.items[0].problem;
    request.problem.op = given->problem.op;
    request.problem.dtype = at->dtype;
    request.problem.first = field_integer(record, "offset");
    request.problem.inverse = given->problem.inverse;
    request.problem.layout = layout_asked(given, record);
    request.start = given->rope.head == at->dim ? given->rope.start : 0;
    if (request.problem.dim % 2 == 0 && request.problem.dim <= at->dim - request.start)
      cause = array_cause_of(&request);
  }
  table_close(from.x);
  table_close(from.out);
  return cause;
}

/* Returns the record of the table that --op has applied to --x, or why there is none. */
static json_t *record_of_array(const options *given, const char *file, const question *asked, bool *is_right) {
  json_t *applied = NULL, *record;
  recovered from = {0};
  fault why;
  question of_table = asked ? *asked : (question){.part = TABLE_BOTH};
  of_table.problem.op = POSENC_TABLE;
  if (given->problem.op == POSENC_ROPE) of_table.problem.layout = POSENC_SPLIT_CS;
  if (recover_applied(given, file, &from, &applied, &why)) {
    record = record_of(given, from.table, file, applied, from.error, asked ? &of_table : NULL, is_right);
    recovered_free(&from);
  } else {
    json_t *x = field_name(given->x, "");
    record = json_pack("{s:s, s:o, s:o}", "verdict", "none", "file", field_name(file, ""), "sentence",
                       json_sprintf("no %s of %s: %s", op_name(given->problem.op), json_string_value(x), why.text));
    json_decref(x);
    *is_right = false;
  }
  json_decref(applied);
  return allocated(record);
}

json_t *identified_array(const options *given, const char *file, const question *asked, bool *is_right) {
  array_cause cause = {.text = ""};
  if (asked) cause = cause_of_array(given, file, NULL, asked);
  /* A cause that x shows is the one that is told: no formula of what was made instead is looked for. */
  const bool is_told = *cause.text && !given->expect;
  json_t *record = is_told ? json_pack("{s:s}", "verdict", "none") : record_of_array(given, file, asked, is_right);
  if (is_told) *is_right = false;
  if (given->model && !asked) cause = cause_of_array(given, file, record, asked);
  if (given->model || asked) add_agreement(given, record, cause.text);
  if (given->expect && strcmp(field_string(record, "verdict"), "none") == 0)
    add_finding(record, "expect", false, field_string(record, "sentence"));
  else
    add_expected(given, record);
  *is_right = *is_right && findings_are_met(record);
  return record;
}
