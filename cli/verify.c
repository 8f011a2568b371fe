/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "cli/measure.h"
#include "common/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORMAT = OPTION_OWN };

static const char help[] = "Usage: posenc verify [OPTION]...\n"
                           "Hold kernels to what they promise: elements are compared with the exact real numbers,\n"
                           "and the properties of the encoding are checked. Of a table within the --budget it is\n"
                           "every element, of a larger one a sample. Without --len and --dim, the tables are the\n"
                           "published ones.\n"
                           "\n"
                           "Options:\n" KERNEL_HELP PLUGIN_HELP TABLE_HELP RUN_HELP VERIFY_HELP
                           "  --format NAME     tap (one point for each kernel, property and table) or json\n"
                           "                    (the accuracy record, with the error against the position) (tap)\n"
                           "  -o, --output FILE\n"
                           "                    where to write; - is standard output (-)\n" HELP_HELP "\n"
                           "Exit status:\n"
                           "  0                 if every promise was kept\n"
                           "  1                 if one was broken\n"
                           "  2                 on bad input or any other error\n"
                           "\n"
                           "Examples:\n"
                           "  $ posenc verify\n"
                           "  $ posenc verify --kernel 'naive*' --len 512 --dim 128 --offset 1000000\n"
                           "  $ posenc verify --plugin mine.so --kernel mine\n"
                           "  $ posenc verify --format json -o accuracy.json\n";

static const struct option long_options[] = {
    TABLE_OPTIONS,
    KERNEL_OPTIONS,
    PLUGIN_OPTIONS,
    RUN_OPTIONS,
    VERIFY_OPTIONS,
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"output", required_argument, NULL, 'o'},
    HELP_OPTIONS,
};

/* Whether the format is JSON; the only other one is TAP. */
static bool parse_format(const char *text) {
  const bool json = strcmp(text, "json") == 0;
  if (!json && strcmp(text, "tap") != 0) die_value("--format", text, "not tap or json");
  return json;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *path = "-";
  bool json = false;
  for (int code; (code = options_next(&given, &command_verify, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) json = parse_format(optarg);
  }
  selection chosen = select_measured(&given, false);
  output *out = output_open(path);
  if (!out) die_value("--output", path, strerror(errno));

  json_t *record = measure_accuracy(&given, &chosen, json);
  if (json) {
    json_dumpf(record, output_stream(out), JSON_INDENT(2));
    fputc('\n', output_stream(out));
  } else {
    verify_print_tap(record, output_stream(out));
  }
  const int status = accuracy_status(record);
  json_decref(record);
  selection_free(&chosen);
  if (!output_commit(out)) die_value("--output", path, strerror(errno));
  return status;
}

const command command_verify = {
    .name = "verify",
    .summary = "hold kernels to what they promise",
    .help = help,
    .short_options = "ho:V",
    .long_options = long_options,
    .run = run,
};
