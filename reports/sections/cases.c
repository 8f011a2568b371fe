/* SPDX-License-Identifier: MIT */
/* Single elements: hard-to-round cases, and the worst cases of each kernel on each shape. */
#include "common/field.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

/* ---- hard-to-round cases ---- */

/* "0.5001"; where that would be 0.5000, "½ + 2.6e-11". */
static void cell_excess(page *p, double ulp) {
  if (ulp > 0.5 && ulp < 0.5005)
    page_cell(p, "½ + %s", words_significant(ulp - 0.5, 2).text);
  else
    page_cell_number(p, ulp, 4);
}

static void write_case(page *p, const json_t *row) {
  const json_t *witness = json_object_get(row, "max_ulp");
  const char *refusal = json_string_value(json_object_get(row, "refusal"));
  page_cell(p, CODE("%s"), field_string(row, "kernel"));
  if (refusal || !witness) {
    page_rest(p, SMALL("%s"), refusal ? refusal : "it crashed");
    return;
  }
  page_cell_count(p, field_number(row, "misrounded"));
  page_cell_count(p, field_number(row, "elements"));
  cell_excess(p, field_number(witness, "ulp"));
  page_cell(p, "p = %s, " SMALL("i = %s, %s"), words_count(field_number(witness, "position")).text,
            words_count(field_number(witness, "index")).text, field_string(witness, "function"));
  page_rest(p, CODE("%s"), field_string(row, "replay"));
}

void write_cases(page *p, const json_t *document) {
  static const page_column columns[] = {{"kernel", false}, {"misrounded", true}, {"of", true},
                                        {"max ulp", true}, {"at", false},        {"try it again", false}};
  const json_t *files = json_object_get(document, "cases");
  if (json_array_size(files) == 0) return;
  page_section(p, "Hard-to-round cases");
  page_paragraph(
      p,
      "An element whose exact value lies nearly in the middle between two numbers is rounded correctly only by those "
      "who know it better than that. Each kernel was tried on files of such elements. Those in reference/worst/ are "
      "the hardest known, found by a look at every element below position 2^20 and confirmed by MPFR.");
  for (size_t i = 0; i < json_array_size(files); i++) {
    const json_t *file = json_array_get(files, i), *rows = json_object_get(file, "rows");
    char caption[200];
    snprintf(caption, sizeof caption, "The cases of %.100s: elements nearest to the middle between two numbers.",
             field_string(json_object_get(file, "shape"), "name"));
    page_table(p, caption, columns, sizeof columns / sizeof *columns);
    for (size_t k = 0; k < json_array_size(rows); k++) write_case(p, json_array_get(rows, k));
    page_table_end(p);
  }
}

/* ---- worst cases ---- */

/* The measures of a worst case, and the witness of each in a row. */
static const struct {
  const char *key, *title;
} worsts[] = {{"max_ulp", "ulp"}, {"max_abs", "|error|"}, {"worst", "bound"}};

enum { WORSTS = sizeof worsts / sizeof *worsts };

static bool is_same_place(const json_t *a, const json_t *b) {
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
    if (!other || !is_same_place(witness, other)) continue;
    if (i < number) return false;
    used += snprintf(text + used, size - (size_t)used, "%s%s", used ? ", " : "", worsts[i].title);
  }
  return true;
}

static bool has_witness(const json_t *row, size_t number) {
  return json_is_integer(json_object_get(json_object_get(row, worsts[number].key), "position"));
}

static void write_worst(page *p, const json_t *row, const json_t *witness, const char *titles) {
  const json_t *head = json_object_get(witness, "head");
  page_cell(p, CODE("%s") "%s", field_string(row, "kernel"), words_sample(row));
  page_cell(p, "%s", titles);
  page_cell(p, "%" JSON_INTEGER_FORMAT, json_integer_value(json_object_get(witness, "position")));
  page_cell_begin(p);
  if (head) page_say(p, SMALL("head %" JSON_INTEGER_FORMAT ", "), json_integer_value(head));
  page_say(p, "%" JSON_INTEGER_FORMAT ", %s", json_integer_value(json_object_get(witness, "index")),
           field_string(witness, "function"));
  page_cell_end(p);
  page_cell(p, CODE("%s"), field_string(witness, "got"));
  page_cell(p, CODE("%s"), field_string(witness, "exact"));
  page_cell_number(p, field_number(witness, "ulp"), 4);
  page_cell_number(p, field_number(witness, "abs"), 3);
  page_rest(p, CODE("%s"), field_string(witness, "replay"));
}

static bool any_witness(const json_t *rows) {
  for (size_t i = 0; i < json_array_size(rows); i++)
    for (size_t k = 0; k < WORSTS; k++)
      if (has_witness(json_array_get(rows, i), k)) return true;
  return false;
}

static void write_table(page *p, const char *name, const json_t *rows) {
  static const page_column columns[] = {{"kernel", false}, {"worst in", false}, {"position", true},
                                        {"index", false},  {"got", false},      {"exact", false},
                                        {"ulp", true},     {"|error|", true},   {"try it again", false}};
  page_data(p, name);
  page_table(p, name, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(rows); i++)
    for (size_t k = 0; k < WORSTS; k++) {
      const json_t *row = json_array_get(rows, i);
      char titles[40];
      if (has_witness(row, k) && titles_of(row, k, titles, sizeof titles))
        write_worst(p, row, json_object_get(row, worsts[k].key), titles);
    }
  page_table_end(p);
  page_data_end(p);
}

void write_witnesses(page *p, const json_t *document) {
  static const char *const lists[] = {"shapes", "cases"};
  bool any = false;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    const json_t *tables = json_object_get(document, lists[i]);
    for (size_t k = 0; k < json_array_size(tables); k++) {
      const json_t *table = json_array_get(tables, k), *rows = json_object_get(table, "rows");
      if (!any_witness(rows)) continue;
      if (!any) {
        page_section(p, "Worst cases");
        page_paragraph(p, "Of each kernel on each shape, the element with the largest error in ulp, in size, and as a "
                          "share of what the bound allows; where it says sample, of those looked at. Each can be had "
                          "again: the command looks at the same elements.");
      }
      any = true;
      write_table(p, field_string(json_object_get(table, "shape"), "name"), rows);
    }
  }
}
