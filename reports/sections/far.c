/* SPDX-License-Identifier: MIT */
/* Writes the results of the search for the worst case at positions far beyond those of tables. */
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/sections/sections.h"

#include <math.h>

/* The results of the searches of several tables, for one kernel. */
typedef struct findings {
  double elements, reach;
  double share, from_midpoint;           /* largest share of the bound; smallest distance from a midpoint in ulp */
  const record_witness *worst, *nearest; /* the elements; null if there was no search */
  const char *worst_table, *nearest_table;
} findings;

/* Whether a share is larger. A NaN, from a kernel that writes one, is larger than any number. */
static bool is_worse(double share, double known) {
  return !(share <= known);
}

static void add_row(findings *found, const record_row *row, const char *table) {
  const record_search *search = &row->search;
  const record_check *check = record_find_check(row->checks, row->checks_count, "search");
  if (!search->there || !check) return;
  found->elements += (double)check->compared;
  found->reach = fmax(found->reach, (double)search->reach);
  if (!found->worst || is_worse(check->worst, found->share)) {
    found->share = check->worst;
    found->worst = &search->worst;
    found->worst_table = table;
  }
  if (!found->nearest || search->from_tie < found->from_midpoint) {
    found->from_midpoint = search->from_tie;
    found->nearest = &search->nearest;
    found->nearest_table = table;
  }
}

static findings findings_of(const record_report *report, const char *kernel) {
  findings found = {.elements = 0};
  RECORD_EACH(table, report, shapes) {
    const record_row *row = report_row(table, kernel);
    if (row) add_row(&found, row, table->shape.name);
  }
  return found;
}

/* Writes "p = 270 265 104 270, i = 63, cos of ddpm-timesteps". */
static void cell_place(page *p, const record_witness *witness, const char *table) {
  page_cell(p, "p = %s, " SMALL("i = %s, %s of %s"), words_count(record_number_value(witness->position)).text,
            words_integer(witness->index).text, witness->function, table);
}

/* Writes "0.2640"; if that would be 1.000, "1 − 2.6e-11". */
static void cell_share(page *p, double share) {
  const double missing = 1 - share;
  if (missing > 0 && missing < 0.0005)
    page_cell(p, "1 − %s", words_significant(missing, 2).text);
  else
    page_cell_number(p, share, 4);
}

static void write_findings(page *p, const char *kernel, const findings *found) {
  page_cell(p, CODE("%s"), kernel);
  page_cell_count(p, found->elements);
  page_cell(p, "%s", words_position(found->reach).text);
  cell_share(p, found->share);
  cell_place(p, found->worst, found->worst_table);
  page_cell_number(p, found->from_midpoint, 3);
  cell_place(p, found->nearest, found->nearest_table);
}

static bool any_search(const record_report *report) {
  RECORD_EACH(kernel, report, kernels)
    if (findings_of(report, kernel->name).worst) return true;
  return false;
}

void write_far(page *p, const record_report *report) {
  static const page_column columns[] = {{.title = "kernel"},
                                        {.title = "elements", .numeric = true},
                                        {.title = "to position", .numeric = true},
                                        {.title = "of its bound", .numeric = true},
                                        {.title = "at"},
                                        {.title = "from a midpoint, ulp", .numeric = true},
                                        {.title = "nearest to one"}};
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
  page_table_begin(
      p, "Largest error as a share of the bound, and least distance from a midpoint, over the searches of all tables.",
      columns, sizeof columns / sizeof *columns);
  RECORD_EACH(kernel, report, kernels) {
    if (kernel->recipe) continue; /* a recipe has no bound */
    const findings found = findings_of(report, kernel->name);
    if (found.worst) write_findings(p, kernel->name, &found);
  }
  page_table_end(p);
}
