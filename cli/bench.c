/* SPDX-License-Identifier: MIT */
#include "bench/bench.h"
#include "cli/files.h"
#include "cli/measure.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "Usage: posenc bench [OPTION]... [-- --benchmark_FLAG=VALUE...]\n"
                            "Time kernels beside the limit of this machine, which is the speed of simple\n"
                            "code on the same memory: filling it, for a table or the two tables of a rope\n"
                            "cache; multiplying it by a constant, for add and rope, which work in place.\n"
                            "Without --len and --dim, a sweep of lengths at 512 columns, the published\n"
                            "tables, and the published shapes of add, rope and rope caches are timed; with\n"
                            "--op, only those of this operation.\n";
static const char notes[] = "Modes:\n"
                            "  hot               the same memory again and again\n"
                            "  cold              table, or x, and constants evicted from all caches\n"
                            "  fresh             memory just allocated by posenc_alloc, page faults\n"
                            "                    included; only for tables\n"
                            "  malloc            the same, allocated by malloc\n"
                            "  offset            as hot, 16 bytes past a cache line\n"
                            "  first             plan and whole table: the cost of a single table\n"
                            "  row               a row at a time, at scattered positions\n"
                            "  plan              only the plan, which no mode but first includes\n"
                            "\n"
                            "A kernel on a GPU, by OpenCL, is timed by the clock of the GPU, in hot and\n"
                            "plan; x and the results stay there, and the limit is that of its memory.\n"
                            "\n"
                            "Arguments after -- go to Google Benchmark. There is a table for each mode. Its\n"
                            "columns: microseconds for the table (row: for a row; plan: for a plan),\n"
                            "nanoseconds for an element and GB/s (add and rope: read and written), all\n"
                            "medians; share of the limit, in the same mode; the plan's share of the time;\n"
                            "and the spread of the timings, (slowest - fastest) / median. A kernel that can\n"
                            "compute none of the tables is left out, with a line on stderr; if --kernel has\n"
                            "its name, that is an error.\n"
                            "\n"
                            "What timed calls wrote is compared with exact values within the contract's\n"
                            "bound, at random places that the kernel is not told. One that breaks this or\n"
                            "another check is left out, with a line on stderr that names the check:\n"
                            "timed-values, late-work, clock, threads, surroundings, plan, floor. The record\n"
                            "has all checks. For a kernel on a GPU, and for --encoding, no values are\n"
                            "compared.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 on success\n"
                            "  1                 if a kernel had to be left out that broke a check, crashed,\n"
                            "                    hung or the like; or if there is nothing to time, as in an\n"
                            "                    empty table\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc bench --kernel 'rot*' --len 4096 --dim 512\n"
                            "  $ posenc bench --kernel cr-portable --mode first,row --len 512 --dim 512\n"
                            "  $ posenc bench --op rope --len 4096 --heads 32 --dim 128 \\\n"
                            "      --kernel cr-portable,cached\n"
                            "  $ posenc bench --encoding alibi --heads 32 --len 2048 --mode hot\n"
                            "  $ posenc bench --kernel rotation-portable --len 512 --dim 512 \\\n"
                            "      --format json -o bench.json\n";

/* Returns the operands, which must be flags of Google Benchmark. */
static char **benchmark_flags(char **operands) {
  for (char **operand = operands; *operand; operand++)
    if (strncmp(*operand, "--benchmark_", strlen("--benchmark_")) != 0) die("extra operand '%s'", *operand);
  return operands;
}

/* Prints a record. That of a shard has its command and, if it is known, the build. */
static void print(const options *given, const char *build, const record_timing *record, FILE *stream) {
  record_timing made = *record;
  resume_note(given, build, &made.context.shard);
  if (format_is(given, "json"))
    record_print(record_write_timing(&made), stream);
  else
    print_timings(&made, stream);
}

static int run(options *given) {
  char **flags = benchmark_flags(given->operands);
  run_request chosen = given->encoding ? select_encoded(given, given->encoding) : select_measured(given, true);
  if (!given->encoding) require_named(given, &chosen);
  select_modes(&chosen, given->modes);
  chosen.timing.flags = flags;
  char *build = resume_build(given);
  int status;
  if (given->resume && resume_is_done(given, build, &chosen, &status)) {
    run_free(&chosen);
    free(build);
    return status;
  }
  output *out = open_output("--output", given->output);
  const record_timing *record;
  status = bench_run(&chosen, &record);
  run_free(&chosen);
  if (!record) {
    output_abandon(out);
  } else {
    print(given, build, record, output_stream(out));
    close_output("--output", given->output, out);
  }
  free(build);
  record_free(record);
  return status;
}

const command command_bench = {
    .bit = BENCH,
    .name = "bench",
    .summary = "time kernels beside the limit of this machine",
    .usage = usage,
    .notes = notes,
    .operands_most = INT_MAX,
    .run = run,
};
