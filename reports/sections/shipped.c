/* SPDX-License-Identifier: MIT */
/* Writes the section on recipes, the code of frameworks, beside the kernels. */
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <string.h>

/* Positions whose errors are listed. */
static const struct {
  int64_t position;
  const char *title;
} places[] = {{1 << 10, "|error| at 2¹⁰"}, {1 << 17, "at 2¹⁷"}, {1 << 20, "at 2²⁰"}};

enum { PLACES = sizeof places / sizeof *places };

static const record_profile *profile_of(const record_report *report, const char *kernel) {
  RECORD_EACH(profile, report, profile)
    if (strcmp(profile->kernel, kernel) == 0) return profile;
  return NULL;
}

static void write_row(page *p, const record_profile *profile, const record_table *table, const record_row *row) {
  const record_spread *time = &row->timing.ns_per_element;
  page_cell(p, CODE("%s"), row->kernel);
  page_cell_number(p, row->max_abs.abs, 3);
  page_cell_number(p, row->max_ulp.ulp, 4);
  page_cell_number(p, row->mean_ulp, 3);
  page_cell(p, "%s\u00a0%%", words_significant(100 * (double)row->misrounded / (double)row->elements, 3).text);
  for (size_t i = 0; i < PLACES; i++) page_cell_number(p, point_at(profile, places[i].position).max_abs, 3);
  page_cell(p, "%s " SMALL("%s"), words_significant(time->median, 3).text,
            time->there ? words_range(time, 1).text : "");
  page_cell(p, "%s%s", table->shape.name, words_sample(row));
}

/* Writes a row for each shape on which the recipe was verified. */
static void write_recipe(page *p, const record_report *report, const char *kernel) {
  const record_profile *profile = profile_of(report, kernel);
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, kernel);
    if (row && *row->mode) write_row(p, profile, table, row);
  }
}

static bool any_recipe(const record_report *report) {
  RECORD_EACH(kernel, report, kernels)
    if (kernel->recipe) return true;
  return false;
}

void write_shipped(page *p, const record_report *report) {
  page_column columns[7 + PLACES] = {{.title = "recipe"},
                                     {.title = "max |error|", .numeric = true},
                                     {.title = "max ulp", .numeric = true},
                                     {.title = "mean ulp", .numeric = true},
                                     {.title = "misrounded", .numeric = true},
                                     [5 + PLACES] = {.title = "ns/element", .numeric = true},
                                     [6 + PLACES] = {.title = "table"}};
  if (!any_recipe(report)) return;
  for (size_t i = 0; i < PLACES; i++) columns[5 + i] = (page_column){.title = places[i].title, .numeric = true};
  page_section(p, "What frameworks ship");
  page_paragraph(
      p,
      "How frameworks compute the table, written as kernels: the framework's order of operations and the type of "
      "every step, on this machine's libm; which ones is told under Kernels. None claims a bound, so none is an "
      "answer above. Each is compared with its own exact table, so that one that divides by d/2 − 1 is not blamed for "
      "that.");
  page_table_begin(
      p,
      caption_of_times(report, "Errors over the whole table, or what was sampled of it where that is said, and of rows "
                               "from a position on in the table of dim 128; times are medians (least–most).")
          .text,
      columns, sizeof columns / sizeof *columns);
  RECORD_EACH(kernel, report, kernels)
    if (kernel->recipe) write_recipe(p, report, kernel->name);
  page_table_end(p);
}
