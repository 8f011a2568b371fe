/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"
#include "cli/measure.h"
#include "common/field.h"
#include "common/number.h"
#include "common/output.h"
#include "reports/report.h"
#include "verify/verify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FROM = OPTION_OWN, OPTION_FULL, OPTION_CASES, OPTION_LABEL };

static const char help[] = "Usage: posenc report [OPTION]... -o DIR\n"
                           "   or: posenc report REPORT.json REPORT.json... [--label NAME]... -o DIR\n"
                           "Publish what kernels are worth: index.html (one file, opens from disk), report.md\n"
                           "and report.json. Verifies and times the kernels first, unless records are given,\n"
                           "and leaves the records in accuracy.json and bench.json beside the page. Without\n"
                           "--len and --dim, it is the published tables and shapes of add and rope, and for the\n"
                           "timings a sweep of lengths too, some of them also with cold caches and in fresh\n"
                           "memory. Without --kernel, what frameworks ship (recipe/*) is compared with the\n"
                           "kernels on a table. In the second form, the report.json of several machines side by\n"
                           "side: the fastest kernels, shares of the limit, and whether kernels that promise the\n"
                           "same bits everywhere have them.\n"
                           "\n"
                           "Options:\n"
                           "  -o, --output DIR  folder to write to; it is made if it is missing\n"
                           "  --full            time all in every mode of posenc bench; how long that will take is\n"
                           "                    told before\n"
                           "  --from FILE       a record made earlier, by posenc verify --profile --format\n"
                           "                    json or by posenc bench --json; may be given once for each\n"
                           "  --cases FILE      try the kernels on these hard-to-round elements too; may be given\n"
                           "                    several times (reference/worst/ has some)\n"
                           "  --label NAME      what to call a machine, in the order of the files; may be given\n"
                           "                    once for each (its CPU)\n" KERNEL_HELP PLUGIN_HELP TABLE_HELP OP_HELP
                               RUN_HELP VERIFY_HELP BENCH_HELP PATIENCE_HELP HELP_HELP "\n"
                           "Exit status:\n"
                           "  0                 if all is well\n"
                           "  1                 if the page tells of a broken promise, or of other bits on\n"
                           "                    another machine, or a kernel could not be timed to the end\n"
                           "  2                 on bad input or any other error\n"
                           "\n"
                           "Examples:\n"
                           "  $ posenc report -o posenc-report\n"
                           "  $ posenc report --from accuracy.json --from bench.json -o posenc-report\n"
                           "  $ posenc report here/report.json there/report.json -o machines\n";

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"from", required_argument, NULL, OPTION_FROM},
    {"full", no_argument, NULL, OPTION_FULL},
    {"cases", required_argument, NULL, OPTION_CASES},
    {"label", required_argument, NULL, OPTION_LABEL},
    TABLE_OPTIONS,
    OP_OPTIONS,
    KERNEL_OPTIONS,
    PLUGIN_OPTIONS,
    RUN_OPTIONS,
    VERIFY_OPTIONS,
    BENCH_OPTIONS,
    PATIENCE_OPTIONS,
    HELP_OPTIONS,
};

/* What the page is made from; null where it has to be measured first. */
typedef struct records {
  json_t *accuracy, *timing;
  const char *accuracy_path, *timing_path; /* of those made earlier */
  bool lost;                               /* a kernel did not survive being timed */
} records;

static bool has_schema(const json_t *holder, const char *key, const char *prefix) {
  const char *schema = json_string_value(json_object_get(holder, key));
  return schema && strncmp(schema, prefix, strlen(prefix)) == 0;
}

/* Takes in a record made earlier. */
static void take_record(records *found, const char *path) {
  json_error_t error;
  json_t *record = json_load_file(path, 0, &error);
  if (!record) die_value("--from", path, error.text);
  json_t **place = has_schema(record, "schema", "posenc-accuracy-")                                   ? &found->accuracy
                   : has_schema(json_object_get(record, "context"), "posenc_schema", "posenc-bench-") ? &found->timing
                                                                                                      : NULL;
  if (!place) die_value("--from", path, "neither an accuracy record nor a timing record");
  if (*place) die_value("--from", path, "the second record of its kind");
  if (json_object_get(place == &found->timing ? json_object_get(record, "context") : record, "shard"))
    die_value("--from", path, "a part of a run: posenc merge makes one record of all its shards");
  *place = record;
  *(place == &found->timing ? &found->timing_path : &found->accuracy_path) = path;
}

/* Refuses options of what will not be measured: they would look as if they had chosen what the page shows. */
static void refuse_unused(const options *given, const records *found) {
  for (const struct option *option = long_options; option->name; option++) {
    const int code = option->val;
    const char *text = code >= OPTION_LEN && code < OPTION_OWN ? given->texts[code - OPTION_LEN] : NULL;
    const bool verifies = code != OPTION_REPETITIONS && code != OPTION_MIN_TIME && code != OPTION_BATCH;
    const bool times =
        code != OPTION_SEED && code != OPTION_BUDGET && code != OPTION_EXHAUSTIVE && code != OPTION_SEARCH;
    if (!text || (verifies && !found->accuracy) || (times && !found->timing)) continue;
    char name[32];
    snprintf(name, sizeof name, "--%s", option->name);
    die_value(name, text, "nothing would use it, as --from gives the record");
  }
}

/* ---- the folder -------------------------------------------------------------------------------- */

__attribute__((noreturn)) static void die_folder(const char *path) {
  die_value("--output", path, strerror(errno));
}

static char *path_in(const char *folder, const char *name) {
  const char *slash = folder[strlen(folder) - 1] == '/' ? "" : "/";
  char *path;
  if (asprintf(&path, "%s%s%s", folder, slash, name) < 0) die("out of memory");
  return path;
}

/* Finds out now, not after minutes of measuring, whether the page can be put there. */
static void prepare_folder(const char *path) {
  if (!output_make_folder(path)) die_folder(path);
  char *name = path_in(path, "accuracy.json");
  output *out = output_open(name);
  if (!out) die_folder(path);
  output_abandon(out);
  free(name);
}

/* ---- the command that does it again ------------------------------------------------------------- */

/* argv[0] is "posenc report". */
static char *command_line(int argc, char **argv) {
  char *text = NULL;
  size_t size;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) die("out of memory");
  fputs(argv[0], stream);
  for (int i = 1; i < argc; i++) {
    putc(' ', stream);
    print_quoted(stream, argv[i]);
  }
  if (fclose(stream) != 0) die("out of memory");
  return text;
}

/* ---- measuring and writing ---------------------------------------------------------------------- */

static void save(const json_t *record, const char *folder, const char *name) {
  char *path = path_in(folder, name);
  output *out = output_open(path);
  if (!out) die("%s: %s", path, strerror(errno));
  json_dumpf(record, output_stream(out), JSON_COMPACT);
  putc('\n', output_stream(out));
  if (!output_commit(out)) die("%s: %s", path, strerror(errno));
  free(path);
}

/* Where in the sweep of lengths; SIZE_MAX if it is not of it. */
static size_t place_in_sweep(const shape *table) {
  size_t count;
  const shape *sweep = shapes_sweep(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(sweep[i].name, table->name) == 0) return i;
  return SIZE_MAX;
}

/* In short: all shapes hot; cold and fresh at every other length of the sweep, which is one for each size of cache and one beyond; and of the
   sweep one plan, as it does not depend on the length. */
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

/* What takes longer than this is about as fast with cold caches as with hot ones, and would be most of what a report takes. */
static const double short_longest = 0.1;

static void select_report_modes(const options *given, selection *timed, bool full) {
  select_modes(timed, 0);
  for (size_t i = 0; i < timed->shape_count; i++)
    timed->modes[i] = modes_of(&timed->shapes[i], full, options_have_table(given));
  timed->longest = full ? 0.0 : short_longest;
  timed->foretell = full;
}

#ifdef HAVE_BENCHMARK
/* What is known before anything is calibrated: some may be left out, and limits are measured beside all. */
static void foretell(const options *given, const selection *timed, bool verifies) {
  double timings = 0;
  for (size_t i = 0; i < timed->shape_count; i++)
    for (size_t k = 0; k < timed->kernel_counts[i]; k++) {
      const posenc_options how = options_of_plan(given, timed->kernels[k]);
      if (!posenc_kernel_refusal(timed->kernels[k], NULL, &how)) /* which tables it does, it is asked elsewhere */
        timings += __builtin_popcount(timed->modes[i]) * given->repetitions;
    }
  fprintf(stderr,
          "posenc: report: %sup to %.0f timings, which take about %s; how long is told when they are calibrated\n",
          verifies ? "after the verification come " : "", timings, number_of_duration(timings * given->min_time).text);
}
#endif

/* Null where there is nothing to time, or nothing to time it with: the page says that there are no timings. */
static json_t *time_kernels(const options *given, const selection *chosen, bool *lost) {
  json_t *record = NULL;
#ifdef HAVE_BENCHMARK
  const int status = measure_time(given, chosen, NULL, &record);
  if (status == STATUS_ERROR) leave(STATUS_ERROR); /* bench_run has told why */
  *lost = status != EXIT_SUCCESS && record;
#else
  (void)given, (void)chosen, (void)lost;
#endif
  return record;
}

/* Hard-to-round cases in files. */
typedef struct case_files {
  const char **paths;
  size_t count;
} case_files;

/* Kernels on all shapes, recipes on few, kernels on hard cases. */
static json_t *verify_all(const options *given, const case_files *hard) {
  selection parts[2 + RECIPE_TABLES];
  size_t count = 0;
  parts[count] = select_measured(given, false);
  parts[count++].profile = VERIFY_SCAN;
  count += select_recipes(given, parts + count);
  if (hard->count) parts[count++] = select_cases(given, hard->paths, hard->count);
  json_t *record = measure_accuracy(given, parts, count, false);
  while (count > 0) selection_free(&parts[--count]);
  return record;
}

/* Of Google Benchmark's entries, most are means and deviations of others. The page makes its own figures, and is published with its data. */
static void drop_aggregates(json_t *record) {
  json_t *entries = json_object_get(record, "benchmarks");
  for (size_t i = json_array_size(entries); i-- > 0;)
    if (strcmp(field_string(json_array_get(entries, i), "run_type"), "aggregate") == 0) json_array_remove(entries, i);
}

/* Measures what was not given, and leaves it in the folder. */
static void complete(records *found, const options *given, const case_files *hard, bool full, const char *folder) {
  if (found->accuracy && found->timing) return;
  selection timed = {0};
  if (!found->timing) {
    timed = select_measured(given, true);
    add_recipes(given, &timed);
    select_report_modes(given, &timed, full);
  }
#ifdef HAVE_BENCHMARK
  if (full && !found->timing) foretell(given, &timed, !found->accuracy);
#endif
  if (!found->accuracy) {
    found->accuracy = verify_all(given, hard);
    save(found->accuracy, folder, "accuracy.json");
  }
  if (!found->timing && (found->timing = time_kernels(given, &timed, &found->lost))) {
    drop_aggregates(found->timing);
    save(found->timing, folder, "bench.json");
  }
  selection_free(&timed);
}

/* The data of a page are beside it, also those made earlier. */
static void keep(const json_t *record, const char *path, const char *folder, const char *name) {
  if (!path) return;
  char *own = path_in(folder, name);
  if (!output_is(own, path)) save(record, folder, name);
  free(own);
}

static void tell_page(const char *folder) {
  char *page = path_in(folder, "index.html");
  puts(page);
  free(page);
}

/* ---- several machines --------------------------------------------------------------------------- */

typedef struct machine_labels {
  const char **texts;
  size_t count;
} machine_labels;

static void take_label(machine_labels *labels, const char *text) {
  json_t *utf8 = json_string(text);
  if (!utf8 || !*text) die_value("--label", text, "no name");
  json_decref(utf8);
  for (size_t i = 0; i < labels->count; i++)
    if (strcmp(labels->texts[i], text) == 0) die_value("--label", text, "another machine is called so");
  labels->texts[labels->count++] = text;
}

/* Refuses what only a page of one machine has a use for. */
static void refuse_beside_machines(const options *given, const records *found, const char *other) {
  if (found->accuracy || found->timing) other = "--from";
  if (other) die("%s: nothing would use it beside reports of machines", other);
  options_refuse(given, OPTION_LEN, OPTION_BATCH, "reports of machines");
}

/* A page is no place for its own reports: it would replace them. */
static void refuse_inputs(const char *folder, char **files, size_t count) {
  static const char *const names[] = {"index.html", "report.md", "report.json"};
  for (size_t n = 0; n < sizeof names / sizeof *names; n++) {
    char *path = path_in(folder, names[n]);
    for (size_t i = 0; i < count; i++)
      if (output_is(path, files[i])) die("--output %s: it would replace %s", folder, files[i]);
    free(path);
  }
}

static int run_machines(const char *folder, char **files, size_t count, const machine_labels *labels,
                        const char *line) {
  if (count < 2) die("%s: one report alone; side by side takes two", files[0]);
  if (labels->count > count) die_value("--label", labels->texts[count], "there is no machine for it");
  json_t **reports = calloc(count, sizeof(*reports));
  if (!reports) die("out of memory");
  for (size_t i = 0; i < count; i++) {
    json_error_t error;
    if (!(reports[i] = json_load_file(files[i], 0, &error))) die("%s: %s", files[i], error.text);
  }
  if (!output_make_folder(folder)) die_folder(folder);
  refuse_inputs(folder, files, count);
  const int status = report_write_machines(folder, reports, files, count, labels->texts, labels->count, line);
  if (status != STATUS_ERROR) tell_page(folder);
  for (size_t i = 0; i < count; i++) json_decref(reports[i]);
  free(reports);
  return status;
}

static int run(int argc, char **argv) {
  char *line = command_line(argc, argv); /* now, as getopt changes the order */
  options given = options_defaults();
  records found = {.accuracy = NULL};
  machine_labels labels = {calloc((size_t)argc, sizeof(*labels.texts)), 0};
  const char *folder = NULL;
  bool full = false;
  case_files hard = {.paths = calloc((size_t)argc, sizeof *hard.paths)};
  if (!hard.paths || !labels.texts) die("out of memory");
  for (int code; (code = options_next(&given, &command_report, argc, argv)) != -1;) {
    if (code == 'o') folder = optarg;
    if (code == OPTION_FROM) take_record(&found, optarg);
    if (code == OPTION_FULL) full = true;
    if (code == OPTION_CASES) hard.paths[hard.count++] = optarg;
    if (code == OPTION_LABEL) take_label(&labels, optarg);
  }
  if (!folder) die("--output is missing");
  const char *refusal = report_refusal();
  if (refusal) die("%s", refusal);
  if (optind < argc) {
    refuse_beside_machines(&given, &found, full ? "--full" : hard.count ? "--cases" : NULL);
    const int status = run_machines(folder, argv + optind, (size_t)(argc - optind), &labels, line);
    free(labels.texts);
    free(hard.paths);
    free(line);
    return status;
  }
  if (labels.count) die_value("--label", labels.texts[0], "only reports of machines have labels");
  free(labels.texts);
  refuse_unused(&given, &found);
  if (full && found.timing) die("--full: nothing would use it, as --from gives the timings");
  if (hard.count && found.accuracy)
    die_value("--cases", hard.paths[0], "nothing would use it, as --from gives the record");
  prepare_folder(folder);
  complete(&found, &given, &hard, full, folder);
  int status = report_write(folder, found.accuracy, found.timing, line);
  if (status == EXIT_SUCCESS) {
    keep(found.accuracy, found.accuracy_path, folder, "accuracy.json");
    keep(found.timing, found.timing_path, folder, "bench.json");
    tell_page(folder);
    status = found.lost ? STATUS_FAILED_CHECK : accuracy_status(found.accuracy);
  }
  json_decref(found.accuracy);
  json_decref(found.timing);
  free(hard.paths);
  free(line);
  return status;
}

const command command_report = {
    .name = "report",
    .summary = "publish accuracy and speed as a page",
    .help = help,
    .short_options = "ho:V",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
