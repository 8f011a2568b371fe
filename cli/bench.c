/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "cli/measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPTION_JSON = OPTION_OWN };

static const char help[] =
    "Usage: posenc bench [OPTION]... [-- --benchmark_FLAG=VALUE...]\n"
    "Time kernels beside what this machine can do at best: filling the same memory.\n"
    "Without --len and --dim, the tables are a sweep of lengths at 512 columns, and the\n"
    "published ones.\n"
    "\n"
    "Options:\n" KERNEL_HELP TABLE_HELP RUN_HELP BENCH_HELP
    "  --json FILE       write Google Benchmark JSON and no table; - is standard output\n" HELP_HELP "\n"
    "What follows -- goes to Google Benchmark. The columns of the table: nanoseconds\n"
    "for an element and GB/s (medians), share of the fill limit, and the spread of the\n"
    "timings, (slowest - fastest) / median.\n"
    "\n"
    "Exit status:\n"
    "  0                 if all is well\n"
    "  1                 if nothing could be timed\n"
    "  2                 on bad input or any other error\n"
    "\n"
    "Examples:\n"
    "  $ posenc bench --kernel 'rot*' --len 4096 --dim 512\n"
    "  $ posenc bench --json timings.json\n";

static const struct option long_options[] = {
    TABLE_OPTIONS, KERNEL_OPTIONS, RUN_OPTIONS, BENCH_OPTIONS, {"json", required_argument, NULL, OPTION_JSON},
    HELP_OPTIONS,
};

/* Flags of Google Benchmark are all that may stand behind the options. */
static char **benchmark_flags(char **operands) {
  for (char **operand = operands; *operand; operand++)
    if (strncmp(*operand, "--benchmark_", strlen("--benchmark_")) != 0) die("extra operand '%s'", *operand);
  return operands;
}

/* A file name that nobody has, so that an interrupt has nothing to remove until the timings are whole. */
static char *temporary_path(void) {
  const char *folder = getenv("TMPDIR");
  char *path;
  if (asprintf(&path, "%s/posenc-bench-%ld.json", folder && *folder ? folder : "/tmp", (long)getpid()) < 0)
    die("out of memory");
  return path;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *json = NULL;
  for (int code; (code = options_next(&given, &command_bench, argc, argv)) != -1;)
    if (code == OPTION_JSON) json = optarg;
  char **flags = benchmark_flags(argv + optind);
  selection chosen = select_measured(&given, true);
  int status;
  if (json) {
    status = measure_time(&given, &chosen, json, flags);
  } else {
    char *path = temporary_path();
    status = measure_time(&given, &chosen, path, flags);
    if (status == EXIT_SUCCESS) print_timings(path);
    unlink(path);
    free(path);
  }
  selection_free(&chosen);
  return status;
}

const command command_bench = {
    .name = "bench",
    .summary = "time kernels beside the limit of this machine",
    .help = help,
    .short_options = "hV",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
