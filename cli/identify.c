/* SPDX-License-Identifier: MIT */
#include "cli/files.h"
#include "cli/identified.h"
#include "cli/model.h"
#include "common/field.h"
#include "inspect/identify/formula.h"
#include "inspect/identify/identity.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { STATUS_NO_TABLE = 1 };

static const char usage[] = "Usage: posenc identify FILE [OPTION]...\n"
                            "  or:  posenc identify --op add|rope --x FILE FILE [OPTION]...\n"
                            "Identify a table in a file from its numbers alone: layout, base, denominator,\n"
                            "scaling with its parameters, first position or list of positions, scale,\n"
                            "amplitude, padding row, damaged columns, the dtypes that it has been in, and\n"
                            "the framework's recipe that comes closest, with its errors from the exact\n"
                            "values.\n"
                            "\n"
                            "With --op, identify the table that was applied to an array x, in a model or by\n"
                            "a GPU kernel, from x and the result: for rope also whether pairs are neighbours\n"
                            "or halves, which columns are turned, and in which direction.\n";
static const char notes[] = "FILE is NumPy's .npy file, a safetensors or a GGUF file; two tables of shape\n"
                            "(2, L, D), as a rope cache has, are one, side by side. Complex numbers are\n"
                            "pairs of columns. Columns that are there twice, as [c c s s] or in rotation\n"
                            "matrices, are looked at once. Of inv_freq, (D/2), and of a table of angles, the\n"
                            "cosines and sines are looked at. Recipes are those that 'posenc list' shows as\n"
                            "recipe/NAME; all that would have written the same bits are listed. Numbers have\n"
                            "as many digits as the table supports.\n"
                            "\n"
                            "A config tells no layout, first position or list of positions, and forbids no\n"
                            "padding row: identify prints them, and check compares them.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if it is a sinusoidal positional encoding, or half a rope\n"
                            "                    cache\n"
                            "  1                 if it is not, also if it has sines of other frequencies,\n"
                            "                    reversed rows (but not timesteps in steps other than 1),\n"
                            "                    rows that all come again, negated sines or exponents, NaN\n"
                            "                    or infinities; or is too small to decide; or is not that\n"
                            "                    of --config or of --expect; or with --config, if elements\n"
                            "                    or columns are damaged, rows are zeros, or a few are out\n"
                            "                    of step with the others; or if a recipe of a plugin\n"
                            "                    crashed, hung or the like\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc identify table.npy\n"
                            "  $ posenc identify --op rope --x q.npy turned.npy\n"
                            "  $ posenc identify table.npy --expect base=10000,dtype=f32\n"
                            "  $ posenc identify model.safetensors --tensor pos_encoder.pe --format json\n";

/* ---- the record as text ------------------------------------------------------------------------- */

static double number_at(const json_t *array, size_t n) {
  return json_number_value(json_array_get(array, n));
}

static void print_columns(const json_t *record, FILE *stream) {
  const char *part = field_string(record, "part"), *odd = json_string_value(json_object_get(record, "odd"));
  size_t n;
  json_t *one;
  fprintf(stream, "%-15s %s%s, %" JSON_INTEGER_FORMAT " columns of dim %" JSON_INTEGER_FORMAT "%s%s\n", "layout",
          field_string(record, "layout"),
          strcmp(part, "both") == 0  ? ""
          : strcmp(part, "cos") == 0 ? ", cosines alone"
                                     : ", sines alone",
          field_integer(record, "columns"), field_integer(record, "dim"), odd ? ", odd " : "", odd ? odd : "");
  json_array_foreach(json_object_get(record, "damage"), n, one) {
    const char *kind = field_string(one, "kind");
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT ": ", n ? "" : "damaged column", field_integer(one, "column"));
    if (strcmp(kind, "constant") == 0)
      fprintf(stream, "%.9g in all rows\n", field_number(one, "value"));
    else if (strcmp(kind, "moved") == 0)
      fprintf(stream, "values of column %" JSON_INTEGER_FORMAT "\n", field_integer(one, "like"));
    else
      fputs("no part of the table\n", stream);
  }
}

static void print_scaling(const json_t *record, FILE *stream) {
  const json_t *scaling = json_object_get(record, "scaling"), *value;
  const char *key;
  if (!json_is_object(scaling)) return;
  fprintf(stream, "%-15s %s", "scaling", field_string(scaling, "kind"));
  json_object_foreach((json_t *)scaling, key, value) {
    if (json_is_array(value) && json_array_size(value) == 2 && strcmp(key, "original_range") == 0) {
      if (number_at(value, 0) < number_at(value, 1))
        fprintf(stream, ", original may be %.0f to %.0f", number_at(value, 0), number_at(value, 1));
    } else if (strcmp(key, "factors") == 0) {
      const json_t *errors = json_object_get(scaling, "factor_errors");
      fprintf(stream, ", %s", key);
      for (size_t n = 0; n < json_array_size(value); n++)
        fprintf(stream, "%s%s", n ? ":" : " ",
                number_within(number_at(value, n), number_at(errors, n) / number_at(value, n)).text);
    } else if (json_is_boolean(value)) {
      fprintf(stream, ", %s %s", key, json_is_true(value) ? "yes" : "no");
    } else if (json_is_number(value)) {
      fprintf(stream, ", %s %.9g", key, json_number_value(value));
    }
  }
  fputc('\n', stream);
}

static void print_positions(const json_t *record, FILE *stream) {
  const json_t *range = json_object_get(record, "offset_range"), *list = json_object_get(record, "positions");
  if (json_is_object(list)) {
    const json_t *first = json_object_get(list, "first");
    fprintf(stream, "%-15s a list of %" JSON_INTEGER_FORMAT " in %" JSON_INTEGER_FORMAT " runs:", "positions",
            field_integer(list, "count"), field_integer(list, "runs"));
    for (size_t n = 0; n < json_array_size(first); n++) fprintf(stream, " %.9g", number_at(first, n));
    fprintf(stream, "%s\n", (size_t)field_integer(list, "count") > json_array_size(first) ? " .." : "");
    return;
  }
  fprintf(stream, "%-15s %.15g%s\n", "first position", field_number(record, "offset"),
          field_integer(record, "step") < 0 ? ", rows are reversed" : "");
  if (number_at(range, 0) < number_at(range, 1))
    fprintf(stream, "%-15s %.0f to %.0f\n", "which may be", number_at(range, 0), number_at(range, 1));
  if (field_integer(record, "other_offsets"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT " other first positions, which these rows do not tell apart\n", "or",
            field_integer(record, "other_offsets"));
}

static void print_formula(const json_t *record, FILE *stream) {
  const json_t *also = json_object_get(record, "also");
  const double half = (double)field_integer(record, "dim") / 2.0, base = field_number(record, "base");
  if (json_is_true(json_object_get(record, "any_base")))
    fprintf(stream, "%-15s any: of one frequency, all are the same\n", "base");
  else
    fprintf(stream, "%-15s %s, by i/(%g - %.15g)\n", "base",
            number_within(base, field_number(record, "base_error") / base).text, half, field_number(record, "shift"));
  if (json_is_object(also))
    fprintf(stream, "%-15s base %.9g, by i/(%g - %.15g), scaling %s: these rows do not tell the two apart\n", "or",
            field_number(also, "base"), half, field_number(also, "shift"), field_string(also, "scaling"));
  print_scaling(record, stream);
  print_positions(record, stream);
  const double scale = field_number(record, "scale"), amplitude = field_number(record, "amplitude"),
               added = field_number(record, "added");
  fprintf(stream, "%-15s %s\n%-15s %s\n", "scale",
          number_within(scale, field_number(record, "scale_error") / scale).text, "amplitude",
          number_within(amplitude, field_number(record, "amplitude_error") / amplitude).text);
  if (fabs(added) > 0.0)
    fprintf(stream, "%-15s %s\n", "added",
            number_within(added, field_number(record, "added_error") / fabs(added)).text);
  if (field_integer(record, "padding_rows"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT ", the first at position %" JSON_INTEGER_FORMAT "\n", "rows of zeros",
            field_integer(record, "padding_rows"), field_integer(record, "padding"));
}

static void print_errors(const json_t *record, FILE *stream) {
  const json_t *worst = json_object_get(record, "worst");
  fprintf(stream, "%-15s %s", "dtype", field_string(record, "stored"));
  if (strcmp(field_string(record, "stored"), field_string(record, "held")) != 0)
    fprintf(stream, ", with values of %s", field_string(record, "held"));
  fprintf(stream,
          "\n%-15s %.3g from exact, at position %.15g, column %" JSON_INTEGER_FORMAT
          "; %.3g if each were rounded once\n",
          "largest error", field_number(record, "max_abs"), field_number(worst, "position"),
          field_integer(worst, "column"), field_number(record, "max_abs_if_exact"));
  if (!json_is_true(json_object_get(record, "proved")))
    fprintf(stream, "%-15s exact values are doubles here, without a proof\n", "");
  if (field_integer(record, "not_finite"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT " (NaN or infinite)\n", "not finite",
            field_integer(record, "not_finite"));
}

static void print_makers(const json_t *record, FILE *stream) {
  size_t n;
  json_t *one;
  const size_t closest = json_array_size(json_object_get(record, "closest"));
  fprintf(stream, "\n%-24s %12s %12s %11s %11s\n", "made by", "elements", "equal", "rms apart", "max apart");
  json_array_foreach(json_object_get(record, "makers"), n, one) {
    fprintf(stream, "%-24s %12" JSON_INTEGER_FORMAT " %12" JSON_INTEGER_FORMAT " %11.3g %11.3g%s\n",
            field_string(one, "name"), field_integer(one, "elements"), field_integer(one, "equal"),
            field_number(one, "rms"), field_number(one, "max"), n < closest ? "  <-" : "");
  }
}

/* Prints the least tolerance that the table passes, in two digits. Of an array that a table was applied to, the errors
   of the table are not those of the result. */
static void print_tolerance(const json_t *record, FILE *stream) {
  const json_t *closest = json_array_get(json_object_get(record, "makers"), 0);
  const double most = field_number(record, "max_abs");
  const bool is_exact = strcmp(field_string(closest, "name"), "exact") == 0 &&
                        field_integer(closest, "equal") == field_integer(closest, "elements");
  if (json_object_get(record, "applied") || !json_object_get(record, "max_abs")) return;
  if (is_exact)
    fputs(" --max-ulp 1", stream);
  else if (most > 0.0)
    fprintf(stream, " --max-abs %.2g", tolerance_above(most));
}

/* Prints the command that checks the file for what was found, unless that is not what it was asked to be. */
static void print_check(const options *given, const json_t *record, FILE *stream) {
  static const char of_x[] = "--x X";
  const char *check = json_string_value(json_object_get(record, "check")), *x = check ? strstr(check, of_x) : NULL;
  if (!check && field_integer(record, "step") < 0)
    fputs("\nposenc check --positions, with the descending list, holds timesteps to that.\n", stream);
  if (!check || !findings_are_met(record)) return;
  fputs("\nposenc check ", stream);
  print_quoted(stream, given->operands[0]);
  for (size_t n = 0; n < given->tensors.count; n++)
    fputs(" --tensor ", stream), print_quoted(stream, given->tensors.items[n]);
  if (is_given(given, OPTION_HEADS)) fprintf(stream, " --heads %s", given->texts[OPTION_HEADS]);
  if (given->x_tensor) fputs(" --x-tensor ", stream), print_quoted(stream, given->x_tensor);
  fprintf(stream, "%s%.*s", *check ? " " : "", x ? (int)(x - check) : (int)strlen(check), check);
  if (x) fputs("--x ", stream), print_quoted(stream, given->x), fputs(x + strlen(of_x), stream);
  print_tolerance(record, stream);
  fputs(" holds it to that.\n", stream);
}

/* Prints the comparisons with --config and --expect. */
static void print_findings(const json_t *record, FILE *stream) {
  size_t n;
  json_t *finding;
  json_array_foreach(json_object_get(record, "findings"), n, finding)
      fprintf(stream, "%-15s %s%s%s\n", field_string(finding, "property"),
              json_is_true(json_object_get(finding, "ok")) ? "agrees" : "DISAGREES",
              *field_string(finding, "note") ? ": " : "", field_string(finding, "note"));
}

static void print_text(const options *given, const json_t *record, FILE *stream) {
  const json_t *tensor = json_object_get(record, "tensor");
  const bool is_applied = json_object_get(record, "applied");
  fprintf(stream, "%s\n", field_string(record, "sentence"));
  print_findings(record, stream);
  if (strcmp(field_string(record, "verdict"), "none") == 0) return;
  fputc('\n', stream);
  if (is_applied)
    fprintf(stream, "%s: %" JSON_INTEGER_FORMAT "x%" JSON_INTEGER_FORMAT ", recovered\n", field_string(record, "file"),
            field_integer(record, "rows"), field_integer(record, "columns"));
  else
    fprintf(stream, "%s%s%s: %" JSON_INTEGER_FORMAT "x%" JSON_INTEGER_FORMAT " %s (%s)\n", field_string(record, "file"),
            json_is_string(tensor) ? ", " : "", json_is_string(tensor) ? json_string_value(tensor) : "",
            field_integer(record, "rows"), field_integer(record, "columns"), field_string(record, "stored"),
            field_string(record, "format"));
  if (strcmp(field_string(record, "verdict"), "grid") == 0) {
    if (is_applied) print_applied(record, stream);
    print_check(given, record, stream);
  }
  if (strcmp(field_string(record, "verdict"), "table") != 0) return;
  if (is_applied)
    print_applied(record, stream);
  else
    print_columns(record, stream);
  print_formula(record, stream);
  print_errors(record, stream);
  print_makers(record, stream);
  print_check(given, record, stream);
}

/* ---- angles ------------------------------------------------------------------------------------- */

/* Replaces a table of angles, or a vector of frequencies, by the table of their cosines and sines. Returns the words
   for what it is; null if it is neither. */
static const char *take_angles(options *given, table_file **table, const char *file, recovered *found) {
  fault why;
  const stored *at = table_stored(*table);
  const bool is_vector = at->vector || at->rows == 1;
  if (!angles_are(*table, given->rope.section_count)) return NULL;
  if (at->dim > IDENTIFY_COLUMNS_MAX / 2)
    die("%s: %" PRId64 " frequencies are more than the %d that can be looked at", file, at->dim,
        IDENTIFY_COLUMNS_MAX / 2);
  if (!recover_angles(*table, 0, VECTOR_ROWS, found, &why)) die("%s: %s", file, why.text);
  table_close(*table);
  *table = found->table;
  given->has_angles = true;
  return is_vector ? "frequencies" : "angles";
}

/* Leaves out columns that are copies. Returns whether there were any; *blocks: those of axes. */
static bool take_folded(table_file *table, const char *file, int *blocks) {
  fault why;
  posenc_layout unused;
  const bool is_folded = table_fold(table, &unused, blocks, &why);
  if (*why.text) note("%s: %s", file, why.text);
  return is_folded;
}

/* Adds to the options for check that the columns of each axis were there twice, side by side. */
static void record_grouped(json_t *record) {
  const char *check = json_string_value(json_object_get(record, "check")),
             *grid = check ? strstr(check, "--grid ") : NULL;
  if (!grid) return;
  const char *end = strchr(grid + strlen("--grid "), ' ');
  const int ahead = (int)(end ? end - check : (ptrdiff_t)strlen(check));
  json_object_set_new(record, "check", json_sprintf("%.*s,grouped=yes%s", ahead, check, end ? end : ""));
}

/* Says what the file has, before the sentence on the table. */
static void record_contents(json_t *record, const char *what, const char *then) {
  json_t *sentence = json_incref(json_object_get(record, "sentence"));
  json_object_set_new(record, "sentence", json_sprintf("%s; %s%s", what, then, json_string_value(sentence)));
  json_object_set_new(record, "contents", json_string(what));
  json_decref(sentence);
}

/* ---- the command ------------------------------------------------------------------------------- */

/* Prints the fragment of a config alone. Returns false if there is none. */
static bool print_config(const json_t *record, const char *file, FILE *stream) {
  const json_t *fragment = json_object_get(record, "config");
  const char *refusal = json_string_value(json_object_get(fragment, "refusal"));
  if (!fragment || refusal) {
    note("%s: no config makes it: %s", file, refusal ? refusal : field_string(record, "sentence"));
    return false;
  }
  field_print(fragment, stream);
  return true;
}

static int run(options *given) {
  const char *file = given->operands[0];
  const bool is_table = given->problem.op == POSENC_TABLE;
  if (is_table) options_refuse(given, ANY_OF(SET(X), SET(X_TENSOR), SET(AXES), SET(HEADS)), "--op table");
  take_x(given);
  const char *tensor = tensor_of(given);
  table_file *table = is_table ? open_table(NULL, file, tensor, TABLE_JOINED) : NULL;
  if (table && tensor && !table_tensor(table)) die("--tensor %s: %s is a .npy file, which has no names", tensor, file);
  output *out = open_output("--output", given->output), *saved = open_output("--save", given->save);
  bool is_right;
  recovered of_angles = {0};
  const char *angles = table ? take_angles(given, &table, file, &of_angles) : NULL;
  const char *rows = table && !angles ? take_model_rows(given, table, file) : NULL;
  int blocks = 0;
  const bool is_folded = table && !angles && take_folded(table, file, &blocks);
  json_t *record =
      table ? identified_table(given, table, file, NULL, &is_right) : identified_array(given, file, NULL, &is_right);
  if (rows) record_contents(record, rows, "");
  if (angles) record_contents(record, angles, "their cosines and sines: ");
  if (is_folded) record_contents(record, "each column twice", "");
  if (blocks > 1) record_grouped(record);
  if (table && !angles) table_close(table);
  recovered_free(&of_angles);
  if (given->as_config)
    is_right = print_config(record, file, output_stream(out)) && is_right;
  else if (format_is(given, "json"))
    field_print(record, output_stream(out));
  else
    print_text(given, record, output_stream(out));
  if (saved) field_print(record, output_stream(saved));
  json_decref(record);
  close_output("--save", given->save, saved);
  close_output("--output", given->output, out);
  return is_right ? EXIT_SUCCESS : STATUS_NO_TABLE;
}

const command command_identify = {
    .bit = IDENTIFY,
    .name = "identify",
    .summary = "identify a table in a file, and its maker",
    .usage = usage,
    .notes = notes,
    .operands_least = 1,
    .operands_most = 1,
    .operand_missing = "FILE is missing",
    .run = run,
};
