/* SPDX-License-Identifier: MIT */
#include "records/compare.h"
#include "cli/files.h"
#include "cli/options.h"
#include "common/field.h"

#include <stdlib.h>
#include <string.h>

enum { STATUS_WORSE = 1 };

static const char usage[] = "Usage: posenc compare OLD NEW [OPTION]...\n"
                            "Print what is worse in one of two records of the same kind: records of\n"
                            "posenc verify --format json, where any growth of an error counts, or of\n"
                            "posenc bench --json or any other Google Benchmark JSON, where a ratio of times\n"
                            "counts if it is significant by Mann and Whitney's U test.\n";
static const char notes[] = "A ratio is NEW to OLD, the median of all quotients of two timings; 1.05 is 5 %\n"
                            "more time. Fewer than 4 repetitions on each side can prove nothing: such a benchmark\n"
                            "is undecided, as is one whose interval is wider than the threshold.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if nothing is worse\n"
                            "  1                 if something is\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc compare before/accuracy.json after/accuracy.json\n"
                            "  $ posenc compare before/bench.json after/bench.json --slower 10 --format markdown\n";

static json_t *load(const char *path) {
  json_t *record = load_json(NULL, path, JSON_REJECT_DUPLICATES);
  char why[400];
  if (compare_check(record, why, sizeof why)) return record;
  die("%s: %s", path, why);
}

static int run(options *given) {
  const bool by_time = given->by && strcmp(given->by, "time") == 0;
  const compare_limits limits = {given->growth, given->slower / 100.0, given->alpha, by_time};
  if (!(limits.alpha > 0.0 && limits.alpha < 1.0))
    die_value("--alpha", given->texts[OPTION_ALPHA], "not between 0 and 1");
  char **files = given->operands;
  json_t *before = load(files[0]), *after = load(files[1]);
  const char *why;
  json_t *json = compare_records(before, after, &limits, &why);
  json_decref(before);
  json_decref(after);
  if (!json) die("%s and %s: %s", files[0], files[1], why);
  const record_comparison *comparison = record_take_comparison(json);
  if (!comparison) die("out of memory");
  const char *format = given->format ? given->format : "text";
  if (strcmp(format, "json") == 0)
    field_print(json, stdout);
  else
    (strcmp(format, "text") == 0 ? compare_print_text : compare_print_markdown)(comparison, given->all, stdout);
  const bool worse = comparison->worse > 0;
  record_free(comparison);
  json_decref(json);
  return worse ? STATUS_WORSE : EXIT_SUCCESS;
}

const command command_compare = {
    .bit = COMPARE,
    .name = "compare",
    .summary = "print what is worse in one record than in another",
    .usage = usage,
    .notes = notes,
    .operands_least = 2,
    .operands_most = 2,
    .operand_missing = "two records are needed, OLD and NEW",
    .run = run,
};
