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

/* The kinds of tables in which a column is shown, as bits; IF_TIMED: only where something was timed. */
enum { HEADLINE = 1 << TABLE_HEADLINE, FULL = 1 << TABLE_FULL, TIMES = 1 << TABLE_TIMES, IF_TIMED = 1 << TABLE_KINDS };

/* The objects that a column reads: a row of a record, its table, and a third: on a page the rows of the kernel's table,
   so that twins can be told (say_twins), in times.csv the name of the state of memory. */
enum { OF_ROW, OF_TABLE, OF_PLACE };

#define IN_ROW(field) PAGE_AT(OF_ROW, record_row, field)
#define IN_TABLE(field) PAGE_AT(OF_TABLE, record_table, field)

typedef struct column {
  page_column head;
  unsigned in;
} column;

/* ---- rows of a page ---- */

/* The rows of a table that are shown, and the report that tells which kernels were selected. */
typedef struct shown_rows {
  const record_report *report;
  const record_row *const *all;
  size_t count, number; /* the rows, and the one that is written */
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

/* Writes "the same bits: cr-avx2 0.164, cr-portable 0.458 ns". */
static void say_twins(page *p, const shown_rows *of) {
  const record_row *const *rows = of->all;
  const char *separator = " the same bits: ";
  for (size_t i = of->number + 1; i < of->count; i++) {
    if (stands_for(of, i) != of->number) continue;
    const double ns = rows[i]->timing.ns_per_element.median;
    page_say(p, SMALL("%s%s%s%s%s"), separator, rows[i]->kernel, isnan(ns) ? "" : " ",
             isnan(ns) ? "" : words_significant(ns, 3).text, isnan(ns) ? "" : "\u00a0ns");
    separator = ", ";
  }
}

/* ---- accuracy ---- */

static void kernel(page *p, const void *value) {
  const record_row *row = p->of[OF_ROW];
  page_say(p, CODE("%s") "%s", *(const char *const *)value, words_sample(row));
  say_twins(p, p->of[OF_PLACE]);
}

static void where(page *p, const void *value) {
  const record_row *row = value;
  const record_witness *witness = &row->max_ulp;
  if (isnan(witness->position.part)) return;
  page_say(p, "p = %s, ", record_number_text(witness->position).text);
  if (witness->head != RECORD_NONE) page_say(p, SMALL("head %" PRId64 ", "), witness->head);
  page_say(p, SMALL("i = %" PRId64 ", %s"), witness->index, witness->function);
}

/* Writes the largest error as a share of the bound. For add and rope, this figure does not depend on x. */
static void of_bound(page *p, const void *value) {
  const record_row *row = value;
  const record_check *check = record_find_check(row->checks, row->checks_count, "accuracy");
  if (check && check->skipped) return;
  page_say(p, "%s", words_significant(check ? check->worst : NAN, 3).text);
}

static void misrounded(page *p, const void *value) {
  const record_row *row = value;
  page_say(p, "%s", words_integer(*row->mode ? row->misrounded : RECORD_NONE).text);
}

static void mode(page *p, const void *value) {
  const record_row *row = value;
  const words seen = words_integer(row->elements);
  if (strcmp(row->mode, "exhaustive") == 0)
    page_say(p, "%s " SMALL("(all %s)"), row->mode, seen.text);
  else if (*row->mode)
    page_say(p, "%s " SMALL("(%s of %s)"), row->mode, seen.text, words_integer(row->of).text);
}

static void checks(page *p, const void *value) {
  const record_row *row = value;
  size_t passed = 0, made = 0;
  RECORD_EACH(check, row, checks) {
    made += !check->skipped;
    passed += !check->skipped && check->ok;
  }
  if (row->checks_count) page_say(p, passed == made ? "%zu of %zu" : STRONG("%zu of %zu"), passed, made);
}

/* ---- time ---- */

static void ns_per_element(page *p, const void *value) {
  page_say(p, "%s", words_spread(value, 1, row_is_sliced(p->of[OF_ROW]) ? "†" : "").text);
}

static void speed_up(page *p, const void *value) {
  const record_ratio *ratio = value;
  if (ratio->there)
    page_say(p, "%s× " SMALL("%s"), words_significant(ratio->estimate, 3).text, words_interval(ratio).text);
}

/* ---- tables ---- */

/* Columns of times.csv have names; `in` tells the tables of pages. */
static const column all_columns[] = {
    {{NULL, false, "state", PAGE_TEXT, .in = OF_PLACE}, 0},
    {{NULL, false, "shape", PAGE_TEXT, IN_TABLE(shape.name)}, 0},
    {{NULL, true, "rows", PAGE_REAL, IN_TABLE(shape.rows)}, 0},
    {{NULL, true, "dim", PAGE_REAL, IN_TABLE(shape.dim)}, 0},
    {{NULL, true, "bytes", PAGE_REAL, IN_TABLE(bytes)}, 0},
    {{"kernel", false, "kernel", PAGE_TEXT, IN_ROW(kernel), .say = kernel}, HEADLINE | FULL | TIMES},
    {{"max |error|", true, NULL, PAGE_REAL, IN_ROW(max_abs.abs), .digits = 3}, HEADLINE | FULL},
    {{"max ulp", true, NULL, PAGE_REAL, IN_ROW(max_ulp.ulp), .digits = 4}, FULL},
    {{"at", false, .say = where}, FULL},
    {{"mean ulp", true, NULL, PAGE_REAL, IN_ROW(mean_ulp), .digits = 3}, FULL},
    {{"of bound", true, .say = of_bound}, FULL},
    {{"misrounded", true, .say = misrounded}, HEADLINE | FULL},
    {{"figures are", false, .say = mode}, FULL},
    {{"checks passed", true, .say = checks}, FULL},
    {{NULL, true, "repetitions", PAGE_COUNT, IN_ROW(timing.repetitions)}, 0},
#define COUNTER(...)
#define SHOWN(name, unit, meaning, title, tables, ...) BESIDE(name, PAGE_SPREAD, title, tables, __VA_ARGS__)
#define BESIDE(name, kind, title, tables, ...)                                                                         \
  {{title, true, kind ? #name : NULL, kind, IN_ROW(timing.name), __VA_ARGS__}, (tables) | IF_TIMED},
#include "records/counters.def"
};

enum { MOST_COLUMNS = sizeof all_columns / sizeof *all_columns };

/* Whether the table has the column: one of spreads only if a row has such a number. */
static bool has_column(const record_table *table, table_kind kind, const column *c) {
  if (!(c->in & 1U << kind)) return false;
  if (c->head.kind != PAGE_SPREAD) return !(c->in & IF_TIMED) || table_is_timed(table);
  RECORD_EACH(row, table, rows) {
    const record_spread *of = (const record_spread *)((const char *)row + c->head.offset);
    if (isfinite(of->median)) return true;
  }
  return false;
}

/* Compares rows. Rows with times are first, the fastest at the top; others keep the order of the record. */
static int compare_rows(const void *a, const void *b) {
  const record_row *const x = *(const record_row *const *)a, *const y = *(const record_row *const *)b;
  const double m = x->timing.ns_per_element.median, n = y->timing.ns_per_element.median;
  if (isnan(m) != isnan(n)) return isnan(m) ? 1 : -1;
  const int by_time = (m > n) - (m < n);
  return by_time ? by_time : (x > y) - (x < y);
}

static bool is_shown(const record_row *row) {
  return !row->recipe && !*row->refusal;
}

bool rows_share(const record_table *table, const record_report *report) {
  const record_row **rows = memory_take(table->rows_count, sizeof *rows);
  shown_rows shown = {report, rows, 0, 0};
  bool any = false;
  RECORD_EACH(row, table, rows)
    if (is_shown(row)) rows[shown.count++] = row;
  for (size_t i = 0; i < shown.count; i++) any = any || stands_for(&shown, i) != i;
  free(rows);
  return any;
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

void write_rows(page *p, table_kind kind, const char *caption, const record_table *table, const record_report *report) {
  const record_row **rows = memory_take(table->rows_count, sizeof *rows);
  shown_rows shown = {report, rows, 0, 0};
  for (const column *c = all_columns; c < all_columns + MOST_COLUMNS; c++)
    if (has_column(table, kind, c)) page_columns(p, &c->head, 1);
  RECORD_EACH(row, table, rows)
    if (is_shown(row)) rows[shown.count++] = row;
  qsort(rows, shown.count, sizeof *rows, compare_rows);
  page_sheet_begin(p, table_is_timed(table) ? caption_of_times(report, caption).text : caption, false);
  for (; shown.number < shown.count; shown.number++)
    if (stands_for(&shown, shown.number) == shown.number)
      page_row(p, PAGE_ROW([OF_ROW] = rows[shown.number], [OF_TABLE] = table, [OF_PLACE] = &shown));
  page_sheet_end(p);
  free(rows);
  write_refused(p, table);
}

/* ---- data ---- */

static void write_times_of(page *p, const char *state, const record_table *tables, size_t count) {
  for (const record_table *table = tables; table < tables + count; table++)
    RECORD_EACH(row, table, rows)
      if (row->timing.there) page_row(p, PAGE_ROW([OF_ROW] = row, [OF_TABLE] = table, [OF_PLACE] = &state));
}

void data_times(page *p, const record_report *report) {
  for (size_t i = 0; i < MOST_COLUMNS; i++) page_columns(p, &all_columns[i].head, 1);
  page_sheet_begin(p, "", false);
  write_times_of(p, "hot", report->shapes, report->shapes_count);
#define STATE(name) write_times_of(p, #name, report->name, report->name##_count);
  REPORT_STATES(STATE)
#undef STATE
  page_sheet_end(p);
}

/* The element with the largest error in ulp, the largest absolute error, or the largest share of the bound, of a row
   and its table. */
enum { OF_WORST = OF_PLACE, OF_LARGEST };

static void position(page *p, const void *value) {
  page_say(p, "%s", record_number_text(*(const record_number *)value).text);
}

static void replay(page *p, const void *value) {
  const record_witness *worst = value;
  const record_row *row = p->of[OF_ROW];
  page_say(p, "%s", *worst->replay ? worst->replay : row->replay);
}

#define IN_WORST(field) PAGE_AT(OF_WORST, record_witness, field)
static const page_column worst_columns[] = {
    {NULL, false, "shape", PAGE_TEXT, IN_TABLE(shape.name)},
    {NULL, false, "kernel", PAGE_TEXT, IN_ROW(kernel)},
    {NULL, false, "mode", PAGE_TEXT, IN_ROW(mode)},
    {NULL, true, "elements", PAGE_COUNT, IN_ROW(elements)},
    {NULL, true, "of", PAGE_COUNT, IN_ROW(of)},
    {NULL, true, "misrounded", PAGE_COUNT, IN_ROW(misrounded)},
    {NULL, true, "mean_ulp", PAGE_REAL, IN_ROW(mean_ulp)},
    {NULL, false, "worst_in", PAGE_TEXT, .in = OF_LARGEST},
    {NULL, true, "ulp", PAGE_REAL, IN_WORST(ulp)},
    {NULL, true, "abs", PAGE_REAL, IN_WORST(abs)},
    {NULL, true, "position", PAGE_FILLED, IN_WORST(position), .say = position},
    {NULL, true, "head", PAGE_COUNT, IN_WORST(head)},
    {NULL, true, "index", PAGE_COUNT, IN_WORST(index)},
    {NULL, false, "function", PAGE_TEXT, IN_WORST(function)},
    {NULL, false, "got", PAGE_TEXT, IN_WORST(got)},
    {NULL, false, "exact", PAGE_TEXT, IN_WORST(exact)},
    {NULL, false, "replay", .in = OF_WORST, .say = replay},
};

static void write_worst(page *p, const record_table *table, const record_row *row) {
  const struct {
    const char *in;
    const record_witness *worst;
  } all[] = {{"ulp", &row->max_ulp}, {"abs", &row->max_abs}, {"bound", &row->worst}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++)
    if (all[i].worst->there && !isnan(all[i].worst->position.part))
      page_row(p, PAGE_ROW([OF_ROW] = row, [OF_TABLE] = table, [OF_WORST] = all[i].worst, [OF_LARGEST] = &all[i].in));
}

void data_accuracy(page *p, const record_report *report) {
  PAGE_SHEET(p, "", worst_columns);
  RECORD_EACH(table, report, shapes)
    RECORD_EACH(row, table, rows) write_worst(p, table, row);
  RECORD_EACH(table, report, cases)
    RECORD_EACH(row, table, rows) write_worst(p, table, row);
  page_sheet_end(p);
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
