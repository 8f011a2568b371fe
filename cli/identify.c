/* SPDX-License-Identifier: MIT */
#include "identify/identify.h"
#include "cli/catalogue.h"
#include "cli/options.h"
#include "common/field.h"
#include "common/output.h"
#include "common/threads.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTION_FORMAT = OPTION_OWN, OPTION_TENSOR };
enum { STATUS_NO_TABLE = 1 };

static const char help[] =
    "Usage: posenc identify FILE [OPTION]...\n"
    "Tell what a table in a file is from its numbers alone: layout, base, denominator,\n"
    "first position, scale, amplitude, padding row, the dtypes that it has been in, and\n"
    "the recipe of which framework comes closest, with its errors from the exact values.\n"
    "\n"
    "Options:\n"
    "  --tensor NAME     which tensor of a safetensors file (the only one that can be a\n"
    "                    table)\n"
    "  --format NAME     text or json (text)\n"
    "  -o, --output FILE\n"
    "                    where to write; - is standard output (-)\n" PLUGIN_HELP HELP_HELP "\n"
    "FILE is NumPy's .npy file or a safetensors file. Recipes are those that 'posenc list' shows as\n"
    "recipe/NAME; those that would have written the same bits are all named.\n"
    "\n"
    "Exit status:\n"
    "  0                 if it is a sinusoidal table\n"
    "  1                 if it is not, or too small to tell\n"
    "  2                 on bad input or any other error\n"
    "\n"
    "Examples:\n"
    "  $ posenc identify table.npy\n"
    "  $ posenc identify model.safetensors --tensor pos_encoder.pe --format json\n";

static const struct option long_options[] = {
    {"tensor", required_argument, NULL, OPTION_TENSOR},
    {"format", required_argument, NULL, OPTION_FORMAT},
    {"output", required_argument, NULL, 'o'},
    PLUGIN_OPTIONS,
    HELP_OPTIONS,
};

/* ---- the record as text ------------------------------------------------------------------------- */

static json_int_t count(const json_t *object, const char *key) {
  return json_integer_value(json_object_get(object, key));
}

static void print_formula(const json_t *record, FILE *stream) {
  const char *part = field_string(record, "part");
  const json_t *also = json_object_get(record, "also"), *range = json_object_get(record, "offset_range");
  fprintf(stream, "%-15s %s%s, %" JSON_INTEGER_FORMAT " columns of dim %" JSON_INTEGER_FORMAT "\n", "layout",
          field_string(record, "layout"),
          strcmp(part, "both") == 0  ? ""
          : strcmp(part, "cos") == 0 ? ", cosines alone"
                                     : ", sines alone",
          count(record, "columns"), count(record, "dim"));
  if (json_is_true(json_object_get(record, "any_base")))
    fprintf(stream, "%-15s any: of one frequency, all are the same\n", "base");
  else
    fprintf(stream, "%-15s %.15g, by i/(%" JSON_INTEGER_FORMAT " - %.15g)\n", "base", field_number(record, "base"),
            count(record, "dim") / 2, field_number(record, "shift"));
  if (json_is_object(also))
    fprintf(stream, "%-15s base %.15g, by i/(%" JSON_INTEGER_FORMAT " - %.15g): these rows do not tell the two apart\n",
            "or", field_number(also, "base"), count(record, "dim") / 2, field_number(also, "shift"));
  fprintf(stream, "%-15s %.15g\n", "first position", field_number(record, "offset"));
  if (json_integer_value(json_array_get(range, 0)) < json_integer_value(json_array_get(range, 1)))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT " to %" JSON_INTEGER_FORMAT "\n", "which may be",
            json_integer_value(json_array_get(range, 0)), json_integer_value(json_array_get(range, 1)));
  fprintf(stream, "%-15s %.15g\n%-15s %.9g\n", "scale", field_number(record, "scale"), "amplitude",
          field_number(record, "amplitude"));
  if (count(record, "padding_rows"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT ", the first at position %" JSON_INTEGER_FORMAT "\n", "rows of zeros",
            count(record, "padding_rows"), count(record, "padding"));
}

static void print_errors(const json_t *record, FILE *stream) {
  const json_t *worst = json_object_get(record, "worst");
  fprintf(stream, "%-15s %s", "dtype", field_string(record, "stored"));
  if (strcmp(field_string(record, "stored"), field_string(record, "held")) != 0)
    fprintf(stream, ", with values of %s", field_string(record, "held"));
  fprintf(stream,
          "\n%-15s %.3g from exact, at position %" JSON_INTEGER_FORMAT ", column %" JSON_INTEGER_FORMAT
          "; %.3g if each were rounded once\n",
          "largest error", field_number(record, "max_abs"), count(worst, "position"), count(worst, "column"),
          field_number(record, "max_abs_if_exact"));
  if (!json_is_true(json_object_get(record, "proved")))
    fprintf(stream, "%-15s exact values are doubles here, without a proof\n", "");
  if (count(record, "not_finite"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT " (NaN or infinite)\n", "not finite", count(record, "not_finite"));
}

static void print_makers(const json_t *record, FILE *stream) {
  size_t n;
  json_t *one;
  const size_t closest = json_array_size(json_object_get(record, "closest"));
  fprintf(stream, "\n%-24s %12s %12s %11s %11s\n", "made by", "elements", "equal", "rms apart", "max apart");
  json_array_foreach(json_object_get(record, "makers"), n, one) {
    fprintf(stream, "%-24s %12" JSON_INTEGER_FORMAT " %12" JSON_INTEGER_FORMAT " %11.3g %11.3g%s\n",
            field_string(one, "name"), count(one, "elements"), count(one, "equal"), field_number(one, "rms"),
            field_number(one, "max"), n < closest ? "  <-" : "");
  }
}

static void print_text(const json_t *record, FILE *stream) {
  const json_t *tensor = json_object_get(record, "tensor");
  const char *check = json_string_value(json_object_get(record, "check"));
  fprintf(stream, "%s\n\n%s%s%s: %" JSON_INTEGER_FORMAT "x%" JSON_INTEGER_FORMAT " %s (%s)\n",
          field_string(record, "sentence"), field_string(record, "file"), json_is_string(tensor) ? ", " : "",
          json_is_string(tensor) ? json_string_value(tensor) : "", count(record, "rows"), count(record, "columns"),
          field_string(record, "stored"), field_string(record, "format"));
  if (strcmp(field_string(record, "verdict"), "table") != 0) return;
  print_formula(record, stream);
  print_errors(record, stream);
  print_makers(record, stream);
  if (check) fprintf(stream, "\nposenc check FILE%s%s holds it to that.\n", *check ? " " : "", check);
}

/* ---- the command ------------------------------------------------------------------------------- */

typedef void printer(const json_t *record, FILE *stream);

static printer *parse_format(const char *text) {
  if (strcmp(text, "text") == 0) return print_text;
  if (strcmp(text, "json") == 0) return field_print;
  die_value("--format", text, "not text or json");
}

/* How frameworks compute it: the recipes, and those of plugins. A new array. */
static const posenc_kernel **recipes(size_t *count_of) {
  size_t all;
  const posenc_kernel *const *kernels = catalogue_kernels(&all);
  const posenc_kernel **some = calloc(all, sizeof(*some));
  if (!some) die("out of memory");
  *count_of = 0;
  for (size_t n = 0; n < all; n++)
    if (strncmp(kernels[n]->name, "recipe/", strlen("recipe/")) == 0) some[(*count_of)++] = kernels[n];
  return some;
}

static int run(int argc, char **argv) {
  options given = options_defaults();
  const char *path = "-", *tensor = NULL;
  printer *print = print_text;
  for (int code; (code = options_next(&given, &command_identify, argc, argv)) != -1;) {
    if (code == 'o') path = optarg;
    if (code == OPTION_FORMAT) print = parse_format(optarg);
    if (code == OPTION_TENSOR) tensor = optarg;
  }
  if (optind == argc) die("FILE is missing");
  if (optind + 1 < argc) die("extra operand '%s'", argv[optind + 1]);

  const char *file = argv[optind];
  fault why;
  table_file *table = table_open(file, tensor, &why);
  if (!table) die("%s: %s", *file ? file : "''", why.text);
  if (tensor && !table_tensor(table)) die("--tensor %s: %s is a .npy file, which has no names", tensor, file);
  if (table_stored(table)->dim > IDENTIFY_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be looked at", file, table_stored(table)->dim,
        IDENTIFY_COLUMNS_MAX);
  if (output_is(path, file)) die_value("--output", path, "it is the file to identify");
  output *out = output_open(path);
  if (!out) die_value("--output", path, strerror(errno));

  identify_request request = {.table = table, .name = file};
  const posenc_kernel **kernels = recipes(&request.kernel_count);
  request.kernels = kernels;
  threads_hold();
  identity *found = identify(&request);
  json_t *record = found ? identity_json(found, &request) : NULL;
  if (!record) die("out of memory");
  print(record, output_stream(out));
  const bool is_table = found->verdict == IDENTIFY_TABLE || found->verdict == IDENTIFY_BENT;
  json_decref(record);
  identity_free(found);
  free(kernels);
  table_close(table);
  if (!output_commit(out)) die_value("--output", path, strerror(errno));
  return is_table ? EXIT_SUCCESS : STATUS_NO_TABLE;
}

const command command_identify = {
    .name = "identify",
    .summary = "tell what a table in a file is, and who made it",
    .help = help,
    .short_options = "ho:V",
    .long_options = long_options,
    .operands = true,
    .run = run,
};
