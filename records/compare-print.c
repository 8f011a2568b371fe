/* SPDX-License-Identifier: MIT */
/* Prints comparisons as text and as a Markdown table. */
#include "records/compare.h"

#include "common/contract.h"
#include "common/terminal.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void print_number(double value, const char *format, const char *none, FILE *stream) {
  if (isnan(value))
    fputs(none, stream);
  else
    fprintf(stream, format, value);
}

/* Prints one row, with `between` after each cell. */
static void print_speed(const record_compared *row, const char *between, FILE *stream) {
  const bool by_limit = strcmp(row->measure, "limit") == 0;
  const double sides[] = {row->old, row->new};
  for (int i = 0; i < 2; i++) {
    if (by_limit)
      fprintf(stream, "%8.1f%% of limit%s", 100.0 * sides[i], between);
    else
      fprintf(stream, "%14.4g us%s", sides[i] * 1e-3, between);
  }
  print_number(row->ratio, "%6.3f", "     -", stream);
  fputs(between, stream);
  if (isnan(row->low))
    fprintf(stream, "%14s", "-");
  else
    fprintf(stream, "%5.3f to %5.3f", row->low, row->high);
  fputs(between, stream);
  if (isnan(row->smallest))
    fprintf(stream, "%8s", "-");
  else
    fprintf(stream, "%7.1f%%", 100.0 * row->smallest);
  fprintf(stream, "%sp %.4f", between, row->p);
}

static void print_figures(const record_compared *row, FILE *stream) {
  const char *before = "";
  RECORD_EACH(figure, row, figures) {
    fprintf(stream, "%s%s ", before, figure->what);
    print_number(figure->old, "%.6g", "none", stream);
    fputs(" -> ", stream);
    print_number(figure->new, "%.6g", "none", stream);
    before = ", ";
  }
}

static bool is_shown(const record_compared *row, bool all) {
  return all || strcmp(row->verdict, "same") != 0;
}

static bool is_speed(const record_comparison *comparison) {
  return strcmp(comparison->kind, "speed") == 0;
}

static void print_summary(const record_comparison *comparison, FILE *stream) {
  fprintf(stream, "%" PRIi64 " worse, %" PRIi64 " better, %" PRIi64 " the same, %" PRIi64 " undecided\n",
          comparison->worse, comparison->better, comparison->same, comparison->undecided);
  if (!comparison->blocks) return;
  fprintf(stream, "%" PRIi64 " blocks of 4 processes; ", comparison->blocks);
  if (isnan(comparison->smallest))
    fputs("too few to tell every benchmark's differences\n", stream);
  else
    fprintf(stream, "significant in every benchmark from a difference of %.1f%% on\n", 100.0 * comparison->smallest);
}

void compare_print_text(const record_comparison *comparison, bool all, FILE *stream) {
  RECORD_EACH(other, comparison, environment) fprintf(stream, "%s: %s, now %s\n", other->what, other->old, other->new);
  int width = 40;
  RECORD_EACH(row, comparison, rows)
    if (is_shown(row, all)) width = width_with(width, row->name);
  RECORD_EACH(row, comparison, rows) {
    if (!is_shown(row, all)) continue;
    fprintf(stream, "%-10s %-*s ", row->verdict, width, row->name);
    if (is_speed(comparison))
      print_speed(row, "  ", stream);
    else
      print_figures(row, stream);
    fprintf(stream, "%s%s\n", *row->note ? "  " : "", row->note);
    if (!is_speed(comparison) && strcmp(row->verdict, "worse") == 0) fprintf(stream, "           %s\n", row->replay);
  }
  if (comparison->gone_count)
    fprintf(stream, "only in the old record: %zu, first %s\n", comparison->gone_count, comparison->gone[0]);
  if (comparison->new_count)
    fprintf(stream, "only in the new record: %zu, first %s\n", comparison->new_count, comparison->new[0]);
  print_summary(comparison, stream);
}

/* Prints the text of a cell. Names come from files. */
static void print_cell(const char *text, FILE *stream) {
  plain_markdown(stream, text);
  fputs(" |", stream);
}

void compare_print_markdown(const record_comparison *comparison, bool all, FILE *stream) {
  print_summary(comparison, stream);
  if (comparison->environment_count) fputs("\n| | old | new |\n|---|---|---|\n", stream);
  RECORD_EACH(other, comparison, environment) {
    fputs("| ", stream);
    print_cell(other->what, stream);
    fputc(' ', stream);
    print_cell(other->old, stream);
    fputc(' ', stream);
    print_cell(other->new, stream);
    fputc('\n', stream);
  }
  fputs(is_speed(comparison) ? "\n| verdict | benchmark | old | new | ratio | interval | smallest | p | |\n"
                               "|---|---|--:|--:|--:|--:|--:|--:|---|\n"
                             : "\n| verdict | kernel/table | figures | |\n|---|---|---|---|\n",
        stream);
  RECORD_EACH(row, comparison, rows) {
    if (!is_shown(row, all)) continue;
    fprintf(stream, "| %s | ", row->verdict);
    print_cell(row->name, stream);
    fputc(' ', stream);
    if (is_speed(comparison))
      print_speed(row, " | ", stream);
    else
      print_figures(row, stream);
    fputs(" | ", stream);
    print_cell(row->note, stream);
    fputc('\n', stream);
  }
}
