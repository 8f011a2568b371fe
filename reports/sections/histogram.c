/* SPDX-License-Identifier: MIT */
/* Writes the section with the error histogram. */
#include "reports/page/words.h"
#include "reports/sections/sections.h"

void write_histogram(page *p, const record_report *report) {
  if (!p->svg[FIGURE_HISTOGRAM]) return;
  page_section(p, "Error histogram");
  page_open(p, PAGE_PARAGRAPH);
  page_say(p, "The compared elements of " CODE("%s"), report->headline.shape);
  page_say(p, " by their error in ulp. A point counts the elements from half of its error to just below it, the "
              "leftmost all below it. Correctly rounded elements end at half an ulp.");
  page_close(p, PAGE_PARAGRAPH);
  page_figure(p, "Elements by error in ulp. Kernels whose numbers are within a tenth of each other share a line.",
              p->svg[FIGURE_HISTOGRAM]);
  page_figure(p, "Elements by error in ulp, of what frameworks ship, likewise.", p->svg[FIGURE_RECIPES_HISTOGRAM]);
}
