/* SPDX-License-Identifier: MIT */
#include "cli/options.h"
#include "common/field.h"
#include "common/output.h"
#include "common/threads.h"
#include "files/table.h"
#include "records/print.h"
#include "verify/table.h"
#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORMAT = OPTION_OWN, OPTION_TENSOR, OPTION_PART };

static const char help[] = "Usage: posenc check FILE [OPTION]...\n"
                           "Hold a table in a file, whoever made it, to the exact values: every element is\n"
                           "compared with the real number, and what a table must be is looked at: values in\n"
                           "[-1, 1], sin^2 + cos^2 = 1, rows that are rotations of each other, no two rows equal.\n"
                           "FILE is NumPy's .npy or a safetensors file; it says how many positions and columns\n"
                           "there are, and the dtype. The rest of the formula is in what posenc write has\n"
                           "written to a safetensors file; where it is not, or is another, tell it by options.\n"
                           "\n"
                           "Options:\n" FORMULA_HELP ROWS_HELP LIMIT_HELP
                           "  --part NAME       cos or sin: the file has these alone, as a rope cache does; the\n"
                           "                    layout is then duplicated [f f], interleaved with each column\n"
                           "                    twice, or split with each once; of .npy of shape (2, L, D) it is\n"
                           "                    the first half or the second, duplicated if no --layout says\n"
                           "  --tensor NAME     which tensor of a safetensors file (the only one that can be a\n"
                           "                    table)\n"
                           "  --format NAME     text, tap, junit, or json (text)\n"
                           "  -o, --output FILE\n"
                           "                    where to write; - is standard output (-)\n" HELP_HELP "\n"
                           "Dtypes are f16, bf16 (in .npy two bytes of raw data, '<V2'), f32 and f64. Further axes\n"
                           "of the shape must be 1, as in (L, 1, D). Files may be larger than memory.\n"
                           "\n"
                           "Exit status:\n"
                           "  0                 if every element is within the limit, or none was given\n"
                           "  1                 if it is broken\n"
                           "  2                 on bad input or any other error\n"
                           "\n"
                           "Examples:\n"
                           "  $ posenc check table.npy\n"
                           "  $ posenc check table.npy --max-ulp 1\n"
                           "  $ posenc check table.safetensors --max-ulp 0.51\n"
                           "  $ posenc check rows.npy --positions 5,10,-2.5,1000\n"
                           "  $ posenc check whisper.npy --shift 1 --layout split --max-abs 1e-6\n"
                           "  $ posenc check model.safetensors --tensor pos_encoder.pe --format junit -o check.xml\n";

static const struct option long_options[] = {
    FORMULA_OPTIONS,
    ROWS_OPTIONS,
    LIMIT_OPTIONS,
    {"part", required_argument, NULL, OPTION_PART},
    {"tensor", required_argument, NULL, OPTION_TENSOR},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"output", required_argument, NULL, 'o'},
    HELP_OPTIONS,
};

/* ---- the record as text ------------------------------------------------------------------------- */

static json_int_t count(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

/* Infinite where the record has null. */
static double number(const json_t *object, const char *key) {
  return field_number_or(object, key, INFINITY);
}

static void print_witness(const json_t *record, const char *key, const char *name, const char *unit, FILE *stream) {
  const json_t *w = json_object_get(record, key);
  fprintf(stream, "%-15s %.6g%s at p = %s, i = %" JSON_INTEGER_FORMAT ", %s: exact %s, got %s\n", name,
          number(w, *unit ? "ulp" : "abs"), unit, field_text(json_object_get(w, "position")).text, count(w, "index"),
          field_string(w, "function"), field_string(w, "exact"), field_string(w, "got"));
}

static void print_histogram(const json_t *record, FILE *stream) {
  size_t i;
  json_t *bin;
  fputs("\nerror in ulp, below   elements\n", stream);
  json_array_foreach(json_object_get(record, "histogram"), i, bin) {
    if (count(bin, "count") == 0) continue;
    fprintf(stream, "%19.6g   %8" JSON_INTEGER_FORMAT "\n", number(bin, "below"), count(bin, "count"));
  }
}

static void print_positions(const json_t *record, FILE *stream) {
  size_t i;
  json_t *each;
  fprintf(stream, "\n%19s %10s %11s %11s %11s %11s\n", "from position", "rows", "max ulp", "max abs", "mean abs",
          "misrounded");
  json_array_foreach(json_object_get(record, "positions"), i, each) {
    fprintf(stream, "%19s %10" JSON_INTEGER_FORMAT " %11.6g %11.3g %11.3g %11" JSON_INTEGER_FORMAT "\n",
            field_text(json_object_get(each, "position")).text, count(each, "rows"), number(each, "max_ulp"),
            number(each, "max_abs"), number(each, "mean_abs"), count(each, "misrounded"));
  }
}

/* What a deviation of each property is. */
static const char *deviation_of(const char *property) {
  if (strcmp(property, "bounded") == 0) return "largest |value|";
  if (strcmp(property, "pair-norm") == 0) return "largest |sin^2 + cos^2 - 1|";
  return "largest |PE[p+k] - M_k PE[p]|";
}

static void print_properties(const json_t *record, FILE *stream) {
  const json_t *equal = json_object_get(record, "equal_rows"), *first = json_object_get(equal, "first");
  const bool judged = json_is_object(json_object_get(record, "limit"));
  size_t i;
  json_t *check;
  fputc('\n', stream);
  json_array_foreach(json_object_get(record, "checks"), i, check) {
    const char *property = field_string(check, "property");
    if (strcmp(property, "accuracy") == 0) continue;
    fprintf(stream, "%-15s ", property);
    if (count(check, "compared") == 0)
      fputs("not looked at", stream);
    else if (strcmp(property, "unique-rows") != 0)
      fprintf(stream, "%s %.6g", deviation_of(property), number(check, "worst"));
    else if (json_is_null(first))
      fprintf(stream, "all of %" JSON_INTEGER_FORMAT, count(equal, "compared"));
    else
      fprintf(stream,
              "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " equal one before; the first p = %s and p = %s",
              count(equal, "equal"), count(equal, "compared"), field_text(json_array_get(first, 0)).text,
              field_text(json_array_get(first, 1)).text);
    if (judged && !json_is_true(json_object_get(check, "skipped")))
      fputs(json_is_true(json_object_get(check, "ok")) ? ": ok" : ": FAILS", stream);
    if (judged && !json_is_true(json_object_get(check, "ok")) && strcmp(property, "unique-rows") != 0)
      fprintf(stream, ", %s", field_string(check, "note"));
    fputc('\n', stream);
  }
}

static void print_verdict(const json_t *whole, const json_t *record, FILE *stream) {
  const json_t *limit = json_object_get(record, "limit"),
               *of_accuracy = json_array_get(json_object_get(record, "checks"), 0);
  if (!json_is_object(limit)) return;
  const bool by_ulp = number(limit, "ulp") > 0.0;
  fprintf(stream, "\n%s: --max-%s %.6g", count(whole, "failed") ? "FAIL" : "PASS", by_ulp ? "ulp" : "abs",
          number(limit, by_ulp ? "ulp" : "abs"));
  if (!json_is_true(json_object_get(of_accuracy, "ok"))) fprintf(stream, ": %s", field_string(of_accuracy, "note"));
  fputc('\n', stream);
}

static void print_text(const json_t *whole, FILE *stream) {
  const json_t *record = json_array_get(json_object_get(whole, "records"), 0);
  const json_t *tensor = json_object_get(record, "tensor"), *of = json_object_get(record, "shape");
  fprintf(stream, "%s%s%s: %s (%s), %s, base %.15g\n", field_string(record, "kernel"),
          json_is_string(tensor) ? ", " : "", json_is_string(tensor) ? json_string_value(tensor) : "",
          field_string(of, "name"), field_string(record, "format"), field_string(of, "dtype"), number(of, "base"));
  if (json_is_true(json_object_get(record, "recorded")))
    fprintf(stream, "%-15s as posenc write has recorded it in the file, but for options\n", "formula");
  fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT ", each compared with the exact value\n", "elements",
          count(record, "elements"));
  print_witness(record, "max_ulp", "largest error", " ulp", stream);
  print_witness(record, "max_abs", "largest error", "", stream);
  fprintf(stream, "%-15s %.6g ulp, %.3g\n", "mean error", number(record, "mean_ulp"), number(record, "mean_abs"));
  fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT "\n", "misrounded", count(record, "misrounded"));
  if (count(record, "not_finite"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT " (NaN or infinite)\n", "not finite", count(record, "not_finite"));
  print_histogram(record, stream);
  print_positions(record, stream);
  print_properties(record, stream);
  print_verdict(whole, record, stream);
}

/* ---- the command ------------------------------------------------------------------------------- */

typedef void printer(const json_t *record, FILE *stream);

static printer *parse_format(const char *text) {
  if (strcmp(text, "text") == 0) return print_text;
  if (strcmp(text, "tap") == 0) return record_print_tap;
  if (strcmp(text, "junit") == 0) return record_print_junit;
  if (strcmp(text, "json") == 0) return field_print;
  die_value("--format", text, "not text, tap, junit or json");
}

/* The command line again, quoted for a shell. */
static char *replay_of(int argc, char **argv) {
  char *text = NULL;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  if (!stream) die("out of memory");
  fputs(argv[0], stream);
  for (int i = 1; i < argc; i++) {
    fputc(' ', stream);
    print_quoted(stream, argv[i]);
  }
  if (fclose(stream) != 0) die("out of memory");
  return text;
}

static bool is_given(const options *given, int code) {
  return given->texts[code - OPTION_LEN];
}

/* What posenc write has recorded in the file, but for what options say. Whether there was anything to take. */
static bool take_recorded(options *given, const table_file *table, const char *file) {
  static const struct {
    const char *key;
    int code, beside; /* which of ours, and one that says the same */
  } fields[] = {{"base", OPTION_BASE, OPTION_CHOOSE_BASE}, {"first", OPTION_OFFSET, OPTION_POSITIONS},
                {"scale", OPTION_SCALE, OPTION_SCALE},     {"scaling", OPTION_SCALING, OPTION_SCALING},
                {"shift", OPTION_SHIFT, OPTION_SHIFT},     {"padding", OPTION_PADDING, OPTION_PADDING},
                {"odd", OPTION_ODD, OPTION_ODD},           {"layout", OPTION_LAYOUT, OPTION_LAYOUT}};
  json_t *metadata = table_metadata(table);
  const bool ours = strcmp(field_string(metadata, "made_by"), "posenc") == 0;
  for (size_t i = 0; ours && i < sizeof fields / sizeof *fields; i++) {
    const json_t *value = json_object_get(metadata, fields[i].key);
    const char *text = json_string_value(value);
    if (!value || is_given(given, fields[i].code) || is_given(given, fields[i].beside)) continue;
    if (!text) die("%s: its metadata, %s: not a string", file, fields[i].key);
    if (fields[i].code != OPTION_PADDING || strcmp(text, "none") != 0)
      options_record(given, fields[i].code, fields[i].key, text, file);
  }
  json_decref(metadata);
  return ours;
}

/* What the file says of a rope cache of ours, whose tensors have names. */
static table_part recorded_part(const table_file *table, const char *file) {
  json_t *metadata = table_metadata(table);
  const bool ours = strcmp(field_string(metadata, "made_by"), "posenc") == 0;
  const json_t *op = ours ? json_object_get(metadata, "op") : NULL;
  const char *name = op ? field_string(metadata, "op") : op_name(POSENC_TABLE);
  const bool is_cache = strcmp(name, op_name(POSENC_ROPE_CACHE)) == 0;
  if (!is_cache && strcmp(name, op_name(POSENC_TABLE)) != 0)
    die("%s: its metadata, op %s: not table or rope-cache", file, *name ? name : "''");
  json_decref(metadata);
  if (!is_cache) return TABLE_BOTH;
  return strcmp(table_tensor(table), "sin") == 0 ? TABLE_SIN : TABLE_COS;
}

/* The positions in the file, a new array, if they are wanted. */
static double *take_positions(options *given, const table_file *table, const char *file) {
  int64_t count = 0;
  double *positions;
  fault why;
  if (is_given(given, OPTION_OFFSET) || is_given(given, OPTION_POSITIONS)) return NULL;
  if (!table_positions(table, &positions, &count, &why)) die("%s: %s", file, why.text);
  if (positions && count != given->problem.rows)
    die("%s: it has %" PRId64 " positions for %" PRId64 " rows", file, count, given->problem.rows);
  given->problem.positions = positions;
  return positions;
}

static table_part parse_part(const char *text) {
  if (strcmp(text, "cos") == 0) return TABLE_COS;
  if (strcmp(text, "sin") == 0) return TABLE_SIN;
  die_value("--part", text, "not cos or sin");
}

/* Is there a table that this is a part of? A part's layout is one of a rope cache, whose columns are those of the whole table, or each once. */
static void require_part(options *given, const char *file) {
  const posenc_layout layout = given->problem.layout;
  if (layout == POSENC_INTERLEAVED_CS || layout == POSENC_SPLIT_CS)
    die("--layout %s: with --part it is duplicated, interleaved or split", layout_name(layout));
  if (layout == POSENC_SPLIT) given->problem.dim *= 2;
  given->problem.layout = POSENC_SPLIT_CS;
  if (given->problem.dim % 2) die("%s: an odd number of columns, where each comes twice", file);
  options_require_table(given, file);
  given->problem.layout = layout;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  given.tables_alone = given.takes_odd = true;
  const char *path = "-", *tensor = NULL;
  printer *print = print_text;
  table_part part = TABLE_BOTH;
  char *replay = replay_of(argc, argv); /* before getopt sorts it */
  for (int code; (code = options_next(&given, &command_check, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) print = parse_format(optarg);
    if (code == OPTION_TENSOR) tensor = optarg;
    if (code == OPTION_PART) part = parse_part(optarg);
  }
  if (optind == argc) die("FILE is missing");
  if (optind + 1 < argc) die("extra operand '%s'", argv[optind + 1]);
  if (given.max_ulp > 0.0) options_refuse(&given, OPTION_MAX_ABS, OPTION_MAX_ABS, "--max-ulp");

  const char *file = argv[optind];
  fault why;
  const table_half half = part == TABLE_BOTH ? TABLE_WHOLE : part == TABLE_COS ? TABLE_FIRST : TABLE_SECOND;
  table_file *table = table_open_half(file, tensor, half, &why);
  if (!table) die("%s: %s", *file ? file : "''", why.text);
  if (tensor && !table_tensor(table)) die("--tensor %s: %s is a .npy file, which has no names", tensor, file);
  const stored *at = table_stored(table);
  if (given.problem.positions && given.problem.rows != at->rows)
    die("--positions: there are %" PRId64 " of them, and %s has %" PRId64 " rows", given.problem.rows, file, at->rows);
  given.problem.rows = at->rows;
  given.problem.dim = at->dim;
  given.problem.dtype = at->dtype;
  if (at->halved && !is_given(&given, OPTION_LAYOUT)) given.problem.layout = layout_default(POSENC_ROPE_CACHE);
  if (at->dim > TABLE_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be checked", file, at->dim, TABLE_COLUMNS_MAX);
  const bool recorded = take_recorded(&given, table, file);
  const table_part of_file = recorded_part(table, file);
  if (part == TABLE_BOTH) part = of_file;
  double *positions = recorded ? take_positions(&given, table, file) : NULL;
  if (part == TABLE_BOTH)
    options_require_table(&given, file);
  else
    require_part(&given, file);
  if (output_is(path, file)) die_value("--output", path, "it is the file to check");
  output *out = output_open(path);
  if (!out) die_value("--output", path, strerror(errno));

  const posenc_bound limit = {.ulp = given.max_ulp, .abs = given.max_abs, .max_position = INT64_MAX, .derived = true};
  const table_request request = {.table = table,
                                 .name = file,
                                 .problem = given.problem,
                                 .recorded = recorded,
                                 .part = part,
                                 .limit = given.max_ulp > 0.0 || given.max_abs > 0.0 ? &limit : NULL,
                                 .replay = replay};
  threads_hold();
  json_t *record = verify_table(&request);
  if (!record) die("out of memory");
  print(record, output_stream(out));
  const int status = count(record, "failed") > 0 ? STATUS_FAILED_CHECK : EXIT_SUCCESS;
  json_decref(record);
  table_close(table);
  free(positions);
  free(replay);
  if (!output_commit(out)) die_value("--output", path, strerror(errno));
  return status;
}

const command command_check = {
    .name = "check",
    .summary = "hold a table in a file to the exact values",
    .help = help,
    .short_options = "ho:V",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
