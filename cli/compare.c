/* SPDX-License-Identifier: MIT */
#include "records/compare.h"
#include "cli/files.h"
#include "cli/options.h"
#include "cli/programs.h"
#include "common/field.h"
#include "common/progress.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { STATUS_WORSE = 1 };

static const char usage[] = "Usage: posenc compare OLD NEW [OPTION]...\n"
                            "  or:  posenc compare --run OLD NEW [OPTION]... [-- BENCH-OPTION...]\n"
                            "Print what is worse in one of two records of the same kind: records of posenc\n"
                            "verify --format json, where any growth of an error counts, or of posenc bench\n"
                            "--format json or any other Google Benchmark JSON, where a ratio of times counts\n"
                            "if it is significant by Mann and Whitney's U test.\n"
                            "\n"
                            "With --run, OLD and NEW are programs, such as posenc of two builds. Both are\n"
                            "run as 'PROGRAM bench --format json BENCH-OPTION...' again and again, in blocks\n"
                            "of four processes: old new new old, or new old old new, chosen at random. A\n"
                            "ratio of times counts if it is significant by Wilcoxon's signed-rank test of\n"
                            "the blocks.\n";
static const char notes[] = "A ratio is NEW divided by OLD: 1.05 is 5 % more time. For records it is the\n"
                            "median of all quotients of a new and an old timing; for programs, the median of\n"
                            "the means of all pairs of blocks, with the best timing of each process. The\n"
                            "p-values are corrected for the number of benchmarks by Holm's method, and the\n"
                            "intervals enclose all true ratios at once. The next column is the smallest\n"
                            "difference that would have been significant. A benchmark is the same if its\n"
                            "whole interval is within the threshold, and undecided if timings are too few or\n"
                            "spread too widely.\n"
                            "\n"
                            "A timing of one thread that took 5 % longer than the CPU time of the thread was\n"
                            "interrupted by other processes; in records of posenc, such timings are left\n"
                            "out. Even so, records from a busy machine are no fair comparison: use --run\n"
                            "there. A process has --repetitions " TEXT_OF(RUN_REPETITIONS) " and --min-time " TEXT_OF(
                                RUN_MIN_TIME) " unless\n"
                                              "BENCH-OPTIONs say otherwise: many short timings, so that some are not\n"
                                              "interrupted.\n"
                                              "\n"
                                              "Exit status:\n"
                                              "  0                 if nothing is worse\n"
                                              "  1                 if something is\n"
                                              "  2                 on bad input or any other error\n"
                                              "\n"
                                              "Examples:\n"
                                              "  $ posenc compare before/accuracy.json after/accuracy.json\n"
                                              "  $ posenc compare before/bench.json after/bench.json \\\n"
                                              "      --slower 10 --format markdown\n"
                                              "  $ posenc compare --run old/posenc new/posenc -- \\\n"
                                              "      --kernel cr-portable --len 512 --dim 512\n";

/* ---- records ---- */

static void require_check(const char *what, const char *path, const json_t *record) {
  char why[400];
  if (compare_check(record, why, sizeof why)) return;
  progress_clear();
  die("%s%s: %s", what, path, why);
}

static json_t *load(const char *path) {
  json_t *record = load_json(NULL, path, JSON_REJECT_DUPLICATES);
  require_check("", path, record);
  return record;
}

static json_t *compare_files(const options *given, const compare_limits *limits) {
  char **files = given->operands;
  json_t *before = load(files[0]), *after = load(files[1]);
  const char *why;
  json_t *json = compare_records(before, after, limits, &why);
  json_decref(before);
  json_decref(after);
  if (!json) die("%s and %s: %s", files[0], files[1], why);
  return json;
}

/* ---- programs ---- */

static const char *const sides[] = {"old program", "new program"};

/* Returns "PROGRAM bench --format json --repetitions N --min-time S BENCH-OPTION...", a new array. The user's options
   come last, so that they replace the ones before. */
static char **arguments_of(const options *given, int side) {
  static char *const ours[] = {"bench",      "--format",           "json", "--repetitions", TEXT_OF(RUN_REPETITIONS),
                               "--min-time", TEXT_OF(RUN_MIN_TIME)};
  enum { OURS = sizeof ours / sizeof *ours };
  const size_t more = given->operand_count - 2;
  char **arguments = allocated(calloc(1 + OURS + more + 1, sizeof *arguments));
  arguments[0] = given->operands[side];
  memcpy(arguments + 1, ours, sizeof ours);
  memcpy(arguments + 1 + OURS, given->operands + 2, more * sizeof *arguments);
  return arguments;
}

/* Runs one process and adds its record to the blocks; returns the record. */
static json_t *run_once(const options *given, int side, char *const *arguments, blocks *all) {
  static size_t done;
  char why[200];
  progress_show("compare", sides[side], (double)done++, 4.0 * given->blocks, "processes");
  json_t *record = program_json(sides[side], arguments);
  char what[32];
  snprintf(what, sizeof what, "%s ", sides[side]);
  require_check(what, arguments[0], record);
  if (blocks_add(all, side, record, why, sizeof why)) return record;
  progress_clear();
  die("%s%s: %s", what, arguments[0], why);
}

/* Draws the order within a block at random, so that a periodic load cannot always slow down the same program. Of two
   equal programs, each is then equally likely to be faster in a block, as the statistical test assumes. */
static bool draw(void) {
  unsigned char byte;
  if (getrandom(&byte, 1, 0) != 1) die("no random numbers: %s", strerror(errno));
  return byte & 1;
}

static json_t *compare_programs(const options *given, const compare_limits *limits) {
  char **arguments[] = {arguments_of(given, 0), arguments_of(given, 1)};
  json_t *last[] = {NULL, NULL};
  blocks *all = allocated(blocks_open((size_t)given->blocks));
  for (int block = 0; block < given->blocks; block++) {
    const int first = draw();
    const int order[] = {first, !first, !first, first};
    for (int i = 0; i < 4; i++) {
      const int side = order[i];
      json_decref(last[side]);
      last[side] = run_once(given, side, arguments[side], all);
    }
  }
  progress_clear();
  json_t *json = allocated(compare_blocks(all, last[0], last[1], limits));
  blocks_close(all);
  for (int side = 0; side < 2; side++) {
    json_decref(last[side]);
    free(arguments[side]);
  }
  return json;
}

static void require_operands(const options *given) {
  if (!given->run_programs) {
    if (given->operand_count > 2) die("extra operand '%s'", given->operands[2]);
    if (is_given(given, OPTION_BLOCKS)) die("--blocks %s: it is for --run", given->texts[OPTION_BLOCKS]);
    return;
  }
  for (char **option = given->operands + 2; *option; option++)
    if (strncmp(*option, "--format", strlen("--format")) == 0 ||
        strncmp(*option, "--output", strlen("--output")) == 0 || strncmp(*option, "-o", 2) == 0 ||
        strcmp(*option, "--help") == 0)
      die("%s: not an option of the programs that --run runs", *option);
}

/* ---- both ---- */

static compare_limits limits_of(const options *given) {
  const bool by_time = given->by && strcmp(given->by, "time") == 0;
  compare_limits limits = {given->growth, given->slower / 100.0, given->alpha, by_time};
  if (given->run_programs && !is_given(given, OPTION_SLOWER)) limits.slower = COMPARE_RUN_SLOWER / 100.0;
  if (given->run_programs && !is_given(given, OPTION_ALPHA)) limits.alpha = COMPARE_RUN_ALPHA;
  if (!(limits.alpha > 0.0 && limits.alpha < 1.0))
    die_value("--alpha", given->texts[OPTION_ALPHA], "not between 0 and 1");
  return limits;
}

static int run(options *given) {
  require_operands(given);
  const compare_limits limits = limits_of(given);
  output *out = open_output("--output", given->output);
  json_t *json = (given->run_programs ? compare_programs : compare_files)(given, &limits);
  const record_comparison *comparison = record_take_comparison(json);
  if (!comparison) die("out of memory");
  const char *format = given->format ? given->format : "text";
  if (strcmp(format, "json") == 0)
    field_print(json, output_stream(out));
  else
    (strcmp(format, "text") == 0 ? compare_print_text : compare_print_markdown)(comparison, given->all,
                                                                                output_stream(out));
  const bool worse = comparison->worse > 0;
  record_free(comparison);
  json_decref(json);
  close_output("--output", given->output, out);
  return worse ? STATUS_WORSE : EXIT_SUCCESS;
}

const command command_compare = {
    .bit = COMPARE,
    .name = "compare",
    .summary = "print what is worse in one record or program than in another",
    .usage = usage,
    .notes = notes,
    .operands_least = 2,
    .operands_most = INT_MAX,
    .operand_missing = "OLD and NEW are needed: two records, or with --run two programs",
    .run = run,
};
