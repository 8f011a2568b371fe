/* SPDX-License-Identifier: MIT */
#include "records/merge.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "common/memory.h"
#include "verify/verify.h"

#include <limits.h>
#include <stdlib.h>

static const char usage[] = "Usage: posenc merge FILE... [OPTION]...\n"
                            "Merge the records of all shards of one run: of posenc verify --format json\n"
                            "--shard I/N, or of posenc bench --format json --shard I/N. For verify, the\n"
                            "result is the record that the whole run would have made, except its load and\n"
                            "date. Timing records of one machine that are not shards can be merged too, if\n"
                            "no benchmark is in two of them: for example, of --mode hot and of --mode cold.\n";
static const char notes[] = "Which records can be merged:\n"
                            "  shards            the request is the same: kernels, shapes and all options\n"
                            "                    that results depend on; plugins and hard-to-round cases\n"
                            "                    have the same content\n"
                            "  accuracy          version, commit and contracts are the same. Machines may\n"
                            "                    differ if all kernels are reproducible (posenc list), since\n"
                            "                    their bits are the same everywhere; else libc, SLEEF,\n"
                            "                    compiler, flags and instruction sets must be the same too,\n"
                            "                    and so must all facts if the sources were modified or are\n"
                            "                    unknown. Facts that differ are listed side by side\n"
                            "  timings           all facts are the same: one machine, one build; and so\n"
                            "                    are the library's choices on the same shape. Options such\n"
                            "                    as --threads are compared between shards only\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 on success\n"
                            "  1                 if a merged record has a broken promise, compared or timed\n"
                            "                    nothing, or lacks a kernel that was left out\n"
                            "  2                 if they cannot be merged, on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc verify --kernel 'cr-*' --len 512 --dim 64 --format json \\\n"
                            "      --shard 1/2 -o one.json\n"
                            "  $ posenc verify --kernel 'cr-*' --len 512 --dim 64 --format json \\\n"
                            "      --shard 2/2 -o two.json\n"
                            "  $ posenc merge one.json two.json -o accuracy.json\n";

/* Returns the exit status of posenc verify or posenc bench for the record. */
static int status_of(const merged_record *merged) {
  const record_accuracy *accuracy = merged->accuracy;
  if (accuracy) return whole_status(accuracy);
  const bool is_whole = timed_status(merged->timing, false) == EXIT_SUCCESS && merged->timing->benchmarks_count > 0;
  return is_whole ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
}

static int run(options *given) {
  char **names = given->operands;
  const size_t count = given->operand_count;
  json_t **records = memory_take(count, sizeof(*records));
  for (size_t i = 0; i < count; i++) records[i] = load_json(NULL, names[i], 0);
  char why[2500];
  merged_record merged;
  if (!merge_records(&merged, records, names, count, verify_join, why, sizeof why)) die("%s", why);
  free(records);

  output *out = open_output("--output", given->output);
  record_print(merged.accuracy ? record_write_accuracy(merged.accuracy) : record_write_timing(merged.timing),
               output_stream(out));
  close_output("--output", given->output, out);
  const int status = status_of(&merged);
  record_free(merged.accuracy);
  record_free(merged.timing);
  return status;
}

const command command_merge = {
    .bit = MERGE,
    .name = "merge",
    .summary = "make one record of the shards of a run",
    .usage = usage,
    .notes = notes,
    .operands_least = 1,
    .operands_most = INT_MAX,
    .operand_missing = "records are missing",
    .run = run,
};
