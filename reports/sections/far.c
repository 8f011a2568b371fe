/* SPDX-License-Identifier: MIT */
/* Writes the results of the search for the worst case at positions far beyond those of tables. */
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <math.h>

/* An element with its table; `of` is null if there was no search. */
typedef struct found_element {
  const record_witness *of;
  const char *table;
} found_element;

/* The results of the searches of several tables, for one kernel. */
typedef struct findings {
  const char *kernel;
  int64_t elements;
  double reach, share, from_midpoint; /* largest share of the bound; smallest distance from a midpoint in ulp */
  found_element worst, nearest;
} findings;

/* Whether a share is larger. A NaN, from a kernel that writes one, is larger than any number. */
static bool is_worse(double share, double known) {
  return !(share <= known);
}

static void add_row(findings *found, const record_row *row, const char *table) {
  const record_search *search = &row->search;
  const record_check *check = record_find_check(row->checks, row->checks_count, "search");
  if (!search->there || !check) return;
  found->elements += check->compared;
  found->reach = fmax(found->reach, (double)search->reach);
  if (!found->worst.of || is_worse(check->worst, found->share)) {
    found->share = check->worst;
    found->worst = (found_element){&search->worst, table};
  }
  if (!found->nearest.of || search->from_tie < found->from_midpoint) {
    found->from_midpoint = search->from_tie;
    found->nearest = (found_element){&search->nearest, table};
  }
}

static findings findings_of(const record_report *report, const char *kernel) {
  findings found = {.kernel = kernel};
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, kernel);
    if (row) add_row(&found, row, table->shape.name);
  }
  return found;
}

static void say_reach(page *p, const void *value) {
  page_say(p, "%s", words_position(*(const double *)value).text);
}

/* Writes "p = 270 265 104 270, i = 63, cos of ddpm-timesteps". */
static void say_place(page *p, const void *value) {
  const found_element *at = value;
  page_say(p, "p = %s, " SMALL("i = %s, %s of %s"), words_count(record_number_value(at->of->position)).text,
           words_integer(at->of->index).text, at->of->function, at->table);
}

/* Writes "0.2640"; if that would be 1.000, "1 − 2.6e-11". */
static void say_share(page *p, const void *value) {
  const double share = *(const double *)value, missing = 1 - share;
  if (missing > 0 && missing < 0.0005)
    page_say(p, "1 − %s", words_significant(missing, 2).text);
  else
    page_say(p, "%s", words_significant(share, 4).text);
}

static bool any_search(const record_report *report) {
  RECORD_EACH(kernel, report, kernels)
    if (findings_of(report, kernel->name).worst.of) return true;
  return false;
}

void write_far(page *p, const record_report *report) {
#define FOUND(field) PAGE_AT(0, findings, field)
  static const page_column columns[] = {
      {"kernel", false, NULL, PAGE_NAME, FOUND(kernel)},
      {"elements", true, NULL, PAGE_COUNT, FOUND(elements)},
      {"to position", true, FOUND(reach), .say = say_reach},
      {"of its bound", true, FOUND(share), .say = say_share},
      {"at", false, FOUND(worst), .say = say_place},
      {"from a midpoint, ulp", true, NULL, PAGE_REAL, FOUND(from_midpoint), .digits = 3},
      {"nearest to one", false, FOUND(nearest), .say = say_place},
  };
  if (!any_search(report)) return;
  page_section(p, "Adversarial search");
  page_open(p, PAGE_PARAGRAPH);
  page_say(
      p,
      "A search at positions up to 2⁴⁰, as far as the bound holds and in the table or not, for elements where the "
      "kernel uses the largest share of its bound, and for those whose exact value is nearest to a midpoint, which are "
      "the hardest to round. Its findings are a sample, so lower bounds");
  if (report->seed != RECORD_NONE) page_say(p, "; the seed %.0f finds it again", (double)report->seed);
  page_say(p, ".");
  page_close(p, PAGE_PARAGRAPH);
  PAGE_SHEET(
      p, "Largest error as a share of the bound, and least distance from a midpoint, over the searches of all tables.",
      columns);
  RECORD_EACH(kernel, report, kernels) {
    if (kernel->recipe) continue; /* a recipe has no bound */
    const findings found = findings_of(report, kernel->name);
    if (found.worst.of) page_row(p, PAGE_ROW(&found));
  }
  page_sheet_end(p);
}
