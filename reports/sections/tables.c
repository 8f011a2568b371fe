/* SPDX-License-Identifier: MIT */
#include "reports/sections/tables.h"

#include "common/field.h"
#include "common/shapes.h"
#include "reports/page/words.h"

#include <inttypes.h>

typedef struct column {
  page_column head;
  enum { ACCURACY, TIME } of;
  void (*fill)(page *p, const json_t *row);
} column;

/* ---- accuracy ---- */

static void kernel(page *p, const json_t *row) {
  p->format->run(p, PAGE_CODE, field_string(row, "kernel"));
}

static void isa(page *p, const json_t *row) {
  p->format->run(p, PAGE_TEXT, field_string(row, "isa"));
}

static void max_ulp(page *p, const json_t *row) {
  page_print(p, PAGE_TEXT, "%s", words_significant(field_number(json_object_get(row, "max_ulp"), "ulp"), 4).text);
}

static void where(page *p, const json_t *row) {
  const json_t *witness = json_object_get(row, "max_ulp");
  if (!json_is_integer(json_object_get(witness, "position"))) return;
  page_print(p, PAGE_TEXT, "p = %" JSON_INTEGER_FORMAT ", ", json_integer_value(json_object_get(witness, "position")));
  if (json_object_get(witness, "head"))
    page_print(p, PAGE_SMALL, "head %" JSON_INTEGER_FORMAT ", ", json_integer_value(json_object_get(witness, "head")));
  page_print(p, PAGE_SMALL, "i = %" JSON_INTEGER_FORMAT ", %s", json_integer_value(json_object_get(witness, "index")),
             field_string(witness, "function"));
}

static void mean_ulp(page *p, const json_t *row) {
  page_print(p, PAGE_TEXT, "%s", words_significant(field_number(row, "mean_ulp"), 3).text);
}

static void max_abs(page *p, const json_t *row) {
  page_print(p, PAGE_TEXT, "%s", words_significant(field_number(json_object_get(row, "max_abs"), "abs"), 3).text);
}

/* Of what the bound allows, the largest share that was used: in add and rope the figure that x does not move. */
static void of_bound(page *p, const json_t *row) {
  const json_t *check = field_find(json_object_get(row, "checks"), "property", "accuracy");
  if (json_is_true(json_object_get(check, "skipped"))) return;
  page_print(p, PAGE_TEXT, "%s", words_significant(field_number(check, "worst"), 3).text);
}

static void misrounded(page *p, const json_t *row) {
  page_print(p, PAGE_TEXT, "%s", words_count(field_number(row, "misrounded")).text);
}

static void mode(page *p, const json_t *row) {
  const char *name = field_string(row, "mode");
  if (!*name) return;
  p->format->run(p, PAGE_TEXT, name);
  p->format->run(p, PAGE_TEXT, " ");
  const words seen = words_count(field_number(row, "elements"));
  if (strcmp(name, "exhaustive") == 0)
    page_print(p, PAGE_SMALL, "(all %s)", seen.text);
  else
    page_print(p, PAGE_SMALL, "(%s of %s)", seen.text, words_count(field_number(row, "of")).text);
}

static void checks(page *p, const json_t *row) {
  const json_t *list = json_object_get(row, "checks");
  size_t passed = 0, made = 0;
  for (size_t i = 0; i < json_array_size(list); i++) {
    if (json_is_true(json_object_get(json_array_get(list, i), "skipped"))) continue;
    made++;
    passed += json_is_true(json_object_get(json_array_get(list, i), "ok"));
  }
  if (!list) return;
  page_print(p, passed == made ? PAGE_TEXT : PAGE_STRONG, "%zu of %zu", passed, made);
}

/* ---- time ---- */

static double timing_number(const json_t *row, const char *counter, const char *which) {
  return field_number(json_object_get(json_object_get(row, "timing"), counter), which);
}

/* "0.0931 (0.0925–0.0987)" */
static void spread(page *p, const json_t *row, const char *counter, double scale, const char *mark) {
  if (!isfinite(timing_number(row, counter, "median"))) return;
  page_print(p, PAGE_TEXT, "%s%s%s ", words_significant(timing_number(row, counter, "median") * scale, 3).text, mark,
             words_mark(json_object_get(json_object_get(row, "timing"), counter)));
  page_print(p, PAGE_SMALL, "(%s–%s)", words_significant(timing_number(row, counter, "min") * scale, 3).text,
             words_significant(timing_number(row, counter, "max") * scale, 3).text);
}

static void ns_per_element(page *p, const json_t *row) {
  const json_t *timing = json_object_get(row, "timing");
  const bool sliced = field_number(timing, "rows_timed") < field_number(timing, "rows");
  spread(p, row, "ns_per_element", 1.0, sliced ? "†" : "");
}

static void gigabytes(page *p, const json_t *row) {
  spread(p, row, "bytes_per_second", 1e-9, "");
}

static void of_limit(page *p, const json_t *row) {
  spread(p, row, "of_limit", 100.0, "");
}

static void speed_up(page *p, const json_t *row) {
  const json_t *ratio = json_object_get(json_object_get(row, "timing"), "speed_up");
  if (!json_is_object(ratio)) return;
  page_print(p, PAGE_TEXT, "%s× ", words_significant(field_number(ratio, "estimate"), 3).text);
  page_print(p, PAGE_SMALL, "%s", words_interval(ratio).text);
}

static void plan(page *p, const json_t *row) {
  spread(p, row, "plan_ns", 1e-3, "");
}

/* ---- tables ---- */

#define NUMBER(title)                                                                                                  \
  { title, true }
#define WORDS(title)                                                                                                   \
  { title, false }

static const column headline[] = {
    {WORDS("kernel"), ACCURACY, kernel},      {WORDS("ISA"), ACCURACY, isa},
    {NUMBER("max ulp"), ACCURACY, max_ulp},   {WORDS("at"), ACCURACY, where},
    {NUMBER("mean ulp"), ACCURACY, mean_ulp}, {NUMBER("max |error|"), ACCURACY, max_abs},
    {WORDS("figures are"), ACCURACY, mode},   {NUMBER("ns/element"), TIME, ns_per_element},
    {NUMBER("GB/s"), TIME, gigabytes},        {NUMBER("% of limit"), TIME, of_limit},
    {NUMBER("over naive"), TIME, speed_up},
};

static const column full[] = {
    {WORDS("kernel"), ACCURACY, kernel},
    {NUMBER("max ulp"), ACCURACY, max_ulp},
    {WORDS("at"), ACCURACY, where},
    {NUMBER("mean ulp"), ACCURACY, mean_ulp},
    {NUMBER("max |error|"), ACCURACY, max_abs},
    {NUMBER("of bound"), ACCURACY, of_bound},
    {NUMBER("misrounded"), ACCURACY, misrounded},
    {WORDS("figures are"), ACCURACY, mode},
    {NUMBER("checks passed"), ACCURACY, checks},
    {NUMBER("ns/element"), TIME, ns_per_element},
    {NUMBER("GB/s"), TIME, gigabytes},
    {NUMBER("% of limit"), TIME, of_limit},
    {NUMBER("over naive"), TIME, speed_up},
    {NUMBER("plan, µs"), TIME, plan},
};

static const column times[] = {
    {WORDS("kernel"), ACCURACY, kernel},    {NUMBER("ns/element"), TIME, ns_per_element},
    {NUMBER("GB/s"), TIME, gigabytes},      {NUMBER("% of limit"), TIME, of_limit},
    {NUMBER("over naive"), TIME, speed_up}, {NUMBER("plan, µs"), TIME, plan},
};

enum { MOST_COLUMNS = sizeof full / sizeof *full };

static bool any_plan(const json_t *rows) {
  for (size_t i = 0; i < json_array_size(rows); i++)
    if (isfinite(timing_number(json_array_get(rows, i), "plan_ns", "median"))) return true;
  return false;
}

static void write_row(page *p, const column *const *columns, size_t count, const json_t *row) {
  const char *refusal = json_string_value(json_object_get(row, "refusal"));
  for (size_t i = 0; i < count; i++) {
    if (i == 1 && refusal) {
      page_rest(p, PAGE_SMALL, refusal);
      return;
    }
    page_cell(p);
    columns[i]->fill(p, row);
    page_cell_end(p);
  }
}

void table_write(page *p, table_kind kind, const char *caption, const json_t *rows, bool timed) {
  static const struct {
    const column *columns;
    size_t count;
  } kinds[] = {
      [TABLE_HEADLINE] = {headline, sizeof headline / sizeof *headline},
      [TABLE_FULL] = {full, sizeof full / sizeof *full},
      [TABLE_TIMES] = {times, sizeof times / sizeof *times},
  };
  const column *columns[MOST_COLUMNS];
  page_column heads[MOST_COLUMNS];
  size_t count = 0;
  for (size_t i = 0; i < kinds[kind].count; i++) {
    const column *c = &kinds[kind].columns[i];
    if (c->of == TIME && !timed) continue;
    if (c->fill == plan && !any_plan(rows)) continue;
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
  const double first = field_number(described, "first"), base = field_number(described, "base"),
               shift = field_number(described, "shift");
  const double padding = field_number(described, "padding"), heads = field_number(described, "heads"),
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
  if (first < 0 || first > 0) fprintf(out, ", first position %s", words_count(first).text);
  if (isfinite(base)) fprintf(out, ", base %s", words_plain(base).text);
  if (shift < 0 || shift > 0) fprintf(out, ", shift %s", words_plain(shift).text);
  if (isfinite(padding)) fprintf(out, ", padding position %s", words_count(padding).text);
  if (layout_parse(field_string(described, "layout"), &layout)) fprintf(out, ", %s", layout_name(layout));
  if (dtype_parse(field_string(described, "dtype"), &dtype)) fprintf(out, ", %s", dtype_name(dtype));
  fprintf(out, ", %s", words_bytes(field_number(table, "bytes")).text);
  if (isfinite(limit))
    fprintf(out, "; %s limit %s GB/s (median beside all kernels)", work, words_fixed(limit / 1e9, 1).text);
  fclose(out);
  return d;
}
