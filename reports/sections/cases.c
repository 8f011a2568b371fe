/* SPDX-License-Identifier: MIT */
/* Hard-to-round cases. */
#include "reports/page/words.h"
#include "reports/sections/sections.h"

/* Writes "0.5001"; if that would be 0.5000, "½ + 2.6e-11". */
static void cell_excess(page *p, double ulp) {
  if (ulp > 0.5 && ulp < 0.5005)
    page_cell(p, "½ + %s", words_significant(ulp - 0.5, 2).text);
  else
    page_cell_number(p, ulp, 4);
}

static void write_case(page *p, const record_row *row) {
  const record_witness *witness = &row->max_ulp;
  page_cell(p, CODE("%s"), row->kernel);
  if (*row->refusal || !witness->there) {
    page_rest(p, SMALL("%s"), *row->refusal ? row->refusal : "it crashed");
    return;
  }
  page_cell_count(p, (double)row->misrounded);
  page_cell_count(p, (double)row->elements);
  cell_excess(p, witness->ulp);
  page_cell(p, "p = %s, " SMALL("i = %s, %s"), words_integer(witness->position.whole).text,
            words_integer(witness->index).text, witness->function);
  page_rest(p, CODE("%s"), row->replay);
}

void write_cases(page *p, const record_report *report) {
  static const page_column columns[] = {{"kernel", false}, {"misrounded", true}, {"of", true},
                                        {"max ulp", true}, {"at", false},        {"try it again", false}};
  if (report->cases_count == 0) return;
  page_section(p, "Hard-to-round cases");
  page_paragraph(
      p,
      "An element whose exact value lies nearly in the middle between two numbers is rounded correctly only by those "
      "who know it better than that. Each kernel was tried on files of such elements. Those in reference/worst/ are "
      "the hardest known, found by a look at every element below position 2²⁰ and confirmed by MPFR.");
  RECORD_EACH(file, report, cases) {
    char caption[200];
    snprintf(caption, sizeof caption, "The cases of %.100s: elements nearest to the middle between two numbers.",
             file->shape.name);
    page_table(p, caption, columns, sizeof columns / sizeof *columns);
    RECORD_EACH(row, file, rows) write_case(p, row);
    page_table_end(p);
  }
}
