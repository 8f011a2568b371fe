/* SPDX-License-Identifier: MIT */
/* Writes tables with a row per kernel of one shape, and describes their shapes. */
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The kinds of tables in which a column is shown, as bits; TIME if it needs times. */
enum { HEADLINE = 1 << TABLE_HEADLINE, FULL = 1 << TABLE_FULL, TIMES = 1 << TABLE_TIMES, TIME = 1 << TABLE_KINDS };

typedef struct column {
  page_column head;
  unsigned in;
  void (*fill)(page *p, const record_row *row); /* writes the cells; if null, the fields below describe a number */
  size_t offset;                                /* offset of the number in a row */
  int digits;                                   /* significant digits; 0 for a spread */
  double scale;                                 /* factor of the number */
} column;

/* ---- accuracy ---- */

static void kernel(page *p, const record_row *row) {
  page_say(p, CODE("%s") "%s", row->kernel, words_sample(row));
}

static void where(page *p, const record_row *row) {
  const record_witness *witness = &row->max_ulp;
  if (isnan(witness->position.part)) return;
  page_say(p, "p = %s, ", record_number_text(witness->position).text);
  if (witness->head != RECORD_NONE) page_say(p, SMALL("head %" PRId64 ", "), witness->head);
  page_say(p, SMALL("i = %" PRId64 ", %s"), witness->index, witness->function);
}

/* Writes the largest error as a share of the bound. For add and rope, this figure does not depend on x. */
static void of_bound(page *p, const record_row *row) {
  const record_check *check = record_find_check(row->checks, row->checks_count, "accuracy");
  if (check && check->skipped) return;
  page_say(p, "%s", words_significant(check ? check->worst : NAN, 3).text);
}

static void misrounded(page *p, const record_row *row) {
  page_say(p, "%s", words_integer(*row->mode ? row->misrounded : RECORD_NONE).text);
}

static void mode(page *p, const record_row *row) {
  const words seen = words_integer(row->elements);
  if (strcmp(row->mode, "exhaustive") == 0)
    page_say(p, "%s " SMALL("(all %s)"), row->mode, seen.text);
  else if (*row->mode)
    page_say(p, "%s " SMALL("(%s of %s)"), row->mode, seen.text, words_integer(row->of).text);
}

static void checks(page *p, const record_row *row) {
  size_t passed = 0, made = 0;
  RECORD_EACH(check, row, checks) {
    made += !check->skipped;
    passed += !check->skipped && check->ok;
  }
  if (row->checks_count) page_say(p, passed == made ? "%zu of %zu" : STRONG("%zu of %zu"), passed, made);
}

/* ---- time ---- */

static void ns_per_element(page *p, const record_row *row) {
  const record_row_timing *timing = &row->timing;
  page_say(p, "%s", words_spread(&timing->ns_per_element, 1, row_is_sliced(row) ? "†" : "").text);
}

static void speed_up(page *p, const record_row *row) {
  const record_ratio *ratio = &row->timing.speed_up;
  if (ratio->there)
    page_say(p, "%s× " SMALL("%s"), words_significant(ratio->estimate, 3).text, words_interval(ratio).text);
}

/* ---- tables ---- */

#define PLAN offsetof(record_row, timing.plan_ns)
static const column all_columns[] = {
    {{"kernel", false}, HEADLINE | FULL | TIMES, .fill = kernel},
    {{"max |error|", true}, HEADLINE | FULL, .offset = offsetof(record_row, max_abs.abs), .digits = 3},
    {{"max ulp", true}, FULL, .offset = offsetof(record_row, max_ulp.ulp), .digits = 4},
    {{"at", false}, FULL, .fill = where},
    {{"mean ulp", true}, FULL, .offset = offsetof(record_row, mean_ulp), .digits = 3},
    {{"of bound", true}, FULL, .fill = of_bound},
    {{"misrounded", true}, HEADLINE | FULL, .fill = misrounded},
    {{"figures are", false}, FULL, .fill = mode},
    {{"checks passed", true}, FULL, .fill = checks},
    {{"ns/element", true}, HEADLINE | FULL | TIMES | TIME, .fill = ns_per_element},
    {{"GB/s", true}, FULL | TIMES | TIME, .offset = offsetof(record_row, timing.bytes_per_second), .scale = 1e-9},
    {{"% of limit", true},
     HEADLINE | FULL | TIMES | TIME,
     .offset = offsetof(record_row, timing.of_limit),
     .scale = 100},
    {{"over naive", true}, HEADLINE | FULL | TIMES | TIME, .fill = speed_up},
    {{"plan, µs", true}, FULL | TIMES | TIME, .offset = PLAN, .scale = 1e-3},
};

enum { MOST_COLUMNS = sizeof all_columns / sizeof *all_columns };

static bool any_plan(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (isfinite(row->timing.plan_ns.median)) return true;
  return false;
}

/* Compares rows. Rows with times are first, the fastest at the top; others keep the order of the record. */
static int compare_rows(const void *a, const void *b) {
  const record_row *const x = *(const record_row *const *)a, *const y = *(const record_row *const *)b;
  const double m = x->timing.ns_per_element.median, n = y->timing.ns_per_element.median;
  if (isnan(m) != isnan(n)) return isnan(m) ? 1 : -1;
  return m > n ? 1 : m < n ? -1 : (x > y) - (x < y);
}

/* The rows of a table that are shown, and the report that tells which kernels were selected. */
typedef struct shown_rows {
  const record_report *report;
  const record_row *const *all;
  size_t count;
} shown_rows;

static bool is_selected(const shown_rows *of, size_t number) {
  const record_kernel *kernel = report_kernel(of->report, of->all[number]->kernel);
  return kernel && kernel->selected;
}

/* Returns the number of the first row with the same bits, which stands for all of them; a selected kernel has a row of
   its own. */
static size_t stands_for(const shown_rows *of, size_t number) {
  for (size_t i = 0; i < number && !is_selected(of, number); i++)
    if (!is_selected(of, i) && row_has_same_bits(of->all[i], of->all[number])) return i;
  return number;
}

static bool is_shown(const record_row *row) {
  return !row->recipe && !*row->refusal;
}

bool rows_share(const record_table *table, const record_report *report) {
  const record_row **rows = memory_take(table->rows_count, sizeof *rows);
  shown_rows shown = {report, rows, 0};
  bool any = false;
  RECORD_EACH(row, table, rows)
    if (is_shown(row)) rows[shown.count++] = row;
  for (size_t i = 0; i < shown.count; i++) any = any || stands_for(&shown, i) != i;
  free(rows);
  return any;
}

/* Writes "the same bits: cr-avx2 0.164, cr-portable 0.458 ns". */
static void say_twins(page *p, const shown_rows *of, size_t number) {
  const record_row *const *rows = of->all;
  const char *separator = " the same bits: ";
  for (size_t i = number + 1; i < of->count; i++) {
    if (stands_for(of, i) != number) continue;
    const double ns = rows[i]->timing.ns_per_element.median;
    page_say(p, SMALL("%s%s%s%s%s"), separator, rows[i]->kernel, isnan(ns) ? "" : " ",
             isnan(ns) ? "" : words_significant(ns, 3).text, isnan(ns) ? "" : "\u00a0ns");
    separator = ", ";
  }
}

static void say_cell(page *p, const column *of, const record_row *row) {
  const void *shown = (const char *)row + of->offset;
  if (of->fill)
    of->fill(p, row);
  else if (of->digits)
    page_say(p, "%s", words_significant(*(const double *)shown, of->digits).text);
  else
    page_say(p, "%s", words_spread(shown, of->scale, "").text);
}

static void write_row(page *p, const column *const *columns, size_t column_count, const shown_rows *of, size_t number) {
  for (size_t i = 0; i < column_count; i++) {
    page_cell_begin(p);
    say_cell(p, columns[i], of->all[number]);
    if (i == 0) say_twins(p, of, number);
    page_cell_end(p);
  }
}

static void write_refused(page *p, const record_table *table) {
  size_t count = 0;
  RECORD_EACH(row, table, rows) count += !row->recipe && *row->refusal;
  if (!count) return;
  page_data(p, "Kernels that do not compute it");
  page_open(p, PAGE_LIST);
  RECORD_EACH(row, table, rows)
    if (!row->recipe && *row->refusal) page_item(p, CODE("%s") ": %s", row->kernel, row->refusal);
  page_close(p, PAGE_LIST);
  page_data_end(p);
}

static bool any_time(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (row->timing.there) return true;
  return false;
}

void write_rows(page *p, table_kind kind, const char *caption, const record_table *table, const record_report *report) {
  const bool timed = any_time(table);
  const column *columns[MOST_COLUMNS];
  page_column heads[MOST_COLUMNS];
  const record_row **rows = memory_take(table->rows_count, sizeof *rows);
  size_t count = 0, row_count = 0;
  for (const column *c = all_columns; c < all_columns + MOST_COLUMNS; c++) {
    if (!(c->in & 1U << kind) || (c->in & TIME && !timed) || (c->offset == PLAN && !any_plan(table))) continue;
    columns[count] = c;
    heads[count++] = c->head;
  }
  RECORD_EACH(row, table, rows)
    if (is_shown(row)) rows[row_count++] = row;
  qsort(rows, row_count, sizeof *rows, compare_rows);
  page_table(p, timed ? caption_of_times(report, caption).text : caption, heads, count);
  const shown_rows shown = {report, rows, row_count};
  for (size_t i = 0; i < row_count; i++)
    if (stands_for(&shown, i) == i) write_row(p, columns, count, &shown, i);
  page_table_end(p);
  free(rows);
  write_refused(p, table);
}

/* ---- descriptions ---- */

/* Writes "add, ", "rope, inverse, "; nothing for a table. */
static void describe_operation(FILE *out, const record_table_shape *of) {
  posenc_op op;
  if (!op_parse(of->op, &op) || op == POSENC_TABLE) return;
  fprintf(out, of->inverse ? "%s, inverse, " : "%s, ", op_name(op));
}

table_description table_describe(const record_table *table) {
  const record_table_shape *of = &table->shape;
  const double limit = table->limit_bytes_per_second.median;
  posenc_layout layout;
  posenc_dtype dtype;
  table_description d = {""};
  FILE *out = allocated(fmemopen(d.text, sizeof d.text, "w"));
  describe_operation(out, of);
  fputs(words_count(of->rows).text, out);
  if (of->heads > 1) fprintf(out, " × %s", words_integer(of->heads).text);
  fprintf(out, " × %s", words_count(of->dim).text);
  if (of->first != 0) fprintf(out, ", first position %s", words_integer(of->first).text);
  if (isfinite(of->base)) fprintf(out, ", base %s", words_plain(of->base).text);
  if (fabs(of->shift) > 0) fprintf(out, ", shift %s", words_plain(of->shift).text);
  if (isfinite(of->scale)) fprintf(out, ", scale %s", words_plain(of->scale).text);
  if (*of->grid) fprintf(out, ", axes %s", of->grid);
  if (of->padding != RECORD_NONE) fprintf(out, ", padding position %s", words_integer(of->padding).text);
  if (layout_parse(of->layout, &layout)) fprintf(out, ", %s", layout_name(layout));
  if (dtype_parse(of->dtype, &dtype)) fprintf(out, ", %s", dtype_name(dtype));
  fprintf(out, ", %s", words_bytes(table->bytes).text);
  if (isfinite(limit))
    fprintf(out, "; %s limit %s GB/s (median beside all kernels)", table->applied ? "scale" : "fill",
            words_fixed(limit / 1e9, 1).text);
  fclose(out);
  return d;
}
