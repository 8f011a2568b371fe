/* SPDX-License-Identifier: MIT */
#include "reports/sections/shipped.h"

#include "common/field.h"
#include "reports/model/document.h"
#include "reports/page/words.h"

/* Positions whose errors are told. */
static const struct {
  double position;
  const char *title;
} places[] = {{0x1p10, "|error| at 2^10"}, {0x1p17, "at 2^17"}, {0x1p20, "at 2^20"}};

enum { PLACES = sizeof places / sizeof *places };

static double error_at(const json_t *document, const char *kernel, double position) {
  const json_t *profile = field_find(json_object_get(document, "profile"), "kernel", kernel);
  const json_t *points = json_object_get(profile, "points");
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    const double here = field_number(point, "position");
    if (here >= position && here <= position) return field_number(point, "max_abs");
  }
  return NAN;
}

static void write_row(page *p, const json_t *document, const json_t *table, const json_t *row) {
  const char *kernel = field_string(row, "kernel");
  const json_t *time = json_object_get(json_object_get(row, "timing"), "ns_per_element");
  page_cell_run(p, PAGE_CODE, kernel);
  page_cell_run(p, PAGE_TEXT, words_significant(field_number(json_object_get(row, "max_abs"), "abs"), 3).text);
  page_cell_run(p, PAGE_TEXT, words_significant(field_number(json_object_get(row, "max_ulp"), "ulp"), 4).text);
  page_cell_run(p, PAGE_TEXT, words_significant(field_number(row, "mean_ulp"), 3).text);
  page_cell(p);
  page_print(p, PAGE_TEXT, "%s\u00a0%%",
             words_significant(100 * field_number(row, "misrounded") / field_number(row, "elements"), 3).text);
  page_cell_end(p);
  for (size_t i = 0; i < PLACES; i++)
    page_cell_run(p, PAGE_TEXT, words_significant(error_at(document, kernel, places[i].position), 3).text);
  page_cell(p);
  page_print(p, PAGE_TEXT, "%s ", words_significant(field_number(time, "median"), 3).text);
  if (time)
    page_print(p, PAGE_SMALL, "(%s–%s)", words_significant(field_number(time, "min"), 3).text,
               words_significant(field_number(time, "max"), 3).text);
  page_cell_end(p);
  page_cell(p);
  page_print(p, PAGE_TEXT, "%s%s", field_string(json_object_get(table, "shape"), "name"), words_sample(row));
  page_cell_end(p);
}

/* On all shapes that it was looked at on. */
static void write_recipe(page *p, const json_t *document, const char *kernel) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i), *row = document_row(table, kernel);
    if (json_object_get(row, "mode")) write_row(p, document, table, row);
  }
}

static bool any_recipe(const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  for (size_t i = 0; i < json_array_size(kernels); i++)
    if (json_is_true(json_object_get(json_array_get(kernels, i), "recipe"))) return true;
  return false;
}

void shipped_write(page *p, const json_t *document) {
  page_column columns[7 + PLACES] = {{"recipe", false},
                                     {"max |error|", true},
                                     {"max ulp", true},
                                     {"mean ulp", true},
                                     {"misrounded", true},
                                     [5 + PLACES] = {"ns/element", true},
                                     [6 + PLACES] = {"table", false}};
  const json_t *kernels = json_object_get(document, "kernels");
  if (!any_recipe(document)) return;
  for (size_t i = 0; i < PLACES; i++) columns[5 + i] = (page_column){places[i].title, true};
  p->format->heading(p, 2, "What frameworks ship");
  page_block(
      p, PAGE_PARAGRAPH,
      "How frameworks compute the table, written as kernels: the framework's order of operations and the type of "
      "every step, on this machine's libm; which ones is told under Kernels. None claims a bound, so none is an "
      "answer above. Each is held to its own exact table, so that one that divides by d/2 − 1 is not blamed for "
      "that.");
  page_table(
      p,
      "Errors over the whole table, or what was sampled of it where that is said, and of rows from a position on in "
      "the table of dim 128; times are medians (least–most).",
      columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    if (json_is_true(json_object_get(kernel, "recipe"))) write_recipe(p, document, field_string(kernel, "name"));
  }
  page_table_end(p);
}
