/* SPDX-License-Identifier: MIT */
/* Single elements: hard-to-round cases, and the worst cases of each kernel on each shape. */
#include "reports/page/words.h"
#include "reports/sections/sections.h"

#include <inttypes.h>
#include <string.h>

/* ---- hard-to-round cases ---- */

/* "0.5001"; where that would be 0.5000, "½ + 2.6e-11". */
static void cell_excess(page *p, double ulp) {
  if (ulp > 0.5 && ulp < 0.5005)
    page_cell(p, "½ + %s", words_significant(ulp - 0.5, 2).text);
  else
    page_cell_number(p, ulp, 4);
}

static void write_case(page *p, const record_row *row) {
  const record_witness *witness = &row->max_ulp;
  page_cell(p, CODE("%s"), row->kernel);
  if (*row->refusal || !witness->json) {
    page_rest(p, SMALL("%s"), *row->refusal ? row->refusal : "it crashed");
    return;
  }
  page_cell_count(p, (double)row->misrounded);
  page_cell_count(p, (double)row->elements);
  cell_excess(p, witness->ulp);
  page_cell(p, "p = %s, " SMALL("i = %s, %s"), words_integer(witness->position).text,
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
      "the hardest known, found by a look at every element below position 2^20 and confirmed by MPFR.");
  RECORD_EACH(file, report, cases) {
    char caption[200];
    snprintf(caption, sizeof caption, "The cases of %.100s: elements nearest to the middle between two numbers.",
             file->shape.name);
    page_table(p, caption, columns, sizeof columns / sizeof *columns);
    RECORD_EACH(row, file, rows) write_case(p, row);
    page_table_end(p);
  }
}

/* ---- worst cases ---- */

enum { WORSTS = 3 };
static const char *const worst_titles[WORSTS] = {"ulp", "|error|", "bound"};

/* The element that is the worst by that measure. */
static const record_witness *worst_of(const record_row *row, size_t number) {
  return (const record_witness *[WORSTS]){&row->max_ulp, &row->max_abs, &row->worst}[number];
}

static bool has_worst(const record_row *row, size_t number) {
  return worst_of(row, number)->position != RECORD_NONE;
}

static bool is_same_place(const record_witness *a, const record_witness *b) {
  return a->position == b->position && a->index == b->index && a->head == b->head &&
         strcmp(a->function, b->function) == 0;
}

/* "ulp, |error|": all that this element is the worst by; nothing if an earlier one was it. */
static bool titles_of(const record_row *row, size_t number, char *text, size_t size) {
  int used = 0;
  for (size_t i = 0; i < WORSTS; i++) {
    if (!has_worst(row, i) || !is_same_place(worst_of(row, number), worst_of(row, i))) continue;
    if (i < number) return false;
    used += snprintf(text + used, size - (size_t)used, "%s%s", used ? ", " : "", worst_titles[i]);
  }
  return true;
}

static void write_worst(page *p, const record_row *row, const record_witness *witness, const char *titles) {
  page_cell(p, CODE("%s") "%s", row->kernel, words_sample(row));
  page_cell(p, "%s", titles);
  page_cell(p, "%" PRId64, witness->position);
  page_cell_begin(p);
  if (witness->head != RECORD_NONE) page_say(p, SMALL("head %" PRId64 ", "), witness->head);
  page_say(p, "%" PRId64 ", %s", witness->index, witness->function);
  page_cell_end(p);
  page_cell(p, CODE("%s"), witness->got);
  page_cell(p, CODE("%s"), witness->exact);
  page_cell_number(p, witness->ulp, 4);
  page_cell_number(p, witness->abs, 3);
  page_rest(p, CODE("%s"), witness->replay);
}

static bool any_worst(const record_table *table) {
  RECORD_EACH(row, table, rows)
    for (size_t k = 0; k < WORSTS; k++)
      if (has_worst(row, k)) return true;
  return false;
}

static void write_table(page *p, const record_table *table) {
  static const page_column columns[] = {{"kernel", false}, {"worst in", false}, {"position", true},
                                        {"index", false},  {"got", false},      {"exact", false},
                                        {"ulp", true},     {"|error|", true},   {"try it again", false}};
  page_data(p, table->shape.name);
  page_table(p, table->shape.name, columns, sizeof columns / sizeof *columns);
  RECORD_EACH(row, table, rows)
    for (size_t k = 0; k < WORSTS; k++) {
      char titles[40];
      if (has_worst(row, k) && titles_of(row, k, titles, sizeof titles)) write_worst(p, row, worst_of(row, k), titles);
    }
  page_table_end(p);
  page_data_end(p);
}

/* The heading stands before the first table. */
static void write_tables(page *p, const record_table *tables, size_t count, bool *begun) {
  for (const record_table *table = tables; table < tables + count; table++) {
    if (!any_worst(table)) continue;
    if (!*begun) {
      page_section(p, "Worst cases");
      page_paragraph(p, "Of each kernel on each shape, the element with the largest error in ulp, in size, and as a "
                        "share of what the bound allows; where it says sample, of those looked at. Each can be had "
                        "again: the command looks at the same elements.");
    }
    *begun = true;
    write_table(p, table);
  }
}

void write_witnesses(page *p, const record_report *report) {
  bool begun = false;
  write_tables(p, report->shapes, report->shapes_count, &begun);
  write_tables(p, report->cases, report->cases_count, &begun);
}
