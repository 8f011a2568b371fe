/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "bench/bench.h"
#include "cli/encodings.h"
#include "cli/measure.h"
#include "common/field.h"
#include "common/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { OPTION_JSON = OPTION_OWN, OPTION_MODE, OPTION_ENCODING };

static const char help[] =
    "Usage: posenc bench [OPTION]... [-- --benchmark_FLAG=VALUE...]\n"
    "Time kernels beside what this machine can do at best with the same memory: fill it,\n"
    "for a table, or the two of a rope cache; multiply it by a constant, for what add and\n"
    "rope do in place. Without --len and --dim, it is a sweep of lengths at 512 columns,\n"
    "the published tables, and the published shapes of add, rope and rope caches; with\n"
    "--op, those of it alone.\n"
    "\n"
    "Options:\n"
    "  --mode LIST       in which states, separated by commas (hot,plan)\n" KERNEL_HELP PLUGIN_HELP TABLE_HELP OP_HELP
        RUN_HELP BENCH_HELP PATIENCE_HELP SHARD_HELP
    "  --encoding NAME   instead of kernels, one of the other encodings: integer, binary,\n"
    "                    learned, alibi or dropout (posenc list --encodings); --heads and\n"
    "                    --len are those of alibi's matrices\n"
    "  --json FILE       write Google Benchmark JSON and no table; - is standard output\n" HELP_HELP "\n"
    "Modes:\n"
    "  hot               the same memory again and again\n"
    "  cold              table, or x, and constants evicted from all caches\n"
    "  fresh             memory as posenc_alloc gives it, page faults included; of tables\n"
    "  first             plan and whole table: what one table costs\n"
    "  row               a row at a time, at scattered positions\n"
    "  plan              the plan alone, which all but first leave out\n"
    "\n"
    "What follows -- goes to Google Benchmark. There is a table for each mode. Its\n"
    "columns: microseconds for the table (row: for a row; plan: for a plan), nanoseconds\n"
    "for an element and GB/s (of add and rope: read and written), all medians; share of\n"
    "the limit, in the same mode; what part of the time the plan takes; and the spread of\n"
    "the timings, (slowest - fastest) / median. A kernel that can do none of the tables\n"
    "here is left out, and told on stderr; one that --kernel has by its name is an error.\n"
    "\n"
    "Exit status:\n"
    "  0                 if all is well\n"
    "  1                 if there is nothing to time, as in an empty table, or a kernel that\n"
    "                    crashed, hung or the like had to be left out\n"
    "  2                 on bad input or any other error\n"
    "\n"
    "Examples:\n"
    "  $ posenc bench --kernel 'rot*' --len 4096 --dim 512\n"
    "  $ posenc bench --kernel cr-portable --mode first,row --len 512 --dim 512\n"
    "  $ posenc bench --op rope --len 4096 --heads 32 --dim 128 --kernel cr-portable,cached\n"
    "  $ posenc bench --encoding alibi --heads 32 --len 2048 --mode hot\n"
    "  $ posenc bench --kernel rotation-portable --len 512 --dim 512 --json bench.json\n";

static const struct option long_options[] = {
    TABLE_OPTIONS,
    OP_OPTIONS,
    KERNEL_OPTIONS,
    PLUGIN_OPTIONS,
    RUN_OPTIONS,
    BENCH_OPTIONS,
    PATIENCE_OPTIONS,
    SHARD_OPTIONS,
    {"json", required_argument, NULL, OPTION_JSON},
    {"mode", required_argument, NULL, OPTION_MODE},
    ENCODING_OPTIONS,
    HELP_OPTIONS,
};

/* Flags of Google Benchmark are all that may stand behind the options. */
static char **benchmark_flags(char **operands) {
  for (char **operand = operands; *operand; operand++)
    if (strncmp(*operand, "--benchmark_", strlen("--benchmark_")) != 0) die("extra operand '%s'", *operand);
  return operands;
}

static void write_record(const json_t *record, output *out, const char *path) {
  field_print(record, output_stream(out));
  if (!output_commit(out)) die_value("--json", path, strerror(errno));
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *path = NULL, *encoding = NULL;
  unsigned modes = BENCH_DEFAULT_MODES;
  for (int code; (code = options_next(&given, &command_bench, argc, argv)) != -1;)
    if (code == OPTION_JSON)
      path = optarg;
    else if (code == OPTION_ENCODING)
      encoding = optarg;
    else if (!bench_modes_parse(optarg, &modes))
      die_value("--mode", optarg, "not of hot, cold, fresh, first, row and plan");
  char **flags = benchmark_flags(argv + optind);
  selection chosen = encoding ? select_encoded(&given, encoding) : select_measured(&given, true);
  if (!encoding) require_named(&given, &chosen);
  /* Now: after minutes of work is no time to learn that it cannot be written. */
  output *out = path ? output_open(path) : NULL;
  if (path && !out) die_value("--json", path, strerror(errno));

  json_t *record;
  select_modes(&chosen, modes);
  const int status = measure_time(&given, &chosen, flags, &record);
  selection_free(&chosen);
  if (!record)
    output_abandon(out);
  else if (out)
    write_record(record, out, path);
  else
    print_timings(record, stdout);
  json_decref(record);
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
