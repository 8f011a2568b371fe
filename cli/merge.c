/* SPDX-License-Identifier: MIT */
#include "records/merge.h"
#include "cli/measure.h"
#include "cli/options.h"
#include "common/field.h"
#include "common/output.h"
#include "records/print.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "Usage: posenc merge FILE... [OPTION]...\n"
    "Put together what shards of one run found: all records of posenc verify --format json\n"
    "--shard I/N, or all of posenc bench --json --shard I/N. Of verify it is the record that\n"
    "the whole run would have made, but for its load and date. Timings of one machine that\n"
    "are no shards are put together too, if no benchmark is in two of them: hot and cold.\n"
    "\n"
    "Options:\n"
    "  -o, --output FILE\n"
    "                    where to write; - is standard output (-)\n" HELP_HELP "\n"
    "What belongs together:\n"
    "  accuracy          version and commit are the same, and so is what was asked for: kernels,\n"
    "                    shapes, seed, budget, search. Machines may differ if all kernels\n"
    "                    are reproducible (posenc list tells), since their bits are\n"
    "                    the same everywhere; else libc, SLEEF, compiler, flags and\n"
    "                    instruction sets must be the same too, and so must all facts if\n"
    "                    the sources were modified or are unknown. Facts that differ are\n"
    "                    told side by side\n"
    "  timings           all facts are the same: one machine, one build\n"
    "\n"
    "Exit status:\n"
    "  0                 if all is well\n"
    "  1                 if what was merged tells of a broken promise, or compared or timed\n"
    "                    nothing\n"
    "  2                 if they do not belong together, on bad input or any other error\n"
    "\n"
    "Examples:\n"
    "  $ posenc verify --kernel 'cr-*' --len 512 --dim 64 \\\n"
    "      --format json --shard 1/2 -o one.json\n"
    "  $ posenc verify --kernel 'cr-*' --len 512 --dim 64 \\\n"
    "      --format json --shard 2/2 -o two.json\n"
    "  $ posenc merge one.json two.json -o accuracy.json\n";

static const struct option long_options[] = {{"output", required_argument, NULL, 'o'}, HELP_OPTIONS};

/* As posenc verify and posenc bench exit. */
static int status_of(const json_t *record) {
  char why[200];
  if (!record) return EXIT_SUCCESS;
  const json_t *benchmarks = json_object_get(record, "benchmarks");
  if (benchmarks) return json_array_size(benchmarks) ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
  return record_mistrust(record, why, sizeof why) ? STATUS_FAILED_CHECK : accuracy_status(record);
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *path = "-";
  for (int code; (code = options_next(&given, &command_merge, argc, argv)) != -1;)
    if (code == 'o') path = optarg;
  char **names = argv + optind;
  const size_t count = (size_t)(argc - optind);
  if (count == 0) die("records are missing");
  for (size_t i = 0; i < count; i++)
    if (output_is(path, names[i])) die_value("--output", path, "it is a record to merge");
  json_t **records = calloc(count, sizeof(*records));
  if (!records) die("out of memory");
  for (size_t i = 0; i < count; i++) {
    json_error_t error;
    if (!(records[i] = json_load_file(names[i], 0, &error))) die("%s: %s", names[i], error.text);
  }
  char why[900];
  json_t *merged = merge_records(records, names, count, why, sizeof why);
  for (size_t i = 0; i < count; i++) json_decref(records[i]);
  free(records);
  if (!merged) die("%s", why);

  output *out = output_open(path);
  if (out) field_print(merged, output_stream(out));
  const bool written = out && output_commit(out);
  const int error = errno;
  const int status = status_of(merged), of_encodings = status_of(json_object_get(merged, "encodings"));
  json_decref(merged);
  if (!written) die_value("--output", path, strerror(error));
  return status != EXIT_SUCCESS ? status : of_encodings;
}

const command command_merge = {
    .name = "merge",
    .summary = "make one record of the shards of a run",
    .help = help,
    .short_options = "ho:V",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
