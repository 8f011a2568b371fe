/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/measure.h"

#include "bench/bench.h"
#include "cli/catalogue.h"
#include "cli/files.h"
#include "common/contract.h"
#include "common/digest.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/memory.h"
#include "common/work.h"
#include "impls/opencl/opencl.h"
#include "impls/recipes/recipes.h"
#include "posenc.h"
#include "records/print.h"
#include "reports/model/answer.h"
#include "verify/verify.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exits if --batch is given, but no selected shape has sequences. */
static void require_applied(const options *given, const selection *chosen) {
  for (size_t i = 0; i < chosen->shape_count; i++)
    if (op_is_applied(chosen->shapes[i].problem.op)) return;
  options_refuse(given, ANY_OF(SET(BATCH)), given->problem.op == POSENC_ROPE_CACHE ? "--op rope-cache" : "--op table");
}

void refuse_emulator(const char *what, const char *use) {
  char name[ENVIRONMENT_TEXT];
  const char *emulator = environment_emulator(name);
  if (emulator) die("%s%s emulates the processor: its times are not %s", what, emulator, use);
}

void require_tables(const options *given, const selection *chosen, const char *option) {
  const posenc_problem *problem = &given->problem;
  for (size_t i = 0; i < chosen->shape_count; i++) {
    const posenc_problem *each = &chosen->shapes[i].problem;
    if (!op_is_applied(each->op) && !each->positions && !each->axes && each->dim % 2 == 0) return;
  }
  const char *beside = problem->positions ? "positions"
                       : problem->axes    ? "grid"
                       : problem->dim % 2 ? "odd"
                                          : "op",
             *value = problem->positions || problem->axes ? ""
                      : problem->dim % 2                  ? odd_name(problem->odd)
                                                          : op_name(problem->op);
  die("%s: cannot be combined with --%s%s%s", option, beside, *value ? " " : "", value);
}

/* Exits if --search is given, but no selected shape is searched. */
static void require_searchable(const options *given, const selection *chosen) {
  const char *search = given->texts[OPTION_SEARCH];
  char option[64];
  if (!search || given->search == 0) return;
  snprintf(option, sizeof option, "--search %s", search);
  require_tables(given, chosen, option);
}

static void add_shapes(selection *chosen, const shape *shapes, size_t count) {
  chosen->shapes = allocated(reallocarray(chosen->shapes, chosen->shape_count + count, sizeof *shapes));
  memcpy(chosen->shapes + chosen->shape_count, shapes, count * sizeof *shapes);
  chosen->shape_count += count;
}

/* Adds the shapes of --op, or all shapes. */
static void add_shapes_of(selection *chosen, const options *given, const shape *shapes, size_t count) {
  const bool any = !is_given(given, OPTION_OP);
  for (size_t i = 0; i < count; i++)
    if (any || given->problem.op == shapes[i].problem.op) add_shapes(chosen, &shapes[i], 1);
}

static void select_shapes(selection *chosen, const options *given, bool sweep) {
  size_t count;
  const shape *shapes;
  if (options_have_table(given)) {
    const shape one = shape_of(&given->problem);
    add_shapes(chosen, &one, 1);
    return;
  }
  shapes = shapes_sweep(&count);
  if (sweep) add_shapes_of(chosen, given, shapes, count);
  shapes = shapes_published(&count);
  add_shapes_of(chosen, given, shapes, count);
  shapes = shapes_scaled(&count); /* not timed, as the time of rows does not depend on frequencies */
  if (!sweep) add_shapes_of(chosen, given, shapes, count);
  shapes = shapes_applied(&count);
  add_shapes_of(chosen, given, shapes, count);
}

/* The argument of ask_kernels, which runs in a process of its own because some kernels may be of plugins. */
typedef struct refusal_request {
  const options *given;
  const selection *chosen;
  bool *left_out;
} refusal_request;

/* Returns null if the kernel can compute any of the shapes, else the reason why it cannot compute the last one. */
static const char *refusal_of(const refusal_request *asked, const posenc_kernel *kernel) {
  const char *refusal = NULL;
  for (size_t s = 0; s < asked->chosen->shape_count; s++) {
    refusal = options_refusal(asked->given, kernel, &asked->chosen->shapes[s].problem);
    if (!refusal) return NULL;
  }
  return refusal;
}

static void ask_kernels(void *argument) {
  const refusal_request *asked = argument;
  json_t *answers = json_array();
  for (size_t k = 0; k < asked->chosen->kernel_count; k++) {
    const posenc_kernel *kernel = asked->chosen->kernels[k];
    const char *refusal = NULL;
    if (!asked->left_out[k]) {
      isolate_turn(kernel);
      refusal = refusal_of(asked, kernel);
    }
    json_t *answer = refusal ? json_string(refusal) : json_null();
    json_array_append_new(answers, answer ? answer : json_string("its reason is not UTF-8"));
  }
  char *text = answers ? json_dumps(answers, JSON_COMPACT) : NULL;
  if (text) isolate_result(text);
  free(text);
  json_decref(answers);
}

static void ignore_lost(const posenc_kernel *kernel, const char *words, void *argument) {
  (void)kernel, (void)words, (void)argument;
}

/* Returns for each kernel, in order, null or the reason why it can compute none of the shapes. Kernels that crash when
   asked get null, because the measurement reports the crash. */
static json_t *refusals_of(const options *given, const selection *chosen) {
  refusal_request asked = {given, chosen, allocated(calloc(chosen->kernel_count + 1, sizeof *asked.left_out))};
  /* A kernel that does not answer is not judged here, but when it is measured, which takes the time limit again. */
  static const double patience = 3.0;
  const double silence = fmin(given->silence, patience);
  const isolation how = {.kernels = chosen->kernels, .kernel_count = chosen->kernel_count, .silence = silence};
  const isolated end = isolate_team(ask_kernels, &asked, &how, asked.left_out, ignore_lost);
  char words[400];
  describe_exit(&end, words, sizeof words);
  if (!end.result) die("asking the kernels: %s", words);
  json_t *answers = allocated(json_loads(end.result, 0, NULL));
  free(end.result);
  free(asked.left_out);
  return answers;
}

/* Exits if no kernel can compute any of the shapes, so that the exit status is not that of success. */
static void require_runnable(const options *given, const selection *chosen) {
  if (given->propose_bound && !is_given(given, OPTION_DTYPE)) return; /* it looks at every dtype */
  json_t *refusals = refusals_of(given, chosen);
  const char *refusal = NULL;
  for (size_t k = 0; k < chosen->kernel_count; k++) {
    refusal = json_string_value(json_array_get(refusals, k));
    if (!refusal) break;
  }
  if (refusal) {
    const char *last = chosen->kernels[chosen->kernel_count - 1]->name;
    if (given->kernel) die("--kernel %s: %s cannot do this here: %s", given->kernel, last, refusal);
    die("no kernel can do this here; %s: %s", last, refusal);
  }
  json_decref(refusals);
}

/* Leaves out kernels that are not timed on this machine, with a line on stderr. Exits if --kernel has the name of one,
   or selects no other. */
static void leave_out_untimed(const options *given, selection *timed) {
  size_t kept = 0;
  for (size_t k = 0; k < timed->kernel_count; k++) {
    const posenc_kernel *kernel = timed->kernels[k];
    const char *why = catalogue_untimed(kernel);
    if (!why && !kernel->absent && catalogue_on_device(kernel) && given->self->bit != BENCH)
      why = "a page has one limit of the memory, and its device another one; posenc bench times it";
    if (why && (is_named(given, kernel) || timed->kernel_count == 1))
      die("--kernel %s: %s is not timed: %s", given->kernel, kernel->name, why);
    if (why)
      note("%s is not timed: %s", kernel->name, why);
    else
      timed->kernels[kept++] = kernel;
  }
  timed->kernel_count = kept;
}

/* ---- kernels beside those that were selected ---- */

/* Names, in a process of its own, the kernels that the library chooses for the shapes with one thread. */
static void ask_defaults(void *argument) {
  const refusal_request *asked = argument;
  json_t *names = json_array();
  for (size_t s = 0; s < asked->chosen->shape_count; s++) {
    posenc_options how = options_of_plan(asked->given, NULL);
    how.threads = 1;
    const posenc_kernel *kernel = kernel_by_default(&asked->chosen->shapes[s].problem, &how);
    if (kernel) json_array_append_new(names, json_string(kernel->name));
  }
  char *text = names ? json_dumps(names, JSON_COMPACT) : NULL;
  if (text) isolate_result(text);
  free(text);
  json_decref(names);
}

void add_kernel(selection *chosen, const posenc_kernel *kernel) {
  for (size_t k = 0; k < chosen->kernel_count; k++)
    if (chosen->kernels[k] == kernel) return;
  chosen->kernels = allocated(reallocarray(chosen->kernels, chosen->kernel_count + 1, sizeof(*chosen->kernels)));
  chosen->kernels[chosen->kernel_count++] = kernel;
}

/* Adds what a report shows beside kernels that were selected, or are of a plugin: the literal formula, and what the
   library takes by default. */
static void add_beside(const options *given, selection *chosen) {
  bool any = is_given(given, OPTION_KERNEL);
  for (size_t k = 0; k < chosen->kernel_count; k++) any = any || catalogue_place(chosen->kernels[k]).path;
  if (!any || given->self->bit != REPORT) return;
  refusal_request asked = {given, chosen, NULL};
  isolated end = isolate(ask_defaults, &asked, &(isolation){.silence = given->silence});
  json_t *names = end.result ? json_loads(end.result, 0, NULL) : NULL;
  size_t i;
  json_t *name;
  json_array_foreach(names, i, name) add_kernel(chosen, posenc_kernel_find(json_string_value(name)));
  add_kernel(chosen, posenc_kernel_find(answer_literal));
  json_decref(names);
  free(end.result);
}

void describe_kernels(const options *given, const json_t *record) {
  const bool asked = is_given(given, OPTION_KERNEL), plugins = given->plugins.count > 0;
  size_t i;
  json_t *one;
  json_array_foreach(json_object_get(record, "kernels"), i, one) {
    const char *name = field_string(one, "name");
    const plugin_place place = catalogue_place(catalogue_find(name));
    if (place.path) {
      json_object_set_new(one, "plugin", json_string(place.path));
      json_object_set_new(one, "plugin_index", json_integer((json_int_t)place.number));
    }
    if (asked || plugins)
      json_object_set_new(one, "selected", json_boolean(asked ? selects_kernel(given, name) : place.path != NULL));
  }
}

selection select_measured(const options *given, bool sweep) {
  selection chosen = {0};
  select_shapes(&chosen, given, sweep);
  chosen.kernels = select_kernels(given, &chosen.kernel_count);
  if (sweep) leave_out_untimed(given, &chosen);
  require_applied(given, &chosen);
  require_searchable(given, &chosen);
  require_runnable(given, &chosen);
  add_beside(given, &chosen);
  return chosen;
}

void require_named(const options *given, const selection *chosen) {
  json_t *refusals = refusals_of(given, chosen);
  for (size_t k = 0; k < chosen->kernel_count; k++) {
    const posenc_kernel *kernel = chosen->kernels[k];
    const char *refusal = json_string_value(json_array_get(refusals, k));
    if (refusal && is_named(given, kernel))
      die("--kernel %s: %s cannot do this here: %s", given->kernel, kernel->name, refusal);
  }
  json_decref(refusals);
}

selection select_cases(const options *given, const char *const *files, size_t count) {
  selection chosen = {.cases = allocated(calloc(count, sizeof *chosen.cases))};
  for (size_t i = 0; i < count; i++) {
    char why[200];
    chosen.cases[i] = (verify_cases){cases_load(files[i], why, sizeof why), quoted_line("--cases", 1, &files[i]), {""}};
    if (!chosen.cases[i].cases) die_value("--cases", files[i], why);
    if (!file_digest(files[i], &chosen.cases[i].digest)) die_value("--cases", files[i], strerror(errno));
    add_shapes(&chosen, cases_shape(chosen.cases[i].cases), 1);
  }
  chosen.kernels = select_kernels(given, &chosen.kernel_count);
  require_runnable(given, &chosen);
  return chosen;
}

/* Returns the recipes that can compute `table` but not `other`, which may be null. */
static selection select_recipes_of(const options *given, const shape *table, const shape *other) {
  size_t count;
  const posenc_kernel *const *recipes = recipes_shipped(&count);
  selection chosen = {.kernels = allocated(calloc(count, sizeof(*chosen.kernels))), .profile = VERIFY_POINTS};
  add_shapes(&chosen, table, 1);
  for (size_t i = 0; i < count; i++) {
    if (!options_refusal(given, recipes[i], &table->problem) &&
        (!other || options_refusal(given, recipes[i], &other->problem)))
      chosen.kernels[chosen.kernel_count++] = recipes[i];
  }
  return chosen;
}

size_t select_recipes(const options *given, selection chosen[RECIPE_TABLES]) {
  static const char *const names[RECIPE_TABLES] = {"transformer-base", "fairseq-base"}; /* one for each denominator */
  const shape described = shape_of(&given->problem), *tables[RECIPE_TABLES] = {&described};
  size_t count = 1, made = 0;
  if (given->kernel || (!options_have_table(given) && given->problem.op != POSENC_TABLE)) return 0;
  if (!options_have_table(given))
    for (count = 0; count < RECIPE_TABLES; count++) tables[count] = shapes_find(shapes_published, names[count]);
  for (size_t i = 0; i < count; i++) {
    chosen[made] = select_recipes_of(given, tables[i], i > 0 ? tables[0] : NULL);
    if (chosen[made].kernel_count > 0)
      made++;
    else
      selection_free(&chosen[made]);
  }
  return made;
}

void add_recipes(const options *given, selection *timed) {
  selection recipes[RECIPE_TABLES];
  const size_t tables = select_recipes(given, recipes), before = timed->kernel_count;
  for (size_t t = 0; t < tables; t++)
    for (size_t k = 0; k < recipes[t].kernel_count; k++) add_kernel(timed, recipes[t].kernels[k]);
  timed->kernel_counts = allocated(calloc(timed->shape_count + 1, sizeof *timed->kernel_counts));
  for (size_t s = 0; s < timed->shape_count; s++) {
    timed->kernel_counts[s] = before;
    for (size_t t = 0; t < tables; t++)
      if (strcmp(recipes[t].shapes->name, timed->shapes[s].name) == 0) timed->kernel_counts[s] = timed->kernel_count;
  }
  for (size_t t = 0; t < tables; t++) selection_free(&recipes[t]);
}

void selection_free(selection *chosen) {
  for (size_t i = 0; chosen->cases && i < chosen->shape_count; i++) {
    cases_free(chosen->cases[i].cases);
    free(chosen->cases[i].option);
  }
  free(chosen->cases);
  free(chosen->modes);
  free(chosen->kernel_counts);
  free(chosen->kernels);
  free(chosen->shapes);
}

void die_unmeasured(void) {
  die("%s", errno == EAGAIN ? "no process could be created for the kernels: the system allows this user no more"
                            : "out of memory");
}

/* Returns the request for verify, for free_request. */
static verify_request accuracy_request(const options *given, const selection *chosen, size_t count, bool explain) {
  verify_part *parts = allocated(calloc(count, sizeof *parts));
  size_t plugin_count;
  const digest_text *plugins = catalogue_plugins(&plugin_count);
  for (size_t i = 0; i < count; i++)
    parts[i] = (verify_part){chosen[i].kernels,     chosen[i].kernel_count, chosen[i].shapes,
                             chosen[i].shape_count, chosen[i].cases,        chosen[i].profile};
  const char *positions = given->texts[OPTION_POSITIONS];
  char *list = positions ? quoted_line("", 1, &positions) : NULL;
  const char *plugins_again = catalogue_options(), *const propose = "--propose-bound";
  const bool has_options = plugins_again || given->propose_bound;
  return (verify_request){
      .parts = parts,
      .part_count = count,
      .isa = given->isa,
      .threads = given->threads,
      .stores = given->stores,
      .seed = (uint64_t)given->seed,
      .budget = given->budget,
      .search = given->search,
      .brief = given->brief,
      .silence = given->silence,
      .rests = chosen->rests,
      .explain = explain,
      .encodings = chosen->encodings,
      .only = given->only,
      .open = catalogue_open_device,
      .replay_options =
          has_options ? quoted_line(plugins_again ? plugins_again : "", given->propose_bound, &propose) : NULL,
      .list = list,
      .plugins = plugins,
      .plugin_count = plugin_count,
  };
}

static void free_request(verify_request *request) {
  free((void *)request->parts);
  free((void *)request->list);
  free((void *)request->replay_options);
}

json_t *measure_accuracy(const options *given, const selection *chosen, size_t count, bool explain) {
  verify_request request = accuracy_request(given, chosen, count, explain);
  json_t *record = verify_run(&request);
  if (!record) die_unmeasured();
  free_request(&request);
  return record;
}

json_t *accuracy_run_json(const options *given, const selection *chosen) {
  verify_request request = accuracy_request(given, chosen, 1, given->explain);
  json_t *run = allocated(verify_run_json(&request));
  free_request(&request);
  return run;
}

int accuracy_status(const json_t *record) {
  return json_integer_value(json_object_get(record, "failed")) > 0 ? STATUS_FAILED_CHECK : EXIT_SUCCESS;
}

static bool is_trusted(const json_t *record) {
  char why[200];
  return !record || (!record_mistrust(record, why, sizeof why) && accuracy_status(record) == EXIT_SUCCESS);
}

int trusted_status(const json_t *kernels, const json_t *encodings) {
  return is_trusted(kernels) && is_trusted(encodings) ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
}

/* Whether a timing record has times of a kernel. */
static bool has_times(const record_timing *record, const char *kernel) {
  RECORD_EACH(one, record, benchmarks)
    if (is_benchmark_of(one->name, kernel)) return true;
  return false;
}

int timed_status(const record_timing *record, bool told) {
  int status = EXIT_SUCCESS;
  const char *key;
  json_t *words;
  json_object_foreach(record ? record->context.json : NULL, key, words) {
    const char *kernel = kernel_of_failure(key);
    if (!kernel) continue;
    status = STATUS_FAILED_CHECK;
    if (told) continue;
    note("%s is left out%s: %s", kernel, has_times(record, kernel) ? " of some shapes or modes" : "",
         json_is_string(words) ? json_string_value(words) : "?");
  }
  return status;
}

void select_modes(selection *chosen, unsigned modes) {
  chosen->modes = allocated(realloc(chosen->modes, (chosen->shape_count + 1) * sizeof *chosen->modes));
  for (size_t i = 0; i < chosen->shape_count; i++) chosen->modes[i] = modes;
}

static bench_request time_request(const options *given, const selection *chosen, char **flags) {
  size_t plugin_count;
  const digest_text *plugins = catalogue_plugins(&plugin_count);
  static const bench_device device = {&opencl_cr, opencl_stay, opencl_busy, opencl_rate};
  return (bench_request){
      .device = &device,
      .kernels = chosen->kernels,
      .kernel_count = chosen->kernel_count,
      .shapes = chosen->shapes,
      .shape_count = chosen->shape_count,
      .kernel_counts = chosen->kernel_counts,
      .modes = chosen->modes,
      .longest = chosen->longest > 0.0 ? chosen->longest : bench_longest,
      .unchecked = given->encoding,
      .foretell = chosen->foretell,
      .isa = given->isa,
      .threads = given->threads,
      .stores = given->stores,
      .repetitions = given->repetitions,
      .batch = given->batch,
      .rows = given->rows,
      .min_time = given->min_time,
      .extra = flags,
      .plugins = plugins,
      .plugin_count = plugin_count,
      .only = given->only,
      .silence = given->silence,
  };
}

int measure_time(const options *given, const selection *chosen, char **flags, const record_timing **record) {
  const bench_request request = time_request(given, chosen, flags);
  return bench_run(&request, record);
}

json_t *time_run_json(const options *given, const selection *chosen, char **flags) {
  const bench_request request = time_request(given, chosen, flags);
  return allocated(bench_run_json(&request));
}

/* ---- --resume, and the command in the record of a shard ------------------------------------------ */

/* A static program finds neither: it has no other file. */
static bool has_library(Dl_info *library) {
  static const char ours = 0;
  Dl_info program;
  size_t count;
  return dladdr(&ours, &program) && dladdr(posenc_kernels(&count), library) && library->dli_fbase != program.dli_fbase;
}

json_t *resume_build(const options *given) {
  Dl_info library;
  digest_text own, other = {""};
  if (!is_given(given, OPTION_SHARD) || !file_digest("/proc/self/exe", &own)) return NULL;
  if (has_library(&library) && !file_digest(library.dli_fname, &other)) return NULL;
  return json_sprintf("%s%s", own.text, other.text);
}

void resume_note(const options *given, json_t *build, json_t *holder) {
  json_t *part = json_object_get(holder, "shard");
  if (part) json_object_set_new(part, "command", json_string(given->shard_command));
  if (part && build) json_object_set(part, "build", build);
  json_decref(build);
}

/* Whether a kernel could not compute a shape for want of memory, which another start may have. */
static bool lacked_memory(const json_t *record) {
  const json_t *result;
  size_t i;
  json_array_foreach(json_object_get(record, "records"), i, result) {
    if (strcmp(field_string(result, "refusal"), posenc_status_message(POSENC_OUT_OF_MEMORY)) == 0) return true;
  }
  return false;
}

static bool is_done(const options *given, const json_t *build, json_t *run, int *status) {
  const char *path = given->output;
  if (access(path, F_OK) != 0) return false;
  json_t *record = load_json("--output", path, 0);
  const json_t *context = json_object_get(record, "context"),
               *part = json_object_get(context ? context : record, "shard");
  const bool same =
      field_integer(part, "number") == given->only.number && field_integer(part, "of") == given->only.of &&
      strcmp(field_string(part, "command"), given->shard_command) == 0 &&
      json_equal(run, json_object_get(part, "run")) && build && json_equal(build, json_object_get(part, "build"));
  if (!same)
    die_value("--output", path, "is not the record of this shard, command, build and input, which --resume would keep");
  const bool done = !lacked_memory(record);
  const record_timing *timing = context ? record_take_timing(record) : NULL;
  if (done)
    *status = timing ? timed_status(timing, false) : trusted_status(record, json_object_get(record, "encodings"));
  record_free(timing);
  json_decref(record);
  return done;
}

bool resume_is_done(const options *given, const json_t *build, json_t *run, int *status) {
  if (!is_given(given, OPTION_SHARD)) die("--resume: is for --shard");
  if (!format_is(given, "json")) die("--resume: is for --format json");
  if (strcmp(given->output, "-") == 0) die("--resume: needs --output");
  const bool done = is_done(given, build, run, status);
  json_decref(run);
  return done;
}
