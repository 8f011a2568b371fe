/* SPDX-License-Identifier: MIT */
#include "reports/sections/cases.h"

#include "common/field.h"
#include "reports/page/words.h"

/* "p = 396, i = 154, cos" */
static void cell_place(page *p, const json_t *witness) {
  page_cell(p);
  page_print(p, PAGE_TEXT, "p = %s, ", words_count(field_number(witness, "position")).text);
  page_print(p, PAGE_SMALL, "i = %s, %s", words_count(field_number(witness, "index")).text,
             field_string(witness, "function"));
  page_cell_end(p);
}

/* Beyond half an ulp by 2^-40 or so: that is told, not the sum. */
static void cell_excess(page *p, double ulp) {
  page_cell(p);
  if (ulp > 0.5 && ulp < 0.5005)
    page_print(p, PAGE_TEXT, "½ + %s", words_significant(ulp - 0.5, 2).text);
  else
    page_print(p, PAGE_TEXT, "%s", words_significant(ulp, 4).text);
  page_cell_end(p);
}

static void write_file(page *p, const json_t *file) {
  static const page_column columns[] = {{"kernel", false}, {"misrounded", true}, {"of", true},
                                        {"max ulp", true}, {"at", false},        {"try it again", false}};
  const json_t *rows = json_object_get(file, "rows");
  char caption[200];
  snprintf(caption, sizeof caption, "The cases of %.100s: elements nearest to the middle between two numbers.",
           field_string(json_object_get(file, "shape"), "name"));
  page_table(p, caption, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i), *witness = json_object_get(row, "max_ulp");
    const char *refusal = json_string_value(json_object_get(row, "refusal"));
    page_cell_run(p, PAGE_CODE, field_string(row, "kernel"));
    if (refusal || !witness) {
      page_rest(p, PAGE_SMALL, refusal ? refusal : "it did not live to tell");
      continue;
    }
    page_cell_run(p, PAGE_TEXT, words_count(field_number(row, "misrounded")).text);
    page_cell_run(p, PAGE_TEXT, words_count(field_number(row, "elements")).text);
    cell_excess(p, field_number(witness, "ulp"));
    cell_place(p, witness);
    page_rest(p, PAGE_CODE, field_string(row, "replay"));
  }
  page_table_end(p);
}

void cases_write(page *p, const json_t *document) {
  const json_t *files = json_object_get(document, "cases");
  if (json_array_size(files) == 0) return;
  p->format->heading(p, 2, "The hardest cases");
  page_block(p, PAGE_PARAGRAPH,
             "An element whose exact value lies nearly in the middle between two numbers is rounded correctly only by "
             "those who know it better than that. Each kernel was tried on files of such elements. Those in "
             "reference/worst/ are the hardest known, found by a look at every element below position 2^20 and "
             "confirmed by MPFR.");
  for (size_t i = 0; i < json_array_size(files); i++) write_file(p, json_array_get(files, i));
}
