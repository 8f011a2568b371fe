/* SPDX-License-Identifier: MIT */
/* Identifies a file for posenc identify and check, and compares what it is with --config and --expect. */
#include "cli/identified.h"

#include "cli/catalogue.h"
#include "cli/model.h"
#include "cli/options.h"
#include "common/isolate.h"
#include "common/memory.h"
#include "common/process.h"
#include "common/work.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/identity.h"
#include "inspect/models/model.h"
#include "verify/file-exams.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- --expect: values that a table must have ----------------------------------------------------- */

/* A fact of a record: what it has under a key of --expect. A number has an error, which may be 0; a fact without a
   value has neither a number nor a text. */
typedef struct fact {
  const char *key, *text;
  bool is_number;
  double number, error;
} fact;

static fact number_fact(const char *key, bool is_there, double number, double error) {
  return (fact){.key = key, .is_number = is_there, .number = number, .error = error};
}

static fact text_fact(const char *key, const char *text) {
  return (fact){.key = key, .text = text && *text ? text : NULL};
}

enum { FACTS = 22 };

/* Sets all facts of a record. Of several with one key, the first counts that has a value. */
static void facts_of(const record_identified *of, fact all[FACTS]) {
  const record_scaling *s = &of->scaling;
  const record_applied *applied = &of->applied;
  const double offset = record_number_value(of->offset);
  const bool is_scaled = s->there, has_padding = of->has_padding && of->padding != RECORD_NONE;
  const char *const inverse = applied->back ? "yes" : "no";
  const fact made[FACTS] = {
      number_fact("base", of->base > 0.0, of->base, of->base_error),
      number_fact("dim", of->dim > 0, (double)of->dim, 0.0),
      number_fact("dim", of->columns > 0, (double)of->columns, 0.0), /* of a grid */
      number_fact("shift", of->has_shift, of->shift, 0.0),
      number_fact("scale", of->has_scale, of->scale, of->scale_error),
      number_fact("offset", of->has_offset && !isnan(offset), offset, 0.0),
      text_fact("layout", applied->pairs),
      text_fact("layout", of->layout),
      text_fact("part", of->part),
      text_fact("dtype", of->stored),
      number_fact("attention", is_scaled && fabs(s->attention_factor) > 0.0, s->attention_factor, 0.0),
      number_fact("attention", of->has_amplitude, of->amplitude, of->amplitude_error),
      number_fact("padding", has_padding, (double)of->padding, 0.0),
      text_fact("scaling", is_scaled ? s->kind : NULL),
      number_fact("factor", is_scaled && s->has_factor, s->factor, 0.0),
      number_fact("original", is_scaled && s->has_original, (double)s->original, 0.0),
      number_fact("low", is_scaled && s->has_low, s->low, 0.0),
      number_fact("high", is_scaled && s->has_high, s->high, 0.0),
      text_fact("op", applied->op),
      number_fact("start", applied->there, (double)applied->start, 0.0),
      number_fact("columns", applied->there, (double)applied->columns, 0.0),
      text_fact("inverse", applied->there ? inverse : NULL),
  };
  memcpy(all, made, sizeof made);
}

/* Relative errors of numbers whose record has no error: of expected numbers, and of found numbers that are printed. */
static const double usual_error = 1e-6, shown_error = 1e-9;

void expect_require(const char *option, const char *text) {
  char *words = memory_copy_text(text), *rest = words;
  fact all[FACTS];
  facts_of(&(record_identified){.there = true}, all);
  for (char *word; (word = strsep(&rest, ","));) {
    char *value = strchr(word, '=');
    const char *nearest = NULL;
    bool found = false;
    if (!value || !value[1]) die("%s %s: '%s' is no key=value", option, text, word);
    *value = '\0';
    for (int n = 0; n < FACTS; n++) {
      found = found || strcmp(all[n].key, word) == 0;
      nearest = nearer_name(word, nearest, all[n].key);
    }
    if (!found) die_unknown(option, word, "no such key", nearest, "base, dim, layout, scaling, offset are some");
  }
  free(words);
}

/* Returns the fact of the key, without a value if the record has none. */
static fact find(const record_identified *of, const char *key) {
  fact all[FACTS];
  facts_of(of, all);
  for (int n = 0; n < FACTS; n++)
    if (strcmp(all[n].key, key) == 0 && (all[n].is_number || all[n].text)) return all[n];
  return (fact){.key = key};
}

/* Returns the fact of the key; if a grid has none for all axes, that of this axis's table. */
static fact find_at(const record_identified *of, size_t axis, const char *key) {
  const fact found = find(of, key);
  const record_identified *table = axis < of->axes_count ? of->axes[axis].table : NULL;
  return !found.is_number && !found.text && table ? find(table, key) : found;
}

/* Returns the value as --expect writes it, "none" if there is no value. */
static number_text found_text(const fact *found) {
  const double number = found->number;
  number_text text;
  if (found->is_number)
    return number_within(number, fabs(number) > 0.0 ? fmax(found->error / fabs(number), shown_error) : 0.0);
  snprintf(text.text, sizeof text.text, "%.31s", found->text ? found->text : "none");
  return text;
}

static bool is_met(const fact *found, const char *expected) {
  char *end;
  const double number = strtod(expected, &end);
  if (!found->is_number) return strcmp(found_text(found).text, expected) == 0;
  return *end == '\0' && fabs(found->number - number) <= fmax(found->error, usual_error * fabs(number));
}

/* Whether the record of posenc identify has these values; numbers are compared within their errors. Writes the
   differences to `why`. */
static bool expect_is_met(const char *text, const record_identified *record, char *why, size_t size) {
  char *words = memory_copy_text(text), *rest = words;
  size_t used = 0;
  bool met = true;
  snprintf(why, size, "%s", text);
  for (char *word; (word = strsep(&rest, ","));) {
    char *expected = strchr(word, '=');
    *expected++ = '\0';
    fact value = find_at(record, 0, word);
    for (size_t axis = 1; axis < record->axes_count && is_met(&value, expected); axis++)
      value = find_at(record, axis, word);
    if (is_met(&value, expected)) continue;
    if (used < size)
      used += (size_t)snprintf(why + used, size - used, "%s%s is %s, not %s", met ? "" : ", ", word,
                               found_text(&value).text, expected);
    met = false;
  }
  free(words);
  return met;
}

/* ---- results of add and rope --------------------------------------------------------------------- */

/* Returns the table that --op has applied to --x, and how in `applied`. Returns null and the reason if no table
   explains the result. */
static table_file *recover_applied(const options *given, const char *file, recovered *found, record_applied *applied,
                                   record_memory *in, fault *why) {
  const bool is_rope = given->problem.op == POSENC_ROPE;
  const applied_arrays from = open_arrays(given, file);
  const bool is_known = recover(&from, given->problem.op, found, why);
  if (found->bad_row >= 0) die_value("--x", given->x, why->text);
  if (is_known)
    *applied = (record_applied){.there = true,
                                .op = op_name(given->problem.op),
                                .x = record_name(in, given->x, ""),
                                .axes = record_format(in, "%s", from.axes),
                                .columns = table_stored(from.x)->dim,
                                .pairs = is_rope ? layout_name(found->pairs) : record_null,
                                .written = found->written != found->pairs ? layout_name(found->written) : "",
                                .start = found->start,
                                .dim = found->dim,
                                .back = found->back};
  table_close(from.x);
  table_close(from.out);
  return found->table;
}

/* Returns the options by which posenc check compares the result with the formula. They are made from those for the
   recovered table, whose layout differs from the result's. */
static const char *options_for_check(const record_applied *applied, const char *of_table, record_memory *in) {
  static const char layout[] = "--layout split-cs";
  const char *const pairs = applied->pairs, *const begin = *pairs ? strstr(of_table, layout) : NULL;
  const int ahead = (int)(begin ? begin - of_table : (ptrdiff_t)strlen(of_table));
  const char *const axes = applied->axes, *const usual = axes_usual(*pairs ? POSENC_ROPE : POSENC_ADD, strlen(axes));
  const bool is_usual = usual && strcmp(axes, usual) == 0;
  char rotated[80] = "";
  if (applied->dim != applied->columns)
    snprintf(rotated, sizeof rotated, " --dim %" PRId64 " --start %" PRId64, applied->dim, applied->start);
  return record_format(in, "--op %s --x X%s%s%s%s%s%s%s%.*s%s", applied->op, is_usual ? "" : " --axes ",
                       is_usual ? "" : axes, *pairs ? " --layout " : "", pairs, rotated,
                       applied->back ? " --inverse" : "", ahead ? " " : "", begin && ahead ? ahead - 1 : ahead,
                       of_table, begin ? begin + strlen(layout) : "");
}

/* Adds `applied` to the record of the table, and replaces the options for check by those for the result. */
static void record_applied_to(identified *made, const record_applied *applied) {
  const char *of_table = made->of.check;
  if (*applied->written)
    made->of.check = NULL; /* no option says so */
  else if (record_is_text(of_table))
    made->of.check = options_for_check(applied, of_table, &made->memory);
  made->of.has_check = made->of.has_check || *applied->written;
  made->of.applied = *applied;
}

void print_applied(const record_applied *applied, FILE *stream) {
  fprintf(stream, "%-15s %s to %s, axes %s: columns %" PRId64 " to %" PRId64 " of %" PRId64, "applied", applied->op,
          applied->x, applied->axes, applied->start, applied->start + applied->dim - 1, applied->columns);
  if (*applied->pairs) {
    const char *written = strcmp(applied->written, "split") == 0 ? ", written as halves" : ", written as neighbours";
    fprintf(stream, ", pairs are %s%s, turned %s", strcmp(applied->pairs, "split") == 0 ? "halves" : "neighbours",
            *applied->written ? written : "", applied->back ? "back" : "forward");
  }
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

/* Identifies a table of one axis. Returns whether its formula explains all elements. */
static bool identify_one(const identify_request *request, identified *made) {
  identity *found = identify(request);
  made->of = identity_record(found, request, &made->memory);
  made->of.is_right = identity_is_table(found);
  made->has_formula = found->has_formula;
  const bool is_whole = made->of.is_right && !found->unexplained && !found->damage_count;
  identity_free(found);
  return is_whole;
}

static bool expects_axes(const identify_request *request) {
  const suspect_list *expected = request->expected;
  for (size_t n = 0; expected && n < expected->count; n++)
    if (expected->items[n].problem.axes) return true;
  return false;
}

/* Whether the file may be lists of positions on several axes. Such lists also explain damage of single elements in a
   table of one axis, which all expected problems may be. */
static bool may_have_axes(const identify_request *request) {
  return !request->expected || expects_axes(request);
}

/* Compares a file that was not found to have several axes with those that it is asked to have. */
static void compare_places(const identify_request *request, identified *made) {
  identity *at = identify_places(request, NULL, NULL);
  axes_mistake mistakes[AXES_MISTAKES_MAX];
  const axes_mistake *of_rows = &mistakes[axes_mistakes(request->asked->axes, mistakes) - 1];
  if (at->agreement == NOT_COMPARED && strcmp(made->of.verdict, "table") == 0) {
    at->agreement = DISAGREES;
    snprintf(at->agreed, sizeof at->agreed, "%s", of_rows->words);
  }
  made->of.agreement = agreement_record(at, &made->memory);
  identity_free(at);
}

/* Identifies a table of any kind. */
static void identify_once(const identify_request *request, identified *made) {
  threads_limit(0);
  /* If axes are asked for or expected, a table of several axes is tried first: to rule out one axis takes seconds. */
  const bool is_grid = identify_grid(request, &made->of, &made->memory),
             is_tried = !is_grid && (request_has_axes(request) || expects_axes(request)),
             is_listed = is_tried && identify_lists(request, &made->of, &made->memory);
  bool is_whole = is_listed || (is_grid && made->of.check);
  made->of.is_right = is_grid || is_listed;
  if (!made->of.is_right) is_whole = identify_one(request, made);
  const bool is_one = is_whole || (made->of.is_right && !may_have_axes(request));
  if (!is_one && !is_tried && identify_lists(request, &made->of, &made->memory)) made->of.is_right = true;
  if (request_has_axes(request) && strcmp(made->of.verdict, "grid") != 0) compare_places(request, made);
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
  const posenc_kernel **kernels = memory_take(mine.kernel_count, sizeof(*kernels));
  mine.kernels = kernels;
  mine.kernel_count = 0;
  for (size_t n = 0; n < of->request.kernel_count; n++)
    if (!of->left_out[n]) kernels[mine.kernel_count++] = of->request.kernels[n];
  identified made = {.read = NULL};
  identify_once(&mine, &made);
  char *text = record_text(record_write_identified(&made.of));
  isolate_result(text);
  free(text);
  identified_forget(&made);
  free(kernels);
}

static void print_lost(const posenc_kernel *kernel, const char *words, void *argument) {
  bool *lost = argument;
  *lost = true;
  note("%s is left out: %s", kernel->name, words);
}

/* Does identify_once in a process of its own. Exits if that fails. */
static void identify_isolated(const identify_request *request, double silence, identified *made, bool *lost) {
  job of = {*request, memory_take(request->kernel_count + 1, sizeof *of.left_out)};
  const isolation how = {
      .kernels = request->kernels, .kernel_count = request->kernel_count, .silence = silence, .argument = lost};
  const isolated end = isolate_team(identify_in_worker, &of, &how, of.left_out, print_lost);
  char why[400] = "out of memory";
  if (!end.result) describe_exit(&end, why, sizeof why);
  made->read = record_of_text_identified(end.result);
  if (!made->read) die("%s", why);
  made->of = *made->read;
  free(end.result);
  free(of.left_out);
}

void identified_forget(identified *found) {
  record_release(&found->memory);
  record_free(found->read);
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

void finding_add(record_check finding, const record_check **list, size_t *count, record_memory *in) {
  record_check *all = record_allocate(in, *count + 1, sizeof *all);
  if (*count) memcpy(all, *list, *count * sizeof *all);
  finding.property = record_format(in, "%s", finding.property);
  finding.note = record_format(in, "%s", finding.note);
  all[(*count)++] = finding;
  *list = all;
}

static void add_finding(identified *made, const char *property, bool is_ok, const char *text) {
  finding_add(finding_of(property, is_ok, text), &made->of.findings, &made->of.findings_count, &made->memory);
}

/* Whether a table that agrees with the factors of short sequences has positions beyond them, in identify: check knows
   them before. */
static bool is_beyond_short(const options *given, const record_identified *of) {
  const bool has_positions = strcmp(of->verdict, "table") == 0 && of->has_offset && !of->positions.there;
  return given->self->bit == IDENTIFY && given->rope.by_length && given->context <= given->rope.switch_at &&
         given->shown_length <= (double)given->rope.switch_at && has_positions && of->offset.part == 0.0 &&
         of->offset.whole > given->rope.switch_at - of->rows;
}

/* Finds why a file differs from --config, or from what check asks, and writes it to `text`; or else the name of what it
   agrees with. known: the cause that the file shows before it is identified, or "". Returns whether it agrees. */
static bool find_cause(const options *given, identified *made, const char *known, char *text, size_t size) {
  const record_identified *of = &made->of;
  const record_agreement *agreement = &of->agreement;
  const bool agrees = agreement->agrees;
  const bool is_of_length = given->model && *given->length_cause;
  const char *found = *known || !agreement->cause ? known : agreement->cause,
             *cause = is_of_length ? given->length_cause : found;
  *text = '\0';
  if (*cause)
    snprintf(text, size, "%s", cause);
  else if (!agreement->there)
    snprintf(text, size, "%s", strcmp(of->verdict, "bent") == 0 ? of->reason : of->sentence);
  else if (agrees && is_beyond_short(given, of))
    snprintf(text, size, "the factors are those of sequences of at most %" PRId64 " positions, before the last row",
             given->rope.switch_at);
  else if (agrees && given->model)
    model_applies(given, &of->applied, text, size);
  if (*text) made->of.cause = record_format(&made->memory, "%s", text);
  if (*text || !agrees) return false;
  snprintf(text, size, "%s", agreement->name);
  return true;
}

static void add_agreement(const options *given, identified *made, const char *known) {
  char text[400], name[800]; /* room for 200 bytes of the file, ", ", the text and the words for a length */
  const bool agrees = find_cause(given, made, known, text, sizeof text);
  if (!given->model) return;
  if (!agrees && !model_is_known(given, name, sizeof name))
    die("--config %s: whether the table agrees is not known: %s", given->config, name);
  if (!agrees && *given->length_open && !made->has_formula && !*known)
    die("--config %s: whether the table agrees is not known: %s", given->config, given->length_open);
  if (!agrees && given->self->bit == IDENTIFY && strcmp(made->of.verdict, "too-few-rows") == 0 && !*known)
    die("--config %s: whether the table agrees is not known: %s", given->config, text);
  const char *open = given->self->bit == IDENTIFY ? given->length_unchecked : ""; /* check's verdict has its own */
  snprintf(name, sizeof name, "%.200s%s%s%s%s", given->config, *text ? ", " : "", text, given->length_shown, open);
  const char *cause = *text ? text : "the cause is not known";
  add_finding(made, "config", agrees, agrees ? name : cause);
}

static void add_expected(const options *given, identified *made) {
  char text[400];
  if (!given->expect) return;
  const bool is_met = expect_is_met(given->expect, &made->of, text, sizeof text);
  add_finding(made, "expect", is_met, text);
}

bool findings_are_met(const record_identified *of) {
  RECORD_EACH(finding, of, findings)
    if (!finding->ok) return false;
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

/* Identifies a table. error: the largest error of its values. */
static void identify_table(const options *given, table_file *table, const char *file, double error,
                           const question *asked, identified *made) {
  if (table_stored(table)->dim > IDENTIFY_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be looked at", file, table_stored(table)->dim,
        IDENTIFY_COLUMNS_MAX);
  const rivals *of = rivals_of(given, table_stored(table), asked);
  identify_request request = {.table = table,
                              .name = file,
                              .expected = of ? &of->expected : NULL,
                              .suspects = of ? &of->suspects : NULL,
                              .asked = asked ? &asked->problem : NULL,
                              .as_asked = asked && !given->expect,
                              .part = asked ? asked->part : TABLE_BOTH,
                              .error = error};
  const posenc_kernel **kernels = recipes(&request.kernel_count);
  request.kernels = kernels;
  bool lost = false;
  if (catalogue_options())
    identify_isolated(&request, given->silence, made, &lost);
  else
    identify_once(&request, made);
  made->is_right = made->of.is_right && !lost;
  made->of.is_right = made->of.has_is_right = false; /* of processes alone */
  free(kernels);
}

identified identified_table(const options *command_line, table_file *table, const char *file, const question *asked) {
  options given = *command_line;
  identified made = {.read = NULL};
  if (!asked) take_shown_length(&given, table, 0.0);
  identify_table(&given, table, file, 0.0, asked, &made);
  if (given.model || asked) add_agreement(&given, &made, made.of.agreement.agrees ? "" : table_uncopied(table));
  add_expected(&given, &made);
  made.is_right = made.is_right && findings_are_met(&made.of);
  return made;
}

/* Returns the layout of --layout, or that of the config's rope, or that which was found. */
static posenc_layout layout_asked(const options *given, const record_identified *of) {
  const char *pairs = of->applied.pairs;
  if (is_given(given, OPTION_LAYOUT) || given->problem.op != POSENC_ROPE) return given->problem.layout;
  if (given->rope.has_pairs || !pairs || !*pairs) return given->rope.pairs;
  return strcmp(pairs, layout_name(POSENC_SPLIT)) == 0 ? POSENC_SPLIT : POSENC_INTERLEAVED;
}

/* Returns the cause that x and the result show: of what check asks, or else of the rope of --config at the positions
   that were found. */
static array_cause cause_of_array(const options *given, const char *file, const record_identified *found,
                                  const question *asked) {
  const applied_arrays from = open_arrays(given, file);
  const stored *at = table_stored(from.x);
  stored positions = *at;
  positions.rows = axes_length(from.axes, at);
  const rivals *of = rivals_of(given, &positions, asked);
  array_cause cause = {.text = ""};
  array_request request = {.arrays = from, .start = given->start};
  if (of && !*given->length_open) request.suspects = &of->suspects;
  if (asked) {
    request.problem = asked->problem;
    cause = array_cause_of(&request);
  } else if (of && !found->agreement.agrees && (given->layer_type || !model_layers(given->model)) &&
             !of->expected.items[0].problem.axes) {
    request.problem = of->expected.items[0].problem;
    request.problem.op = given->problem.op;
    request.problem.dtype = at->dtype;
    request.problem.first = found->offset.part == 0.0 ? found->offset.whole : 0;
    request.problem.inverse = given->problem.inverse;
    request.problem.layout = layout_asked(given, found);
    request.start = given->rope.head == at->dim ? given->rope.start : 0;
    if (request.problem.dim % 2 == 0 && request.problem.dim <= at->dim - request.start)
      cause = array_cause_of(&request);
  }
  table_close(from.x);
  table_close(from.out);
  return cause;
}

/* The record of a result of --op that no table explains. */
static const record_identified none = {
    .there = true, .schema = "posenc-identify-2", .file = "", .verdict = "none", .sentence = ""};

/* Identifies the table that --op has applied to --x, or tells why there is none. */
static void identify_array(options *given, const char *file, const question *asked, identified *made) {
  recovered from = {0};
  record_applied applied;
  fault why;
  question of_table = asked ? *asked : (question){.part = TABLE_BOTH};
  of_table.problem.op = POSENC_TABLE;
  if (given->problem.op == POSENC_ROPE) of_table.problem.layout = POSENC_SPLIT_CS;
  if (recover_applied(given, file, &from, &applied, &made->memory, &why)) {
    if (!asked) take_shown_length(given, from.table, from.error);
    identify_table(given, from.table, file, from.error, asked ? &of_table : NULL, made);
    record_applied_to(made, &applied);
    table_close(from.table);
  } else {
    if (given->model && !asked && from.is_still)
      die("--config %s: whether the result agrees is not known: %s", given->config, why.text);
    made->of = none;
    made->of.file = record_name(&made->memory, file, "");
    made->of.sentence = record_format(&made->memory, "no %s of %s: %s", op_name(given->problem.op),
                                      record_name(&made->memory, given->x, ""), why.text);
  }
}

identified identified_array(const options *command_line, const char *file, const question *asked) {
  options given = *command_line;
  array_cause cause = {.text = ""};
  identified made = {.read = NULL};
  if (asked) cause = cause_of_array(&given, file, NULL, asked);
  /* A cause that x shows is the one that is told: no formula of what was made instead is looked for. */
  const bool is_told = *cause.text && !given.expect;
  if (is_told)
    made.of = none;
  else
    identify_array(&given, file, asked, &made);
  if (given.model && !asked) cause = cause_of_array(&given, file, &made.of, asked);
  if (given.model || asked) add_agreement(&given, &made, cause.text);
  if (given.expect && strcmp(made.of.verdict, "none") == 0)
    add_finding(&made, "expect", false, made.of.sentence);
  else
    add_expected(&given, &made);
  made.is_right = made.is_right && findings_are_met(&made.of);
  return made;
}
