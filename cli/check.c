/* SPDX-License-Identifier: MIT */
#include "cli/files.h"
#include "cli/identified.h"
#include "cli/model.h"
#include "common/memory.h"
#include "common/process.h"
#include "inspect/identify/identity.h"
#include "records/record.h"
#include "verify/file-exams.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- results of add and rope --------------------------------------------------------------------- */

/* The first checks of a file; the second is of add and rope. */
enum { OF_ACCURACY, OF_UNTOUCHED };

static bool has_failed(const record_file *of) {
  RECORD_EACH(one, of, checks)
    if (!one->ok) return true;
  return false;
}

/* Whether a result of add or rope is within the tolerance of a check that is given none. */
static bool is_array_within(const record_file *of) {
  return of->beyond == 0 && of->not_finite == 0 && of->checks[OF_UNTOUCHED].ok;
}

/* Compares with the exact result for pairs of a layout. Exits on bad input. */
static file_result examine(options *given, array_request *request, posenc_layout layout) {
  int64_t bad_row;
  file_result made;
  given->problem.layout = request->problem.layout = layout;
  if (!verify_array(request, &made, &bad_row))
    die("--x %s: not all numbers of row %" PRId64 " are finite", given->x, bad_row);
  return made;
}

/* Whether the pairs of --config's rope are known. */
static bool has_pairs(const options *given) {
  return !given->model || given->problem.op != POSENC_ROPE || given->rope.has_pairs || is_given(given, OPTION_LAYOUT);
}

static bool passes(const record_file *of) {
  return of->limit.there ? !has_failed(of) : is_array_within(of);
}

/* Whether the pairs that a wrong result shows are neighbours, if the model's are not known. */
static bool are_neighbours(const applied_arrays *arrays) {
  recovered found = {0};
  fault unused;
  const bool are = recover(arrays, POSENC_ROPE, &found, &unused) && found.pairs == POSENC_INTERLEAVED;
  table_close(found.table);
  return are;
}

/* Takes the length of the sequence that a wrong result shows. Returns whether it is another one than was assumed. */
static bool take_array_length(options *given, const applied_arrays *arrays) {
  recovered found = {0};
  fault unused;
  if (!given->model || !given->rope.by_length || given->context) return false;
  if (recover(arrays, given->problem.op, &found, &unused)) take_shown_length(given, found.table, found.error);
  table_close(found.table);
  take_model_length(given);
  return given->shown_length > 0.0;
}

/* ---- positions on axes, which a config does not tell --------------------------------------------- */

/* Whether lists have whole positions alone, which rope has. */
static bool are_whole(const posenc_axes *axes) {
  bool are = true;
  for (int a = 0; a < axes->count; a++)
    for (int64_t n = 0; axes->axis[a].positions && n < axes->axis[a].size; n++)
      are = are && fabs(axes->axis[a].positions[n] - rint(axes->axis[a].positions[n])) <= 0.0;
  return are;
}

/* Takes the positions on the axes of a config's sections that a file shows which is not at those of text, none being
   given, and which is that of the config there. table: null for a result of --op. Returns whether there are such. Exits
   if those of rope are between whole ones. */
static bool take_shown_grid(options *given, table_file *table) {
  static const char key[] = "--grid ";
  const char *file = given->operands[0];
  if (!given->model || !given->rope.section_count || given->grid || given->problem.positions ||
      is_given(given, OPTION_OFFSET))
    return false;
  options without = *given;
  without.expect = NULL;
  identified told = table ? identified_table(&without, table, file, NULL) : identified_array(&without, file, NULL);
  const char *at = told.of.agreement.agrees && record_is_text(told.of.check) ? strstr(told.of.check, key) : NULL;
  const bool is_shown = at && !strstr(told.of.check, "--offset");
  if (is_shown) {
    char *text = memory_copy_text(at + strlen(key));
    text[strcspn(text, " ")] = '\0';
    given->problem.axes = given->grid = parse_grid(given->config, text, false, &given->places);
    given->is_grid_shown = true;
    free(text);
  }
  identified_forget(&told);
  if (is_shown && !table && !are_whole(given->grid))
    die("--config %s: whether all of %s agrees is not known: it agrees with positions between whole ones",
        given->config, file);
  return is_shown;
}

/* Reads --x and FILE, opens --output, and compares. Exits on bad input. */
static file_result check_array(options *given, output **out) {
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
  file_result found = examine(given, &request, given->problem.layout);
  if (!passes(&found.of) && take_array_length(given, &arrays)) {
    record_release(&found.memory);
    request.problem.scaling = given->problem.scaling;
    found = examine(given, &request, given->problem.layout);
  }
  if (!passes(&found.of) && take_shown_grid(given, NULL)) {
    record_release(&found.memory);
    request.problem.axes = given->problem.axes;
    found = examine(given, &request, given->problem.layout);
  }
  if (!has_pairs(given) && !passes(&found.of)) {
    file_result other = examine(given, &request, POSENC_INTERLEAVED);
    const bool is_other = passes(&other.of) || are_neighbours(&arrays);
    if (!is_other) given->problem.layout = request.problem.layout = POSENC_SPLIT;
    record_release(is_other ? &found.memory : &other.memory);
    if (is_other) found = other;
  }
  table_close(arrays.x);
  table_close(arrays.out);
  return found;
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
                            "judged as such; an ulp of --max-ulp is one of the dtype of the file. Single\n"
                            "elements that are wrong, or another formula, fail.\n"
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

static void print_witness(const record_witness *w, bool by_ulp, FILE *stream) {
  fprintf(stream, "%-15s %.6g%s at p = %s, i = %" PRId64 ", %s: exact %s, got %s\n", "largest error",
          record_or_infinity(by_ulp ? w->ulp : w->abs), by_ulp ? " ulp" : "", record_number_text(w->position).text,
          w->index, w->function, w->exact, w->got);
}

static void print_histogram(const record_file *of, FILE *stream) {
  fputs("\nerror in ulp, below   elements\n", stream);
  RECORD_EACH(bin, of, histogram)
    if (bin->count > 0) fprintf(stream, "%19.6g   %8" PRId64 "\n", bin->below, bin->count);
}

static void print_positions(const record_file *of, FILE *stream) {
  fprintf(stream, "\n%19s %10s %11s %11s %11s %11s\n", "from position", "rows", "max ulp", "max abs", "mean abs",
          "misrounded");
  RECORD_EACH(each, of, positions)
    fprintf(stream, "%19s %10" PRId64 " %11.6g %11.3g %11.3g %11" PRId64 "\n", record_number_text(each->position).text,
            each->rows, record_or_infinity(each->max_ulp), record_or_infinity(each->max_abs),
            record_or_infinity(each->mean_abs), each->misrounded);
}

/* Returns the words for the quantity that a property limits. */
static const char *deviation_of(const char *property) {
  if (strcmp(property, "bounded") == 0) return "largest |value|";
  if (strcmp(property, "pair-norm") == 0) return "largest |sin^2 + cos^2 - 1|";
  if (strcmp(property, "untouched") == 0) return "largest change of columns that rope leaves alone";
  return "largest |PE[p+k] - M_k PE[p]|";
}

/* Whether the check is a finding of identify. */
static bool is_finding(const record_check *check) {
  const char *property = check->property;
  return strcmp(property, "config") == 0 || strcmp(property, "expect") == 0 || strcmp(property, "formula") == 0;
}

/* Returns the first finding that fails, else the first finding, or null if there is none. */
static const record_check *main_finding(const record_file *of) {
  const record_check *first = NULL;
  RECORD_EACH(check, of, checks) {
    if (!is_finding(check)) continue;
    if (!check->ok) return check;
    if (!first) first = check;
  }
  return first;
}

static void print_property(const record_file *of, const record_check *check, FILE *stream) {
  const record_equal_rows *equal = &of->equal_rows;
  const char *property = check->property;
  const bool is_unique = strcmp(property, "unique-rows") == 0;
  if (check->compared == 0)
    fputs("not looked at", stream);
  else if (isinf(record_or_infinity(check->worst)))
    fprintf(stream, "%s: some values are NaN or infinite", deviation_of(property));
  else if (!is_unique)
    fprintf(stream, "%s %.6g", deviation_of(property), check->worst);
  else if (equal->first_count == 0)
    fprintf(stream, "all of %" PRId64, equal->compared);
  else
    fprintf(stream, "%" PRId64 " of %" PRId64 " equal one before; the first p = %s and p = %s", equal->equal,
            equal->compared, record_number_text(equal->first[0]).text, record_number_text(equal->first[1]).text);
  if (of->limit.there && !check->skipped) fputs(check->ok ? ": ok" : ": FAILS", stream);
  if (of->limit.there && !check->ok && !is_unique) fprintf(stream, ", %s", check->note);
}

static void print_properties(const record_file *of, FILE *stream) {
  fputc('\n', stream);
  RECORD_EACH(check, of, checks) {
    if (strcmp(check->property, "accuracy") == 0) continue;
    fprintf(stream, "%-15s ", check->property);
    if (is_finding(check))
      fprintf(stream, "%s: %s", check->ok ? "agrees" : "DISAGREES", check->note);
    else
      print_property(of, check, stream);
    fputc('\n', stream);
  }
}

/* Prints the largest absolute error, or if that is within a tolerance in ulp, the largest error in ulp: "off by
   0.000387 at row 4999, column 12: 0.98151511 instead of 0.98190232" */
static void print_worst(const record_file *of, FILE *stream) {
  const record_witness *w = of->limit.there && of->max_abs.ulp <= of->limit.ulp ? &of->worst : &of->max_abs;
  const int digits = strcmp(of->shape.dtype, "f64") == 0 ? 17 : 9;
  fprintf(stream, "off by %.3g at ", record_or_infinity(w->abs));
  if (w->place)
    fputs(w->place, stream);
  else
    fprintf(stream, "row %" PRId64 ", column %" PRId64, w->row, w->column);
  fprintf(stream, ": %.*g instead of %.*g\n", digits, strtod(w->got, NULL), digits, strtod(w->exact, NULL));
}

/* Whether values of dtype `held`, "" if that is not known, were stored in a wider one. */
static bool is_stored_wider(const record_file *of, const char *held) {
  return *held && strcmp(held, of->shape.dtype) != 0;
}

/* Prints the tolerance, and if the check of accuracy fails, by how much it is exceeded. An ulp is that of the stored
   dtype, which is told unless it is f32, and where its values are those of another one. */
static void print_tolerance(const record_file *of, const char *further, FILE *stream) {
  const record_check *accurate = &of->checks[OF_ACCURACY];
  const bool by_ulp = of->limit.ulp > 0.0;
  const char *dtype = of->shape.dtype;
  const bool is_told = by_ulp && (strcmp(dtype, dtype_name(POSENC_F32)) != 0 || is_stored_wider(of, of->held));
  fprintf(stream, "--max-%s %.6g%s%s%s%s%s\n", by_ulp ? "ulp" : "abs", by_ulp ? of->limit.ulp : of->limit.abs,
          is_told ? " of " : "", is_told ? dtype : "", accurate->ok ? "" : ": ", accurate->note, further);
}

static void print_failure(const record_file *of, FILE *stream) {
  static const char next[] = "      ";
  fputs("FAIL: ", stream);
  if (of->axes && of->limit.there && of->checks[OF_ACCURACY].ok)
    fprintf(stream, "columns that rope leaves alone: %s\n", of->checks[OF_UNTOUCHED].note);
  else
    print_worst(of, stream);
  fputs(next, stream);
  if (of->limit.there)
    print_tolerance(of, "", stream);
  else
    fputs("not all elements are finite\n", stream);
  if (!of->axes) fprintf(stream, "%sposenc identify tells what this table is\n", next);
}

static void print_verdict(const record_file *of, FILE *stream) {
  const record_check *finding = main_finding(of);
  const bool is_ok = finding && finding->ok,
             is_told = of->limit.there ? !is_ok && of->checks[OF_ACCURACY].ok : !is_ok || !of->not_finite;
  if (finding && is_told) {
    fprintf(stream, "%s: %s: %s%s\n", is_ok ? "PASS" : "FAIL", finding->property, finding->note,
            is_ok ? of->unchecked : "");
  } else if (of->limit.there && !has_failed(of)) {
    fputs("PASS: ", stream);
    print_tolerance(of, of->unchecked, stream);
  } else {
    print_failure(of, stream);
  }
}

/* Prints the dtype of the values if they were stored in a wider one, and whose ulp is meant. */
static void print_held(const record_file *of, FILE *stream) {
  const char *dtype = of->shape.dtype;
  if (is_stored_wider(of, of->held))
    fprintf(stream, "%-15s all are numbers of %s, stored as %s: %s %s\n", "values", of->held, dtype,
            of->limit.there ? "an ulp is that of" : "judged as those of", of->limit.there ? dtype : of->held);
}

static void print_text(const record_file *of, FILE *stream) {
  fprintf(stream, "%s%s%s: %s (%s), %s, base %.15g\n", of->kernel, of->tensor ? ", " : "", of->tensor ? of->tensor : "",
          of->shape.name, of->format, of->shape.dtype, of->shape.base);
  const bool is_rope = strcmp(of->shape.op, "rope") == 0;
  print_verdict(of, stream);
  if (*of->cause && has_failed(of)) fprintf(stream, "%-15s %s\n", "likely cause", of->cause);
  if (*of->contents) fprintf(stream, "%-15s %s\n", "file", of->contents);
  if (of->axes) fprintf(stream, "%-15s %s, axes %s\n", "x", of->x, of->axes);
  if (of->recorded) fprintf(stream, "%-15s as posenc write has recorded it in the file, but for options\n", "formula");
  print_held(of, stream);
  fprintf(stream, "%-15s %" PRId64 ", each compared with the exact value%s\n", "elements", of->elements,
          is_rope ? "; ulp of the length of a pair" : "");
  print_witness(&of->max_ulp, true, stream);
  print_witness(&of->max_abs, false, stream);
  fprintf(stream, "%-15s %.6g ulp, %.3g\n", "mean error", record_or_infinity(of->mean_ulp),
          record_or_infinity(of->mean_abs));
  fprintf(stream, "%-15s %" PRId64 "\n", "misrounded", of->misrounded);
  if (of->not_finite) fprintf(stream, "%-15s %" PRId64 " (NaN or infinite)\n", "not finite", of->not_finite);
  print_histogram(of, stream);
  print_positions(of, stream);
  print_properties(of, stream);
}

/* ---- the command ------------------------------------------------------------------------------- */

static void print_record(const record_file_check *of, const record_accuracy *as_result, const char *name,
                         FILE *stream) {
  if (!name || strcmp(name, "text") == 0)
    print_text(of->records, stream);
  else if (strcmp(name, "tap") == 0)
    record_print_tap(as_result, stream);
  else if (strcmp(name, "junit") == 0)
    record_print_junit(as_result, stream);
  else
    record_print(record_write_file_check(of), stream);
}

/* Whether posenc write has written the file. */
static bool is_ours(const table_file *table) {
  char *program;
  const bool ours = table_metadata(table, "made_by", &program) && program && strcmp(program, "posenc") == 0;
  free(program);
  return ours;
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
  const bool ours = is_ours(table);
  for (size_t i = 0; ours && i < sizeof fields / sizeof *fields; i++) {
    char *text;
    if (is_given(given, fields[i].code) || is_given(given, fields[i].beside)) continue;
    if (!table_metadata(table, fields[i].key, &text)) continue;
    if (!text) die("%s: its metadata, %s: not a string", file, fields[i].key);
    if (fields[i].code != OPTION_PADDING || strcmp(text, "none") != 0)
      options_record(given, fields[i].code, fields[i].key, text, file);
    free(text);
  }
  return ours;
}

/* Returns whether a file of posenc write has a table or a rope cache, and which of its tensors was opened. */
static table_part recorded_part(const table_file *table, const char *file) {
  char *recorded = NULL;
  const bool is_told = is_ours(table) && table_metadata(table, "op", &recorded);
  const char *text = recorded ? recorded : "", *name = is_told ? text : op_name(POSENC_TABLE);
  const bool is_cache = strcmp(name, op_name(POSENC_ROPE_CACHE)) == 0;
  if (!is_cache && strcmp(name, op_name(POSENC_TABLE)) != 0)
    die("%s: its metadata, op %s: not table or rope-cache", file, *name ? name : "''");
  free(recorded);
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
  const table_half own = part == TABLE_COS ? TABLE_FIRST : TABLE_SECOND, half = part == TABLE_BOTH ? TABLE_JOINED : own;
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

static void add_check(file_result *found, record_check finding) {
  finding_add(finding, &found->of.checks, &found->of.checks_count, &found->memory);
}

/* Returns what the errors of a table are, that agrees with what is expected; "" if that is not known. */
static const char *errors_of(const record_agreement *agreement) {
  return agreement->errors ? agreement->errors : "";
}

/* Sets the cause: why the file is not what was asked for, or why it fails although its formula is right. `told` is the
   record of posenc identify, here and below. */
static void set_cause(file_result *found, const record_identified *told, bool is_table) {
  record_file *of = &found->of;
  const char *cause = told->cause ? told->cause : "", *errors = errors_of(&told->agreement);
  const bool is_inaccurate = of->limit.there && !of->checks[OF_ACCURACY].ok;
  if (*cause)
    of->cause = record_format(&found->memory, "%s", cause);
  else if (is_inaccurate && *errors && (is_table || is_array_within(of)))
    of->cause = record_format(&found->memory, "the formula agrees: the errors are %s; --max-abs %.2g passes", errors,
                              tolerance_above(record_or_infinity(of->max_abs.abs)));
}

/* Whether no element of the file has a larger error than those that identify has seen, not in a column or row that is
   no part of the formula, either. */
static bool are_within(const record_file *of, const record_agreement *agreement) {
  const double of_doubles = 1e-15;
  return agreement->has_within && of->max_abs.abs <= 2.0 * agreement->within + of_doubles;
}

/* Whether a table is what identify has found, within the tolerance of a check that is given none, at successive
   positions if none are asked. */
static bool is_found_within(const options *given, const record_identified *told) {
  return strcmp(told->verdict, "table") == 0 && told->unexplained == 0 && told->damage_count == 0 &&
         told->not_finite == 0 && told->padding_rows <= 1 && (!told->positions.there || given->problem.positions) &&
         told->step >= 0;
}

/* Writes why the file is not within the tolerance of a check that is given none. */
static void tell_beyond(const record_file *of, const record_agreement *agreement, bool is_table, const char *code,
                        char *text, size_t size) {
  const record_check *untouched = &of->checks[OF_UNTOUCHED];
  const char *errors = errors_of(agreement);
  if (*of->cause)
    snprintf(text, size, "%s", of->cause);
  else if (!is_table && !untouched->ok)
    snprintf(text, size, "columns that rope leaves alone: %s", untouched->note);
  else if (agreement->agrees)
    snprintf(text, size,
             "the formula agrees, but errors are larger than those of code in %s%s%s; --max-abs %.2g passes", code,
             *errors ? ": " : "", errors, tolerance_above(record_or_infinity(of->max_abs.abs)));
  else
    snprintf(text, size, "the cause is not known");
}

/* Adds the finding of a check without a tolerance: whether the file is what the options say, or with --expect alone
   what it was found to be, within the errors of code as it is usual. told: of nothing if all errors are within `right`
   ulp, or an array is within its tolerance. */
static void add_formula(const options *given, file_result *found, const record_identified *told, bool is_table,
                        double right) {
  const record_file *of = &found->of;
  const record_agreement *agreement = &told->agreement;
  const char *errors = errors_of(agreement), *held = of->held, *code = strcmp(held, "f64") == 0 ? "f64" : "f32";
  const bool is_near = of->max_ulp.ulp <= right, is_wider = is_stored_wider(of, held);
  bool is_ok = is_near;
  if (!is_table)
    is_ok = is_array_within(of);
  else if (agreement->there && !is_near)
    is_ok = agreement->agrees && are_within(of, agreement);
  else if (!is_near)
    is_ok = given->expect && is_found_within(given, told);
  char text[300];
  if (!is_ok)
    tell_beyond(of, agreement, is_table, code, text, sizeof text);
  else if (is_near)
    snprintf(text, sizeof text, "no error is larger than %g ulp, the limit if none is given", right);
  else
    snprintf(text, sizeof text, "the errors are %s; the limit, as none is given, is that of code in %s%s%s",
             *errors ? errors : "those of roundings", code, is_wider ? ", of values of " : "", is_wider ? held : "");
  add_check(found, finding_of("formula", is_ok, text));
}

/* Returns what of a config cannot be checked without options that tell it; "" if all can. */
static const char *unchecked(const options *given) {
  if (!given->model) return "";
  const bool is_paired = has_pairs(given), has_axes = !given->rope.section_count || given->grid;
  if (given->is_grid_shown)
    return "; not checked: positions on several axes (--grid), which are those that the values show";
  if (!is_paired && !has_axes) return "; not checked: how columns pair (--layout), positions on several axes (--grid)";
  if (!is_paired) return "; not checked: how columns pair (--layout), which is not known of this model";
  return has_axes ? "" : "; not checked: positions on several axes (--grid)";
}

/* Adds the cause of a wrong file, and the findings of identify, for --expect, and for --config if the values differ
   from those of the config. Without a tolerance, the formula is a finding of its own. */
static void add_findings(const options *given, table_file *table, table_part part, file_result *found) {
  enum { RIGHT = 2 };
  record_file *of = &found->of;
  const bool has_tolerance = of->limit.there, is_far = !(of->max_ulp.ulp <= RIGHT),
             is_open = table ? given->model || (is_far && !given->expect) : !is_array_within(of),
             is_wrong = has_tolerance ? has_failed(of) : is_open,
             has_columns = !table || !given->rope.has_dim || given->problem.dim == given->rope.dim,
             is_sought = is_wrong || (given->model && !has_columns), is_asked = is_sought || given->expect;
  const char *file = given->operands[0];
  const question what = {.problem = given->problem, .part = part};
  options without = *given;
  if (!is_sought) without.model = NULL;
  const question *const sought = is_sought ? &what : NULL;
  identified told = {.read = NULL};
  if (is_asked)
    told = table ? identified_table(&without, table, file, sought) : identified_array(&without, file, sought);
  if (is_sought) set_cause(found, &told.of, table);
  if (table) of->held = record_format(&found->memory, "%s", told.of.held ? told.of.held : "");
  if (!is_sought && !has_tolerance && given->model) {
    char name[320];
    snprintf(name, sizeof name, "%.200s%s", given->config, given->length_shown);
    add_check(found, finding_of("config", true, name));
  }
  for (size_t n = 0; n < told.of.findings_count; n++) add_check(found, told.of.findings[n]);
  if (!has_tolerance) add_formula(given, found, &told.of, table, RIGHT);
  const bool is_half = table && part != TABLE_BOTH && table_stored(table)->halved;
  of->unchecked = record_format(&found->memory, "%s%s%s%s", unchecked(given), given->length_unchecked, of->unchecked,
                                is_half ? "; not checked: the other of its two tables" : "");
  identified_forget(&told);
}

/* Replaces angles by the table of their cosines and sines. Returns the words for what the file has; null if it has no
   angles. Of frequencies, the table that is compared has position 1 alone, where the errors of the slow ones are seen,
   and `of_vector` is identified. */
static const char *take_angles(options *given, table_file **table, const char *file, table_file **of_vector) {
  const bool is_vector = table_stored(*table)->vector || table_stored(*table)->rows == 1;
  if (!angles_are(*table, given->grid || given->rope.section_count)) return NULL;
  if (table_stored(*table)->dim > TABLE_COLUMNS_MAX / 2) die("%s: too many frequencies", file);
  if (is_vector)
    options_refuse(given, ANY_OF(SET(OFFSET), SET(POSITIONS), SET(GRID), SET(PADDING)), "a file of frequencies");
  if (given->grid && given->grid->grouped && angles_are_twice(*table))
    die("%s: angles that are there twice cannot be compared for grouped axes; each once, or their cosines and sines, "
        "can",
        file);
  table_file *compared = recover_angles(*table, 1, 1);
  if (is_vector) *of_vector = recover_angles(*table, 0, VECTOR_ROWS);
  table_close(*table);
  *table = compared;
  given->problem.first = is_vector ? 1 : given->problem.first;
  given->has_angles = true;
  if (!is_given(given, OPTION_LAYOUT)) given->problem.layout = POSENC_SPLIT_CS;
  return is_vector ? "frequencies; compared are their cosines and sines at position 1"
                   : "angles; compared are their cosines and sines";
}

/* Leaves out columns that are copies. Returns the words for that; null if there are none. *mistake: if those are not
   the copies of grouped axes, or of axes that are not, the words for that; else null. */
static const char *take_folded(options *given, table_file *table, const char *file, const char **mistake) {
  posenc_layout layout;
  int blocks;
  const bool is_folded = table_fold(table, &layout, &blocks), is_grouped = given->grid && given->grid->grouped;
  if (*table_uncopied(table)) note("%s: %s", file, table_uncopied(table));
  if (!is_folded) return NULL;
  if (blocks && (blocks > 1) != is_grouped) *mistake = axes_layout_mistake(is_grouped);
  if (!is_given(given, OPTION_LAYOUT)) given->problem.layout = layout;
  return "each column twice; compared is one of the two, and the other has the same bits";
}

/* Takes the layout of two tables on an axis of 2, if none is given: of a rope, the cosines are the first. Of columns
   that are copies, `contents`, the layout was taken from the values. */
static void take_stacked(options *given, const stored *at, const char *contents) {
  const bool is_split = at->joined || at->beside, is_folded = contents && given->problem.layout != POSENC_SPLIT;
  if (is_given(given, OPTION_LAYOUT)) return;
  if (is_split && !is_folded) given->problem.layout = POSENC_SPLIT_CS;
  if (at->last && given->model && !contents) given->problem.layout = POSENC_INTERLEAVED_CS;
}

/* Takes the layout that the values of a grid, or of a model's table, show, unless --layout gives one. Returns how the
   output tells of it; null if no layout is taken. */
static const char *take_layout(options *given, table_file *table) {
  static const char *const words[] = {[POSENC_INTERLEAVED] = "layout interleaved, as the values show; none is given",
                                      [POSENC_INTERLEAVED_CS] =
                                          "layout interleaved-cs, as the values show; none is given",
                                      [POSENC_SPLIT] = "layout split, as the values show; none is given",
                                      [POSENC_SPLIT_CS] = "layout split-cs, as the values show; none is given"};
  const stored *at = table_stored(table);
  const bool is_stacked = at->beside || at->last; /* take_stacked has the layout */
  if (is_given(given, OPTION_LAYOUT) || given->problem.dim % 2) return NULL;
  if (!given->grid && (!given->model || is_stacked)) return NULL;
  return layout_shown(table, &given->problem, &given->problem.layout) ? words[given->problem.layout] : NULL;
}

/* Compares a table, at the positions on axes that it shows if it is not at those of text. */
static file_result compare_table(options *given, table_request *request) {
  enum { RIGHT = 2 };
  file_result found = verify_table(request);
  if (found.of.max_ulp.ulp <= RIGHT || !take_shown_grid(given, request->table)) return found;
  record_release(&found.memory);
  request->problem.axes = given->problem.axes;
  return verify_table(request);
}

static file_result check_table(options *given, output **out) {
  const char *file = given->operands[0];
  options_refuse(given, ANY_OF(SET(X), SET(X_TENSOR), SET(AXES), SET(DIM), SET(START), SET(HEADS), SET(INVERSE)),
                 "--op table");
  table_part part = part_of(given);
  table_file *table = open_checked(given, file, part);
  table_file *of_vector = NULL;
  const char *mistake = NULL, *contents = part == TABLE_BOTH ? take_angles(given, &table, file, &of_vector) : NULL;
  if (part == TABLE_BOTH && !contents) contents = take_folded(given, table, file, &mistake);
  const char *const rows = contents ? NULL : take_model_rows(given, table, file);
  if (rows) contents = rows;
  const stored *at = table_stored(table);
  require_places(given, at->rows);
  given->problem.rows = at->rows;
  given->problem.dim = at->dim;
  given->problem.dtype = at->dtype;
  take_shown_length(given, of_vector ? of_vector : table, 0.0);
  take_model_length(given);
  if (given->has_angles) given->problem.scaling.attention = 1.0;
  take_stacked(given, at, contents);
  if ((at->halved || part != TABLE_BOTH) && !is_given(given, OPTION_LAYOUT))
    given->problem.layout = layout_default(POSENC_ROPE_CACHE);
  const bool recorded = take_recorded(given, table, file);
  const table_part of_file = recorded_part(table, file);
  if (part == TABLE_BOTH) part = of_file;
  /* Two tables side by side, and a table without copied columns, have the columns of all axes together. */
  if (given->grid && part == TABLE_BOTH && (at->joined || contents)) given->grid->grouped = false;
  double *positions = recorded ? take_positions(given, table, file) : NULL;
  if (part == TABLE_BOTH)
    options_require_table(given, file);
  else
    require_part(given, file);
  const bool is_whole = part == TABLE_BOTH && !at->joined && !recorded; /* and no column is a copy */
  const char *const shown = is_whole && contents == rows ? take_layout(given, table) : NULL;
  if (!contents) contents = shown;
  *out = open_output("--output", given->output);

  const posenc_bound limit = {.ulp = given->max_ulp, .abs = given->max_abs, .max_position = INT64_MAX, .derived = true};
  table_request request = {.table = table,
                           .name = file,
                           .problem = given->problem,
                           .recorded = recorded,
                           .part = part,
                           .limit = given->max_ulp > 0.0 || given->max_abs > 0.0 ? &limit : NULL,
                           .replay = given->command_line};
  threads_limit(0);
  file_result found = compare_table(given, &request);
  if (contents) found.of.contents = contents;
  if (of_vector) {
    given->problem.first = 0;
    given->problem.rows = VECTOR_ROWS;
  }
  add_findings(given, of_vector ? of_vector : table, part, &found);
  if (mistake) add_check(&found, finding_of(given->model ? "config" : "formula", false, mistake));
  table_close(table);
  table_close(of_vector);
  free(positions);
  return found;
}

static int run(options *given) {
  take_x(given);
  output *out, *saved = open_output("--save", given->save);
  file_result found = (given->problem.op == POSENC_TABLE ? check_table : check_array)(given, &out);
  if (given->problem.op != POSENC_TABLE) add_findings(given, NULL, TABLE_BOTH, &found);
  const record_file_check record = file_check_of(&found.of, &found.memory);
  const record_file_check *kept = record_keep_file_check(&record);
  const record_accuracy as_result = record_of_file_check(kept, &found.memory);
  print_record(&record, &as_result, given->format, output_stream(out));
  if (saved) record_print(record_write_file_check(&record), output_stream(saved));
  if (given->github) record_print_github(&as_result, kept, given->github, stderr);
  const int status = found.of.not_finite == 0 && !has_failed(&found.of) ? EXIT_SUCCESS : STATUS_FAILED_CHECK;
  record_free(kept);
  record_release(&found.memory);
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
