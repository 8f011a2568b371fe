/* SPDX-License-Identifier: MIT */
/* The error histogram. */
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <math.h>

/* Columns of the table: elements with an error below so many ulp. */
static const struct {
  double ulp;
  const char *title;
} ends[] = {{0.5, "below ½ ulp"}, {1, "1"},         {2, "2"},         {0x1p4, "2^4"},
            {0x1p8, "2^8"},       {0x1p16, "2^16"}, {0x1p26, "2^26"}, {INFINITY, "all"}};

enum { ENDS = sizeof ends / sizeof *ends };

/* Elements with an error below that, all of those counted if it is infinite. */
static double count_below(const record_row *row, double ulp) {
  double sum = 0;
  RECORD_EACH(bin, row, histogram) /* the last has no end */
    if (isinf(ulp) || bin->below <= ulp) sum += (double)bin->count;
  return sum;
}

static void write_data(page *p, const record_headline *headline) {
  page_column columns[ENDS + 1] = {{"kernel", false}};
  for (size_t i = 0; i < ENDS; i++) columns[i + 1] = (page_column){ends[i].title, true};
  page_data(p, NULL);
  page_table(p, "Elements with an error below so many ulp; report.json has all.", columns, ENDS + 1);
  RECORD_EACH(row, headline, rows) {
    if (row->histogram_count == 0) continue;
    page_cell(p, CODE("%s") "%s", row->kernel, words_sample(row));
    for (size_t k = 0; k < ENDS; k++) page_cell_count(p, count_below(row, ends[k].ulp));
  }
  page_table_end(p);
  page_data_end(p);
}

void write_histogram(page *p, const record_report *report) {
  if (!p->svg[FIGURE_HISTOGRAM]) return;
  page_section(p, "Error histogram");
  page_open(p, PAGE_PARAGRAPH);
  page_say(p, "The compared elements of " CODE("%s"), report->headline.shape);
  page_say(p, " by their error in ulp. A point counts the elements from half of its error to just below it, the "
              "leftmost all below it. Correctly rounded elements end at half an ulp.");
  page_close(p, PAGE_PARAGRAPH);
  page_open(p, PAGE_FIGURES);
  page_figure(p, "Elements by error in ulp. Kernels whose numbers are within a tenth of each other share a line.",
              p->svg[FIGURE_HISTOGRAM]);
  page_figure(p, "Elements by error in ulp, of what frameworks ship, likewise.", p->svg[FIGURE_RECIPES_HISTOGRAM]);
  page_close(p, PAGE_FIGURES);
  write_data(p, &report->headline);
}
