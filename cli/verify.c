/* SPDX-License-Identifier: MIT */
#include "verify/verify.h"
#include "cli/encodings.h"
#include "cli/measure.h"
#include "common/field.h"
#include "common/output.h"
#include "records/baseline.h"
#include "records/print.h"
#include "records/read.h"
#include "verify/encodings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
  OPTION_FORMAT = OPTION_OWN,
  OPTION_SAVE,
  OPTION_BASELINE,
  OPTION_CASES,
  OPTION_EXPLAIN,
  OPTION_PROFILE,
  OPTION_ENCODING
};

static const char help[] =
    "Usage: posenc verify [OPTION]...\n"
    "Hold kernels to what they promise: elements are compared with the exact real numbers,\n"
    "and the properties of the encoding are checked. Of a table within the --budget it is\n"
    "every element, of a larger one a sample. What add and rope give is compared\n"
    "with what is exact for the x that they get. Without --len and --dim, the\n"
    "shapes are the published ones, and the other encodings are looked at.\n"
    "\n"
    "Options:\n" KERNEL_HELP PLUGIN_HELP TABLE_HELP_OF("columns, even; an odd number needs --odd")
        ROWS_HELP OP_HELP RUN_HELP VERIFY_HELP PATIENCE_HELP SHARD_HELP
    "  --format NAME     tap (one point for each kernel, property and table), junit, or json\n"
    "                    (the accuracy record) (tap)\n"
    "  --cases FILE      instead of tables, only these hard-to-round elements; may be given\n"
    "                    several times (reference/worst/ has some)\n"
    "  --encoding GLOBS  instead of kernels, these of the other encodings: integer, binary,\n"
    "                    learned, alibi, dropout; several with commas. They are looked at\n"
    "                    too where no kernel, table, operation, case or baseline is told\n"
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
    "  1                 if one was broken, or nothing was compared, as of an empty table\n"
    "  2                 on bad input or any other error\n"
    "\n"
    "Examples:\n"
    "  $ posenc verify\n"
    "  $ posenc verify --kernel 'naive*' --len 512 --dim 128 --offset 1000000\n"
    "  $ posenc verify --kernel naive --len 131072 --dim 128 --explain\n"
    "  $ posenc verify --positions 5,-2.5,0.1,1e9 --dim 65 --odd ceil\n"
    "  $ posenc verify --encoding '*'\n"
    "  $ posenc verify --plugin ./mine.so --kernel mine --len 512 --dim 128\n"
    "  $ posenc verify --cases reference/worst/base10000-d128.wc\n"
    "  $ posenc verify --kernel rotation-portable --len 512 --dim 128 \\\n"
    "      --profile --format json -o accuracy.json\n"
    "  $ posenc verify --kernel 'cr-*' --len 512 --dim 64 \\\n"
    "      --format json --shard 1/4 -o one.json\n"
    "  $ posenc verify --kernel rotation-portable --baseline tests/baseline.json\n";

static const struct option long_options[] = {
    TABLE_OPTIONS,
    ROWS_OPTIONS,
    OP_OPTIONS,
    KERNEL_OPTIONS,
    PLUGIN_OPTIONS,
    RUN_OPTIONS,
    VERIFY_OPTIONS,
    PATIENCE_OPTIONS,
    SHARD_OPTIONS,
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"cases", required_argument, NULL, OPTION_CASES},
    {"explain", no_argument, NULL, OPTION_EXPLAIN},
    ENCODING_OPTIONS,
    {"profile", no_argument, NULL, OPTION_PROFILE},
    {"save", required_argument, NULL, OPTION_SAVE},
    {"baseline", required_argument, NULL, OPTION_BASELINE},
    {"output", required_argument, NULL, 'o'},
    HELP_OPTIONS,
};

typedef void printer(const json_t *record, FILE *stream);

static printer *parse_format(const char *text) {
  if (strcmp(text, "tap") == 0) return record_print_tap;
  if (strcmp(text, "junit") == 0) return record_print_junit;
  if (strcmp(text, "json") == 0) return field_print;
  die_value("--format", text, "not tap, junit or json");
}

static json_t *load_baseline(const char *path) {
  json_error_t error;
  json_t *baseline = json_load_file(path, 0, &error);
  record_fault fault;
  const record_baseline *fits = baseline ? record_read_baseline(baseline, &fault) : NULL;
  if (!fits) die_value("--baseline", path, baseline ? fault.text : error.text);
  record_free(fits);
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

/* ---- the other encodings ------------------------------------------------------------------------ */

/* The record of those that the globs select. */
static json_t *encodings_record(const options *given, const char *globs) {
  size_t count;
  const posenc_encoding **encodings = select_encodings(globs, &count);
  const encodings_request request = {
      .by = &encoders_library,
      .encodings = encodings,
      .count = count,
      .seed = (uint64_t)given->seed,
      .silence = given->silence,
  };
  json_t *record = verify_encodings(&request);
  if (!record) die_unmeasured();
  free(encodings);
  return record;
}

/* Was nothing chosen, so that all is to be looked at? */
static bool is_everything(const options *given) {
  for (int code = OPTION_LEN; code <= OPTION_STORES; code++)
    if (given->texts[code - OPTION_LEN]) return false;
  return true;
}

static void add_count(json_t *record, const json_t *more, const char *key) {
  const json_int_t sum =
      json_integer_value(json_object_get(record, key)) + json_integer_value(json_object_get(more, key));
  json_object_set_new(record, key, json_integer(sum));
}

/* JSON keeps the record of the encodings apart, in the other one; points of TAP and cases of JUnit are one list. */
static json_t *joined(json_t *record, json_t *encodings, bool apart) {
  if (!record || !encodings) return record ? record : encodings;
  if (apart) {
    json_object_set_new(record, "encodings", encodings);
    return record;
  }
  static const char *const counts[] = {"passed", "failed", "skipped"};
  json_array_extend(json_object_get(record, "records"), json_object_get(encodings, "records"));
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) add_count(record, encodings, counts[i]);
  json_decref(encodings);
  return record;
}

/* Of a shard, whose run they belong to: they are quick, and the last one's. */
static void tell_encodings(json_t *record) {
  json_t *run = json_object_get(json_object_get(record, "shard"), "run");
  if (run) json_object_set_new(run, "encodings", json_true());
}

/* Exits if an option was given that only kernels have a use for. */
static void refuse_beside_encoding(const options *given, const char *other) {
  options_refuse(given, OPTION_LEN, OPTION_STORES, "--encoding");
  options_refuse(given, OPTION_BUDGET, OPTION_SEARCH, "--encoding");
  options_refuse(given, OPTION_SHARD, OPTION_SHARD, "--encoding");
  if (other) die("%s: nothing would use it beside --encoding", other);
}

/* Exits if lists of positions or odd dims are asked for where they are not looked at. */
static void hold_rows(const options *given) {
  static const char reason[] = "of add and rope, what is verified are successive positions and even dims";
  const char *list = given->texts[OPTION_POSITIONS - OPTION_LEN], *odd = given->texts[OPTION_ODD - OPTION_LEN];
  if (!op_is_applied(given->problem.op)) return;
  if (list) die_value("--positions", list, reason);
  if (odd && given->problem.dim % 2) die_value("--odd", odd, reason);
}

/* Of a record that may be null. */
static int status_of(const json_t *record) {
  char why[200];
  if (!record) return EXIT_SUCCESS;
  return record_mistrust(record, why, sizeof why) ? STATUS_FAILED_CHECK : accuracy_status(record);
}

static void tell_mistrust(const json_t *record) {
  char why[200];
  if (record && record_mistrust(record, why, sizeof why)) fprintf(stderr, "posenc verify: %s\n", why);
}

/* The record of the kernels, saved and held to a baseline as asked; released with the selection. */
static json_t *kernels_record(const options *given, selection *chosen, bool explain, output *save, json_t *baseline) {
  json_t *record = measure_accuracy(given, chosen, 1, explain);
  if (save) {
    json_t *now = baseline_of(record);
    field_print(now, output_stream(save));
    json_decref(now);
  }
  if (baseline) baseline_hold(record, baseline);
  json_decref(baseline);
  selection_free(chosen);
  return record;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  given.takes_odd = true;
  const char *path = "-", *saved = NULL, *globs = NULL, **files = calloc((size_t)argc, sizeof *files);
  size_t file_count = 0;
  printer *print = record_print_tap;
  bool explain = false, profile = false;
  json_t *baseline = NULL, *record = NULL, *encodings = NULL;
  if (!files) die("out of memory");
  for (int code; (code = options_next(&given, &command_verify, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) print = parse_format(optarg);
    if (code == OPTION_CASES) files[file_count++] = optarg;
    if (code == OPTION_EXPLAIN) explain = true;
    if (code == OPTION_PROFILE) profile = true;
    if (code == OPTION_SAVE) saved = optarg;
    if (code == OPTION_BASELINE) baseline = load_baseline(optarg);
    if (code == OPTION_ENCODING) globs = optarg;
  }
  if (shard_is_part(given.only) && (saved || baseline))
    die("%s: of a whole run, not beside --shard", saved ? "--save" : "--baseline");
  if (profile && print != field_print) die("--profile: only --format json holds it");
  if (profile && file_count) die("--profile: nothing would use it beside --cases");
  if (globs)
    refuse_beside_encoding(&given, file_count ? "--cases"
                                   : profile  ? "--profile"
                                   : explain  ? "--explain"
                                   : saved    ? "--save"
                                   : baseline ? "--baseline"
                                              : NULL);
  selection chosen = {0};
  if (file_count) {
    options_refuse(&given, OPTION_LEN, OPTION_OP, "--cases");
    options_refuse(&given, OPTION_SEED, OPTION_SEARCH, "--cases");
  }
  if (!globs) chosen = file_count ? select_cases(&given, files, file_count) : select_measured(&given, false);
  if (!globs && !file_count) hold_rows(&given);
  if (explain && !globs && !file_count) require_tables(&given, &chosen, "--explain");
  if (profile) chosen.profile = VERIFY_SCAN;
  if (saved && strcmp(saved, path) == 0 && strcmp(path, "-") != 0)
    die_value("--save", saved, "--output writes the same file");
  output *out = open_for("--output", path), *save = open_for("--save", saved);

  const bool everything = !file_count && !baseline && is_everything(&given);
  if (!globs) record = kernels_record(&given, &chosen, explain, save, baseline);
  if (everything) tell_encodings(record);
  if (globs || (everything && given.only.number == given.only.of))
    encodings = encodings_record(&given, globs ? globs : "*");
  if (print != record_print_tap) tell_mistrust(record); /* TAP has it */
  const int status = status_of(record) != EXIT_SUCCESS ? status_of(record) : status_of(encodings);
  record = joined(record, encodings, print == field_print);
  print(record, output_stream(out));
  json_decref(record);
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
