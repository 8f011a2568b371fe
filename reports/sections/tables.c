/* SPDX-License-Identifier: MIT */
/* Tables with a row per kernel of one shape, and what they are of. */
#include "common/field.h"
#include "common/shapes.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

/* Kinds of tables that have a column, as bits; TIME where it needs times. */
enum { HEADLINE = 1 << TABLE_HEADLINE, FULL = 1 << TABLE_FULL, TIMES = 1 << TABLE_TIMES, TIME = 1 << TABLE_KINDS };

typedef struct column {
  page_column head;
  unsigned in;
  void (*fill)(page *p, const json_t *row); /* its cells */
} column;

/* ---- accuracy ---- */

static void kernel(page *p, const json_t *row) {
  page_say(p, CODE("%s"), field_string(row, "kernel"));
}

static void isa(page *p, const json_t *row) {
  page_say(p, "%s", field_string(row, "isa"));
}

static void max_ulp(page *p, const json_t *row) {
  page_say(p, "%s", words_significant(field_number(json_object_get(row, "max_ulp"), "ulp"), 4).text);
}

static void where(page *p, const json_t *row) {
  const json_t *witness = json_object_get(row, "max_ulp"), *head = json_object_get(witness, "head");
  if (!json_is_integer(json_object_get(witness, "position"))) return;
  page_say(p, "p = %" JSON_INTEGER_FORMAT ", ", json_integer_value(json_object_get(witness, "position")));
  if (head) page_say(p, SMALL("head %" JSON_INTEGER_FORMAT ", "), json_integer_value(head));
  page_say(p, SMALL("i = %" JSON_INTEGER_FORMAT ", %s"), json_integer_value(json_object_get(witness, "index")),
           field_string(witness, "function"));
}

static void mean_ulp(page *p, const json_t *row) {
  page_say(p, "%s", words_significant(field_number(row, "mean_ulp"), 3).text);
}

static void max_abs(page *p, const json_t *row) {
  page_say(p, "%s", words_significant(field_number(json_object_get(row, "max_abs"), "abs"), 3).text);
}

/* The largest share of the bound that was used: in add and rope the figure that x does not move. */
static void of_bound(page *p, const json_t *row) {
  const json_t *check = field_find(json_object_get(row, "checks"), "property", "accuracy");
  if (json_is_true(json_object_get(check, "skipped"))) return;
  page_say(p, "%s", words_significant(field_number(check, "worst"), 3).text);
}

static void misrounded(page *p, const json_t *row) {
  page_say(p, "%s", words_count(field_number(row, "misrounded")).text);
}

static void mode(page *p, const json_t *row) {
  const char *name = field_string(row, "mode");
  const words seen = words_count(field_number(row, "elements"));
  if (strcmp(name, "exhaustive") == 0)
    page_say(p, "%s " SMALL("(all %s)"), name, seen.text);
  else if (*name)
    page_say(p, "%s " SMALL("(%s of %s)"), name, seen.text, words_count(field_number(row, "of")).text);
}

static void checks(page *p, const json_t *row) {
  const json_t *list = json_object_get(row, "checks");
  size_t passed = 0, made = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    if (json_is_true(json_object_get(json_array_get(list, i), "skipped"))) continue;
    made++;
    passed += json_is_true(json_object_get(json_array_get(list, i), "ok"));
  }
  if (list) page_say(p, passed == made ? "%zu of %zu" : STRONG("%zu of %zu"), passed, made);
}

/* ---- time ---- */

static const json_t *spread_of(const json_t *row, const char *counter) {
  return json_object_get(json_object_get(row, "timing"), counter);
}

static void ns_per_element(page *p, const json_t *row) {
  const json_t *timing = json_object_get(row, "timing");
  const bool sliced = field_number(timing, "rows_timed") < field_number(timing, "rows");
  page_say(p, "%s", words_spread(spread_of(row, "ns_per_element"), 1, sliced ? "†" : "").text);
}

static void gigabytes(page *p, const json_t *row) {
  page_say(p, "%s", words_spread(spread_of(row, "bytes_per_second"), 1e-9, "").text);
}

static void of_limit(page *p, const json_t *row) {
  page_say(p, "%s", words_spread(spread_of(row, "of_limit"), 100, "").text);
}

static void speed_up(page *p, const json_t *row) {
  const json_t *ratio = spread_of(row, "speed_up");
  if (json_is_object(ratio))
    page_say(p, "%s× " SMALL("%s"), words_significant(field_number(ratio, "estimate"), 3).text,
             words_interval(ratio).text);
}

static void plan(page *p, const json_t *row) {
  page_say(p, "%s", words_spread(spread_of(row, "plan_ns"), 1e-3, "").text);
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

static bool any_plan(const json_t *rows) {
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (isfinite(field_number(spread_of(json_array_get(rows, i), "plan_ns"), "median"))) return true;
  return false;
}

static void write_row(page *p, const column *const *columns, size_t count, const json_t *row) {
  const char *refusal = json_string_value(json_object_get(row, "refusal"));
  for (size_t i = 0; i < count; i++) {
    if (i == 1 && refusal) {
      page_rest(p, SMALL("%s"), refusal);
      return;
    }
    page_cell_begin(p);
    columns[i]->fill(p, row);
    page_cell_end(p);
  }
}

void write_rows(page *p, table_kind kind, const char *caption, const json_t *rows, bool timed) {
  const column *columns[MOST_COLUMNS];
  page_column heads[MOST_COLUMNS];
  size_t count = 0;
  for (const column *c = all_columns; c < all_columns + MOST_COLUMNS; c++) {
    if (!(c->in & 1U << kind) || (c->in & TIME && !timed) || (c->fill == plan && !any_plan(rows))) continue;
    columns[count] = c;
    heads[count++] = c->head;
  }
  page_table(p, caption, heads, count);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (!json_is_true(json_object_get(row, "recipe"))) write_row(p, columns, count, row);
  }
  page_table_end(p);
}

/* ---- what they are of ---- */

/* "add, ", "rope, inverse, "; nothing of a table. */
static void describe_operation(FILE *out, const json_t *described) {
  posenc_op op;
  if (!op_parse(field_string(described, "op"), &op) || op == POSENC_TABLE) return;
  fprintf(out, json_is_true(json_object_get(described, "inverse")) ? "%s, inverse, " : "%s, ", op_name(op));
}

table_description table_describe(const json_t *table) {
  const json_t *described = json_object_get(table, "shape");
  const double first = field_number_or(described, "first", 0), base = field_number(described, "base"),
               shift = field_number_or(described, "shift", 0), padding = field_number(described, "padding"),
               heads = field_number(described, "heads"),
               limit = field_number(json_object_get(table, "limit_bytes_per_second"), "median");
  const char *work = json_is_true(json_object_get(table, "applied")) ? "scale" : "fill";
  posenc_layout layout;
  posenc_dtype dtype;
  table_description d = {""};
  FILE *out = fmemopen(d.text, sizeof d.text, "w");
  if (!out) return d;
  describe_operation(out, described);
  fputs(words_count(field_number(described, "rows")).text, out);
  if (heads > 1) fprintf(out, " × %s", words_count(heads).text);
  fprintf(out, " × %s", words_count(field_number(described, "dim")).text);
  if (first != 0) fprintf(out, ", first position %s", words_count(first).text);
  if (isfinite(base)) fprintf(out, ", base %s", words_plain(base).text);
  if (shift != 0) fprintf(out, ", shift %s", words_plain(shift).text);
  if (isfinite(padding)) fprintf(out, ", padding position %s", words_count(padding).text);
  if (layout_parse(field_string(described, "layout"), &layout)) fprintf(out, ", %s", layout_name(layout));
  if (dtype_parse(field_string(described, "dtype"), &dtype)) fprintf(out, ", %s", dtype_name(dtype));
  fprintf(out, ", %s", words_bytes(field_number(table, "bytes")).text);
  if (isfinite(limit))
    fprintf(out, "; %s limit %s GB/s (median beside all kernels)", work, words_fixed(limit / 1e9, 1).text);
  fclose(out);
  return d;
}
