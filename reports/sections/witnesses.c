/* SPDX-License-Identifier: MIT */
#include "reports/sections/witnesses.h"

#include "common/field.h"
#include "reports/page/words.h"

/* What a kernel is worst at, and the witness of that in its row. */
static const struct {
  const char *key, *title;
} worsts[] = {{"max_ulp", "ulp"}, {"max_abs", "|error|"}, {"worst", "bound"}};

enum { WORSTS = sizeof worsts / sizeof *worsts };

static void cell_place(page *p, const json_t *witness) {
  page_cell(p);
  page_print(p, PAGE_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(witness, "position")));
  page_cell_end(p);
  page_cell(p);
  if (json_object_get(witness, "head"))
    page_print(p, PAGE_SMALL, "head %" JSON_INTEGER_FORMAT ", ", json_integer_value(json_object_get(witness, "head")));
  page_print(p, PAGE_TEXT, "%" JSON_INTEGER_FORMAT ", %s", json_integer_value(json_object_get(witness, "index")),
             field_string(witness, "function"));
  page_cell_end(p);
}

static bool same_place(const json_t *a, const json_t *b) {
  static const char *const keys[] = {"position", "index", "function", "head"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
    if ((x || y) && !json_equal(x, y)) return false;
  }
  return true;
}

/* "ulp, |error|": all that this witness is the worst of; nothing if an earlier one was it. */
static bool titles_of(const json_t *row, size_t number, char *text, size_t size) {
  const json_t *witness = json_object_get(row, worsts[number].key);
  int used = 0;
  for (size_t i = 0; i < WORSTS; i++) {
    const json_t *other = json_object_get(row, worsts[i].key);
    if (!other || !same_place(witness, other)) continue;
    if (i < number) return false;
    used += snprintf(text + used, size - (size_t)used, "%s%s", used ? ", " : "", worsts[i].title);
  }
  return true;
}

static void write_row(page *p, const json_t *row) {
  for (size_t i = 0; i < WORSTS; i++) {
    const json_t *witness = json_object_get(row, worsts[i].key);
    char titles[40];
    if (!json_is_integer(json_object_get(witness, "position")) || !titles_of(row, i, titles, sizeof titles)) continue;
    page_cell(p);
    p->format->run(p, PAGE_CODE, field_string(row, "kernel"));
    p->format->run(p, PAGE_TEXT, words_sample(row));
    page_cell_end(p);
    page_cell_run(p, PAGE_TEXT, titles);
    cell_place(p, witness);
    page_cell_run(p, PAGE_CODE, field_string(witness, "got"));
    page_cell_run(p, PAGE_CODE, field_string(witness, "exact"));
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(witness, "ulp"), 4).text);
    page_cell_run(p, PAGE_TEXT, words_significant(field_number(witness, "abs"), 3).text);
    page_rest(p, PAGE_CODE, field_string(witness, "replay"));
  }
}

static bool any_witness(const json_t *table) {
  const json_t *rows = json_object_get(table, "rows");
  for (size_t i = 0; i < json_array_size(rows); i++)
    for (size_t k = 0; k < WORSTS; k++) {
      const json_t *witness = json_object_get(json_array_get(rows, i), worsts[k].key);
      if (json_is_integer(json_object_get(witness, "position"))) return true;
    }
  return false;
}

static void write_table(page *p, const json_t *table) {
  static const page_column columns[] = {{"kernel", false}, {"worst in", false}, {"position", true},
                                        {"index", false},  {"got", false},      {"exact", false},
                                        {"ulp", true},     {"|error|", true},   {"try it again", false}};
  const char *name = field_string(json_object_get(table, "shape"), "name");
  const json_t *rows = json_object_get(table, "rows");
  p->format->open_data(p, name);
  page_table(p, name, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(rows); i++) write_row(p, json_array_get(rows, i));
  page_table_end(p);
  p->format->close(p, PAGE_DATA);
}

void witnesses_write(page *p, const json_t *document) {
  static const char *const lists[] = {"shapes", "cases"};
  bool any = false;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const json_t *tables = json_object_get(document, lists[i]);
    for (size_t k = 0; k < json_array_size(tables); k++) {
      const json_t *table = json_array_get(tables, k);
      if (!any_witness(table)) continue;
      if (!any) {
        p->format->heading(p, 2, "Every worst case");
        page_block(
            p, PAGE_PARAGRAPH,
            "Of each kernel on each shape, the element with the largest error in ulp, in size, and as a share of "
            "what the bound allows; where it says sample, of those looked at. Each can be had again: the command "
            "looks at the same elements.");
      }
      any = true;
      write_table(p, table);
    }
  }
}
