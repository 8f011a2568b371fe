/* SPDX-License-Identifier: MIT */
#include "cli/arrays.h"
#include "cli/identified.h"
#include "cli/model.h"
#include "common/field.h"
#include "common/threads.h"
#include "records/print.h"
#include "verify/files.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- results of add and rope --------------------------------------------------------------------- */

/* Whether a result of add or rope is within the limit of a check that is given none. */
static bool is_array_within(const json_t *record) {
  const json_t *untouched = json_array_get(json_object_get(record, "checks"), 1);
  return field_integer(record, "beyond") == 0 && field_integer(record, "not_finite") == 0 &&
         json_is_true(json_object_get(untouched, "ok"));
}

/* Compares with the exact result for pairs of a layout. Exits on bad input. */
static json_t *examine(options *given, array_request *request, posenc_layout layout) {
  int64_t bad_row;
  given->problem.layout = request->problem.layout = layout;
  json_t *record = verify_array(request, &bad_row);
  if (!record) die("--x %s: not all numbers of row %" PRId64 " are finite", given->x, bad_row);
  return record;
}

/* Whether the pairs of --config's rope are known. */
static bool has_pairs(const options *given) {
  return !given->model || given->problem.op != POSENC_ROPE || given->rope.has_pairs || is_given(given, OPTION_LAYOUT);
}

static bool passes(const json_t *whole) {
  const json_t *record = json_array_get(json_object_get(whole, "records"), 0);
  const bool is_limited = json_is_object(json_object_get(record, "limit"));
  return is_limited ? field_integer(whole, "failed") == 0 : is_array_within(record);
}

/* Reads --x and FILE, opens --output, and compares. Returns the record, a new reference. Exits on bad input. */
static json_t *check_array(options *given, output **out) {
  const char *file = given->operands[0];
  options_refuse(given, ANY_OF(SET(PART), SET(ODD)), "--op");
  const applied_arrays arrays = open_arrays(given, file);
  take_array(given, &arrays, file);
  *out = open_output("--output", given->output);

  array_request request = {.arrays = arrays,
                           .x_name = given->x,
                           .name = file,
                           .problem = given->problem,
                           .start = given->start,
                           .max_ulp = given->max_ulp,
                           .max_abs = given->max_abs,
                           .replay = given->command_line};
  threads_limit(0);
  json_t *record = examine(given, &request, given->problem.layout);
  if (!has_pairs(given) && !passes(record)) {
    json_t *other = examine(given, &request, POSENC_INTERLEAVED);
    const bool is_other = passes(other);
    if (!is_other) given->problem.layout = POSENC_SPLIT;
    json_decref(is_other ? record : other);
    record = is_other ? other : record;
  }
  table_close(arrays.x);
  table_close(arrays.out);
  return record;
}

static const char usage[] = "Usage: posenc check FILE [OPTION]...\n"
                            "  or:  posenc check --op add|rope --x FILE FILE [OPTION]...\n"
                            "Compare a table in a file with the exact values, whoever made it: every element\n"
                            "with the real number, and the properties of a table: values in [-1, 1], sin^2 +\n"
                            "cos^2 = 1, rows that are rotations of each other, no two rows equal. FILE is\n"
                            "NumPy's .npy, a safetensors or a GGUF file; it defines positions, columns and\n"
                            "dtype. The rest of the formula is in the metadata that posenc write writes to a\n"
                            "safetensors file; if it is missing or different, give it by options.\n"
                            "\n"
                            "With --op, compare what was made of an array x, in a model or by a GPU kernel,\n"
                            "with the exact result: x + the table, or x with its pairs turned.\n"
                            "\n"
                            "If it is wrong, the likely cause is named, in the words of posenc identify\n"
                            "--config: exponent, base, scaling, attention factor, columns, pairs, direction,\n"
                            "damage. Layout, part and positions, which a config does not tell, are compared\n"
                            "too. Or the formula agrees, and it is told what the errors are.\n";
static const char notes[] = "Dtypes are f16, bf16 (in .npy two bytes of raw data, '<V2'), f32 and f64.\n"
                            "Further axes of a table must be 1, as in (L, 1, D), but for (L, 2, D) and\n"
                            "(2, L, D), two tables side by side, and (L, D, 2, 2), rotation matrices. Columns\n"
                            "that are there twice, as [c c s s], must have the same bits. Of inv_freq, (D/2),\n"
                            "and of a table of angles, the cosines and sines are compared. Files may be\n"
                            "larger than memory. An ulp of an error of rope is that of the length of the\n"
                            "exact pair.\n"
                            "\n"
                            "Without --max-ulp and --max-abs, the limit is 2 ulp, or else what code in f32\n"
                            "or, of values of f64, in f64 adds: with its unit u, u (8 + 3 |ln w| + 2.8 i) of\n"
                            "the angle of frequency w, number i; 32 u of each value; two units of the dtype,\n"
                            "three of a pair that rope turns. Values of bf16 or f16 in a wider dtype are\n"
                            "judged as such. Single elements that are wrong, or another formula, fail.\n"
                            "\n"
                            "Exit status:\n"
                            "  0                 if every element is within the limit\n"
                            "  1                 if one is not, or a property is violated, or --expect, or\n"
                            "                    the table is not that of --config\n"
                            "  2                 on bad input or any other error\n"
                            "\n"
                            "Examples:\n"
                            "  $ posenc check table.npy\n"
                            "  $ posenc check table.npy --max-ulp 1\n"
                            "  $ posenc check table.safetensors --max-ulp 0.51\n"
                            "  $ posenc check rows.npy --positions 5,10,-2.5,1000\n"
                            "  $ posenc check whisper.npy --shift 1 --layout split --max-abs 1e-6\n"
                            "  $ posenc check --op rope --x q.npy turned.npy --max-ulp 2\n"
                            "  $ posenc check --op rope --tensor q --tensor turned both.safetensors\n"
                            "  $ posenc check table.npy --expect base=10000,layout=interleaved\n"
                            "  $ posenc check model.safetensors --tensor pos_encoder.pe --format junit \\\n"
                            "      -o check.xml\n";

/* ---- the record as text ------------------------------------------------------------------------- */

/* Returns the number of that key; null in the record stands for infinity. */
static double number(const json_t *object, const char *key) {
  return field_number_or(object, key, INFINITY);
}

static void print_witness(const json_t *record, const char *key, const char *name, const char *unit, FILE *stream) {
  const json_t *w = json_object_get(record, key);
  fprintf(stream, "%-15s %.6g%s at p = %s, i = %" JSON_INTEGER_FORMAT ", %s: exact %s, got %s\n", name,
          number(w, *unit ? "ulp" : "abs"), unit, field_text(json_object_get(w, "position")).text,
          field_integer(w, "index"), field_string(w, "function"), field_string(w, "exact"), field_string(w, "got"));
}

static void print_histogram(const json_t *record, FILE *stream) {
  size_t i;
  json_t *bin;
  fputs("\nerror in ulp, below   elements\n", stream);
  json_array_foreach(json_object_get(record, "histogram"), i, bin) {
    if (field_integer(bin, "count") == 0) continue;
    fprintf(stream, "%19.6g   %8" JSON_INTEGER_FORMAT "\n", number(bin, "below"), field_integer(bin, "count"));
  }
}

static void print_positions(const json_t *record, FILE *stream) {
  size_t i;
  json_t *each;
  fprintf(stream, "\n%19s %10s %11s %11s %11s %11s\n", "from position", "rows", "max ulp", "max abs", "mean abs",
          "misrounded");
  json_array_foreach(json_object_get(record, "positions"), i, each) {
    fprintf(stream, "%19s %10" JSON_INTEGER_FORMAT " %11.6g %11.3g %11.3g %11" JSON_INTEGER_FORMAT "\n",
            field_text(json_object_get(each, "position")).text, field_integer(each, "rows"), number(each, "max_ulp"),
            number(each, "max_abs"), number(each, "mean_abs"), field_integer(each, "misrounded"));
  }
}

/* Returns the words for the quantity that a property limits. */
static const char *deviation_of(const char *property) {
  if (strcmp(property, "bounded") == 0) return "largest |value|";
  if (strcmp(property, "pair-norm") == 0) return "largest |sin^2 + cos^2 - 1|";
  if (strcmp(property, "untouched") == 0) return "largest change of columns that rope leaves alone";
  return "largest |PE[p+k] - M_k PE[p]|";
}

/* Whether the check is a finding of identify. */
static bool is_finding(const json_t *check) {
  const char *property = field_string(check, "property");
  return strcmp(property, "config") == 0 || strcmp(property, "expect") == 0 || strcmp(property, "formula") == 0;
}

/* Returns the first finding that fails, else the first finding, or null if there is none. */
static const json_t *main_finding(const json_t *record) {
  const json_t *first = NULL;
  size_t n;
  json_t *check;
  json_array_foreach(json_object_get(record, "checks"), n, check) {
    if (!is_finding(check)) continue;
    if (!json_is_true(json_object_get(check, "ok"))) return check;
    if (!first) first = check;
  }
  return first;
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
    if (is_finding(check)) {
      const bool is_ok = json_is_true(json_object_get(check, "ok"));
      fprintf(stream, "%s: %s\n", is_ok ? "agrees" : "DISAGREES", field_string(check, "note"));
      continue;
    }
    if (field_integer(check, "compared") == 0)
      fputs("not looked at", stream);
    else if (isinf(number(check, "worst")))
      fprintf(stream, "%s: some values are NaN or infinite", deviation_of(property));
    else if (strcmp(property, "unique-rows") != 0)
      fprintf(stream, "%s %.6g", deviation_of(property), number(check, "worst"));
    else if (json_is_null(first))
      fprintf(stream, "all of %" JSON_INTEGER_FORMAT, field_integer(equal, "compared"));
    else
      fprintf(stream,
              "%" JSON_INTEGER_FORMAT " of %" JSON_INTEGER_FORMAT " equal one before; the first p = %s and p = %s",
              field_integer(equal, "equal"), field_integer(equal, "compared"),
              field_text(json_array_get(first, 0)).text, field_text(json_array_get(first, 1)).text);
    if (judged && !json_is_true(json_object_get(check, "skipped")))
      fputs(json_is_true(json_object_get(check, "ok")) ? ": ok" : ": FAILS", stream);
    if (judged && !json_is_true(json_object_get(check, "ok")) && strcmp(property, "unique-rows") != 0)
      fprintf(stream, ", %s", field_string(check, "note"));
    fputc('\n', stream);
  }
}

/* Prints the largest absolute error, or if that is within a tolerance in ulp, the largest error in ulp: "off by
   0.000387 at row 4999, column 12: 0.98151511 instead of 0.98190232" */
static void print_worst(const json_t *record, FILE *stream) {
  const json_t *limit = json_object_get(record, "limit"), *w = json_object_get(record, "max_abs");
  if (json_is_object(limit) && number(w, "ulp") <= number(limit, "ulp")) w = json_object_get(record, "worst");
  const int digits = strcmp(field_string(json_object_get(record, "shape"), "dtype"), "f64") == 0 ? 17 : 9;
  fprintf(stream, "off by %.3g at ", number(w, "abs"));
  if (json_object_get(w, "place"))
    fputs(field_string(w, "place"), stream);
  else
    fprintf(stream, "row %" JSON_INTEGER_FORMAT ", column %" JSON_INTEGER_FORMAT, field_integer(w, "row"),
            field_integer(w, "column"));
  fprintf(stream, ": %.*g instead of %.*g\n", digits, strtod(field_string(w, "got"), NULL), digits,
          strtod(field_string(w, "exact"), NULL));
}

/* Prints the tolerance, and if the check of accuracy fails, by how much it is exceeded. */
static void print_limit(const json_t *record, const char *further, FILE *stream) {
  const json_t *limit = json_object_get(record, "limit"),
               *of_accuracy = json_array_get(json_object_get(record, "checks"), 0);
  const bool by_ulp = number(limit, "ulp") > 0.0;
  fprintf(stream, "--max-%s %.6g%s%s%s\n", by_ulp ? "ulp" : "abs", number(limit, by_ulp ? "ulp" : "abs"),
          json_is_true(json_object_get(of_accuracy, "ok")) ? "" : ": ", field_string(of_accuracy, "note"), further);
}

static void print_verdict(const json_t *whole, const json_t *record, FILE *stream) {
  static const char next[] = "      ";
  const bool limited = json_is_object(json_object_get(record, "limit"));
  const json_t *finding = main_finding(record), *of_accuracy = json_array_get(json_object_get(record, "checks"), 0);
  const bool is_ok = json_is_true(json_object_get(finding, "ok")), is_finite = !field_integer(record, "not_finite"),
             is_told = limited ? !is_ok && json_is_true(json_object_get(of_accuracy, "ok")) : !is_ok || is_finite;
  if (finding && is_told) {
    fprintf(stream, "%s: %s: %s%s\n", is_ok ? "PASS" : "FAIL", field_string(finding, "property"),
            field_string(finding, "note"), is_ok ? field_string(record, "unchecked") : "");
  } else if (limited && field_integer(whole, "failed") == 0) {
    fputs("PASS: ", stream);
    print_limit(record, field_string(record, "unchecked"), stream);
  } else {
    const json_t *checks = json_object_get(record, "checks"), *accurate = json_array_get(checks, 0),
                 *untouched = json_array_get(checks, 1);
    fputs("FAIL: ", stream);
    if (json_object_get(record, "axes") && limited && json_is_true(json_object_get(accurate, "ok")))
      fprintf(stream, "columns that rope leaves alone: %s\n", field_string(untouched, "note"));
    else
      print_worst(record, stream);
    fputs(next, stream);
    if (limited)
      print_limit(record, "", stream);
    else
      fputs("not all elements are finite\n", stream);
    if (!json_object_get(record, "axes")) fprintf(stream, "%sposenc identify tells what this table is\n", next);
  }
}

/* Whether values of dtype `held`, "" if that is not known, were stored in a wider one. */
static bool is_stored_wider(const json_t *record, const char *held) {
  return *held && strcmp(held, field_string(json_object_get(record, "shape"), "dtype")) != 0;
}

/* Prints the dtype of the values if they were stored in a wider one, and whose ulp is meant. */
static void print_held(const json_t *record, FILE *stream) {
  const char *held = field_string(record, "held"), *dtype = field_string(json_object_get(record, "shape"), "dtype");
  const bool is_limited = json_is_object(json_object_get(record, "limit"));
  if (is_stored_wider(record, held))
    fprintf(stream, "%-15s all are numbers of %s, stored as %s: %s %s\n", "values", held, dtype,
            is_limited ? "an ulp is that of" : "judged as those of", is_limited ? dtype : held);
}

static void print_text(const json_t *whole, FILE *stream) {
  const json_t *record = json_array_get(json_object_get(whole, "records"), 0);
  const json_t *tensor = json_object_get(record, "tensor"), *of = json_object_get(record, "shape");
  fprintf(stream, "%s%s%s: %s (%s), %s, base %.15g\n", field_string(record, "kernel"),
          json_is_string(tensor) ? ", " : "", json_is_string(tensor) ? json_string_value(tensor) : "",
          field_string(of, "name"), field_string(record, "format"), field_string(of, "dtype"), number(of, "base"));
  const bool is_rope = strcmp(field_string(of, "op"), "rope") == 0;
  print_verdict(whole, record, stream);
  if (json_is_string(json_object_get(record, "cause")) && field_integer(whole, "failed") > 0)
    fprintf(stream, "%-15s %s\n", "likely cause", field_string(record, "cause"));
  if (json_object_get(record, "contents")) fprintf(stream, "%-15s %s\n", "file", field_string(record, "contents"));
  if (json_object_get(record, "axes"))
    fprintf(stream, "%-15s %s, axes %s\n", "x", field_string(record, "x"), field_string(record, "axes"));
  if (json_is_true(json_object_get(record, "recorded")))
    fprintf(stream, "%-15s as posenc write has recorded it in the file, but for options\n", "formula");
  print_held(record, stream);
  fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT ", each compared with the exact value%s\n", "elements",
          field_integer(record, "elements"), is_rope ? "; ulp of the length of a pair" : "");
  print_witness(record, "max_ulp", "largest error", " ulp", stream);
  print_witness(record, "max_abs", "largest error", "", stream);
  fprintf(stream, "%-15s %.6g ulp, %.3g\n", "mean error", number(record, "mean_ulp"), number(record, "mean_abs"));
  fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT "\n", "misrounded", field_integer(record, "misrounded"));
  if (field_integer(record, "not_finite"))
    fprintf(stream, "%-15s %" JSON_INTEGER_FORMAT " (NaN or infinite)\n", "not finite",
            field_integer(record, "not_finite"));
  print_histogram(record, stream);
  print_positions(record, stream);
  print_properties(record, stream);
}

/* ---- the command ------------------------------------------------------------------------------- */

static void print_record(const json_t *record, const char *name, FILE *stream) {
  if (!name || strcmp(name, "text") == 0)
    print_text(record, stream);
  else if (strcmp(name, "tap") == 0)
    record_print_tap(record, stream);
  else
    (strcmp(name, "junit") == 0 ? record_print_junit : field_print)(record, stream);
}

/* Takes the metadata that posenc write has written to the file, except those that options replace. Returns whether the
   file has such metadata. */
static bool take_recorded(options *given, const table_file *table, const char *file) {
  static const struct {
    const char *key;
    int code, beside; /* the option for it, and an option that replaces it */
  } fields[] = {{"base", OPTION_BASE, OPTION_CHOOSE_BASE}, {"first", OPTION_OFFSET, OPTION_POSITIONS},
                {"scale", OPTION_SCALE, OPTION_SCALE},     {"scaling", OPTION_SCALING, OPTION_SCALING},
                {"shift", OPTION_SHIFT, OPTION_SHIFT},     {"padding", OPTION_PADDING, OPTION_PADDING},
                {"odd", OPTION_ODD, OPTION_ODD},           {"layout", OPTION_LAYOUT, OPTION_LAYOUT},
                {"grid", OPTION_GRID, OPTION_GRID}};
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

/* Returns whether a file of posenc write has a table or a rope cache, and which of its tensors was opened. */
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

/* Returns the positions in the file, a new array; null if options give positions, or the file has none. */
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

/* Exits unless this is part of a valid table. The layout is one of a rope cache: split has each column once, other
   layouts have each column twice. */
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

static table_part part_of(const options *given) {
  if (!given->part) return TABLE_BOTH;
  return strcmp(given->part, "cos") == 0 ? TABLE_COS : TABLE_SIN;
}

static table_file *open_checked(const options *given, const char *file, table_part part) {
  const table_half half = part == TABLE_BOTH ? TABLE_JOINED : part == TABLE_COS ? TABLE_FIRST : TABLE_SECOND;
  const char *tensor = tensor_of(given);
  table_file *table = open_table(NULL, file, tensor, half);
  const stored *at = table_stored(table);
  if (tensor && !table_tensor(table)) die("--tensor %s: %s is a .npy file, which has no names", tensor, file);
  if (given->problem.positions && given->problem.rows != at->rows)
    die("--positions: there are %" PRId64 " of them, and %s has %" PRId64 " rows", given->problem.rows, file, at->rows);
  if (at->dim > TABLE_COLUMNS_MAX)
    die("%s: %" PRId64 " columns are more than the %d that can be checked", file, at->dim, TABLE_COLUMNS_MAX);
  return table;
}

/* Adds a finding to the checks. */
static void add_check(json_t *whole, json_t *record, json_t *finding) {
  const char *key = json_is_true(json_object_get(finding, "ok")) ? "passed" : "failed";
  json_array_append(json_object_get(record, "checks"), finding);
  json_object_set_new(whole, key, json_integer(field_integer(whole, key) + 1));
}

/* Sets the cause: why the file is not what was asked for, or why it fails although its formula is right. */
static void set_cause(const json_t *whole, json_t *record, const json_t *found, bool is_table) {
  const json_t *agreement = json_object_get(found, "agreement"),
               *accurate = json_array_get(json_object_get(record, "checks"), 0);
  const char *cause = field_string(found, "cause"), *errors = field_string(agreement, "errors");
  const bool is_inaccurate = json_is_object(json_object_get(record, "limit")) && field_integer(whole, "failed") > 0 &&
                             !json_is_true(json_object_get(accurate, "ok"));
  if (*cause) {
    json_object_set_new(record, "cause", json_string(cause));
  } else if (is_inaccurate && *errors && (is_table || is_array_within(record))) {
    const double most = number(json_object_get(record, "max_abs"), "abs");
    json_object_set_new(
        record, "cause",
        json_sprintf("the formula agrees: the errors are %s; --max-abs %.2g passes", errors, tolerance_above(most)));
  }
}

/* Whether no element of the file has a larger error than those that identify has seen, not in a column or row that is
   no part of the formula, either. */
static bool are_within(const json_t *record, const json_t *agreement) {
  const json_t *within = json_object_get(agreement, "within");
  const double of_doubles = 1e-15;
  return within && number(json_object_get(record, "max_abs"), "abs") <= 2.0 * json_number_value(within) + of_doubles;
}

/* Whether a table is what identify has found, within the limit of a check that is given none, at successive positions
   if none are asked. */
static bool is_found_within(const options *given, const json_t *found) {
  const json_t *list = json_object_get(found, "positions");
  return strcmp(field_string(found, "verdict"), "table") == 0 && field_integer(found, "unexplained") == 0 &&
         json_array_size(json_object_get(found, "damage")) == 0 && field_integer(found, "not_finite") == 0 &&
         field_integer(found, "padding_rows") <= 1 && (!json_is_object(list) || given->problem.positions) &&
         field_integer(found, "step") >= 0;
}

/* Writes why the file is not within the limit of a check that is given none. */
static void tell_beyond(const json_t *record, const json_t *found, bool is_table, char *text, size_t size) {
  const json_t *agreement = json_object_get(found, "agreement"),
               *untouched = json_array_get(json_object_get(record, "checks"), 1);
  const char *cause = field_string(record, "cause"), *errors = field_string(agreement, "errors"),
             *held = field_string(is_table ? found : record, "held");
  const double most = number(json_object_get(record, "max_abs"), "abs");
  const bool is_right = json_is_true(json_object_get(agreement, "agrees"));
  if (*cause)
    snprintf(text, size, "%s", cause);
  else if (!is_table && !json_is_true(json_object_get(untouched, "ok")))
    snprintf(text, size, "columns that rope leaves alone: %s", field_string(untouched, "note"));
  else if (is_right)
    snprintf(text, size,
             "the formula agrees, but errors are larger than those of code in %s%s%s; --max-abs %.2g passes",
             strcmp(held, "f64") == 0 ? "f64" : "f32", *errors ? ": " : "", errors, tolerance_above(most));
  else
    snprintf(text, size, "the cause is not known");
}

/* Returns the finding of a check without a limit: whether the file is what the options say, or with --expect alone what
   it was found to be, within the errors of code as it is usual. found: null if all errors are within `right` ulp, or an
   array is within its limit. */
static json_t *formula_finding(const options *given, const json_t *record, const json_t *found, bool is_table,
                               double right) {
  const json_t *agreement = json_object_get(found, "agreement");
  const char *errors = field_string(agreement, "errors"), *held = field_string(is_table ? found : record, "held");
  const bool is_near = number(json_object_get(record, "max_ulp"), "ulp") <= right, is_asked = json_is_object(agreement);
  bool is_ok = is_near;
  if (!is_table)
    is_ok = is_array_within(record);
  else if (is_asked && !is_near)
    is_ok = json_is_true(json_object_get(agreement, "agrees")) && are_within(record, agreement);
  else if (!is_near)
    is_ok = given->expect && is_found_within(given, found);
  char text[300];
  if (!is_ok)
    tell_beyond(record, found, is_table, text, sizeof text);
  else if (is_near)
    snprintf(text, sizeof text, "no error is larger than %g ulp, the limit if none is given", right);
  else
    snprintf(text, sizeof text, "the errors are %s; the limit, as none is given, is that of code in %s%s%s",
             *errors ? errors : "those of roundings", strcmp(held, "f64") == 0 ? "f64" : "f32",
             is_stored_wider(record, held) ? ", of values of " : "", is_stored_wider(record, held) ? held : "");
  return finding_json("formula", is_ok, text);
}

/* Writes what of a config cannot be checked without options that tell it; "" if all can. */
static const char *unchecked(const options *given) {
  if (!given->model) return "";
  const bool is_paired = has_pairs(given), has_axes = !given->rope.section_count || given->grid;
  if (!is_paired && !has_axes) return "; not checked: how columns pair (--layout), positions on several axes (--grid)";
  if (!is_paired) return "; not checked: how columns pair (--layout), which is not known of this model";
  return has_axes ? "" : "; not checked: positions on several axes (--grid)";
}

/* Adds the finding of --config of an array that is within its limit. */
static void add_config(const options *given, json_t *whole, json_t *record) {
  char name[240];
  snprintf(name, sizeof name, "%.200s", given->config);
  json_t *finding = finding_json("config", true, name);
  add_check(whole, record, finding);
  json_decref(finding);
}

/* Adds the cause of a wrong file, and the findings of identify, for --expect, and for --config if the values differ
   from those of the config. Without a limit, the formula is a finding of its own. */
static void add_findings(const options *given, table_file *table, table_part part, json_t *whole) {
  enum { RIGHT = 2 };
  json_t *record = json_array_get(json_object_get(whole, "records"), 0);
  const bool is_limited = json_is_object(json_object_get(record, "limit")),
             is_far = !(number(json_object_get(record, "max_ulp"), "ulp") <= RIGHT),
             is_open = table ? given->model || (is_far && !given->expect) : !is_array_within(record),
             is_wrong = is_limited ? field_integer(whole, "failed") > 0 : is_open,
             has_columns = !table || !given->rope.has_dim || given->problem.dim == given->rope.dim,
             is_sought = is_wrong || (given->model && !has_columns), is_asked = is_sought || given->expect;
  const char *file = given->operands[0];
  const question what = {.problem = given->problem, .part = part};
  options without = *given;
  size_t n;
  json_t *finding;
  bool unused;
  if (!is_sought) without.model = NULL;
  const question *const sought = is_sought ? &what : NULL;
  json_t *found = NULL;
  if (is_asked)
    found = table ? identified_table(&without, table, file, sought, &unused)
                  : identified_array(&without, file, sought, &unused);
  if (is_sought) set_cause(whole, record, found, table);
  if (table && json_object_get(found, "held")) json_object_set(record, "held", json_object_get(found, "held"));
  if (!is_sought && !is_limited && given->model) add_config(given, whole, record);
  json_array_foreach(json_object_get(found, "findings"), n, finding) add_check(whole, record, finding);
  if (!is_limited) {
    finding = formula_finding(given, record, found, table, RIGHT);
    add_check(whole, record, finding);
    json_decref(finding);
  }
  if (*unchecked(given)) json_object_set_new(record, "unchecked", json_string(unchecked(given)));
  json_decref(found);
}

/* The tables of a file of angles: that which is compared, and that which is identified. Of frequencies, the first has
   position 1 alone, where the errors of the slow ones are seen. */
typedef struct angle_tables {
  recovered compared, identified;
} angle_tables;

/* Replaces angles by the table of their cosines and sines. Returns the words for what the file has; null if it has no
   angles. */
static const char *take_angles(options *given, table_file **table, const char *file, angle_tables *made) {
  fault why;
  const bool is_vector = table_stored(*table)->vector || table_stored(*table)->rows == 1;
  if (!angles_are(*table, given->grid || given->rope.section_count)) return NULL;
  if (table_stored(*table)->dim > TABLE_COLUMNS_MAX / 2) die("%s: too many frequencies", file);
  if (is_vector)
    options_refuse(given, ANY_OF(SET(OFFSET), SET(POSITIONS), SET(GRID), SET(PADDING)), "a file of frequencies");
  if (!recover_angles(*table, 1, 1, &made->compared, &why) ||
      (is_vector && !recover_angles(*table, 0, VECTOR_ROWS, &made->identified, &why)))
    die("%s: %s", file, why.text);
  table_close(*table);
  *table = made->compared.table;
  given->problem.first = is_vector ? 1 : given->problem.first;
  if (!is_given(given, OPTION_LAYOUT)) given->problem.layout = POSENC_SPLIT_CS;
  return is_vector ? "frequencies; compared are their cosines and sines at position 1"
                   : "angles; compared are their cosines and sines";
}

/* Leaves out columns that are copies. Returns the words for that; null if there are none. */
static const char *take_folded(options *given, table_file *table, const char *file) {
  fault why;
  posenc_layout layout;
  const bool is_folded = table_fold(table, &layout, &why);
  if (*why.text) note("%s: %s", file, why.text);
  if (!is_folded) return NULL;
  if (!is_given(given, OPTION_LAYOUT)) given->problem.layout = layout;
  return "each column twice; compared is one of the two, and the other has the same bits";
}

static json_t *check_table(options *given, output **out) {
  const char *file = given->operands[0];
  options_refuse(given, ANY_OF(SET(X), SET(X_TENSOR), SET(AXES), SET(DIM), SET(START), SET(HEADS), SET(INVERSE)),
                 "--op table");
  table_part part = part_of(given);
  table_file *table = open_checked(given, file, part);
  angle_tables of_angles = {0};
  const char *contents = part == TABLE_BOTH ? take_angles(given, &table, file, &of_angles) : NULL;
  if (part == TABLE_BOTH && !contents) contents = take_folded(given, table, file);
  if (!contents) contents = take_model_rows(given, table, file);
  const stored *at = table_stored(table);
  given->problem.rows = at->rows;
  given->problem.dim = at->dim;
  given->problem.dtype = at->dtype;
  take_model_length(given);
  if (at->joined && !contents && !is_given(given, OPTION_LAYOUT)) given->problem.layout = POSENC_SPLIT_CS;
  if ((at->halved || part != TABLE_BOTH) && !is_given(given, OPTION_LAYOUT))
    given->problem.layout = layout_default(POSENC_ROPE_CACHE);
  const bool recorded = take_recorded(given, table, file);
  const table_part of_file = recorded_part(table, file);
  if (part == TABLE_BOTH) part = of_file;
  double *positions = recorded ? take_positions(given, table, file) : NULL;
  if (part == TABLE_BOTH)
    options_require_table(given, file);
  else
    require_part(given, file);
  *out = open_output("--output", given->output);

  const posenc_bound limit = {.ulp = given->max_ulp, .abs = given->max_abs, .max_position = INT64_MAX, .derived = true};
  const table_request request = {.table = table,
                                 .name = file,
                                 .problem = given->problem,
                                 .recorded = recorded,
                                 .part = part,
                                 .limit = given->max_ulp > 0.0 || given->max_abs > 0.0 ? &limit : NULL,
                                 .replay = given->command_line};
  threads_limit(0);
  json_t *record = verify_table(&request);
  if (contents)
    json_object_set_new(json_array_get(json_object_get(record, "records"), 0), "contents", json_string(contents));
  if (of_angles.identified.table) {
    given->problem.first = 0;
    given->problem.rows = VECTOR_ROWS;
  }
  add_findings(given, of_angles.identified.table ? of_angles.identified.table : table, part, record);
  if (!of_angles.compared.table) table_close(table);
  recovered_free(&of_angles.compared);
  recovered_free(&of_angles.identified);
  free(positions);
  return record;
}

static int run(options *given) {
  take_x(given);
  output *out, *saved = open_output("--save", given->save);
  json_t *record = (given->problem.op == POSENC_TABLE ? check_table : check_array)(given, &out);
  if (given->problem.op != POSENC_TABLE) add_findings(given, NULL, TABLE_BOTH, record);
  print_record(record, given->format, output_stream(out));
  if (saved) field_print(record, output_stream(saved));
  if (given->github) record_print_github(record, given->github, stderr);
  const bool is_finite = field_integer(json_array_get(json_object_get(record, "records"), 0), "not_finite") == 0;
  const int status = is_finite && field_integer(record, "failed") == 0 ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
  json_decref(record);
  close_output("--save", given->save, saved);
  close_output("--output", given->output, out);
  return status;
}

const command command_check = {
    .bit = CHECK,
    .name = "check",
    .summary = "compare a table in a file with the exact values",
    .usage = usage,
    .notes = notes,
    .operands_least = 1,
    .operands_most = 1,
    .operand_missing = "FILE is missing",
    .run = run,
};
