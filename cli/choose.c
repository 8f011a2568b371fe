/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"
#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "cli/options.h"
#include "common/contract.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "inspect/files/stored.h"
#include "reports/model/answer.h"
#include "reports/page/plot.h"
#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- C code for the kernel that was found -------------------------------------------------------- */

static const char *layout_constant(posenc_layout layout) {
  static const char *const names[] = {"POSENC_INTERLEAVED", "POSENC_INTERLEAVED_CS", "POSENC_SPLIT", "POSENC_SPLIT_CS",
                                      "POSENC_DUPLICATED"};
  return names[layout];
}

static const char *dtype_constant(posenc_dtype dtype) {
  static const char *const names[] = {"POSENC_F32", "POSENC_F64", "POSENC_F16", "POSENC_BF16"};
  return names[dtype];
}

static void print_scaling(FILE *out, const posenc_problem *p) {
  static const char *const kinds[SCALINGS] = {"NONE", "LINEAR", "DYNAMIC", "YARN", "LLAMA3", "LONGROPE"};
  const posenc_scaling *s = &p->scaling;
  if (s->kind == POSENC_SCALING_NONE && s->attention == 0.0) return;
  fprintf(out, "  problem.scaling.kind = POSENC_SCALING_%s;\n", kinds[s->kind]);
  for (int key = 0; key < SCALING_KEYS; key++) {
    const void *member = (const char *)s + scaling_keys[key].offset;
    if (!(scaling_forms[s->kind].keys >> key & 1u)) continue;
    if (scaling_keys[key].type == SCALING_LIST) {
      fputs("  static const double factors[] = {", out);
      for (int64_t i = 0; i < p->dim / 2; i++) fprintf(out, "%s%s", i ? ", " : "", number_of(s->factors[i]).text);
      fputs("};\n", out);
    }
    fprintf(out, "  problem.scaling.%s = ", scaling_keys[key].name);
    switch (scaling_keys[key].type) {
    case SCALING_REAL:
      fputs(number_of(*(const double *)member).text, out);
      break;
    case SCALING_WHOLE:
      fprintf(out, "INT64_C(%" PRId64 ")", *(const int64_t *)member);
      break;
    case SCALING_FLAG:
      fputs(*(const bool *)member ? "true" : "false", out);
      break;
    case SCALING_LIST:
      fputs("factors", out);
      break;
    }
    fputs(";\n", out);
  }
}

/* Prints an array of the positions of an axis, unless they are its coordinates. */
static void print_positions(FILE *out, const posenc_axis *axis, int number) {
  double first, step;
  if (!axis->positions) return;
  if (grid_steps(axis, &first, &step)) {
    fprintf(out,
            "  static double positions_%d[%" PRId64 "];\n"
            "  for (int n = 0; n < %" PRId64 "; n++) positions_%d[n] = %s + %s * (double)n;\n",
            number, axis->size, axis->size, number, number_of_position(first).text, number_of_position(step).text);
  } else if (axis->size > SHAPE_POSITIONS) {
    fprintf(out, "  extern const double positions_%d[%" PRId64 "]; // of each row\n", number, axis->size);
  } else {
    fprintf(out, "  static const double positions_%d[] = {", number);
    for (int64_t n = 0; n < axis->size; n++)
      fprintf(out, "%s%s", n ? ", " : "", number_of_position(axis->positions[n]).text);
    fputs("};\n", out);
  }
}

static void print_axes(FILE *out, const posenc_problem *p) {
  static const char *const orders[] = {"CHUNKED", "CYCLIC"}, *const frequencies[] = {"RESTARTED", "CONTINUED", "DEALT"};
  const posenc_axes *axes = p->axes;
  if (!axes) return;
  for (int a = 0; a < axes->count; a++) print_positions(out, &axes->axis[a], a);
  fprintf(out, "  posenc_axes axes = {.size = sizeof axes, .count = %d};\n", axes->count);
  for (int a = 0; a < axes->count; a++) {
    const posenc_axis *axis = &axes->axis[a];
    fprintf(out,
            "  axes.axis[%d] = (posenc_axis){.pairs = %" PRId64 ", .size = %" PRId64 ", .stride = %" PRId64
            ", .divisor = %s",
            a, axis->pairs, axis->size, axis->stride, number_of_position(axis->divisor).text);
    if (axis->positions) fprintf(out, ", .positions = positions_%d", a);
    fputs("};\n", out);
  }
  if (axes->order) fprintf(out, "  axes.order = POSENC_AXES_%s;\n", orders[axes->order]);
  if (axes->frequencies) fprintf(out, "  axes.frequencies = POSENC_AXES_%s;\n", frequencies[axes->frequencies]);
  if (axes->grouped) fputs("  axes.grouped = true;\n", out);
  fputs("  problem.axes = &axes;\n", out);
}

static void print_problem(FILE *out, const posenc_problem *p) {
  static const char *const makers[] = {
      [POSENC_TABLE] = "table", [POSENC_ADD] = "add", [POSENC_ROPE_CACHE] = "rope_tables"};
  if (p->op == POSENC_ROPE)
    fprintf(out, "  posenc_problem problem = posenc_rope(%" PRId64 ", %" PRId64 ", %" PRId64 ");\n", p->rows, p->heads,
            p->dim);
  else
    fprintf(out, "  posenc_problem problem = posenc_%s(%" PRId64 ", %" PRId64 ");\n", makers[p->op], p->rows, p->dim);
  const posenc_problem usual = posenc_table(p->rows, p->dim);
  if (p->first != usual.first) fprintf(out, "  problem.first = INT64_C(%" PRId64 ");\n", p->first);
  if (p->base != usual.base) fprintf(out, "  problem.base = %.17g;\n", p->base);
  if (p->shift != usual.shift) fprintf(out, "  problem.shift = %.17g;\n", p->shift);
  if (p->scale != usual.scale) fprintf(out, "  problem.scale = %.17g;\n", p->scale);
  print_scaling(out, p);
  print_axes(out, p);
  if (p->padding != usual.padding) fprintf(out, "  problem.padding = INT64_C(%" PRId64 ");\n", p->padding);
  if (p->layout != layout_default(p->op)) fprintf(out, "  problem.layout = %s;\n", layout_constant(p->layout));
  if (p->dtype != usual.dtype) fprintf(out, "  problem.dtype = %s;\n", dtype_constant(p->dtype));
  if (p->inverse) fprintf(out, "  problem.inverse = true;\n");
}

/* Prints the lines that select a kernel that the library would not choose by itself. A plugin's kernel is in the list
   that POSENC_PLUGIN makes; a kernel of the library may be absent or refuse the problem on another machine. */
static void print_kernel(FILE *out, const posenc_kernel *kernel) {
  const plugin_place place = catalogue_place(kernel);
  if (place.path)
    fprintf(out,
            "  // %s is a kernel of %s, which has to be linked with the program\n"
            "  extern const posenc_kernel *const posenc_plugin_kernels[];\n"
            "  options.kernel = posenc_plugin_kernels[%zu];\n",
            kernel->name, place.path, place.number);
  else
    fprintf(out,
            "  const posenc_kernel *fastest = posenc_kernel_find(\"%s\");\n"
            "  if (fastest && !posenc_kernel_refusal(fastest, &problem, &options))\n"
            "    options.kernel = fastest; // else, as on another CPU, the library chooses\n",
            kernel->name);
}

static void print_options(FILE *out, const options *given, const posenc_kernel *kernel) {
  posenc_options how = posenc_default_options();
  fputs("  posenc_options options = posenc_default_options();\n", out);
  if (given->max_ulp > 0.0) fprintf(out, "  options.max_ulp = %s;\n", number_of(how.max_ulp = given->max_ulp).text);
  if (given->max_abs > 0.0) fprintf(out, "  options.max_abs = %s;\n", number_of(how.max_abs = given->max_abs).text);
  if (kernel->threaded) fprintf(out, "  options.threads = %d;\n", how.threads = given->threads);
  if (kernel_by_default(&given->problem, &how) != kernel) print_kernel(out, kernel);
}

/* Prints the code, with the tolerance if there is one. On other CPUs, the code runs with the kernel that the library
   chooses there. */
static void code_print(FILE *out, const options *given, const posenc_kernel *kernel) {
  const posenc_problem *problem = &given->problem;
  fputs("\n", out);
  print_problem(out, problem);
  print_options(out, given, kernel);
  fputs("  posenc_plan *plan;\n"
        "  if (posenc_plan_create(&plan, &problem, &options) != POSENC_OK) return 1;\n",
        out);
  const bool is_part = given->rows > 0 && given->rows < problem->rows;
  const int64_t rows = is_part ? given->rows : problem->rows;
  const char *const first = is_part ? "row" : "0";
  if (is_part) fputs("  const int64_t row = 0; // where the rows of a call begin\n", out);
  if (problem->op == POSENC_TABLE)
    fprintf(out, "  posenc_execute(plan, %s, %" PRId64 ", table);\n", first, rows);
  else if (problem->op == POSENC_ROPE_CACHE)
    fprintf(out, "  posenc_rope_cache(plan, %s, %" PRId64 ", cosines, sines);\n", first, rows);
  else
    fprintf(out,
            "  posenc_slice slice = posenc_rows(%s, %" PRId64 ");\n"
            "  posenc_apply(plan, &slice, x, x);\n",
            first, rows);
  fputs("  posenc_plan_destroy(plan);\n", out);
}

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
static void add_some_recipes(const options *given, run_request *chosen) {
  static const char *const names[] = {"recipe/annotated", "recipe/hf-rope", "recipe/xlm"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const posenc_kernel *recipe = find_kernel(names[i]);
    if (!options_refusal(given, recipe, &chosen->shapes->problem)) add_kernel(chosen, recipe);
  }
}

/* Keeps the kernels that run on this CPU, except kernels that copy stored rows if the operation is a table, and
   threaded kernels if there is one thread. At least one of them can be chosen. */
static void keep_candidates(const options *given, run_request *chosen) {
  size_t kept = 0, usable = 0;
  for (size_t i = 0; i < chosen->kernel_count; i++) {
    const posenc_kernel *kernel = chosen->kernels[i];
    const bool copies = kernel->keeps_rows && !op_is_applied(given->problem.op),
               alone = kernel->threaded && given->threads == 1;
    if (copies || alone) continue;
    if (!given->kernel && options_refusal(given, kernel, NULL)) continue;
    chosen->kernels[kept++] = kernel;
    usable += !is_elsewhere(kernel->name);
  }
  if (usable == 0) die_value("--kernel", given->kernel, "no kernel of libposenc or of a plugin that could be chosen");
  chosen->kernel_count = kept;
  chosen->item_count = 0;
  run_cross(chosen);
}

/* Selects the problem, and for add and rope also their table. */
static run_request select_problem(const options *given) {
  if (!options_have_table(given)) die("--len and --dim are needed: one problem");
  const char *refusal = verify_refusal(&given->problem);
  if (refusal && given->grid) die_value("--grid", given->texts[OPTION_GRID], refusal);
  run_request chosen = select_measured(given, false);
  if (!given->kernel) add_some_recipes(given, &chosen);
  const posenc_problem table = posenc_table_of(&given->problem);
  const shape of = shape_of(&table);
  if (given->problem.op != POSENC_TABLE) run_shape(&chosen, &of, NULL);
  keep_candidates(given, &chosen);
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
static bool has_failed(const record_accuracy *record, const record_timing *timing) {
  const record_facts *facts = &timing->context.facts;
  bool failed = false;
  RECORD_EACH(fact, facts, list) {
    const char *kernel = kernel_of_failure(fact->key);
    if (kernel && !is_elsewhere(kernel)) failed = true;
  }
  RECORD_EACH(result, record, records) {
    if (is_elsewhere(result->kernel)) continue;
    RECORD_EACH(check, result, checks)
      if (!check->ok && !check->skipped) failed = true;
  }
  return failed;
}

static int run(options *given) {
  set_defaults(given);
  const bool is_row = given->rows == 1 && given->problem.rows > 1;
  const bench_mode of_all = given->memory && strcmp(given->memory, "fresh") == 0 ? BENCH_FRESH : BENCH_HOT,
                   mode = is_row ? BENCH_ROW : of_all;
  const char *picture = given->plot, *keep = given->keep;
  run_request chosen = select_problem(given);
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

  const record_accuracy *accuracy = measure_accuracy(&chosen);
  const record_timing *timing;
  const char *name = chosen.shapes[0].name, *table = chosen.shapes[chosen.shape_count - 1].name;
  select_modes(&chosen, 1u << mode | 1u << BENCH_PLAN);
  run_request timed = run_of_shape(&chosen, 0);
  int status = bench_run(&timed, &timing);
  run_free(&timed);
  if (!timing) leave(status);
  if (timing->benchmarks_count == 0) leave(STATUS_FAILED_CHECK); /* all were lost */
  const int64_t rows = given->rows > 0 ? given->rows : given->problem.rows;
  const choice_workload work = {.rows = rows,
                                .share = is_row ? 1.0 : (double)rows / (double)given->problem.rows,
                                .calls = given->calls,
                                .elsewhere = is_elsewhere};
  record_memory memory = {NULL};
  const record_choice made =
      choice_of(accuracy, timing, name, table, bench_mode_name(mode), budget_of(given), &work, &memory);
  const record_choice *choice = &made;

  const bool found = *choice->choice;
  if (format_is(given, "json")) {
    record_print(record_write_choice(choice), out);
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
  record_release(&memory);
  record_free(timing);
  record_free(accuracy);
  run_free(&chosen);
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
