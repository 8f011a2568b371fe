/* SPDX-License-Identifier: MIT */
/* The search for the worst case, far beyond what tables hold. */
#include "common/field.h"
#include "reports/page/words.h"
#include "reports/sections/sections.h"

/* The findings of the searches from several tables, for one kernel. */
typedef struct findings {
  double elements, reach;
  double share, from_tie;            /* largest of the bound, least in ulp */
  const json_t *worst, *worst_table; /* the element of that share, and its table */
  const json_t *nearest, *nearest_table;
} findings;

/* A NaN, as of a kernel that writes such, is worse than any number. */
static bool is_worse(double share, double known) {
  return !(share <= known);
}

static void add_row(findings *found, const json_t *row, const json_t *table) {
  const json_t *search = json_object_get(row, "search");
  const json_t *check = field_find(json_object_get(row, "checks"), "property", "search");
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
    const json_t *table = json_array_get(tables, i);
    add_row(&found, field_find(json_object_get(table, "rows"), "kernel", kernel), json_object_get(table, "shape"));
  }
  return found;
}

/* "p = 270 265 104 270, i = 63, cos of ddpm-timesteps" */
static void cell_place(page *p, const json_t *witness, const json_t *table) {
  page_cell(p, "p = %s, " SMALL("i = %s, %s of %s"), words_count(field_number(witness, "position")).text,
            words_count(field_number(witness, "index")).text, field_string(witness, "function"),
            field_string(table, "name"));
}

/* "0.2640"; where that would be 1.000, "1 − 2.6e-11". */
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
  page_cell_number(p, found->from_tie, 3);
  cell_place(p, found->nearest, found->nearest_table);
}

static bool any_search(const json_t *document) {
  const json_t *kernels = json_object_get(document, "kernels");
  for (size_t i = 0; i < json_array_size(kernels); i++)
    if (findings_of(document, field_string(json_array_get(kernels, i), "name")).worst) return true;
  return false;
}

void write_far(page *p, const json_t *document) {
  static const page_column columns[] = {{"kernel", false},        {"elements", true}, {"to position", true},
                                        {"of its bound", true},   {"at", false},      {"from a tie, ulp", true},
                                        {"nearest to one", false}};
  const json_t *kernels = json_object_get(document, "kernels");
  const double seed = field_number(document, "seed");
  if (!any_search(document)) return;
  page_section(p, "Adversarial search");
  page_open(p, PAGE_PARAGRAPH);
  page_say(
      p, "A search at positions up to 2^40, as far as the bound holds and in the table or not, for elements where the "
         "kernel uses the largest share of its bound, and for those whose exact value is nearest to a tie, which are "
         "the hardest to round. Its findings are a sample, so lower bounds");
  if (isfinite(seed)) page_say(p, "; the seed %.0f finds it again", seed);
  page_say(p, ".");
  page_close(p, PAGE_PARAGRAPH);
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
