/* SPDX-License-Identifier: MIT */
#include "reports/errors.h"

#include "common/field.h"
#include "reports/words.h"

#include <stdlib.h>

static const json_t *point_at(const json_t *points, double position) {
  for (size_t i = 0; i < json_array_size(points); i++) {
    const json_t *point = json_array_get(points, i);
    const double here = field_number(point, "position");
    if (here >= position && here <= position) return point;
  }
  return NULL;
}

static void cell_significant(page *p, double value) {
  page_cell_run(p, PAGE_TEXT, words_significant(value, 3).text);
}

/* ", dim 128, base 10000" */
static void say_table(page *p, const json_t *table) {
  if (isfinite(field_number(table, "dim")) && isfinite(field_number(table, "base")))
    page_print(p, PAGE_TEXT, ", dim %s, base %s", words_plain(field_number(table, "dim")).text,
               words_plain(field_number(table, "base")).text);
}

/* ---- against position ---- */

/* A row per position of the first profile, a column per profile. */
static bool write_position_data(page *p, const json_t *profiles) {
  const size_t count = json_array_size(profiles);
  const json_t *points = json_object_get(json_array_get(profiles, 0), "points");
  page_column *columns = calloc(count + 1, sizeof *columns);
  if (!columns) return false;
  columns[0] = (page_column){"position", true};
  for (size_t i = 0; i < count; i++)
    columns[i + 1] = (page_column){field_string(json_array_get(profiles, i), "kernel"), true};
  p->format->open(p, PAGE_DATA);
  page_table(p, "Largest |error| at each position.", columns, count + 1);
  for (size_t i = 0; i < json_array_size(points); i++) {
    const double position = field_number(json_array_get(points, i), "position");
    page_cell_run(p, PAGE_TEXT, words_count(position).text);
    for (size_t k = 0; k < count; k++) {
      const json_t *other = json_object_get(json_array_get(profiles, k), "points");
      cell_significant(p, field_number(point_at(other, position), "max_abs"));
    }
  }
  page_table_end(p);
  p->format->close(p, PAGE_DATA);
  free(columns);
  return true;
}

static bool write_position(page *p, const json_t *document, const figures *drawn) {
  if (!drawn->svg[FIGURE_ERROR]) return true;
  const json_t *profiles = json_object_get(document, "profile");
  p->format->heading(p, 2, "Error against position");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(p, PAGE_TEXT, "The largest absolute error over the columns of a row");
  say_table(p, json_array_get(profiles, 0));
  page_print(p, PAGE_TEXT,
             ". Dashed lines: half an ulp just below 1, which rounding to that format costs whoever computes.");
  p->format->close(p, PAGE_PARAGRAPH);
  p->format->figure(p, "Error against position. Lines of kernels with the same errors lie on each other.",
                    drawn->svg[FIGURE_ERROR]);
  return write_position_data(p, profiles);
}

bool errors_write(page *p, const json_t *document, const figures *drawn) {
  return write_position(p, document, drawn);
}
