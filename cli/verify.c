/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "cli/measure.h"
#include "common/output.h"
#include "verify/baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORMAT = OPTION_OWN, OPTION_SAVE, OPTION_BASELINE, OPTION_CASES, OPTION_EXPLAIN, OPTION_PROFILE };

static const char help[] = "Usage: posenc verify [OPTION]...\n"
                           "Hold kernels to what they promise: elements are compared with the exact real numbers,\n"
                           "and the properties of the encoding are checked. Of a table within the --budget it is\n"
                           "every element, of a larger one a sample. What add and rope give is compared\n"
                           "with what is exact for the x that they get. Without --len and --dim, the\n"
                           "shapes are the published ones.\n"
                           "\n"
                           "Options:\n" KERNEL_HELP PLUGIN_HELP TABLE_HELP OP_HELP RUN_HELP VERIFY_HELP
                           "  --format NAME     tap (one point for each kernel, property and table), junit, or json\n"
                           "                    (the accuracy record) (tap)\n"
                           "  --cases FILE      instead of tables, only these hard-to-round elements; may be given\n"
                           "                    several times (reference/worst/ has some)\n"
                           "  --explain         tell where errors come from: frequency, phase, sine and cosine, or\n"
                           "                    the last rounding; of the largest error, and by position\n"
                           "                    (tables alone)\n"
                           "  --profile         also the error against position and frequency over a table of\n"
                           "                    its own, 2^20 positions, for the report; takes --format json\n"
                           "  --save FILE       write errors and digests of the bits, for a later --baseline\n"
                           "  --baseline FILE   hold kernels to what was saved: it is a failure if an error grew or\n"
                           "                    the bits of a reproducible kernel changed\n"
                           "  -o, --output FILE\n"
                           "                    where to write; - is standard output (-)\n" HELP_HELP "\n"
                           "Exit status:\n"
                           "  0                 if every promise was kept\n"
                           "  1                 if one was broken, or nothing was compared\n"
                           "  2                 on bad input or any other error\n"
                           "\n"
                           "Examples:\n"
                           "  $ posenc verify\n"
                           "  $ posenc verify --kernel 'naive*' --len 512 --dim 128 --offset 1000000\n"
                           "  $ posenc verify --kernel naive --len 131072 --dim 128 --explain\n"
                           "  $ posenc verify --plugin mine.so --kernel mine\n"
                           "  $ posenc verify --cases reference/worst/base10000-d128.wc\n"
                           "  $ posenc verify --profile --format json -o accuracy.json\n"
                           "  $ posenc verify --kernel rotation --baseline tests/baseline.json\n";

static const struct option long_options[] = {
    TABLE_OPTIONS,
    OP_OPTIONS,
    KERNEL_OPTIONS,
    PLUGIN_OPTIONS,
    RUN_OPTIONS,
    VERIFY_OPTIONS,
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"cases", required_argument, NULL, OPTION_CASES},
    {"explain", no_argument, NULL, OPTION_EXPLAIN},
    {"profile", no_argument, NULL, OPTION_PROFILE},
    {"save", required_argument, NULL, OPTION_SAVE},
    {"baseline", required_argument, NULL, OPTION_BASELINE},
    {"output", required_argument, NULL, 'o'},
    HELP_OPTIONS,
};

typedef void printer(const json_t *record, FILE *stream);

static void print_json(const json_t *record, FILE *stream) {
  json_dumpf(record, stream, JSON_INDENT(2));
  fputc('\n', stream);
}

static printer *parse_format(const char *text) {
  if (strcmp(text, "tap") == 0) return verify_print_tap;
  if (strcmp(text, "junit") == 0) return verify_print_junit;
  if (strcmp(text, "json") == 0) return print_json;
  die_value("--format", text, "not tap, junit or json");
}

static json_t *load_baseline(const char *path) {
  json_error_t error;
  json_t *baseline = json_load_file(path, 0, &error);
  const char *fault = baseline ? baseline_fault(baseline) : error.text;
  if (fault) die_value("--baseline", path, fault);
  return baseline;
}

/* Opened before measuring, so that what cannot be written is told at once. Null for no path. */
static output *open_for(const char *option, const char *path) {
  output *out = path ? output_open(path) : NULL;
  if (path && !out) die_value(option, path, strerror(errno));
  return out;
}

static void close_for(const char *option, const char *path, output *out) {
  if (out && !output_commit(out)) die_value(option, path, strerror(errno));
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *path = "-", *saved = NULL, **files = calloc((size_t)argc, sizeof *files);
  size_t file_count = 0;
  printer *print = verify_print_tap;
  bool explain = false, profile = false;
  json_t *baseline = NULL;
  if (!files) die("out of memory");
  for (int code; (code = options_next(&given, &command_verify, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) print = parse_format(optarg);
    if (code == OPTION_CASES) files[file_count++] = optarg;
    if (code == OPTION_EXPLAIN) explain = true;
    if (code == OPTION_PROFILE) profile = true;
    if (code == OPTION_SAVE) saved = optarg;
    if (code == OPTION_BASELINE) baseline = load_baseline(optarg);
  }
  if (profile && print != print_json) die("--profile: only --format json holds it");
  if (profile && file_count) die("--profile: nothing would use it beside --cases");
  selection chosen = file_count ? select_cases(&given, files, file_count) : select_measured(&given, false);
  if (saved && strcmp(saved, path) == 0 && strcmp(path, "-") != 0)
    die_value("--save", saved, "--output writes the same file");
  output *out = open_for("--output", path), *save = open_for("--save", saved);

  json_t *record = measure_accuracy(&given, &chosen, profile, explain);
  if (save) {
    json_t *now = baseline_of(record);
    print_json(now, output_stream(save));
    json_decref(now);
  }
  if (baseline) baseline_hold(record, baseline);
  print(record, output_stream(out));
  char why[200];
  const int status = verify_mistrust(record, why, sizeof why) ? STATUS_FAILED_CHECK : accuracy_status(record);
  json_decref(record);
  json_decref(baseline);
  selection_free(&chosen);
  free(files);
  close_for("--save", saved, save);
  close_for("--output", path, out);
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
