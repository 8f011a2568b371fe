/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/measure.h"

#include "bench/bench.h"
#include "cli/catalogue.h"
#include "cli/files.h"
#include "common/contract.h"
#include "common/digest.h"
#include "common/environment.h"
#include "common/memory.h"
#include "impls/opencl/opencl.h"
#include "impls/recipes/recipes.h"
#include "posenc.h"
#include "records/make.h"
#include "records/record.h"
#include "reports/model/answer.h"
#include "verify/verify.h"

#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Exits if --batch is given, but no selected shape has sequences. */
static void require_applied(const options *given, const run_request *chosen) {
  for (size_t i = 0; i < chosen->shape_count; i++)
    if (op_is_applied(chosen->shapes[i].problem.op)) return;
  options_refuse(given, ANY_OF(SET(BATCH)), given->problem.op == POSENC_ROPE_CACHE ? "--op rope-cache" : "--op table");
}

void refuse_emulator(const char *what, const char *use) {
  char name[ENVIRONMENT_TEXT];
  const char *emulator = environment_emulator(name);
  if (emulator) die("%s%s emulates the processor: its times are not %s", what, emulator, use);
}

void require_tables(const options *given, const run_request *chosen, const char *option) {
  const posenc_problem *problem = &given->problem;
  for (size_t i = 0; i < chosen->shape_count; i++) {
    const posenc_problem *each = &chosen->shapes[i].problem;
    if (!op_is_applied(each->op) && !each->positions && !each->axes && each->dim % 2 == 0) return;
  }
  if (problem->positions || problem->axes)
    die("%s: cannot be combined with --%s", option, problem->positions ? "positions" : "grid");
  if (problem->dim % 2) die("%s: cannot be combined with --odd %s", option, odd_name(problem->odd));
  die("%s: cannot be combined with --op %s", option, op_name(problem->op));
}

/* Exits if --search is given, but no selected shape is searched. */
static void require_searchable(const options *given, const run_request *chosen) {
  const char *search = given->texts[OPTION_SEARCH];
  char option[64];
  if (!search || given->search == 0) return;
  snprintf(option, sizeof option, "--search %s", search);
  require_tables(given, chosen, option);
}

/* Adds the shapes of --op, or all shapes. */
static void add_shapes(run_request *chosen, const options *given, const shape *shapes, size_t count) {
  const bool any = !is_given(given, OPTION_OP);
  for (size_t i = 0; i < count; i++)
    if (any || given->problem.op == shapes[i].problem.op) run_shape(chosen, &shapes[i], NULL);
}

static void select_shapes(run_request *chosen, const options *given, bool sweep) {
  size_t count;
  const shape *shapes;
  if (options_have_table(given)) {
    const shape one = shape_of(&given->problem);
    run_shape(chosen, &one, NULL);
    return;
  }
  shapes = shapes_sweep(&count);
  if (sweep) add_shapes(chosen, given, shapes, count);
  shapes = shapes_published(&count);
  add_shapes(chosen, given, shapes, count);
  shapes = shapes_scaled(&count); /* not timed, as the time of rows does not depend on frequencies */
  if (!sweep) add_shapes(chosen, given, shapes, count);
  shapes = shapes_applied(&count);
  add_shapes(chosen, given, shapes, count);
}

/* Exits if no kernel can compute any of the shapes, so that the exit status is not that of success. */
static void require_runnable(const options *given, run_request *chosen, bool plans) {
  if (given->propose_bound && !is_given(given, OPTION_DTYPE)) return; /* it looks at every dtype */
  if (!run_ask(chosen, plans)) die_unmeasured();
  const char *refusal = NULL;
  for (size_t k = 0; k < chosen->kernel_count; k++) {
    refusal = run_refusal(chosen, k);
    if (!refusal) return;
  }
  if (!refusal) return;
  const char *last = chosen->kernels[chosen->kernel_count - 1]->name;
  if (given->kernel) die("--kernel %s: %s cannot do this here: %s", given->kernel, last, refusal);
  die("no kernel can do this here; %s: %s", last, refusal);
}

/* Leaves out kernels that are not timed on this machine, with a line on stderr. Exits if --kernel has the name of one,
   or selects no other. */
static void leave_out_untimed(const options *given, run_request *timed) {
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

void add_kernel(run_request *chosen, const posenc_kernel *kernel) {
  const size_t place = run_kernel(chosen, kernel);
  for (size_t i = 0; i < chosen->shape_count; i++) run_add(chosen, place, i);
}

/* Adds what a report shows beside kernels that were selected, or are of a plugin: the literal formula, and what the
   library takes by default. */
static void add_beside(const options *given, run_request *chosen) {
  bool any = is_given(given, OPTION_KERNEL);
  for (size_t k = 0; k < chosen->kernel_count; k++) any = any || catalogue_place(chosen->kernels[k]).path;
  if (!any || given->self->bit != REPORT) return;
  run_choice *choices = run_choices(chosen);
  for (size_t i = 0; choices && i < chosen->shape_count; i++)
    if (choices[i].serial) add_kernel(chosen, choices[i].serial);
  add_kernel(chosen, posenc_kernel_find(answer_literal));
  free(choices);
}

void describe_kernels(const options *given, const record_accuracy **record) {
  const bool asked = is_given(given, OPTION_KERNEL), plugins = given->plugins.count > 0;
  record_accuracy described = **record;
  record_kernel *kernels = memory_take(described.kernels_count, sizeof *kernels), *one = kernels;
  RECORD_EACH(kernel, *record, kernels) {
    const plugin_place place = catalogue_place(catalogue_find(kernel->name));
    *one = *kernel;
    one->plugin = place.path;
    one->plugin_index = place.number;
    one->has_plugin_index = place.path;
    one->selected = asked ? selects_kernel(given, kernel->name) : place.path != NULL;
    one->has_selected = asked || plugins;
    one++;
  }
  described.kernels = kernels;
  record_change_accuracy(record, &described);
  free(kernels);
}

run_request begin_run(const options *given) {
  static const bench_device device = {&opencl_cr, opencl_stay, opencl_busy, opencl_rate};
  static const char *replay_options, *list; /* until the program ends */
  const char *plugins = catalogue_options(), *const propose = "--propose-bound",
             *positions = given->texts[OPTION_POSITIONS];
  if (!replay_options && (plugins || given->propose_bound))
    replay_options = quoted_line(plugins ? plugins : "", given->propose_bound, &propose);
  if (!list && positions) list = quoted_line("", 1, &positions);
  run_request begun = {
      .isa = given->isa,
      .threads = given->threads,
      .stores = given->stores,
      .silence = given->silence,
      .only = given->only,
      .exam = {.seed = (uint64_t)given->seed,
               .budget = given->budget,
               .search = given->search,
               .brief = given->brief,
               .explain = given->explain,
               .open = catalogue_open_device,
               .replay_options = replay_options,
               .list = list},
      .timing = {.device = &device,
                 .repetitions = given->repetitions,
                 .batch = given->batch,
                 .rows = given->rows,
                 .min_time = given->min_time,
                 .longest = bench_longest,
                 .unchecked = given->encoding},
  };
  begun.plugins = catalogue_plugins(&begun.plugin_count);
  return begun;
}

run_request select_measured(const options *given, bool sweep) {
  run_request chosen = begin_run(given);
  select_shapes(&chosen, given, sweep);
  chosen.kernels = select_kernels(given, &chosen.kernel_count);
  if (sweep) leave_out_untimed(given, &chosen);
  run_cross(&chosen);
  require_applied(given, &chosen);
  require_searchable(given, &chosen);
  require_runnable(given, &chosen, !sweep);
  add_beside(given, &chosen);
  return chosen;
}

void require_named(const options *given, const run_request *chosen) {
  for (size_t k = 0; k < chosen->kernel_count; k++) {
    const posenc_kernel *kernel = chosen->kernels[k];
    const char *refusal = run_refusal(chosen, k);
    if (refusal && is_named(given, kernel))
      die("--kernel %s: %s cannot do this here: %s", given->kernel, kernel->name, refusal);
  }
}

run_request select_cases(const options *given, const char *const *files, size_t count) {
  run_request chosen = begin_run(given);
  static run_cases *cases; /* until the program ends */
  cases = memory_take(count, sizeof *cases);
  for (size_t i = 0; i < count; i++) {
    char why[200];
    cases[i] = (run_cases){cases_load(files[i], why, sizeof why), quoted_line("--cases", 1, &files[i]), {""}};
    if (!cases[i].cases) die_value("--cases", files[i], why);
    if (!file_digest(files[i], &cases[i].digest)) die_value("--cases", files[i], strerror(errno));
    run_shape(&chosen, cases_shape(cases[i].cases), &cases[i]);
  }
  chosen.kernels = select_kernels(given, &chosen.kernel_count);
  run_cross(&chosen);
  require_runnable(given, &chosen, false);
  return chosen;
}

run_request select_recipes(const options *given) {
  static const char *const names[] = {"transformer-base", "fairseq-base"}; /* one for each denominator */
  const shape described = shape_of(&given->problem), *tables[2] = {&described};
  run_request chosen = begin_run(given);
  size_t count, tables_count = 1;
  const posenc_kernel *const *recipes = recipes_shipped(&count);
  if (given->kernel || (!options_have_table(given) && given->problem.op != POSENC_TABLE)) return chosen;
  if (!options_have_table(given))
    for (tables_count = 0; tables_count < 2; tables_count++)
      tables[tables_count] = shapes_find(shapes_published, names[tables_count]);
  for (size_t t = 0; t < tables_count; t++)
    for (size_t i = 0; i < count; i++) {
      const bool is_known = t > 0 && !options_refusal(given, recipes[i], &tables[0]->problem);
      if (is_known || options_refusal(given, recipes[i], &tables[t]->problem)) continue;
      run_add(&chosen, run_kernel(&chosen, recipes[i]), run_shape(&chosen, tables[t], NULL))->profile = RUN_POINTS;
    }
  return chosen;
}

void add_recipes(const options *given, run_request *timed) {
  run_request recipes = select_recipes(given);
  for (size_t n = 0; n < recipes.item_count; n++) {
    const run_item *one = &recipes.items[n];
    const size_t place = run_find_shape(timed, recipes.shapes[one->shape].name);
    if (place < timed->shape_count) run_add(timed, run_kernel(timed, recipes.kernels[one->kernel]), place);
  }
  run_free(&recipes);
}

void die_unmeasured(void) {
  die("%s", errno == EAGAIN ? "no process could be created for the kernels: the system allows this user no more"
                            : "out of memory");
}

const record_accuracy *measure_accuracy(run_request *asked) {
  const record_accuracy *record = verify_run(asked);
  if (!record) die_unmeasured();
  return record;
}

int accuracy_status(const record_accuracy *record) {
  return record->failed > 0 ? STATUS_FAILED_CHECK : EXIT_SUCCESS;
}

static bool is_trusted(const record_accuracy *record) {
  char why[200];
  return !record_mistrust(record, why, sizeof why) && accuracy_status(record) == EXIT_SUCCESS;
}

int whole_status(const record_accuracy *record) {
  record_memory memory = {NULL};
  const record_accuracy encodings = record_of_encodings(&record->encodings, &memory);
  const bool has_encodings = record->encodings.there,
             is_alone = has_encodings && !record->kernels_count && !record->records_count,
             are_trusted = (is_alone || is_trusted(record)) && (!has_encodings || is_trusted(&encodings));
  record_release(&memory);
  return are_trusted ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
}

/* Whether a timing record has times of a kernel. */
static bool has_times(const record_timing *record, const char *kernel) {
  RECORD_EACH(one, record, benchmarks)
    if (is_benchmark_of(one->name, kernel)) return true;
  return false;
}

int timed_status(const record_timing *record, bool told) {
  int status = EXIT_SUCCESS;
  const record_facts none = {.there = false}, *facts = record ? &record->context.facts : &none;
  RECORD_EACH(fact, facts, list) {
    const char *kernel = kernel_of_failure(fact->key);
    if (!kernel) continue;
    status = STATUS_FAILED_CHECK;
    if (told) continue;
    note("%s is left out%s: %s", kernel, has_times(record, kernel) ? " of some shapes or modes" : "",
         fact->is_text ? fact->value : "?");
  }
  return status;
}

void select_modes(run_request *chosen, unsigned modes) {
  for (size_t n = 0; n < chosen->item_count; n++) chosen->items[n].modes = modes;
}

void select_profile(run_request *chosen, run_profile wanted) {
  for (size_t n = 0; n < chosen->item_count; n++) chosen->items[n].profile = wanted;
}

/* ---- --resume, and the command in the record of a shard ------------------------------------------ */

/* A static program finds neither: it has no other file. */
static bool has_library(Dl_info *library) {
  static const char ours = 0;
  Dl_info program;
  size_t count;
  return dladdr(&ours, &program) && dladdr(posenc_kernels(&count), library) && library->dli_fbase != program.dli_fbase;
}

char *resume_build(const options *given) {
  Dl_info library;
  digest_text own, other = {""};
  if (!is_given(given, OPTION_SHARD) || !file_digest("/proc/self/exe", &own)) return NULL;
  if (has_library(&library) && !file_digest(library.dli_fname, &other)) return NULL;
  return memory_print("%s%s", own.text, other.text);
}

void resume_note(const options *given, const char *build, record_run_shard *part) {
  if (!part->there) return;
  part->command = given->shard_command;
  part->build = build;
}

/* Whether a kernel could not compute a shape for want of memory, which another start may have. */
static bool lacked_memory(const record_accuracy *record) {
  RECORD_EACH(result, record, records)
    if (strcmp(result->refusal, posenc_status_message(POSENC_OUT_OF_MEMORY)) == 0) return true;
  return false;
}

/* Whether this is the part of the run, made by the same command and build. */
static bool is_same_part(const options *given, const char *build, const run_request *asked,
                         const record_run_shard *part) {
  record_memory memory = {NULL};
  const record_run wanted = run_record(asked, &memory), *run = record_keep_run(&wanted);
  record_unlike unused;
  const bool same = part->number == given->only.number && part->of == given->only.of &&
                    strcmp(part->command, given->shard_command) == 0 && !record_unlike_runs(run, &part->run, &unused) &&
                    build && strcmp(build, part->build) == 0;
  record_free(run);
  record_release(&memory);
  return same;
}

static bool is_done(const options *given, const char *build, const run_request *asked, int *status) {
  const char *path = given->output;
  if (access(path, F_OK) != 0) return false;
  json_t *json = load_json("--output", path, 0);
  const bool is_accuracy = record_is_of(json, "posenc-accuracy-");
  const record_accuracy *accuracy = is_accuracy ? record_take_accuracy(json) : NULL;
  const record_timing *timing = is_accuracy ? NULL : record_take_timing(json);
  if (!is_same_part(given, build, asked, accuracy ? &accuracy->shard : &timing->context.shard))
    die_value("--output", path, "is not the record of this shard, command, build and input, which --resume would keep");
  const bool done = !accuracy || !lacked_memory(accuracy);
  if (done && accuracy)
    *status = whole_status(accuracy);
  else if (done)
    *status = timed_status(timing, false);
  record_free(accuracy);
  record_free(timing);
  return done;
}

bool resume_is_done(const options *given, const char *build, const run_request *asked, int *status) {
  if (!is_given(given, OPTION_SHARD)) die("--resume: is for --shard");
  if (!format_is(given, "json")) die("--resume: is for --format json");
  if (strcmp(given->output, "-") == 0) die("--resume: needs --output");
  return is_done(given, build, asked, status);
}
