/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"
#include "cli/catalogue.h"
#include "cli/code.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "cli/select.h"
#include "common/contract.h"
#include "common/field.h"
#include "common/memory.h"
#include "files/mapping.h"
#include "reports/model/choice.h"
#include "reports/page/plot.h"
#include "verify/sampling.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "Usage: posenc choose --len L --dim D [OPTION]...\n"
                            "Find the fastest kernel that is accurate enough for one problem on this machine:\n"
                            "verifies and times all kernels that can compute it, competitors and some\n"
                            "computations of frameworks too, prints them with a mark where no other is\n"
                            "both faster and more accurate, recommends one of the library or a plugin\n"
                            "with the reason, and prints C lines that use it.\n";
static const char notes[] = "The errors are those of the table; for add and rope, of the table that they\n"
                            "use. Every element is compared if there are fewer than 8 million, else a\n"
                            "sample.\n"
                            "\n"
                            "Without --kernel, recipe/annotated, recipe/hf-rope and recipe/xlm are candidates\n"
                            "too, as recipes are not of the default * (posenc list).\n"
                            "\n"
                            "A workload is the calls that are made with one plan: --rows is the size of\n"
                            "a call, --calls their number. The time by which kernels are chosen is that\n"
                            "of a call and its share of the plan. Decoding: --rows 1. A table that\n"
                            "grows, with a plan for each length: --rows 1 --calls 1. A prompt: all rows,\n"
                            "--calls 1, or as many as there are layers. Successive calls are of successive\n"
                            "rows; with more than half of --len, all are of the first.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if a kernel was found\n"
                            "  1                 if none is accurate enough, or one that could be chosen\n"
                            "                    breaks its promise\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc choose --len 4096 --dim 512\n"
                            "  $ posenc choose --len 4096 --dim 128 --op rope --heads 32 --max-ulp 0.5\n"
                            "  $ posenc choose --len 4096 --dim 128 --op rope --heads 32 --rows 1\n"
                            "  $ posenc choose --len 512 --dim 128 --keep kernels.wisdom\n"
                            "  $ posenc choose --len 131072 --dim 1024 --threads 2 --memory fresh \\\n"
                            "      --plot front.svg\n";

/* Returns the accuracy that kernels must have, as the library requires it: without a tolerance, correct rounding if one
   of its kernels has it. */
static choice_budget budget_of(const options *given) {
  const posenc_problem table = posenc_table_of(&given->problem);
  posenc_options exact = posenc_default_options();
  posenc_plan *plan;
  choice_budget budget = {given->max_ulp > 0.0 ? given->max_ulp : INFINITY,
                          given->max_abs > 0.0 ? given->max_abs : INFINITY};
  if (given->max_ulp > 0.0 || given->max_abs > 0.0) return budget;
  exact.max_ulp = 0.5;
  if (posenc_plan_create(&plan, &table, &exact) == POSENC_OK) {
    posenc_plan_destroy(plan);
    budget.max_ulp = 0.5;
  } else {
    budget.max_abs = choice_default_abs(table.dtype);
  }
  return budget;
}

/* Whether a program cannot use the kernel: it is in neither libposenc nor a plugin. */
static bool is_elsewhere(const char *name) {
  return !posenc_kernel_find(name) && !catalogue_place(find_kernel(name)).path;
}

/* Adds what most models of tables and of rope ran, and a recipe that is accurate enough to be chosen if it were in
   libposenc, if they can compute the problem. To verify and time all recipes takes longer than all kernels do. */
static void add_some_recipes(const options *given, selection *chosen) {
  static const char *const names[] = {"recipe/annotated", "recipe/hf-rope", "recipe/xlm"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const posenc_kernel *recipe = find_kernel(names[i]);
    const posenc_options how = options_of_plan(given, recipe);
    if (!posenc_kernel_refusal(recipe, &chosen->shapes->problem, &how)) add_kernel(chosen, recipe);
  }
}

/* Keeps the kernels that run on this CPU, except kernels that copy stored rows if the operation is a table, and
   threaded kernels if there is one thread. At least one of them can be chosen. */
static void keep_candidates(const options *given, selection *chosen) {
  size_t kept = 0, usable = 0;
  for (size_t i = 0; i < chosen->kernel_count; i++) {
    const posenc_kernel *kernel = chosen->kernels[i];
    const posenc_options how = options_of_plan(given, kernel);
    const bool copies = kernel->keeps_rows && !op_is_applied(given->problem.op),
               alone = kernel->threaded && given->threads == 1;
    if (copies || alone) continue;
    if (!given->kernel && posenc_kernel_refusal(kernel, NULL, &how)) continue;
    chosen->kernels[kept++] = kernel;
    usable += !is_elsewhere(kernel->name);
  }
  if (usable == 0) die_value("--kernel", given->kernel, "no kernel of libposenc or of a plugin that could be chosen");
  chosen->kernel_count = kept;
}

/* Selects the problem, and for add and rope also their table. */
static selection select_problem(const options *given) {
  if (!options_have_table(given)) die("--len and --dim are needed: one problem");
  const char *refusal = verify_refusal(&given->problem);
  if (refusal && given->grid) die_value("--grid", given->texts[OPTION_GRID], refusal);
  selection chosen = select_measured(given, false);
  if (!given->kernel) add_some_recipes(given, &chosen);
  keep_candidates(given, &chosen);
  if (given->problem.op == POSENC_TABLE) return chosen;
  const posenc_problem table = posenc_table_of(&given->problem);
  chosen.shapes = allocated(realloc(chosen.shapes, 2 * sizeof *chosen.shapes));
  chosen.shapes[1] = shape_of(&table);
  chosen.shape_count = 2;
  return chosen;
}

/* ---- wisdom ---------------------------------------------------------------------------------------- */

/* Whether `fresh` replaces the measurement in the line: they differ only in the time. */
static bool is_replaced(const char *line, const char *fresh) {
  enum { WORDS_BEFORE = 9 };
  for (int word = 0; word < WORDS_BEFORE; word++) {
    const size_t length = strcspn(line, " ");
    if (length != strcspn(fresh, " ") || strncmp(line, fresh, length) != 0 || !line[length]) return false;
    line += length + 1;
    fresh += length + 1;
  }
  return strcmp(line + strcspn(line, " "), fresh + strcspn(fresh, " ")) == 0;
}

typedef struct kept {
  char **lines;
  size_t count;
} kept;

static void add_line(kept *all, const char *line) {
  all->lines = allocated(reallocarray(all->lines, all->count + 1, sizeof *all->lines));
  all->lines[all->count++] = allocated(strdup(line));
}

/* Returns the lines of a wisdom file, none if it does not exist. Exits if the file has another format. */
static kept read_kept(const char *path) {
  kept all = {0};
  posenc_wisdom *wisdom;
  fault why;
  if (access(path, F_OK) != 0 && errno == ENOENT) return all;
  FILE *file = regular_open(path, &why);
  if (!file) die_value("--keep", path, why.text);
  if (posenc_wisdom_read(&wisdom, path) != POSENC_OK) die_value("--keep", path, "not a file of posenc choose --keep");
  posenc_wisdom_free(wisdom);
  char *line = NULL;
  size_t size = 0;
  bool is_header = true;
  while (getline(&line, &size, file) > 0) {
    if (!is_header) add_line(&all, line);
    is_header = false;
  }
  free(line);
  fclose(file);
  return all;
}

/* Writes the kept lines that are not replaced, then the new lines, for the library's kernels. */
static void write_kept(const kept *before, const record_choice *choice, const options *given, FILE *stream) {
  kept now = {0};
  RECORD_EACH(one, choice, candidates) {
    char line[512];
    if (!posenc_kernel_find(one->kernel)) continue;
    posenc_wisdom_line(line, sizeof line, &given->problem, given->threads, one->kernel, one->seconds);
    add_line(&now, line);
  }
  fputs(posenc_wisdom_header(), stream);
  for (size_t i = 0; i < before->count; i++) {
    bool replaced = false;
    for (size_t n = 0; n < now.count; n++) replaced = replaced || is_replaced(before->lines[i], now.lines[n]);
    if (!replaced) fputs(before->lines[i], stream);
  }
  for (size_t n = 0; n < now.count; n++) {
    fputs(now.lines[n], stream);
    free(now.lines[n]);
  }
  free(now.lines);
}

static void free_kept(kept *all) {
  for (size_t i = 0; i < all->count; i++) free(all->lines[i]);
  free(all->lines);
}

/* ---- the command ---------------------------------------------------------------------------------- */

/* Sets defaults with less work than those of verify and bench: a choice among all kernels takes a fraction of a
   minute. */
static void set_defaults(options *given) {
  if (!is_given(given, OPTION_THREADS)) given->threads = CHOOSE_THREADS;
  if (!is_given(given, OPTION_REPETITIONS)) given->repetitions = CHOOSE_REPETITIONS;
  if (given->rows > 0 && given->calls == 0) given->calls = (given->problem.rows - 1) / given->rows + 1;
  given->min_time = 0.02;
  given->budget = 4194304;
  given->search = 0;
  given->brief = true;
}

/* Whether a kernel that could be chosen failed while it was timed, or broke a promise. Others that did are told, but
   they are of others, and no choice depends on them. */
static bool has_failed(const json_t *accuracy, json_t *timing) {
  const record_accuracy *record = record_take_accuracy(accuracy);
  if (!record) die("out of memory");
  bool failed = false;
  const char *key;
  json_t *words;
  json_object_foreach(json_object_get(timing, "context"), key, words) {
    const char *kernel = kernel_of_failure(key);
    if (kernel && !is_elsewhere(kernel)) failed = true;
  }
  RECORD_EACH(result, record, records) {
    if (is_elsewhere(result->kernel)) continue;
    RECORD_EACH(check, result, checks)
      if (!check->ok && !check->skipped) failed = true;
  }
  record_free(record);
  return failed;
}

static int run(options *given) {
  set_defaults(given);
  const bool is_row = given->rows == 1 && given->problem.rows > 1;
  const bench_mode mode = is_row                                                 ? BENCH_ROW
                          : given->memory && strcmp(given->memory, "fresh") == 0 ? BENCH_FRESH
                                                                                 : BENCH_HOT;
  const char *picture = given->plot, *keep = given->keep;
  selection chosen = select_problem(given);
  if (given->problem.rows == 0) die_value("--len", "0", "an empty table takes no time");
  if (given->rows > given->problem.rows) die_value("--rows", given->texts[OPTION_ROWS], "more than --len");
  if (mode == BENCH_FRESH && op_is_applied(given->problem.op))
    die_value("--memory", "fresh", "x is never in fresh memory");
  if (picture && plot_refusal()) die_value("--plot", picture, plot_refusal());
  if (keep) refuse_emulator("--keep: ", "kept (posenc choose alone runs)");
  kept before = keep ? read_kept(keep) : (kept){0};
  output *wisdom = open_output("--keep", keep), *drawn = open_output("--plot", picture),
         *text = open_output("--output", given->output);
  FILE *out = output_stream(text);

  json_t *accuracy = measure_accuracy(given, &chosen, 1, false), *timing;
  const char *name = chosen.shapes[0].name, *table = chosen.shapes[chosen.shape_count - 1].name;
  select_modes(&chosen, 1u << mode | 1u << BENCH_PLAN);
  selection timed = chosen;
  timed.shape_count = 1;
  int status = measure_time(given, &timed, NULL, &timing);
  if (!timing) leave(status);
  if (json_array_size(json_object_get(timing, "benchmarks")) == 0) leave(STATUS_FAILED_CHECK); /* all were lost */
  const int64_t rows = given->rows > 0 ? given->rows : given->problem.rows;
  const choice_workload work = {.rows = rows,
                                .share = is_row ? 1.0 : (double)rows / (double)given->problem.rows,
                                .calls = given->calls,
                                .elsewhere = is_elsewhere};
  json_t *made = choice_of(accuracy, timing, name, table, bench_mode_name(mode), budget_of(given), &work);
  const record_choice *choice = made ? record_take_choice(made) : NULL;
  if (!choice) die("out of memory");

  const bool found = *choice->choice;
  if (format_is(given, "json")) {
    field_print(made, out);
  } else {
    choice_print(choice, out);
    print_unreliable(timing, out);
    if (found) code_print(out, given, find_kernel(choice->choice));
  }
  if (drawn && (choice_plot(choice, output_stream(drawn)) != 0 || !output_commit(drawn)))
    die_value("--plot", picture, "it could not be drawn");
  if (wisdom) write_kept(&before, choice, given, output_stream(wisdom));
  close_output("--keep", keep, wisdom);
  close_output("--output", given->output, text);
  free_kept(&before);
  status = found && !has_failed(accuracy, timing) ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
  record_free(choice);
  json_decref(made);
  json_decref(timing);
  json_decref(accuracy);
  selection_free(&chosen);
  return status;
}

const command command_choose = {
    .bit = CHOOSE,
    .name = "choose",
    .summary = "find the fastest kernel that is accurate enough",
    .usage = usage,
    .notes = notes,
    .run = run,
};
