/* SPDX-License-Identifier: MIT */
/* The README's section about a published report, in Markdown, from the report's folder. */
#include "common/field.h"
#include "reports/model/document.h"
#include "reports/page/page.h"
#include "reports/page/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* "43.0 (41.2–44.1)": a figure has its uncertainty. */
static void say_spread(page *p, const json_t *spread, double scale) {
  page_print(p, PAGE_TEXT, "%s (%s–%s)", words_significant(field_number(spread, "median") * scale, 3).text,
             words_significant(field_number(spread, "min") * scale, 3).text,
             words_significant(field_number(spread, "max") * scale, 3).text);
}

static void cell_spread(page *p, const json_t *spread, double scale) {
  page_cell(p);
  say_spread(p, spread, scale);
  page_cell_end(p);
}

typedef struct title {
  char text[400];
} title;

/* "5 000 × 512, 9.8 MiB" */
static title size_of(const json_t *table) {
  const json_t *described = json_object_get(table, "shape");
  title size;
  snprintf(size.text, sizeof size.text, "%s × %s, %s", words_count(field_number(described, "rows")).text,
           words_count(field_number(described, "dim")).text, words_bytes(field_number(table, "bytes")).text);
  return size;
}

/* ---- whose figures they are ---- */

static void write_machine(page *p, const json_t *document) {
  const json_t *facts = json_object_get(json_object_get(document, "environment"), "timing");
  page_print(p, PAGE_TEXT,
             "Measured on %s (%s cores; %s; last cache %s; load %s), with posenc %s, commit %s, and %s, on %.10s: ",
             field_string(facts, "cpu"), field_string(facts, "cores"), field_string(facts, "isa"),
             words_bytes(strtod(field_string(facts, "l3"), NULL)).text, field_string(facts, "load"),
             field_string(facts, "posenc_version"), field_string(facts, "commit"), field_string(facts, "compiler"),
             field_string(facts, "date"));
  fputs("[the whole report](reports/published/index.html), also [as text](reports/published/report.md). Figures are "
        "medians "
        "(least–most) of repetitions in random order; the limit is how fast one thread fills the same memory, which "
        "kernels "
        "with several may pass.\n\n",
        p->stream);
}

/* ---- which kernel to take ---- */

static const struct {
  const char *name, *title;
} budgets[] = {{"half", "½ ulp: correctly rounded"}, {"one", "an ulp just below 1: 2^-24"}, {"any", "whatever"}},
  footprints[] = {{"in cache", "a table in cache"}, {"reference", "the usual table"}, {"largest", "a large table"}};

enum { BUDGETS = sizeof budgets / sizeof *budgets, FOOTPRINTS = sizeof footprints / sizeof *footprints };

static const json_t *find_answer(const json_t *document, const char *budget, const char *footprint) {
  const json_t *answers = json_object_get(document, "answer");
  for (size_t i = 0; i < json_array_size(answers); i++) {
    const json_t *answer = json_array_get(answers, i);
    if (strcmp(field_string(answer, "budget"), budget) == 0 &&
        strcmp(field_string(answer, "footprint"), footprint) == 0)
      return answer;
  }
  return NULL;
}

/* Which table was asked about: that of any answer. */
static const json_t *table_of(const json_t *document, const char *footprint) {
  const json_t *answer = NULL;
  for (int b = 0; !answer && b < BUDGETS; b++) answer = find_answer(document, budgets[b].name, footprint);
  return document_shape(document, field_string(answer, "shape"));
}

static void write_answer(page *p, const json_t *document, const json_t *answer) {
  const json_t *table = document_shape(document, field_string(answer, "shape"));
  const char *kernel = field_string(answer, "kernel");
  page_cell(p);
  if (answer) {
    p->format->run(p, PAGE_CODE, kernel);
    page_say(p, " ");
    say_spread(p, json_object_get(json_object_get(document_row(table, kernel), "timing"), "bytes_per_second"), 1e-9);
  }
  page_cell_end(p);
}

static void write_answers(page *p, const json_t *document) {
  struct {
    char text[800];
  } titles[FOOTPRINTS];
  page_column columns[1 + FOOTPRINTS] = {{"wrong by at most", false}};
  for (int i = 0; i < FOOTPRINTS; i++) {
    const json_t *table = table_of(document, footprints[i].name);
    snprintf(titles[i].text, sizeof titles[i].text, "%s: %s", footprints[i].title, table ? size_of(table).text : "–");
    columns[1 + i] = (page_column){titles[i].text, false};
  }
  page_table(p, "The fastest kernels of f32, in GB/s, by how wrong an element may be.", columns, 1 + FOOTPRINTS);
  for (int b = 0; b < BUDGETS; b++) {
    page_cell_run(p, PAGE_TEXT, budgets[b].title);
    for (int i = 0; i < FOOTPRINTS; i++)
      write_answer(p, document, find_answer(document, budgets[b].name, footprints[i].name));
  }
  page_table_end(p);
}

/* ---- all kernels ---- */

static double median_of(const json_t *row) {
  return field_number(json_object_get(json_object_get(row, "timing"), "ns_per_element"), "median");
}

static int faster(const void *a, const void *b) {
  const double x = median_of(*(const json_t *const *)a), y = median_of(*(const json_t *const *)b);
  return (x > y) - (x < y);
}

static void write_row(page *p, const json_t *row) {
  const json_t *timing = json_object_get(row, "timing");
  page_cell_run(p, PAGE_CODE, field_string(row, "kernel"));
  page_cell_run(p, PAGE_TEXT, words_significant(field_number(json_object_get(row, "max_abs"), "abs"), 3).text);
  page_cell_run(p, PAGE_TEXT, words_count(field_number(row, "misrounded")).text);
  cell_spread(p, json_object_get(timing, "ns_per_element"), 1);
  cell_spread(p, json_object_get(timing, "bytes_per_second"), 1e-9);
  cell_spread(p, json_object_get(timing, "of_limit"), 100);
}

/* Of all rows, those that were timed and looked at in full, the fastest first. */
static bool write_kernels(page *p, const json_t *document) {
  static const page_column columns[] = {{"kernel", false},    {"largest error", true}, {"misrounded", true},
                                        {"ns/element", true}, {"GB/s", true},          {"% of limit", true}};
  const json_t *headline = json_object_get(document, "headline"), *rows = json_object_get(headline, "rows");
  const json_t *table = document_shape(document, field_string(headline, "shape"));
  const json_t **sorted = calloc(json_array_size(rows) + 1, sizeof *sorted);
  size_t count = 0;
  if (!sorted) return false;
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (isfinite(median_of(row)) && strcmp(field_string(row, "mode"), "exhaustive") == 0) sorted[count++] = row;
  }
  if (count > 0) qsort(sorted, count, sizeof *sorted, faster);
  char caption[800];
  snprintf(caption, sizeof caption, "All kernels on the usual table, %s; errors of all %s elements.",
           size_of(table).text, words_count(field_number(count > 0 ? sorted[0] : NULL, "of")).text);
  page_table(p, caption, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < count; i++) write_row(p, sorted[i]);
  page_table_end(p);
  free(sorted);
  return count > 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fputs("Usage: posenc-published FOLDER\n", stderr);
    return 2;
  }
  char path[4096], plot[4096];
  json_error_t error;
  if (snprintf(path, sizeof path, "%s/report.json", argv[1]) >= (int)sizeof path ||
      snprintf(plot, sizeof plot, "%s/headline.svg", argv[1]) >= (int)sizeof plot) {
    fprintf(stderr, "posenc-published: %s: the name is too long\n", argv[1]);
    return 2;
  }
  json_t *document = json_load_file(path, 0, &error);
  if (!document) {
    fprintf(stderr, "posenc-published: %s: %s\n", path, error.text);
    return 2;
  }
  page p = {.format = &page_markdown, .stream = stdout};
  write_machine(&p, document);
  if (json_array_size(json_object_get(document, "answer")) > 0) write_answers(&p, document);
  if (access(plot, R_OK) == 0)
    puts("![Largest error of each kernel against the time that it takes](reports/published/headline.svg)\n");
  const bool done = write_kernels(&p, document);
  json_decref(document);
  if (!done) fprintf(stderr, "posenc-published: %s: no kernel was timed and looked at in full\n", path);
  return done && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}
