/* SPDX-License-Identifier: MIT */
#include "records/compare.h"
#include "cli/options.h"
#include "cli/values.h"
#include "common/field.h"

#include <stdlib.h>
#include <string.h>

enum { OPTION_FORMAT = OPTION_OWN, OPTION_GROWTH, OPTION_SLOWER, OPTION_ALPHA, OPTION_BY, OPTION_ALL };
enum { STATUS_WORSE = 1 };

static const char help[] =
    "Usage: posenc compare OLD NEW [OPTION]...\n"
    "Tell what has become worse between two records of the same kind: those of\n"
    "posenc verify --format json, where any growth of an error counts, or those of\n"
    "posenc bench --json or any other Google Benchmark JSON, where a ratio of times\n"
    "counts that Mann and Whitney's U test does not put down to chance.\n"
    "\n"
    "Options:\n"
    "  --growth R        an error may grow by this share of it (" TEXT(
        COMPARE_DEFAULT_GROWTH) ")\n"
                                "  --slower P        a benchmark may take longer by so many percent (" TEXT(
                                    COMPARE_DEFAULT_SLOWER) ")\n"
                                                            "  --alpha A         and where it does, A is how likely "
                                                            "chance may be to make as\n"
                                                            "                    much; intervals are of 1 - A (" TEXT(
                                                                COMPARE_DEFAULT_ALPHA) ")\n"
                                                                                       "  --by WHAT         limit: "
                                                                                       "compare shares of the limit "
                                                                                       "measured beside each timing,\n"
                                                                                       "                    where both "
                                                                                       "records have them, or else "
                                                                                       "times; time: times\n"
                                                                                       "                    (limit)\n"
                                                                                       "  --all             also tell "
                                                                                       "what is the same\n"
                                                                                       "  --format NAME     text, "
                                                                                       "markdown or json "
                                                                                       "(text)\n" HELP_HELP "\n"
                                                                                       "A ratio is of NEW to OLD, the "
                                                                                       "median of all quotients of two "
                                                                                       "timings; 1.05 is 5 %\n"
                                                                                       "more time. Less than 4 "
                                                                                       "repetitions on each side can "
                                                                                       "prove nothing: such a "
                                                                                       "benchmark\n"
                                                                                       "is undecided, as is one whose "
                                                                                       "interval is wider than the "
                                                                                       "threshold.\n"
                                                                                       "\n"
                                                                                       "Exit status:\n"
                                                                                       "  0                 if nothing "
                                                                                       "is worse\n"
                                                                                       "  1                 if "
                                                                                       "something is\n"
                                                                                       "  2                 on bad "
                                                                                       "input or any other error\n"
                                                                                       "\n"
                                                                                       "Examples:\n"
                                                                                       "  $ posenc compare "
                                                                                       "before/accuracy.json "
                                                                                       "after/accuracy.json\n"
                                                                                       "  $ posenc compare "
                                                                                       "before/bench.json "
                                                                                       "after/bench.json --slower 10 "
                                                                                       "--format markdown\n";

static const struct option long_options[] = {
    {"growth", required_argument, NULL, OPTION_GROWTH},
    {"slower", required_argument, NULL, OPTION_SLOWER},
    {"alpha", required_argument, NULL, OPTION_ALPHA},
    {"by", required_argument, NULL, OPTION_BY},
    {"all", no_argument, NULL, OPTION_ALL},
    {"format", required_argument, NULL, OPTION_FORMAT},
    HELP_OPTIONS,
};

static json_t *load(const char *path) {
  json_error_t error;
  json_t *record = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  if (!record) die("%s: %s", *path ? path : "''", error.text);
  char why[400];
  if (compare_check(record, why, sizeof why)) return record;
  json_decref(record);
  die("%s: %s", path, why);
}

static double share(const char *option, const char *text) {
  const double value = parse_real(option, text);
  if (!(value >= 0.0)) die_value(option, text, "not 0 or more");
  return value;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  compare_limits limits = {COMPARE_DEFAULT_GROWTH, COMPARE_DEFAULT_SLOWER / 100.0, COMPARE_DEFAULT_ALPHA, false};
  const char *format = "text";
  bool all = false;
  for (int code; (code = options_next(&given, &command_compare, argc, argv)) != -1;) {
    switch (code) {
    case OPTION_GROWTH:
      limits.growth = share("--growth", optarg);
      break;
    case OPTION_SLOWER:
      limits.slower = share("--slower", optarg) / 100.0;
      break;
    case OPTION_ALPHA:
      limits.alpha = parse_real("--alpha", optarg);
      if (!(limits.alpha > 0.0 && limits.alpha < 1.0)) die_value("--alpha", optarg, "not between 0 and 1");
      break;
    case OPTION_BY:
      if (strcmp(optarg, "limit") != 0 && strcmp(optarg, "time") != 0) die_value("--by", optarg, "not limit or time");
      limits.by_time = strcmp(optarg, "time") == 0;
      break;
    case OPTION_ALL:
      all = true;
      break;
    case OPTION_FORMAT:
      if (strcmp(optarg, "text") != 0 && strcmp(optarg, "markdown") != 0 && strcmp(optarg, "json") != 0)
        die_value("--format", optarg, "not text, markdown or json");
      format = optarg;
      break;
    }
  }
  if (argc - optind < 2) die("two records are needed, OLD and NEW");
  if (argc - optind > 2) die("extra operand '%s'", argv[optind + 2]);
  char **files = argv + optind;
  json_t *before = load(files[0]), *after = load(files[1]);
  const char *why;
  json_t *json = compare_records(before, after, &limits, &why);
  json_decref(before);
  json_decref(after);
  if (!json) die("%s and %s: %s", files[0], files[1], why);
  const record_comparison *comparison = record_take_comparison(json);
  if (!comparison) die("out of memory");
  if (strcmp(format, "json") == 0)
    field_print(json, stdout);
  else
    (strcmp(format, "text") == 0 ? compare_print_text : compare_print_markdown)(comparison, all, stdout);
  const bool worse = comparison->worse > 0;
  record_free(comparison);
  json_decref(json);
  return worse ? STATUS_WORSE : EXIT_SUCCESS;
}

const command command_compare = {
    .name = "compare",
    .summary = "tell what is worse in one record than in another",
    .help = help,
    .short_options = "hV",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
