/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "common/clock.h"
#include "common/contract.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/terminal.h"
#include "records/merge.h"
#include "records/timings.h"
#include "reports/model/document.h"
#include "reports/report.h"
#include "verify/verify.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: posenc report [OPTION]... -o DIR\n"
                            "  or:  posenc report REPORT.json REPORT.json... [--label NAME]... -o DIR\n"
                            "Publish accuracy and speed of kernels: index.html and details.html (open from\n"
                            "disk), report.md, report.json, the figures as SVG and their data as CSV.\n"
                            "Verifies and times the kernels first, unless records are given, and leaves the\n"
                            "records in accuracy.json and bench.json beside the page. Without --len and\n"
                            "--dim, the published tables and shapes of add and rope are measured; and a\n"
                            "sweep of lengths is timed, some of them also with cold caches and in fresh\n"
                            "memory. Without --kernel, the computations of frameworks (recipe/*) are\n"
                            "compared with the kernels on a table. With it, or with kernels of a plugin, the\n"
                            "page is about those kernels and shows the library's default and the literal\n"
                            "formula beside them. The second form compares machines, by the report.json of\n"
                            "each: fastest kernels, shares of the limit, and promises of the same bits.\n";
static const char notes[] = "Exit status:\n"
                            "  0                 on success\n"
                            "  1                 if the page shows a broken promise, or different bits on\n"
                            "                    another machine, or a kernel could not be timed to the end\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc report -o posenc-report\n"
                            "  $ posenc report --from accuracy.json --from bench.json -o posenc-report\n"
                            "  $ posenc report here/report.json there/report.json -o machines\n";

/* The records of the page; null before they are measured. */
typedef struct records {
  const record_accuracy *accuracy;
  const record_timing *timing;
  const char *accuracy_path, *timing_path; /* paths given to --from */
} records;

/* Exits if a record is a part of a run. */
static void refuse_shard(const char *path, bool is_shard) {
  if (is_shard) die_value("--from", path, "a part of a run: posenc merge makes one record of all its shards");
}

static void take_timing(records *found, const char *path, json_t *json) {
  record_fault why;
  if (found->timing) die_value("--from", path, "the second record of its kind");
  found->timing_path = path;
  found->timing = record_read_timing(json, &why);
  if (!found->timing) die("timing record: %s", why.text);
  refuse_shard(path, found->timing->context.shard.there);
  const char *emulator = record_fact_text(&found->timing->context.facts, "emulator");
  if (*emulator && strcmp(emulator, "no") != 0)
    die_value("--from", path, "times of an emulated processor, which are not published");
}

static void take_accuracy(records *found, const char *path, json_t *json) {
  record_fault why;
  if (found->accuracy) die_value("--from", path, "the second record of its kind");
  found->accuracy_path = path;
  found->accuracy = record_read_accuracy(json, &why);
  if (!found->accuracy) die("accuracy record: %s", why.text);
  refuse_shard(path, found->accuracy->shard.there);
}

/* Reads a record of --from. */
static void take_record(records *found, const char *path) {
  json_t *json = load_json("--from", path, 0);
  if (record_is_of(json, "posenc-accuracy-"))
    take_accuracy(found, path, json);
  else if (record_is_of(json, "posenc-bench-"))
    take_timing(found, path, json);
  else
    die_value("--from", path, "neither an accuracy record nor a timing record");
}

/* Exits if an option of a measurement is given that --from replaces: the page would not show its effect. */
static void refuse_unused(const options *given, const records *found) {
  const option_set of_both = ANY_OF(PROBLEM_SET, SET(OP), KERNEL_SET, SET(TIME_LIMIT));
  const option_set of_accuracy = ANY_OF(BUDGET_SET, SET(SEED), SET(CASES)), of_timing = ANY_OF(TIMING_SET, SET(FULL));
  if (found->accuracy) options_refuse(given, of_accuracy, "--from, which gives the accuracy record");
  if (found->timing) options_refuse(given, of_timing, "--from, which gives the timing record");
  if (found->accuracy && found->timing) options_refuse(given, of_both, "--from, which gives both records");
}

/* ---- the folder -------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void die_folder(const char *path) {
  die_value("--output", path, strerror(errno));
}

static char *path_in(const char *folder, const char *name) {
  const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
  return memory_print("%s%s%s", folder, slash, name);
}

/* Exits if the page cannot be written to the folder, so that the error does not come after minutes of measuring. */
static void prepare_folder(const char *path) {
  if (!output_make_folder(path)) die_folder(path);
  char *name = path_in(path, "accuracy.json");
  output *out = output_open(name);
  if (!out) die_folder(path);
  output_abandon(out);
  free(name);
}

/* ---- measuring and writing ---------------------------------------------------------------------- */

static void save(const void *record, const char *folder, const char *name) {
  char *path = path_in(folder, name);
  output *out = output_open(path);
  if (!out) die("%s: %s", path, strerror(errno));
  record_print_as(record_as_read(record), JSON_COMPACT, output_stream(out));
  if (!output_commit(out)) die("%s: %s", path, strerror(errno));
  free(path);
}

/* Returns the index in the sweep of lengths, or SIZE_MAX. */
static size_t place_in_sweep(const shape *table) {
  size_t count;
  const shape *sweep = shapes_sweep(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(sweep[i].name, table->name) == 0) return i;
  return SIZE_MAX;
}

/* Returns the modes of a shape. Without --full, every shape is timed hot. Every other length of the sweep, which is one
   for each cache and one beyond, is also timed cold and fresh. The plan is timed at one length, because it does not
   depend on the length. */
static unsigned modes_of(const shape *table, bool full, bool alone) {
  enum { HOT = 1 << BENCH_HOT, COLD = 1 << BENCH_COLD, FRESH = 1 << BENCH_FRESH, PLAN = 1 << BENCH_PLAN };
  const size_t place = place_in_sweep(table);
  unsigned modes = HOT;
  if (full)
    modes = (1u << BENCH_MODES) - 1;
  else if (alone)
    modes |= COLD | FRESH | PLAN;
  else if (place == SIZE_MAX)
    modes |= PLAN;
  else if (place % 2 == 0)
    modes |= COLD | FRESH | (place == 0 ? PLAN : 0);
  return op_is_applied(table->problem.op) ? modes & ~(unsigned)FRESH : modes;
}

/* The longest pass over a table, in seconds, in modes of whole tables (run_timing). Longer ones are as fast with
   cold caches as with hot ones, and would take most of a report's time. */
static const double short_longest = 0.1;

static void select_report_modes(const options *given, run_request *timed, bool full) {
  for (size_t n = 0; n < timed->item_count; n++) {
    run_item *one = &timed->items[n];
    one->modes = modes_of(&timed->shapes[one->shape], full, options_have_table(given));
  }
  if (!full) timed->timing.longest = short_longest;
  timed->timing.foretell = full;
}

#ifdef HAVE_BENCHMARK
/* Prints an upper estimate of the time before anything is calibrated. It does not include the measurements of the
   machine's limit. */
static void foretell(const options *given, const run_request *timed, bool verifies) {
  double planned = 0;
  for (size_t n = 0; n < timed->item_count; n++) {
    const run_item *one = &timed->items[n];
    if (!options_refusal(given, timed->kernels[one->kernel], NULL)) /* without regard to the shape */
      planned += __builtin_popcount(one->modes) * given->repetitions;
  }
  fprintf(stderr,
          "posenc report: %sup to %.0f timings, which take about %s; how long is told when they are calibrated\n",
          verifies ? "after the verification come " : "", planned, number_of_duration(planned * given->min_time).text);
}
#endif

/* Returns the timing record; null if there is nothing to time, or if this build cannot time. The page then says that
   there are no timings. */
static const record_timing *time_kernels(run_request *asked) {
  const record_timing *record = NULL;
#ifdef HAVE_BENCHMARK
  const int status = bench_run(asked, &record);
  if (status == STATUS_ERROR) leave(STATUS_ERROR); /* bench_run has printed the error */
#else
  (void)asked;
#endif
  return record;
}

/* Adds what is verified beside kernels on the published shapes: recipes on a few, and the kernels on hard-to-round
   cases. */
static void add_others(run_request *asked, const options *given) {
  run_request recipes = select_recipes(given);
  run_extend(asked, &recipes);
  run_free(&recipes);
  if (!given->cases.count) return;
  run_request cases = select_cases(given, given->cases.items, given->cases.count);
  run_extend(asked, &cases);
  run_free(&cases);
}

static const record_accuracy *measure_errors(const options *given, run_request *asked) {
  const record_accuracy *record = measure_accuracy(asked);
  describe_kernels(given, &record);
  return record;
}

static const record_accuracy *verify_all(const options *given) {
  run_request asked = select_measured(given, false);
  select_profile(&asked, RUN_SCAN);
  add_others(&asked, given);
  const record_accuracy *record = measure_errors(given, &asked);
  run_free(&asked);
  return record;
}

/* Removes the means and deviations that Google Benchmark adds, because the page computes them itself. */
static void drop_aggregates(const record_timing **record) {
  record_timing made = **record;
  record_benchmark *kept = memory_take(made.benchmarks_count, sizeof *kept);
  made.benchmarks = kept;
  made.benchmarks_count = 0;
  RECORD_EACH(one, *record, benchmarks)
    if (strcmp(one->run_type, "aggregate") != 0) kept[made.benchmarks_count++] = *one;
  record_change_timing(record, &made);
  free(kept);
}

/* ---- within a time limit ------------------------------------------------------------------------- */

/* Adds the results of another shape to the record of the first one. Takes over `more`. */
static void add_results(const record_accuracy **record, const record_accuracy *more) {
  if (*record)
    merge_results(record, more);
  else
    *record = more;
}

/* Adds the times of another shape, and the facts that only they have, such as the kernels that crashed on it. Takes
   over `more`. */
static void add_times(const record_timing **record, const record_timing *more) {
  if (!*record) {
    *record = more;
    return;
  }
  const record_timing *both = timings_join(*record, more);
  record_free(*record);
  record_free(more);
  *record = both;
}

/* Verifies a shape; with the first one, also recipes, errors by position and hard-to-round cases. */
static void verify_shape(records *found, const options *given, const run_request *verified, const char *name) {
  const size_t number = run_find_shape(verified, name);
  const bool is_first = !found->accuracy;
  if (number == verified->shape_count && !is_first) return;
  run_request one = run_of_shape(verified, number < verified->shape_count ? number : 0);
  if (is_first) select_profile(&one, RUN_POINTS);
  if (is_first) add_others(&one, given);
  add_results(&found->accuracy, measure_errors(given, &one));
  run_free(&one);
}

static void add_name(char *names, size_t size, const char *name) {
  const size_t used = strlen(names);
  snprintf(names + used, size - used, "%s%s", used ? ", " : "", name);
}

/* Adds the time limit to the facts, and the shapes that were left out because of it. */
static void add_limit(const record_accuracy **record, double limit, const char *left_out) {
  record_accuracy made = **record;
  record_memory memory = {NULL};
  char seconds[32];
  snprintf(seconds, sizeof seconds, "%.9g", limit);
  record_set_text(&made.environment, "budget_seconds", seconds, &memory);
  if (*left_out) record_set_text(&made.environment, "left_out", left_out, &memory);
  record_change_accuracy(record, &made);
  record_release(&memory);
}

/* Times the reference table, then the other shapes in order, with hot caches, as long as the next one is expected to
   fit into the time limit. A shape is expected to take as long as the longest one before, except the first; or up to
   four times as long if it is larger than all before. The record names the shapes that are left out. */
static void measure_within(records *found, const options *given) {
  run_request verified = select_measured(given, false), timed = select_measured(given, true);
  const size_t found_at = run_find_shape(&timed, report_reference), first = found_at < timed.shape_count ? found_at : 0;
  const double start = clock_seconds();
  double longest = 0, largest = INFINITY;
  char left_out[4000] = "";
  add_recipes(given, &timed);
  select_modes(&timed, 1u << BENCH_HOT);
  for (size_t i = 0; i <= timed.shape_count; i++) {
    const size_t number = i > 0 ? i - 1 : first;
    const char *name = timed.shapes[number].name;
    const double begun = clock_seconds();
    if (i > 0 && number == first) continue;
    const posenc_problem *problem = &timed.shapes[number].problem;
    const double size = (double)problem->rows * (double)problem->dim * (double)problem->heads;
    if (i > 0 && begun - start + longest * fmin(4, fmax(1, size / largest)) > given->seconds) {
      add_name(left_out, sizeof left_out, name);
      continue;
    }
    run_request one = run_of_shape(&timed, number);
    verify_shape(found, given, &verified, name);
    const record_timing *times = time_kernels(&one);
    run_free(&one);
    if (times) add_times(&found->timing, times);
    if (i > 0) longest = fmax(longest, clock_seconds() - begun);
    largest = i < 2 ? size : fmax(largest, size);
  }
  for (size_t i = 0; i < verified.shape_count; i++) /* scaled tables are not timed */
    if (run_find_shape(&timed, verified.shapes[i].name) == timed.shape_count)
      add_name(left_out, sizeof left_out, verified.shapes[i].name);
  add_limit(&found->accuracy, given->seconds, left_out);
  run_free(&timed);
  run_free(&verified);
}

static void complete_within(records *found, const options *given, const char *folder) {
  if (given->full) die("--budget %s: cannot be combined with --full", given->texts[OPTION_BUDGET]);
  if (found->accuracy || found->timing) die("--budget %s: cannot be combined with --from", given->texts[OPTION_BUDGET]);
  measure_within(found, given);
  save(found->accuracy, folder, "accuracy.json");
  if (!found->timing) return;
  drop_aggregates(&found->timing);
  save(found->timing, folder, "bench.json");
}

/* Makes the records that --from did not give, and writes them to the folder. */
static void complete(records *found, const options *given, const char *folder) {
  if (found->accuracy && found->timing) return;
  run_request timed = {0};
  if (!found->timing) {
    timed = select_measured(given, true);
    add_recipes(given, &timed);
    select_report_modes(given, &timed, given->full);
  }
#ifdef HAVE_BENCHMARK
  if (given->full && !found->timing) foretell(given, &timed, !found->accuracy);
#endif
  if (!found->accuracy) {
    found->accuracy = verify_all(given);
    save(found->accuracy, folder, "accuracy.json");
  }
  if (!found->timing && (found->timing = time_kernels(&timed))) {
    drop_aggregates(&found->timing);
    save(found->timing, folder, "bench.json");
  }
  run_free(&timed);
}

/* Copies a record of --from to the folder of the page. The path is null for one that was measured. */
static void copy_record(const void *record, const char *path, const char *folder, const char *name) {
  if (!path) return;
  char *own = path_in(folder, name);
  if (!output_is(own, path)) save(record, folder, name);
  free(own);
}

static void print_page(const char *folder) {
  char *first = path_in(folder, "index.html");
  puts(first);
  free(first);
}

/* ---- several machines --------------------------------------------------------------------------- */

static void check_labels(const texts *labels) {
  for (size_t n = 0; n < labels->count; n++) {
    if (!record_is_utf8(labels->items[n]) || !*labels->items[n]) die_value("--label", labels->items[n], "no name");
    for (size_t i = 0; i < n; i++)
      if (strcmp(labels->items[i], labels->items[n]) == 0)
        die_value("--label", labels->items[n], "another machine is called so");
  }
}

/* Exits if the page would replace a report that it is made from. */
static void refuse_inputs(const char *folder, char **files, size_t count) {
  static const char *const names[] = {"index.html", "report.md", "report.json"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    char *path = path_in(folder, names[n]);
    for (size_t i = 0; i < count; i++)
      if (output_is(path, files[i])) die("--output %s: it would replace %s", folder, files[i]);
    free(path);
  }
}

/* Returns the record of make check-peers, or null. */
static const record_package_errors *read_package_errors(const options *given) {
  if (!given->packages) return NULL;
  record_fault why;
  json_t *json = load_json("--packages", given->packages, 0);
  const record_package_errors *packages = record_read_package_errors(json, &why);
  if (!packages) die("--packages %s: not a peers.json of make check-peers: %s", given->packages, why.text);
  return packages;
}

static int run_machines(const options *given) {
  const option_set of_one = ANY_OF(PROBLEM_SET, SET(OP), KERNEL_SET, SET(SEED), BUDGET_SET, TIMING_SET, SET(TIME_LIMIT),
                                   SET(FROM), SET(FULL), SET(CASES), SET(BESIDE));
  const char *folder = given->output;
  char **files = given->operands;
  const size_t count = given->operand_count;
  options_refuse(given, of_one, "reports of machines");
  check_labels(&given->labels);
  if (count < 2) die("%s: one report alone; side by side takes two", files[0]);
  if (given->labels.count > count) die_value("--label", given->labels.items[count], "there is no machine for it");
  const record_report **reports = memory_take(count, sizeof(*reports));
  for (size_t i = 0; i < count; i++) {
    record_fault why;
    reports[i] = record_read_report(load_json(NULL, files[i], 0), &why);
    if (!reports[i]) die("%s: not a report.json of posenc report: %s", files[i], why.text);
  }
  const record_package_errors *packages = read_package_errors(given);
  if (!output_make_folder(folder)) die_folder(folder);
  refuse_inputs(folder, files, count);
  const int status =
      report_write_machines(folder, &(machines_inputs){reports, files, count, given->labels.items, given->labels.count,
                                                       packages, given->command_line});
  if (status != STATUS_ERROR) print_page(folder);
  for (size_t i = 0; i < count; i++) record_free(reports[i]);
  free(reports);
  record_free(packages);
  return status;
}

/* Returns the command that makes the page again: that of the user, and the seed if it was drawn, as the last seed
   counts. The caller frees it. */
static char *command_again(const options *given) {
  const char *seed = given->texts[OPTION_SEED];
  const bool drawn = seed && strcmp(seed, "random") == 0;
  char number[40] = "";
  if (drawn) snprintf(number, sizeof number, " --seed %lld", (long long)given->seed);
  return memory_print("%s%s", given->command_line, number);
}

/* Returns the record of make time-peers, or null. */
static const record_package_times *read_packages(const options *given) {
  if (!given->packages) return NULL;
  const record_package_times *packages = record_take_package_times(load_json("--packages", given->packages, 0));
  if (strcmp(packages->schema, "posenc-peers-2") != 0)
    die("--packages %s: not a peers-times.json of make time-peers: its schema is not 'posenc-peers-2'",
        given->packages);
  return packages;
}

/* Reads what stands beside the report, before minutes of measuring. */
static front_inputs read_front(const options *given) {
  const texts *names = &given->beside;
  front_beside *beside = memory_take(names->count, sizeof *beside);
  for (size_t i = 0; i < names->count; i++) {
    record_fault why;
    if (!front_read(&beside[i], load_json("--beside", names->items[i], 0), &why))
      die("%s: not a report.json of posenc report or make publish: %s", names->items[i], why.text);
  }
  return (front_inputs){.label = given->labels.count ? given->labels.items[0] : NULL,
                        .beside = beside,
                        .count = names->count,
                        .packages = read_packages(given)};
}

static void free_front(const front_inputs *front) {
  front_beside *beside = (front_beside *)(uintptr_t)front->beside;
  for (size_t i = 0; i < front->count; i++) front_close(&beside[i]);
  free(beside);
  record_free(front->packages);
}

static int run(options *given) {
  const char *folder = given->output;
  records found = {.accuracy = NULL};
  if (!is_given(given, OPTION_OUTPUT)) die("--output is missing");
  const char *refusal = report_refusal();
  if (refusal) die("%s", refusal);
  if (given->operand_count) return run_machines(given);
  check_labels(&given->labels);
  if (given->labels.count > 1) die_value("--label", given->labels.items[1], "there is no machine for it");
  for (size_t i = 0; i < given->from.count; i++) take_record(&found, given->from.items[i]);
  refuse_unused(given, &found);
#ifdef HAVE_BENCHMARK
  if (!found.timing) refuse_emulator("", "published (posenc verify and bench run)");
#endif
  front_inputs front = read_front(given);
  prepare_folder(folder);
  progress_in_lines();
  if (given->seconds > 0)
    complete_within(&found, given, folder);
  else
    complete(&found, given, folder);
  char *again = command_again(given);
  int status = report_write(folder, found.accuracy, found.timing, &front, again);
  free(again);
  free_front(&front);
  if (status == EXIT_SUCCESS) {
    copy_record(found.accuracy, found.accuracy_path, folder, "accuracy.json");
    copy_record(found.timing, found.timing_path, folder, "bench.json");
    print_page(folder);
    status = timed_status(found.timing, !found.timing_path) != EXIT_SUCCESS ? STATUS_FAILED_CHECK
                                                                            : accuracy_status(found.accuracy);
  }
  record_free(found.accuracy);
  record_free(found.timing);
  return status;
}

const command command_report = {
    .bit = REPORT,
    .name = "report",
    .summary = "publish accuracy and speed as a page",
    .usage = usage,
    .notes = notes,
    .operands_most = INT_MAX,
    .run = run,
};
