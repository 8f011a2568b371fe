/* SPDX-License-Identifier: MIT */
#include "records/merge.h"
#include "cli/files.h"
#include "cli/measure.h"
#include "common/field.h"
#include "common/memory.h"
#include "records/print.h"
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
static int status_of(const json_t *record) {
  if (!json_object_get(record, "benchmarks")) return trusted_status(record, NULL);
  const record_timing *timing = record_take_timing(record);
  const bool is_whole = timed_status(timing, false) == EXIT_SUCCESS && timing->benchmarks_count > 0;
  record_free(timing);
  return is_whole ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
}

static int run(options *given) {
  char **names = given->operands;
  const size_t count = given->operand_count;
  json_t **records = allocated(calloc(count, sizeof(*records)));
  for (size_t i = 0; i < count; i++) records[i] = load_json(NULL, names[i], 0);
  char why[2500];
  json_t *merged = merge_records(records, names, count, verify_join, why, sizeof why);
  for (size_t i = 0; i < count; i++) json_decref(records[i]);
  free(records);
  if (!merged) die("%s", why);

  output *out = open_output("--output", given->output);
  field_print(merged, output_stream(out));
  close_output("--output", given->output, out);
  const int status = status_of(merged), of_encodings = status_of(json_object_get(merged, "encodings"));
  json_decref(merged);
  return status != EXIT_SUCCESS ? status : of_encodings;
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
