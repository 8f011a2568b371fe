/* SPDX-License-Identifier: MIT */
#include "cli/files.h"
#include "cli/identified.h"
#include "cli/model.h"
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

static void print_columns(const record_identified *of, FILE *stream) {
  const char *const alone = strcmp(of->part, "cos") == 0 ? ", cosines alone" : ", sines alone";
  fprintf(stream, "%-15s %s%s, %" PRId64 " columns of dim %" PRId64 "%s%s\n", "layout", of->layout,
          strcmp(of->part, "both") == 0 ? "" : alone, of->columns, of->dim, record_is_text(of->odd) ? ", odd " : "",
          record_is_text(of->odd) ? of->odd : "");
  RECORD_EACH(one, of, damage) {
    fprintf(stream, "%-15s %" PRId64 ": ", one == of->damage ? "damaged column" : "", one->column);
    if (strcmp(one->kind, "constant") == 0)
      fprintf(stream, "%.9g in all rows\n", one->value);
    else if (strcmp(one->kind, "moved") == 0)
      fprintf(stream, "values of column %" PRId64 "\n", one->like);
    else
      fputs("no part of the table\n", stream);
  }
}

static void print_key(const char *key, bool is_there, double value, FILE *stream) {
  if (is_there) fprintf(stream, ", %s %.9g", key, value);
}

static void print_scaling(const record_scaling *s, FILE *stream) {
  const record_number *range = s->original_range;
  if (!s->there) return;
  fprintf(stream, "%-15s %s", "scaling", s->kind);
  print_key("factor", s->has_factor, s->factor, stream);
  print_key("original", s->has_original, (double)s->original, stream);
  print_key("low", s->has_low, s->low, stream);
  print_key("high", s->has_high, s->high, stream);
  if (s->has_truncate) fprintf(stream, ", truncate %s", s->truncate ? "yes" : "no");
  print_key("attention", s->has_attention, s->attention, stream);
  if (s->factors_count) fputs(", factors", stream);
  for (size_t n = 0; n < s->factors_count; n++)
    fprintf(stream, "%s%s", n ? ":" : " ", number_within(s->factors[n], s->factor_errors[n] / s->factors[n]).text);
  print_key("stretch", s->stretch > 0.0, s->stretch, stream);
  print_key("base", s->base > 0.0, s->base, stream);
  print_key("attention_factor", fabs(s->attention_factor) > 0.0, s->attention_factor, stream);
  if (s->original_range_count == 2 && range[0].whole < range[1].whole)
    fprintf(stream, ", original may be %" PRId64 " to %" PRId64, range[0].whole, range[1].whole);
  fputc('\n', stream);
}

static void print_positions(const record_identified *of, FILE *stream) {
  const record_number *range = of->offset_range;
  const record_found_positions *list = &of->positions;
  if (list->there) {
    fprintf(stream, "%-15s a list of %" PRId64 " in %" PRId64 " runs:", "positions", list->count, list->runs);
    for (size_t n = 0; n < list->first_count; n++) fprintf(stream, " %.9g", list->first[n]);
    fprintf(stream, "%s\n", (size_t)list->count > list->first_count ? " .." : "");
    return;
  }
  fprintf(stream, "%-15s %.15g%s\n", "first position", record_number_value(of->offset),
          of->step < 0 ? ", rows are reversed" : "");
  if (of->offset_range_count == 2 && range[0].whole < range[1].whole)
    fprintf(stream, "%-15s %" PRId64 " to %" PRId64 "\n", "which may be", range[0].whole, range[1].whole);
  if (of->other_offsets)
    fprintf(stream, "%-15s %" PRId64 " other first positions, which these rows do not tell apart\n", "or",
            of->other_offsets);
}

/* Prints a number with as many digits as its error leaves. */
static void print_within(const char *label, double value, double error, FILE *stream) {
  fprintf(stream, "%-15s %s\n", label, number_within(value, error / fabs(value)).text);
}

static void print_formula(const record_identified *of, FILE *stream) {
  const record_found_formula *also = &of->also;
  const double half = (double)of->dim / 2.0;
  if (of->any_base)
    fprintf(stream, "%-15s any: of one frequency, all are the same\n", "base");
  else
    fprintf(stream, "%-15s %s, by i/(%g - %.15g)\n", "base", number_within(of->base, of->base_error / of->base).text,
            half, of->shift);
  if (also->there)
    fprintf(stream, "%-15s base %.9g, by i/(%g - %.15g), scaling %s: these rows do not tell the two apart\n", "or",
            also->base, half, also->shift, also->scaling);
  print_scaling(&of->scaling, stream);
  print_positions(of, stream);
  print_within("scale", of->scale, of->scale_error, stream);
  print_within("amplitude", of->amplitude, of->amplitude_error, stream);
  if (fabs(of->added) > 0.0) print_within("added", of->added, of->added_error, stream);
  if (of->padding_rows)
    fprintf(stream, "%-15s %" PRId64 ", the first at position %" PRId64 "\n", "rows of zeros", of->padding_rows,
            of->padding);
}

static void print_errors(const record_identified *of, FILE *stream) {
  fprintf(stream, "%-15s %s", "dtype", of->stored);
  if (strcmp(of->stored, of->held) != 0) fprintf(stream, ", with values of %s", of->held);
  fprintf(stream, "\n%-15s %.3g from exact, at position %.15g, column %" PRId64 "; %.3g if each were rounded once\n",
          "largest error", of->max_abs, of->worst.position, of->worst.column, of->max_abs_if_exact);
  if (!of->proved) fprintf(stream, "%-15s exact values are doubles here, without a proof\n", "");
  if (of->not_finite) fprintf(stream, "%-15s %" PRId64 " (NaN or infinite)\n", "not finite", of->not_finite);
}

static void print_makers(const record_identified *of, FILE *stream) {
  fprintf(stream, "\n%-24s %12s %12s %11s %11s\n", "made by", "elements", "equal", "rms apart", "max apart");
  RECORD_EACH(one, of, makers)
    fprintf(stream, "%-24s %12" PRId64 " %12" PRId64 " %11.3g %11.3g%s\n", one->name, one->elements, one->equal,
            one->rms, one->max, one < of->makers + of->closest_count ? "  <-" : "");
}

/* Prints the least tolerance that the table passes, in two digits. Of an array that a table was applied to, the errors
   of the table are not those of the result. */
static void print_tolerance(const record_identified *of, FILE *stream) {
  const record_found_maker *closest = of->makers_count ? of->makers : NULL;
  const bool is_exact = closest && strcmp(closest->name, "exact") == 0 && closest->equal == closest->elements;
  if (of->applied.there || !of->has_max_abs) return;
  if (is_exact)
    fputs(" --max-ulp 1", stream);
  else if (of->max_abs > 0.0)
    fprintf(stream, " --max-abs %.2g", tolerance_above(of->max_abs));
}

/* Prints the command that checks the file for what was found, unless that is not what it was asked to be. */
static void print_check(const options *given, const record_identified *of, FILE *stream) {
  static const char of_x[] = "--x X";
  const char *check = record_is_text(of->check) && of->has_check ? of->check : NULL,
             *x = check ? strstr(check, of_x) : NULL;
  if (!check && of->step < 0)
    fputs("\nposenc check --positions, with the descending list, holds timesteps to that.\n", stream);
  if (!check || !findings_are_met(of)) return;
  fputs("\nposenc check ", stream);
  print_quoted(stream, given->operands[0]);
  for (size_t n = 0; n < given->tensors.count; n++)
    fputs(" --tensor ", stream), print_quoted(stream, given->tensors.items[n]);
  if (is_given(given, OPTION_HEADS)) fprintf(stream, " --heads %s", given->texts[OPTION_HEADS]);
  if (given->x_tensor) fputs(" --x-tensor ", stream), print_quoted(stream, given->x_tensor);
  fprintf(stream, "%s%.*s", *check ? " " : "", x ? (int)(x - check) : (int)strlen(check), check);
  if (x) fputs("--x ", stream), print_quoted(stream, given->x), fputs(x + strlen(of_x), stream);
  print_tolerance(of, stream);
  fputs(" holds it to that.\n", stream);
}

/* Prints the comparisons with --config and --expect. */
static void print_findings(const record_identified *of, FILE *stream) {
  RECORD_EACH(finding, of, findings)
    fprintf(stream, "%-15s %s%s%s\n", finding->property, finding->ok ? "agrees" : "DISAGREES",
            *finding->note ? ": " : "", finding->note);
}

static void print_text(const options *given, const record_identified *of, FILE *stream) {
  const bool is_named = record_is_text(of->tensor);
  fprintf(stream, "%s\n", of->sentence);
  print_findings(of, stream);
  if (strcmp(of->verdict, "none") == 0) return;
  fputc('\n', stream);
  if (of->applied.there)
    fprintf(stream, "%s: %" PRId64 "x%" PRId64 ", recovered\n", of->file, of->rows, of->columns);
  else
    fprintf(stream, "%s%s%s: %" PRId64 "x%" PRId64 " %s (%s)\n", of->file, is_named ? ", " : "",
            is_named ? of->tensor : "", of->rows, of->columns, of->stored, of->format);
  if (strcmp(of->verdict, "grid") == 0) {
    if (of->applied.there) print_applied(&of->applied, stream);
    print_check(given, of, stream);
  }
  if (strcmp(of->verdict, "table") != 0) return;
  if (of->applied.there)
    print_applied(&of->applied, stream);
  else
    print_columns(of, stream);
  print_formula(of, stream);
  print_errors(of, stream);
  print_makers(of, stream);
  print_check(given, of, stream);
}

/* ---- angles ------------------------------------------------------------------------------------- */

/* Replaces a table of angles, or a vector of frequencies, by the table of their cosines and sines. Returns the words
   for what it is; null if it is neither. */
static const char *take_angles(options *given, table_file **table, const char *file) {
  const stored *at = table_stored(*table);
  const bool is_vector = at->vector || at->rows == 1;
  if (!angles_are(*table, given->rope.section_count)) return NULL;
  if (at->dim > IDENTIFY_COLUMNS_MAX / 2)
    die("%s: %" PRId64 " frequencies are more than the %d that can be looked at", file, at->dim,
        IDENTIFY_COLUMNS_MAX / 2);
  table_file *found = recover_angles(*table, 0, VECTOR_ROWS);
  table_close(*table);
  *table = found;
  given->has_angles = true;
  return is_vector ? "frequencies" : "angles";
}

/* Leaves out columns that are copies. Returns whether there were any; *blocks: those of axes. */
static bool take_folded(table_file *table, const char *file, int *blocks) {
  posenc_layout unused;
  const bool is_folded = table_fold(table, &unused, blocks);
  if (*table_uncopied(table)) note("%s: %s", file, table_uncopied(table));
  return is_folded;
}

/* Adds to the options for check that the columns of each axis were there twice, side by side. */
static void record_grouped(identified *made) {
  const char *check = made->of.check, *grid = check ? strstr(check, "--grid ") : NULL;
  if (!grid) return;
  const char *end = strchr(grid + strlen("--grid "), ' ');
  const int ahead = (int)(end ? end - check : (ptrdiff_t)strlen(check));
  made->of.check = record_format(&made->memory, "%.*s,grouped=yes%s", ahead, check, end ? end : "");
}

/* Says what the file has, before the sentence on the table. */
static void record_contents(identified *made, const char *what, const char *then) {
  made->of.sentence = record_format(&made->memory, "%s; %s%s", what, then, made->of.sentence);
  made->of.contents = what;
}

/* ---- the command ------------------------------------------------------------------------------- */

/* Prints the fragment of a config alone. Returns false if there is none. */
static bool print_config(const record_identified *of, const char *file, FILE *stream) {
  const bool is_refused = record_find_fact(&of->config, "refusal");
  if (!of->config.there || is_refused) {
    note("%s: no config makes it: %s", file, is_refused ? record_fact_text(&of->config, "refusal") : of->sentence);
    return false;
  }
  record_print_facts(&of->config, stream);
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
  const char *angles = table ? take_angles(given, &table, file) : NULL;
  const char *rows = table && !angles ? take_model_rows(given, table, file) : NULL;
  int blocks = 0;
  const bool is_folded = table && !angles && take_folded(table, file, &blocks);
  identified found = table ? identified_table(given, table, file, NULL) : identified_array(given, file, NULL);
  if (rows) record_contents(&found, rows, "");
  if (angles) record_contents(&found, angles, "their cosines and sines: ");
  if (is_folded) record_contents(&found, "each column twice", "");
  if (blocks > 1) record_grouped(&found);
  table_close(table);
  if (given->as_config)
    found.is_right = print_config(&found.of, file, output_stream(out)) && found.is_right;
  else if (format_is(given, "json"))
    record_print(record_write_identified(&found.of), output_stream(out));
  else
    print_text(given, &found.of, output_stream(out));
  if (saved) record_print(record_write_identified(&found.of), output_stream(saved));
  const bool is_right = found.is_right;
  identified_forget(&found);
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
