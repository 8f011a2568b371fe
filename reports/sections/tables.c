/* SPDX-License-Identifier: MIT */
/* Tables with a row per kernel of one shape, and what they are of. */
#include "common/shapes.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Kinds of tables that have a column, as bits; TIME where it needs times. */
enum { HEADLINE = 1 << TABLE_HEADLINE, FULL = 1 << TABLE_FULL, TIMES = 1 << TABLE_TIMES, TIME = 1 << TABLE_KINDS };

typedef struct column {
  page_column head;
  unsigned in;
  void (*fill)(page *p, const record_row *row); /* its cells */
} column;

/* ---- accuracy ---- */

static void kernel(page *p, const record_row *row) {
  page_say(p, CODE("%s"), row->kernel);
}

static void isa(page *p, const record_row *row) {
  page_say(p, "%s", row->isa);
}

static void max_ulp(page *p, const record_row *row) {
  page_say(p, "%s", words_significant(row->max_ulp.ulp, 4).text);
}

static void where(page *p, const record_row *row) {
  const record_witness *witness = &row->max_ulp;
  if (witness->position == RECORD_NONE) return;
  page_say(p, "p = %" PRId64 ", ", witness->position);
  if (witness->head != RECORD_NONE) page_say(p, SMALL("head %" PRId64 ", "), witness->head);
  page_say(p, SMALL("i = %" PRId64 ", %s"), witness->index, witness->function);
}

static void mean_ulp(page *p, const record_row *row) {
  page_say(p, "%s", words_significant(row->mean_ulp, 3).text);
}

static void max_abs(page *p, const record_row *row) {
  page_say(p, "%s", words_significant(row->max_abs.abs, 3).text);
}

/* The largest share of the bound that was used: in add and rope the figure that x does not move. */
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
  const bool sliced = timing->rows_timed < timing->rows;
  page_say(p, "%s", words_spread(&timing->ns_per_element, 1, sliced ? "†" : "").text);
}

static void gigabytes(page *p, const record_row *row) {
  page_say(p, "%s", words_spread(&row->timing.bytes_per_second, 1e-9, "").text);
}

static void of_limit(page *p, const record_row *row) {
  page_say(p, "%s", words_spread(&row->timing.of_limit, 100, "").text);
}

static void speed_up(page *p, const record_row *row) {
  const record_ratio *ratio = &row->timing.speed_up;
  if (ratio->json)
    page_say(p, "%s× " SMALL("%s"), words_significant(ratio->estimate, 3).text, words_interval(ratio).text);
}

static void plan(page *p, const record_row *row) {
  page_say(p, "%s", words_spread(&row->timing.plan_ns, 1e-3, "").text);
}

/* ---- tables ---- */

static const column all_columns[] = {
    {{"kernel", false}, HEADLINE | FULL | TIMES, kernel},
    {{"ISA", false}, HEADLINE, isa},
    {{"max ulp", true}, HEADLINE | FULL, max_ulp},
    {{"at", false}, HEADLINE | FULL, where},
    {{"mean ulp", true}, HEADLINE | FULL, mean_ulp},
    {{"max |error|", true}, HEADLINE | FULL, max_abs},
    {{"of bound", true}, FULL, of_bound},
    {{"misrounded", true}, FULL, misrounded},
    {{"figures are", false}, HEADLINE | FULL, mode},
    {{"checks passed", true}, FULL, checks},
    {{"ns/element", true}, HEADLINE | FULL | TIMES | TIME, ns_per_element},
    {{"GB/s", true}, HEADLINE | FULL | TIMES | TIME, gigabytes},
    {{"% of limit", true}, HEADLINE | FULL | TIMES | TIME, of_limit},
    {{"over naive", true}, HEADLINE | FULL | TIMES | TIME, speed_up},
    {{"plan, µs", true}, FULL | TIMES | TIME, plan},
};

enum { MOST_COLUMNS = sizeof all_columns / sizeof *all_columns };

static bool any_plan(const record_table *table) {
  RECORD_EACH(row, table, rows)
    if (isfinite(row->timing.plan_ns.median)) return true;
  return false;
}

static void write_row(page *p, const column *const *columns, size_t count, const record_row *row) {
  for (size_t i = 0; i < count; i++) {
    if (i == 1 && *row->refusal) {
      page_rest(p, SMALL("%s"), row->refusal);
      return;
    }
    page_cell_begin(p);
    columns[i]->fill(p, row);
    page_cell_end(p);
  }
}

void write_rows(page *p, table_kind kind, const char *caption, const record_table *table, bool timed) {
  const column *columns[MOST_COLUMNS];
  page_column heads[MOST_COLUMNS];
  size_t count = 0;
  for (const column *c = all_columns; c < all_columns + MOST_COLUMNS; c++) {
    if (!(c->in & 1U << kind) || (c->in & TIME && !timed) || (c->fill == plan && !any_plan(table))) continue;
    columns[count] = c;
    heads[count++] = c->head;
  }
  page_table(p, caption, heads, count);
  RECORD_EACH(row, table, rows)
    if (!row->recipe) write_row(p, columns, count, row);
  page_table_end(p);
}

/* ---- what they are of ---- */

/* "add, ", "rope, inverse, "; nothing of a table. */
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
  FILE *out = fmemopen(d.text, sizeof d.text, "w");
  if (!out) return d;
  describe_operation(out, of);
  fputs(words_count(of->rows).text, out);
  if (of->heads > 1) fprintf(out, " × %s", words_integer(of->heads).text);
  fprintf(out, " × %s", words_count(of->dim).text);
  if (of->first != 0) fprintf(out, ", first position %s", words_integer(of->first).text);
  if (isfinite(of->base)) fprintf(out, ", base %s", words_plain(of->base).text);
  if (fabs(of->shift) > 0) fprintf(out, ", shift %s", words_plain(of->shift).text);
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
