/* SPDX-License-Identifier: MIT */
/* Recipes, the code that frameworks ship, beside the kernels. */
#include "common/field.h"
#include "reports/model/document.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

/* Positions whose errors are told. */
static const struct {
  double position;
  const char *title;
} places[] = {{0x1p10, "|error| at 2^10"}, {0x1p17, "at 2^17"}, {0x1p20, "at 2^20"}};

enum { PLACES = sizeof places / sizeof *places };

static void write_row(page *p, const json_t *document, const json_t *table, const json_t *row) {
  const char *kernel = field_string(row, "kernel");
  const json_t *profile = field_find(json_object_get(document, "profile"), "kernel", kernel);
  const json_t *time = json_object_get(json_object_get(row, "timing"), "ns_per_element");
  page_cell(p, CODE("%s"), kernel);
  page_cell_number(p, field_number(json_object_get(row, "max_abs"), "abs"), 3);
  page_cell_number(p, field_number(json_object_get(row, "max_ulp"), "ulp"), 4);
  page_cell_number(p, field_number(row, "mean_ulp"), 3);
  page_cell(p, "%s\u00a0%%",
            words_significant(100 * field_number(row, "misrounded") / field_number(row, "elements"), 3).text);
  for (size_t i = 0; i < PLACES; i++)
    page_cell_number(p, field_number(point_at(profile, places[i].position), "max_abs"), 3);
  page_cell(p, "%s " SMALL("%s"), words_significant(field_number(time, "median"), 3).text,
            time ? words_range(time, 1).text : "");
  page_cell(p, "%s%s", field_string(json_object_get(table, "shape"), "name"), words_sample(row));
}

/* A row for each shape that it was looked at on. */
static void write_recipe(page *p, const json_t *document, const char *kernel) {
  const json_t *shapes = json_object_get(document, "shapes");
  for (size_t i = 0; i < json_array_size(shapes); i++) {
    const json_t *table = json_array_get(shapes, i), *row = document_row(table, kernel);
    if (json_object_get(row, "mode")) write_row(p, document, table, row);
  }
}

static bool is_recipe(const json_t *kernel) {
  return json_is_true(json_object_get(kernel, "recipe"));
}

static bool any_recipe(const json_t *kernels) {
  for (size_t i = 0; i < json_array_size(kernels); i++)
    if (is_recipe(json_array_get(kernels, i))) return true;
  return false;
}

void write_shipped(page *p, const json_t *document) {
  page_column columns[7 + PLACES] = {{"recipe", false},
                                     {"max |error|", true},
                                     {"max ulp", true},
                                     {"mean ulp", true},
                                     {"misrounded", true},
                                     [5 + PLACES] = {"ns/element", true},
                                     [6 + PLACES] = {"table", false}};
  const json_t *kernels = json_object_get(document, "kernels");
  if (!any_recipe(kernels)) return;
  for (size_t i = 0; i < PLACES; i++) columns[5 + i] = (page_column){places[i].title, true};
  page_section(p, "What frameworks ship");
  page_paragraph(
      p, "How frameworks compute the table, written as kernels: the framework's order of operations and the type of "
         "every step, on this machine's libm; which ones is told under Kernels. None claims a bound, so none is an "
         "answer above. Each is held to its own exact table, so that one that divides by d/2 − 1 is not blamed for "
         "that.");
  page_table(
      p,
      "Errors over the whole table, or what was sampled of it where that is said, and of rows from a position on "
      "in the table of dim 128; times are medians (least–most).",
      columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const json_t *kernel = json_array_get(kernels, i);
    if (is_recipe(kernel)) write_recipe(p, document, field_string(kernel, "name"));
  }
  page_table_end(p);
}
