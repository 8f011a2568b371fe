/* SPDX-License-Identifier: MIT */
/*
 * The published report, from its folder.
 *
 *     posenc-published FOLDER            prints README.md's section about it, in Markdown
 *     posenc-published --brief FOLDER    keeps in report.json only what the section needs
 */
#include "common/field.h"
#include "common/output.h"
#include "reports/model/document.h"
#include "reports/page/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the machine ---- */

static void write_machine(page *p, const record_report *report) {
  const json_t *facts = report->environment.timing;
  page_say(p, "Measured on %s (%s cores; %s; last cache %s; load %s), with posenc %s, commit %s, and %s, on %.10s: ",
           field_string(facts, "cpu"), field_string(facts, "cores"), field_string(facts, "isa"),
           words_bytes(strtod(field_string(facts, "l3"), NULL)).text, field_string(facts, "load"),
           field_string(facts, "posenc_version"), field_string(facts, "commit"), field_string(facts, "compiler"),
           field_string(facts, "date"));
  fputs("[the whole report](reports/published/index.html), also [as text](reports/published/report.md). Figures are "
        "medians (least–most) of repetitions in random order; the limit is how fast one thread fills the same memory, "
        "which kernels with several may pass.\n\n",
        p->stream);
}

/* ---- the fastest ---- */

static const struct {
  const char *name, *title;
} budgets[] = {{"half", "½ ulp: correctly rounded"}, {"one", "2^-24, an ulp just below 1"}, {"any", "any"}},
  footprints[] = {{"in cache", "a table in cache"}, {"reference", "the usual table"}, {"largest", "a large table"}};

enum { BUDGETS = sizeof budgets / sizeof *budgets, FOOTPRINTS = sizeof footprints / sizeof *footprints };

/* The answer for a budget, or for any; null if there is none. */
static const record_answer *find_answer(const record_report *report, const char *budget, const char *footprint) {
  RECORD_EACH(answer, report, answer)
    if ((!budget || strcmp(answer->budget, budget) == 0) && strcmp(answer->footprint, footprint) == 0) return answer;
  return NULL;
}

static void write_answer(page *p, const record_report *report, const record_answer *answer) {
  static const record_spread none = {NULL, NAN, NAN, NAN};
  page_cell_begin(p);
  if (answer) {
    const record_row *row = report_row(report_table(report, answer->shape), answer->kernel);
    const record_spread *rate = row ? &row->timing.bytes_per_second : &none;
    page_say(p, CODE("%s") " %s %s", answer->kernel, words_significant(rate->median * 1e-9, 3).text,
             words_range(rate, 1e-9).text);
  }
  page_cell_end(p);
}

static void write_answers(page *p, const record_report *report) {
  page_column_add(p, false, "maximum error");
  for (int i = 0; i < FOOTPRINTS; i++) {
    const record_answer *answer = find_answer(report, NULL, footprints[i].name);
    const record_table *table = answer ? report_table(report, answer->shape) : NULL;
    page_column_add(p, false, "%s: %s", footprints[i].title, table ? words_size(table).text : "–");
  }
  page_table(p, "The fastest f32 kernels, in GB/s, by maximum error.", NULL, 0);
  for (int b = 0; b < BUDGETS; b++) {
    page_cell(p, "%s", budgets[b].title);
    for (int i = 0; i < FOOTPRINTS; i++)
      write_answer(p, report, find_answer(report, budgets[b].name, footprints[i].name));
  }
  page_table_end(p);
}

/* ---- all kernels ---- */

static int faster(const void *a, const void *b) {
  const record_row *const *one = a, *const *other = b;
  const double x = (*one)->timing.ns_per_element.median, y = (*other)->timing.ns_per_element.median;
  return (x > y) - (x < y);
}

static void cell_spread(page *p, const record_spread *spread, double scale) {
  page_cell(p, "%s %s", words_significant(spread->median * scale, 3).text, words_range(spread, scale).text);
}

static void write_row(page *p, const record_row *row) {
  page_cell(p, CODE("%s"), row->kernel);
  page_cell_number(p, row->max_abs.abs, 3);
  page_cell_count(p, (double)row->misrounded);
  cell_spread(p, &row->timing.ns_per_element, 1);
  cell_spread(p, &row->timing.bytes_per_second, 1e-9);
  cell_spread(p, &row->timing.of_limit, 100);
}

/* Rows that were timed and looked at in full, the fastest first. */
static bool write_kernels(page *p, const record_report *report) {
  static const page_column columns[] = {{"kernel", false},    {"largest error", true}, {"misrounded", true},
                                        {"ns/element", true}, {"GB/s", true},          {"% of limit", true}};
  const record_headline *headline = &report->headline;
  const record_table *table = report_table(report, headline->shape);
  const record_row **sorted = calloc(headline->rows_count + 1, sizeof *sorted);
  size_t count = 0;
  if (!sorted) return false;
  RECORD_EACH(row, headline, rows)
    if (isfinite(row->timing.ns_per_element.median) && strcmp(row->mode, "exhaustive") == 0) sorted[count++] = row;
  if (table && count > 0) {
    char caption[400];
    qsort(sorted, count, sizeof *sorted, faster);
    snprintf(caption, sizeof caption, "All kernels on the usual table, %s; errors of all %s elements.",
             words_size(table).text, words_integer(sorted[0]->of).text);
    page_table(p, caption, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < count; i++) write_row(p, sorted[i]);
    page_table_end(p);
  }
  free(sorted);
  return table && count > 0;
}

static int print_section(const record_report *report, const char *folder) {
  char plot[4096];
  page p = {.format = &page_markdown, .stream = stdout};
  write_machine(&p, report);
  if (report->answer_count > 0) write_answers(&p, report);
  if (snprintf(plot, sizeof plot, "%s/headline.svg", folder) < (int)sizeof plot && access(plot, R_OK) == 0)
    puts("![Largest error of each kernel against the time that it takes](reports/published/headline.svg)\n");
  const bool done = write_kernels(&p, report);
  if (!done) fprintf(stderr, "posenc-published: %s: no kernel was timed and looked at in full\n", folder);
  return done && !p.failed && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}

/* ---- the brief report ---- */

/* The shapes that the section is about. */
static bool is_shown(const record_report *report, const char *shape) {
  bool shown = strcmp(report->headline.shape, shape) == 0;
  RECORD_EACH(answer, report, answer) shown = shown || strcmp(answer->shape, shape) == 0;
  return shown;
}

/* A copy with those members alone that the section needs, at every depth. Null when memory runs out. */
static json_t *needed_of(const json_t *value) {
  static const char keys[] = " schema environment timing cpu cores isa l3 load posenc_version commit compiler date "
                             "answer budget footprint kernel"
                             " shape shapes headline rows mode of max_abs abs misrounded ns_per_element "
                             "bytes_per_second of_limit median min max"
                             " name dim bytes ";
  json_t *copy = json_is_object(value) ? json_object() : json_is_array(value) ? json_array() : json_deep_copy(value);
  const char *key;
  json_t *member;
  json_object_foreach((json_t *)value, key, member) {
    char word[64];
    snprintf(word, sizeof word, " %.60s ", key);
    if (strstr(keys, word)) json_object_set_new(copy, key, needed_of(member));
  }
  for (size_t i = 0; i < json_array_size(value); i++) json_array_append_new(copy, needed_of(json_array_get(value, i)));
  return copy;
}

/* Replaces the report of that path. */
static int make_brief(const record_report *report, const char *path) {
  json_t *record = needed_of(report->json), *shapes = json_array();
  RECORD_EACH(table, report, shapes)
    if (is_shown(report, table->shape.name)) json_array_append_new(shapes, needed_of(table->json));
  json_object_set_new(record, "schema", json_string("posenc-published-1"));
  json_object_set_new(record, "shapes", shapes);
  output *out = output_open(path);
  const bool done = out && json_dumpf(record, output_stream(out), JSON_COMPACT) == 0 &&
                    fputc('\n', output_stream(out)) != EOF && output_commit(out);
  if (!done) fprintf(stderr, "posenc-published: %s: %s\n", path, strerror(errno));
  json_decref(record);
  return done ? 0 : 2;
}

int main(int argc, char **argv) {
  const bool brief = argc == 3 && strcmp(argv[1], "--brief") == 0;
  const char *folder = argv[argc - 1];
  char path[4096];
  json_error_t error;
  if (argc != 2 && !brief) {
    fputs("Usage: posenc-published [--brief] FOLDER\n", stderr);
    return 2;
  }
  if (snprintf(path, sizeof path, "%s/report.json", folder) >= (int)sizeof path) {
    fprintf(stderr, "posenc-published: %s: the name is too long\n", folder);
    return 2;
  }
  json_t *document = json_load_file(path, 0, &error);
  if (!document) {
    fprintf(stderr, "posenc-published: %s: %s\n", path, error.text);
    return 2;
  }
  const record_report *report = record_take_report(document);
  if (!report) fputs("posenc-published: out of memory\n", stderr);
  const int status = !report ? 2 : brief ? make_brief(report, path) : print_section(report, folder);
  record_free(report);
  json_decref(document);
  return status;
}
