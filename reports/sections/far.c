/* SPDX-License-Identifier: MIT */
#include "reports/sections/far.h"

#include "common/field.h"
#include "reports/page/words.h"

/* What searches from several tables found of one kernel. */
typedef struct findings {
  double elements, reach;
  double share, from_tie;            /* largest of the bound, least in ulp */
  const json_t *worst, *worst_table; /* the element of that share, and its table */
  const json_t *nearest, *nearest_table;
} findings;

static const json_t *search_check(const json_t *row) {
  const json_t *checks = json_object_get(row, "checks");
  for (size_t i = 0; i < json_array_size(checks); i++)
    if (strcmp(field_string(json_array_get(checks, i), "property"), "search") == 0) return json_array_get(checks, i);
  return NULL;
}

/* A NaN, as of a kernel that writes such, is worse than any number. */
static bool is_worse(double share, double known) {
  return !(share <= known);
}

static void add_row(findings *found, const json_t *row, const json_t *table) {
  const json_t *search = json_object_get(row, "search"), *check = search_check(row);
  if (!search || !check) return;
  const double share = field_number(check, "worst"), from_tie = field_number(search, "from_tie");
  found->elements += field_number_or(check, "compared", 0);
  found->reach = fmax(found->reach, field_number(search, "reach"));
  if (!found->worst || is_worse(share, found->share)) {
    found->share = share;
    found->worst = json_object_get(search, "worst");
    found->worst_table = table;
  }
  if (!found->nearest || from_tie < found->from_tie) {
    found->from_tie = from_tie;
    found->nearest = json_object_get(search, "nearest");
    found->nearest_table = table;
  }
}

static findings findings_of(const json_t *document, const char *kernel) {
  const json_t *tables = json_object_get(document, "shapes");
  findings found = {.elements = 0};
  for (size_t i = 0; i < json_array_size(tables); i++) {
    const json_t *table = json_array_get(tables, i), *rows = json_object_get(table, "rows");
    for (size_t k = 0; k < json_array_size(rows); k++) {
      const json_t *row = json_array_get(rows, k);
      if (strcmp(field_string(row, "kernel"), kernel) == 0) add_row(&found, row, json_object_get(table, "shape"));
    }
  }
  return found;
}

/* "p = 270 265 104 270, i = 63, cos of ddpm-timesteps" */
static void cell_place(page *p, const json_t *witness, const json_t *table) {
  page_cell(p);
  page_print(p, PAGE_TEXT, "p = %s, ", words_count(field_number(witness, "position")).text);
  page_print(p, PAGE_SMALL, "i = %s, %s of %s", words_count(field_number(witness, "index")).text,
             field_string(witness, "function"), field_string(table, "name"));
  page_cell_end(p);
}

/* "0.2640"; where that would be 1.000, "1 − 2.6e-11". */
static void cell_share(page *p, double share) {
  const double missing = 1 - share;
  page_cell(p);
  if (missing > 0 && missing < 0.0005)
    page_print(p, PAGE_TEXT, "1 − %s", words_significant(missing, 2).text);
  else
    page_print(p, PAGE_TEXT, "%s", words_significant(share, 4).text);
  page_cell_end(p);
}

static void write_findings(page *p, const char *kernel, const findings *found) {
  page_cell_run(p, PAGE_CODE, kernel);
  page_cell_run(p, PAGE_TEXT, words_count(found->elements).text);
  page_cell_run(p, PAGE_TEXT, words_position(found->reach).text);
  cell_share(p, found->share);
  cell_place(p, found->worst, found->worst_table);
  page_cell_run(p, PAGE_TEXT, words_significant(found->from_tie, 3).text);
  cell_place(p, found->nearest, found->nearest_table);
}

static bool any_search(const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  for (size_t i = 0; i < json_array_size(kernels); i++)
    if (findings_of(document, field_string(json_array_get(kernels, i), "name")).worst) return true;
  return false;
}

void far_write(page *p, const json_t *document) {
  static const page_column columns[] = {{"kernel", false},        {"elements", true}, {"to position", true},
                                        {"of its bound", true},   {"at", false},      {"from a tie, ulp", true},
                                        {"nearest to one", false}};
  const json_t *kernels = json_object_get(document, "kernels");
  if (!any_search(document)) return;
  p->format->heading(p, 2, "What a search finds far out");
  p->format->open(p, PAGE_PARAGRAPH);
  page_print(
      p, PAGE_TEXT,
      "At positions up to 2^40, as far as its bound reaches and in the table or not, a search looked for elements "
      "where the kernel uses up the most of its bound, and for those whose exact value is nearest to a tie, which "
      "are the hardest to round. What it finds is a sample, so a lower bound");
  if (isfinite(field_number(document, "seed")))
    page_print(p, PAGE_TEXT, "; the seed %.0f finds it again", field_number(document, "seed"));
  page_print(p, PAGE_TEXT, ".");
  p->format->close(p, PAGE_PARAGRAPH);
  page_table(p,
             "Largest error as a share of the bound, and least distance from a tie, over the searches of all tables.",
             columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < json_array_size(kernels); i++) {
    const char *kernel = field_string(json_array_get(kernels, i), "name");
    if (json_is_true(json_object_get(json_array_get(kernels, i), "recipe"))) continue; /* it has no bound to use up */
    const findings found = findings_of(document, kernel);
    if (found.worst) write_findings(p, kernel, &found);
  }
  page_table_end(p);
}
