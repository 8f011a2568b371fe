/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "cli/catalogue.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "common/memory.h"
#include "records/compare.h"
#include "records/merge.h"
#include "records/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] = "Usage: posenc verify [OPTION]...\n"
                            "Check that kernels keep their contracts: elements, beyond the --budget a sample,\n"
                            "are compared with the exact numbers, of add and rope for the same x; properties\n"
                            "are checked. Without --len and --dim: the published shapes and other encodings.\n";
static const char notes[] = "Exit status:\n"
                            "  0                 if every promise was kept\n"
                            "  1                 if one was broken, or nothing was compared, as for an empty\n"
                            "                    table\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc verify\n"
                            "  $ posenc verify --kernel 'naive*' --len 512 --dim 128 --offset 1000000\n"
                            "  $ posenc verify --kernel naive --len 131072 --dim 128 --explain\n"
                            "  $ posenc verify --kernel 'cr-*' --positions 5,-2.5,0.1,1e9 --dim 65 --odd ceil\n"
                            "  $ posenc verify --encoding '*'\n"
                            "  $ posenc verify --plugin ./mine.so --kernel mine --len 512 --dim 128\n"
                            "  $ posenc verify --cases reference/worst/base10000-d128.wc\n"
                            "  $ posenc verify --kernel rotation-portable --len 512 --dim 128 \\\n"
                            "      --profile --format json -o accuracy.json\n"
                            "  $ posenc verify --kernel 'cr-*' --len 512 --dim 64 --format json \\\n"
                            "      --shard 1/4 -o one.json\n"
                            "  $ posenc verify --kernel naive --len 64 --dim 16 --save baseline.json\n"
                            "  $ posenc verify --kernel naive --len 64 --dim 16 --baseline baseline.json\n";

typedef void printer(const record_accuracy *record, FILE *stream);

/* Returns the printer of --format; null for JSON. Without --format, a terminal gets text, and other files get TAP. */
static printer *printer_of(const options *given) {
  const char *terminal = strcmp(given->output, "-") == 0 && isatty(STDOUT_FILENO) ? "text" : "tap",
             *format = given->format ? given->format : terminal;
  if (strcmp(format, "text") == 0) return record_print_text;
  if (strcmp(format, "tap") == 0) return record_print_tap;
  return strcmp(format, "junit") == 0 ? record_print_junit : NULL;
}

static const record_baseline *load_baseline(const char *path) {
  record_fault why;
  const record_baseline *baseline = record_read_baseline(load_json("--baseline", path, 0), &why);
  if (!baseline) die_value("--baseline", path, why.text);
  return baseline;
}

/* ---- the other encodings ------------------------------------------------------------------------ */

/* Whether no kernels are selected, so that the other encodings are checked, too. */
static bool is_everything(const options *given) {
  const option_set selecting = ANY_OF(PROBLEM_SET, SET(OP), KERNEL_SET, SET(CASES), SET(BASELINE));
  return options_first_given(given, selecting) == OPTIONS;
}

/* Makes the results of encodings results like those of kernels, as the formats other than JSON have them. */
static void level_encodings(const record_accuracy **record) {
  record_memory memory = {NULL};
  const record_accuracy results = record_of_encodings(&(*record)->encodings, &memory);
  const record_accuracy *more = record_keep_accuracy(&results);
  record_accuracy others = **record;
  others.encodings = (record_encodings){0};
  record_change_accuracy(record, &others);
  merge_results(record, more);
  record_release(&memory);
}

/* Exits if rows are asked for that the operation is verified without. */
static void refuse_rows(const options *given) {
  const char *list = given->texts[OPTION_POSITIONS], *odd = given->texts[OPTION_ODD],
             *reason = verify_refusal(&given->problem);
  if (!reason) return;
  if (list) die_value("--positions", list, reason);
  if (given->grid) die_value("--grid", given->texts[OPTION_GRID], reason);
  if (odd) die_value("--odd", odd, reason);
}

static void print_mistrust(const record_accuracy *record) {
  char why[200];
  if (record_mistrust(record, why, sizeof why)) fprintf(stderr, "posenc verify: %s\n", why);
}

/* Selects kernels and shapes. Exits if an option has no effect on the selected kernels, or refuses some of them. */
static run_request select_verified(const options *given) {
  run_request chosen;
  if (given->cases.count) {
    chosen = select_cases(given, given->cases.items, given->cases.count);
  } else {
    chosen = select_measured(given, false);
    refuse_rows(given);
    if (given->explain) require_tables(given, &chosen, "--explain");
  }
  if (given->propose_bound && !given->kernel) die("--propose-bound: needs --kernel");
  if (given->profile) select_profile(&chosen, RUN_SCAN);
  return chosen;
}

static bool selects(const void *given, const char *kernel) {
  return selects_kernel(given, kernel);
}

/* ---- bounds to propose ---------------------------------------------------------------------------- */

/* Adds the tables that errors are measured on: those of the request, or of one described problem in each dtype, unless
   the caller names one. */
static void add_tables(run_request *measured, const options *given, const run_request *chosen) {
  const bool every = options_have_table(given) && !is_given(given, OPTION_DTYPE);
  for (size_t i = 0; i < chosen->shape_count; i++)
    if (propose_takes(&chosen->shapes[i].problem)) run_shape(measured, &chosen->shapes[i], NULL);
  for (int dtype = 0; every && dtype_names[dtype]; dtype++) {
    posenc_problem other = given->problem;
    other.dtype = (posenc_dtype)dtype;
    const shape of = shape_of(&other);
    if (propose_takes(&other)) run_shape(measured, &of, NULL);
  }
  if (!measured->shape_count)
    die("--propose-bound: needs a table of successive positions, of base 1 or more, without a factor of positions or "
        "values");
}

/* Selects instead the kernels, in their order, on those of the measured tables that some of them does not refuse. */
static void take_tables(run_request *chosen, const run_request *measured, const record_accuracy *record) {
  chosen->shape_count = chosen->item_count = 0;
  for (size_t n = 0; n < measured->item_count; n++)
    if (!*record->records[n].refusal) run_shape(chosen, &measured->shapes[measured->items[n].shape], NULL);
  run_cross(chosen);
}

/* Measures the selected kernels, and replaces them by copies with the proposed bounds, which live until the program
   ends; with their own where there is none to propose. Returns the proposals of the record, one for each. */
static const record_proposal *propose(const options *given, run_request *chosen, record_memory *in) {
  const size_t count = chosen->kernel_count;
  posenc_kernel *proposed = memory_take(2 * count, sizeof *proposed), *measuring = proposed + count;
  record_proposal *proposals = record_allocate(in, count, sizeof *proposals);
  run_request measured = begin_run(given);
  measured.exam.rests = true;
  measured.exam.explain = false;
  measured.exam.seed ^= 1; /* the check of the bound, which has the seed, draws other problems and places */
  add_tables(&measured, given, chosen);
  for (size_t k = 0; k < count; k++) {
    proposed[k] = measuring[k] = *chosen->kernels[k];
    measuring[k].bound = propose_measuring(&proposed[k]);
    run_kernel(&measured, &measuring[k]);
    chosen->kernels[k] = &proposed[k];
  }
  run_cross(&measured);
  const record_accuracy *record = measure_accuracy(&measured);
  for (size_t k = 0; k < count; k++) proposals[k] = propose_bound(record, &proposed[k], (uint64_t)given->seed, in);
  if (options_have_table(given)) take_tables(chosen, &measured, record);
  run_free(&measured);
  record_free(record);
  return proposals;
}

/* Whether there is a kernel that no bound can be proposed for. */
static bool lacks_proposal(const record_accuracy *record) {
  bool lacks = false;
  RECORD_EACH(one, record, proposals) lacks = lacks || *one->why;
  return lacks;
}

/* Writes the baseline of the record. */
static void save_baseline(const record_accuracy *record, FILE *stream) {
  record_memory memory = {NULL};
  const record_baseline made = baseline_of(record, &memory);
  record_print_lines(record_write_baseline(&made), stream);
  record_release(&memory);
}

/* Compares the record with the baseline. What is added is in `in`, or of the baseline. */
static void hold(const options *given, record_accuracy *record, const record_baseline *baseline, record_memory *in) {
  const char *words[3] = {given->baseline};
  size_t count = 1;
  if (given->allow_new) words[count++] = "--allow-new";
  if (given->allow_environment) words[count++] = "--allow-environment";
  char *replay = quoted_line("--baseline", count, words);
  const baseline_terms terms = {given->allow_new, given->allow_environment, selects, given, replay};
  baseline_hold(record, baseline, &terms, in);
  free(replay);
}

/* Returns the record, compared with the baseline. Writes the record to save to `save`. `build`, `save` and `baseline`
   may be null. */
static const record_accuracy *make_record(const options *given, run_request *chosen, const char *build, output *save,
                                          const record_baseline *baseline) {
  record_memory memory = {NULL};
  const record_proposal *proposals = given->propose_bound ? propose(given, chosen, &memory) : NULL;
  const record_accuracy *record = measure_accuracy(chosen);
  record_accuracy made = *record;
  made.proposals = proposals;
  made.proposals_count = proposals ? chosen->kernel_count : 0;
  resume_note(given, build, &made.shard);
  if (save) save_baseline(&made, output_stream(save));
  if (baseline) hold(given, &made, baseline, &memory);
  record_change_accuracy(&record, &made);
  record_release(&memory);
  run_free(chosen);
  return record;
}

static int run(options *given) {
  const char *globs = given->encoding;
  printer *print = printer_of(given);
  const record_baseline *baseline = given->baseline ? load_baseline(given->baseline) : NULL;
  if (given->profile && print) die("--profile: only --format json holds it");
  run_request chosen = globs ? begin_run(given) : select_verified(given);
  const posenc_encoding **encodings = NULL;
  if (globs || is_everything(given)) encodings = select_encodings(globs ? globs : "*", &chosen.exam.encoding_count);
  chosen.exam.encodings = encodings;
  char *build = resume_build(given);
  int status;
  if (given->resume && resume_is_done(given, build, &chosen, &status)) {
    run_free(&chosen);
    free(encodings);
    record_free(baseline);
    free(build);
    return status;
  }
  output *out = open_output("--output", given->output), *save = open_output("--save", given->save);

  const record_accuracy *record = make_record(given, &chosen, build, save, baseline);
  free(build);
  free(encodings);
  if (!print) { /* the other formats tell the mistrust */
    if (!globs) print_mistrust(record);
    record_print(globs ? record_write_encodings(&record->encodings) : record_write_accuracy(record),
                 output_stream(out));
  }
  status = whole_status(record);
  if (record->encodings.there) level_encodings(&record);
  if (lacks_proposal(record)) status = STATUS_FAILED_CHECK;
  if (print) print(record, output_stream(out));
  if (given->github) record_print_github(record, NULL, given->github, stderr);
  record_free(record);
  record_free(baseline);
  close_output("--save", given->save, save);
  close_output("--output", given->output, out);
  return status;
}

const command command_verify = {
    .bit = VERIFY,
    .name = "verify",
    .summary = "check that kernels keep their contracts",
    .usage = usage,
    .notes = notes,
    .run = run,
};
