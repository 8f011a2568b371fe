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

/* A row of a recipe on a table, and its profile, which may be null. */
enum { OF_ROW, OF_TABLE, OF_PROFILE };

static void misrounded(page *p, const void *value) {
  const record_row *row = value;
  page_say(p, "%s\u00a0%%", words_significant(100 * (double)row->misrounded / (double)row->elements, 3).text);
}

/* Writes the error at the position of the column. */
static void error(page *p, const void *profile) {
  const int64_t *position = p->datum;
  page_say(p, "%s", words_significant(point_at(profile, *position).max_abs, 3).text);
}

static void duration(page *p, const void *value) {
  const record_spread *of = value;
  page_say(p, "%s " SMALL("%s"), words_significant(of->median, 3).text, of->there ? words_range(of, 1).text : "");
}

static void table_name(page *p, const void *value) {
  const record_table *table = value;
  page_say(p, "%s%s", table->shape.name, words_sample(p->of[OF_ROW]));
}

/* Writes a row for each shape on which the recipe was verified. */
static void write_recipe(page *p, const record_report *report, const char *kernel) {
  const record_profile *profile = profile_of(report, kernel);
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, kernel);
    if (row && *row->mode) page_row(p, PAGE_ROW([OF_ROW] = row, [OF_TABLE] = table, [OF_PROFILE] = profile));
  }
}

static bool any_recipe(const record_report *report) {
  RECORD_EACH(kernel, report, kernels)
    if (kernel->recipe) return true;
  return false;
}

void write_shipped(page *p, const record_report *report) {
#define IN_ROW(field) PAGE_AT(OF_ROW, record_row, field)
  static const page_column errors[] = {
      {"recipe", false, NULL, PAGE_NAME, IN_ROW(kernel)},
      {"max |error|", true, NULL, PAGE_REAL, IN_ROW(max_abs.abs), .digits = 3},
      {"max ulp", true, NULL, PAGE_REAL, IN_ROW(max_ulp.ulp), .digits = 4},
      {"mean ulp", true, NULL, PAGE_REAL, IN_ROW(mean_ulp), .digits = 3},
      {"misrounded", true, .say = misrounded},
  };
  static const page_column others[] = {
      {"ns/element", true, IN_ROW(timing.ns_per_element), .say = duration},
      {"table", .in = OF_TABLE, .say = table_name},
  };
  if (!any_recipe(report)) return;
  page_section(p, "What frameworks ship");
  page_paragraph(
      p,
      "How frameworks compute the table, written as kernels: the framework's order of operations and the type of "
      "every step, on this machine's libm; which ones is told under Kernels. None claims a bound, so none is an "
      "answer above. Each is compared with its own exact table, so that one that divides by d/2 − 1 is not blamed for "
      "that.");
  page_columns(p, errors, sizeof errors / sizeof *errors);
  for (size_t i = 0; i < PLACES; i++)
    page_column_add(p, (page_column){.numeric = true, .in = OF_PROFILE, .say = error, .datum = &places[i].position},
                    "%s", places[i].title);
  page_columns(p, others, sizeof others / sizeof *others);
  page_sheet_begin(
      p,
      caption_of_times(report, "Errors over the whole table, or what was sampled of it where that is said, and of rows "
                               "from a position on in the table of dim 128; times are medians (least–most).")
          .text,
      false);
  RECORD_EACH(kernel, report, kernels)
    if (kernel->recipe) write_recipe(p, report, kernel->name);
  page_sheet_end(p);
}
