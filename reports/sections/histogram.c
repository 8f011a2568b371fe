/* SPDX-License-Identifier: MIT */
/* The error histogram. */
#include "common/field.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

/* Columns of the table: elements with an error below so many ulp. */
static const struct {
  double ulp;
  const char *title;
} ends[] = {{0.5, "below ½ ulp"}, {1, "1"},         {2, "2"},         {0x1p4, "2^4"},
            {0x1p8, "2^8"},       {0x1p16, "2^16"}, {0x1p26, "2^26"}, {INFINITY, "all"}};

enum { ENDS = sizeof ends / sizeof *ends };

/* Elements with an error below that, all of those counted if it is infinite. */
static double count_below(const json_t *histogram, double ulp) {
  double sum = 0;
  for (size_t i = 0; i < json_array_size(histogram); i++) {
    const json_t *bin = json_array_get(histogram, i);
    if (field_number_or(bin, "below", INFINITY) <= ulp) sum += field_number(bin, "count");
  }
  return sum;
}

static void write_data(page *p, const json_t *rows) {
  page_column columns[ENDS + 1] = {{"kernel", false}};
  for (size_t i = 0; i < ENDS; i++) columns[i + 1] = (page_column){ends[i].title, true};
  page_data(p, NULL);
  page_table(p, "Elements with an error below so many ulp; report.json has all.", columns, ENDS + 1);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i), *histogram = json_object_get(row, "histogram");
    if (json_array_size(histogram) == 0) continue;
    page_cell(p, CODE("%s") "%s", field_string(row, "kernel"), words_sample(row));
    for (size_t k = 0; k < ENDS; k++) page_cell_count(p, count_below(histogram, ends[k].ulp));
  }
  page_table_end(p);
  page_data_end(p);
}

void write_histogram(page *p, const json_t *document) {
  const json_t *headline = json_object_get(document, "headline");
  if (!p->svg[FIGURE_HISTOGRAM]) return;
  page_section(p, "Error histogram");
  page_open(p, PAGE_PARAGRAPH);
  page_say(p, "The compared elements of " CODE("%s"), field_string(headline, "shape"));
  page_say(p, " by their error in ulp. A point counts the elements from half of its error to just below it, the "
              "leftmost all below it. Correctly rounded elements end at half an ulp.");
  page_close(p, PAGE_PARAGRAPH);
  page_open(p, PAGE_FIGURES);
  page_figure(p, "Elements by error in ulp. Kernels whose numbers are within a tenth of each other share a line.",
              p->svg[FIGURE_HISTOGRAM]);
  page_figure(p, "Elements by error in ulp, of what frameworks ship, likewise.", p->svg[FIGURE_RECIPES_HISTOGRAM]);
  page_close(p, PAGE_FIGURES);
  write_data(p, json_object_get(headline, "rows"));
}
