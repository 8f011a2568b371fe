/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/files.h"
#include "cli/options.h"
#include "common/clock.h"
#include "common/memory.h"
#include "common/output.h"
#include "common/terminal.h"
#include "records/compare.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what a program prints ----------------------------------------------------------------------- */

enum { STATUS_NOT_STARTED = 127 };

__attribute__((noreturn, format(printf, 2, 3))) static void fail(const char *what, const char *format, ...) {
  char why[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  progress_clear();
  die("%s: %s", what, why);
}

/* Runs the program in the child. */
_Noreturn static void execute(char *const *arguments, pid_t parent, int printed, int told) {
  const int nothing = open("/dev/null", O_RDONLY);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() == parent && dup2(nothing, STDIN_FILENO) >= 0 && dup2(told, STDERR_FILENO) >= 0 &&
      dup2(printed, STDOUT_FILENO) >= 0)
    execvp(arguments[0], arguments);
  dprintf(told, "it cannot be started: %s\n", strerror(errno));
  _exit(STATUS_NOT_STARTED);
}

/* Finds the last line of the file that is not empty, with "?" for what is no printable ASCII; "" if there is none. */
static void read_last_line(FILE *file, char *line, size_t size) {
  char text[400];
  *line = '\0';
  rewind(file);
  while (fgets(text, sizeof text, file)) {
    text[strcspn(text, "\n")] = '\0';
    if (*text) snprintf(line, size, "%.*s", (int)size - 1, text);
  }
  for (; *line; line++)
    if (*line < ' ' || *line > '~') *line = '?';
}

static void require_success(const char *what, int status, FILE *told) {
  char last[200];
  if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_SUCCESS) return;
  read_last_line(told, last, sizeof last);
  const char *before = *last ? ": " : "";
  if (WIFSIGNALED(status)) fail(what, "it was killed by signal %d%s%s", WTERMSIG(status), before, last);
  if (WEXITSTATUS(status) == STATUS_NOT_STARTED && *last) fail(what, "%s", last);
  fail(what, "it ended with exit status %d%s%s", WEXITSTATUS(status), before, last);
}

/* Reads to the end, so that a program that still writes is not ended by SIGPIPE. */
static void read_rest(int file) {
  char text[4096];
  while (read(file, text, sizeof text) > 0) continue;
}

/*
 * Returns the JSON that a program prints, a new reference. arguments[0] is its path, or a name that is searched in
 * $PATH; the last one is a null pointer. The program's standard input is /dev/null, and its stderr is dropped unless it
 * fails; no file is left behind. Exits if the program cannot be started, ends with another status than 0 or by a
 * signal, or prints no JSON: the message is one line, which begins with `what`, the program's name in words, and ends
 * with its last line.
 * If this process ends, the program is terminated.
 */
static json_t *program_json(const char *what, char *const *arguments) {
  int printed[2];
  FILE *told = output_temporary();
  if (!told || pipe2(printed, O_CLOEXEC) != 0) fail(what, "%s", strerror(errno));
  fflush(NULL);
  const pid_t self = getpid(), child = fork();
  if (child == 0) execute(arguments, self, printed[1], fileno(told));
  if (child < 0) fail(what, "%s", strerror(errno));
  close(printed[1]);
  json_error_t error;
  FILE *stream = allocated(fdopen(printed[0], "r"));
  json_t *json = record_load(stream, JSON_REJECT_DUPLICATES, &error);
  read_rest(printed[0]);
  fclose(stream);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  require_success(what, status, told);
  fclose(told);
  if (!json) fail(what, "it printed no record: %s", error.text);
  return json;
}

enum { STATUS_WORSE = 1, STATUS_UNDECIDED = 3 };

static const char usage[] = "Usage: posenc compare OLD NEW [OPTION]...\n"
                            "  or:  posenc compare --run OLD NEW [OPTION]... [-- BENCH-OPTION...]\n"
                            "Print what is worse in one of two records of the same kind: records of posenc\n"
                            "verify --format json, where any growth of an error counts, or of posenc bench\n"
                            "--format json or any other Google Benchmark JSON, where a ratio of times counts\n"
                            "if it is significant by Mann and Whitney's U test.\n"
                            "\n"
                            "With --run, OLD and NEW are programs, such as posenc of two builds, or plugins:\n"
                            "files whose names end in .so, which this posenc loads. Both are run as\n"
                            "'PROGRAM bench --format json BENCH-OPTION...', for a plugin with --plugin, again\n"
                            "and again, in blocks of four processes: old new new old, or new old old new,\n"
                            "chosen at random. A ratio of times counts if it is significant by Wilcoxon's\n"
                            "signed-rank test of the blocks.\n";
static const char notes[] = "A ratio is NEW divided by OLD: 1.05 is 5 % more time. For records it is the\n"
                            "median of all quotients of a new and an old timing; for programs, the median of\n"
                            "the means of all pairs of blocks, with the best timing of each process. The\n"
                            "p-values are corrected for the number of benchmarks by Holm's method, and the\n"
                            "intervals enclose all true ratios at once. The next column is the smallest\n"
                            "difference that would have been significant. A benchmark is the same if its\n"
                            "whole interval is within the threshold, and undecided if timings are too few or\n"
                            "spread too widely. With --seconds, which looks again after more blocks, the\n"
                            "first look has half of the significance level, each later one half of the one\n"
                            "before, so that all looks together have at most --alpha.\n"
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
                                              "  3                 with --fail-undecided, if nothing is worse but\n"
                                              "                    something is undecided\n"
                                              "\n"
                                              "Examples:\n"
                                              "  $ posenc compare before/accuracy.json after/accuracy.json\n"
                                              "  $ posenc compare before/bench.json after/bench.json \\\n"
                                              "      --slower 10 --format markdown\n"
                                              "  $ posenc compare --run old/posenc new/posenc -- \\\n"
                                              "      --kernel cr-portable --len 512 --dim 512\n"
                                              "  $ posenc compare --run old/mine.so new/mine.so --slower 10 \\\n"
                                              "      --seconds 300 --fail-undecided -- --kernel mine --len 5000\n";

/* ---- records ---- */

/* The two records, and their comparison, whose texts belong to the records. */
typedef struct comparison {
  compare_input sides[2];
  record_memory memory;
  record_comparison of;
} comparison;

static void compare_files(const options *given, const compare_thresholds *thresholds, comparison *made) {
  char **files = given->operands, why[400];
  const char *reason;
  for (int side = 0; side < 2; side++) {
    json_t *json = load_json(NULL, files[side], JSON_REJECT_DUPLICATES);
    if (!compare_open(&made->sides[side], json, why, sizeof why)) die("%s: %s", files[side], why);
  }
  if (!compare_records(&made->of, &made->sides[0], &made->sides[1], thresholds, &made->memory, &reason))
    die("%s and %s: %s", files[0], files[1], reason);
}

/* ---- programs ---- */

static bool is_plugin(const char *operand) {
  const size_t length = strlen(operand);
  return length > 3 && strcmp(operand + length - 3, ".so") == 0;
}

/* A side of the comparison: what it is called in messages, and its command line. */
typedef struct contestant {
  char name[400], **arguments;
  compare_input *last; /* its last record */
} contestant;

/* Sets the command line "PROGRAM bench --format json --repetitions N --min-time S [--plugin FILE] BENCH-OPTION...", a
   new array. The user's options come last, so that they replace the ones before. */
static contestant contestant_of(const options *given, int side, compare_input *last) {
  static char *const ours[] = {"bench",      "--format",           "json", "--repetitions", TEXT_OF(RUN_REPETITIONS),
                               "--min-time", TEXT_OF(RUN_MIN_TIME)};
  enum { OURS = sizeof ours / sizeof *ours, PLUGIN = 2 };
  char *const operand = given->operands[side];
  const bool plugin = is_plugin(operand);
  const size_t more = given->operand_count - 2;
  contestant made = {.arguments = memory_take(1 + OURS + PLUGIN + more + 1, sizeof(*made.arguments)), .last = last};
  char **next = made.arguments;
  snprintf(made.name, sizeof made.name, "%s %s %s", side ? "new" : "old", plugin ? "plugin" : "program", operand);
  *next++ = plugin ? "/proc/self/exe" : operand;
  memcpy(next, ours, sizeof ours);
  next += OURS;
  if (plugin) *next++ = "--plugin", *next++ = operand;
  memcpy(next, given->operands + 2, more * sizeof *next);
  return made;
}

/* Runs one process and adds its record to the blocks. */
static void run_once(contestant *one, int side, blocks *all) {
  char why[400];
  compare_close(one->last);
  const bool is_read = compare_open(one->last, program_json(one->name, one->arguments), why, sizeof why);
  if (is_read && !one->last->timing)
    snprintf(why, sizeof why, "it has timed nothing");
  else if (is_read && blocks_add(all, side, one->last->timing, why, sizeof why))
    return;
  progress_clear();
  die("%s: %s", one->name, why);
}

/* Draws the order within a block at random, so that a periodic load cannot always slow down the same program. Of two
   equal programs, each is then equally likely to be faster in a block, as the statistical test assumes. */
static bool draw(void) {
  unsigned char byte;
  if (getrandom(&byte, 1, 0) != 1) die("no random numbers: %s", strerror(errno));
  return byte & 1;
}

/* Runs blocks until there are so many, or until a time, but at least one. */
static void run_blocks(contestant both[2], blocks *all, size_t wanted, double end) {
  enum { PROCESSES = 4 };
  const size_t had = blocks_count(all);
  do {
    const int first = draw();
    const int order[PROCESSES] = {first, !first, !first, first};
    const double done = PROCESSES * (double)(blocks_count(all) - had), planned = PROCESSES * (double)(wanted - had);
    for (int i = 0; i < PROCESSES; i++) {
      contestant *one = &both[order[i]];
      progress_show(had ? "compare, more blocks" : "compare", one->name, done + i, planned, "processes");
      run_once(one, order[i], all);
    }
  } while (blocks_count(all) < wanted && clock_seconds() < end);
  progress_clear();
}

/* Runs the blocks, and looks at them. With --seconds, runs as many again while something is undecided and there is
   time. By then it is the data that have asked for more; so the looks share the significance level: their sum is at
   most alpha / 2 + alpha / 4 + ... */
static void compare_programs(const options *given, const compare_thresholds *thresholds, comparison *made) {
  const double end = is_given(given, OPTION_SECONDS) ? clock_seconds() + given->seconds : 0.0;
  contestant both[] = {contestant_of(given, 0, &made->sides[0]), contestant_of(given, 1, &made->sides[1])};
  compare_thresholds look = *thresholds;
  blocks *all = allocated(blocks_open());
  run_blocks(both, all, (size_t)given->blocks, INFINITY);
  for (;;) {
    if (end > 0.0) look.alpha /= 2.0;
    made->of = compare_blocks(all, both[0].last->timing, both[1].last->timing, &look, &made->memory);
    if (made->of.undecided == 0 || clock_seconds() >= end || blocks_count(all) >= BLOCKS_MAX) break;
    run_blocks(both, all, 2 * blocks_count(all), end);
  }
  blocks_close(all);
  for (int side = 0; side < 2; side++) free(both[side].arguments);
}

static void require_operands(const options *given) {
  if (!(given->seconds >= 0.0)) die_value("--seconds", given->texts[OPTION_SECONDS], "not a time");
  if (!given->run_programs) {
    if (given->operand_count > 2) die("extra operand '%s'", given->operands[2]);
    if (is_given(given, OPTION_BLOCKS)) die("--blocks %s: it is for --run", given->texts[OPTION_BLOCKS]);
    if (is_given(given, OPTION_SECONDS)) die("--seconds %s: it is for --run", given->texts[OPTION_SECONDS]);
    return;
  }
  for (char **option = given->operands + 2; *option; option++)
    if (strncmp(*option, "--format", strlen("--format")) == 0 ||
        strncmp(*option, "--output", strlen("--output")) == 0 || strncmp(*option, "-o", 2) == 0 ||
        strcmp(*option, "--help") == 0)
      die("%s: not an option of the programs that --run runs", *option);
}

/* ---- both ---- */

static compare_thresholds thresholds_of(const options *given) {
  const bool by_time = given->by && strcmp(given->by, "time") == 0;
  compare_thresholds thresholds = {given->growth, given->slower / 100.0, given->alpha, by_time};
  if (given->run_programs && !is_given(given, OPTION_SLOWER)) thresholds.slower = COMPARE_RUN_SLOWER / 100.0;
  if (given->run_programs && !is_given(given, OPTION_ALPHA)) thresholds.alpha = COMPARE_RUN_ALPHA;
  if (!(thresholds.alpha > 0.0 && thresholds.alpha < 1.0))
    die_value("--alpha", given->texts[OPTION_ALPHA], "not between 0 and 1");
  return thresholds;
}

static int run(options *given) {
  require_operands(given);
  const compare_thresholds thresholds = thresholds_of(given);
  output *out = open_output("--output", given->output);
  comparison made = {.of = {.there = false}};
  (given->run_programs ? compare_programs : compare_files)(given, &thresholds, &made);
  const char *format = given->format ? given->format : "text";
  if (strcmp(format, "json") == 0)
    record_print(record_write_comparison(&made.of), output_stream(out));
  else
    (strcmp(format, "text") == 0 ? compare_print_text : compare_print_markdown)(&made.of, given->all,
                                                                                output_stream(out));
  int status = given->fail_undecided && made.of.undecided > 0 ? STATUS_UNDECIDED : EXIT_SUCCESS;
  if (made.of.worse > 0) status = STATUS_WORSE;
  compare_close(&made.sides[0]);
  compare_close(&made.sides[1]);
  record_release(&made.memory);
  close_output("--output", given->output, out);
  return status;
}

const command command_compare = {
    .bit = COMPARE,
    .name = "compare",
    .summary = "print what is worse in one record or program than in another",
    .usage = usage,
    .notes = notes,
    .operands_least = 2,
    .operands_most = INT_MAX,
    .operand_missing = "OLD and NEW are needed: two records, or with --run two programs or plugins",
    .run = run,
};
