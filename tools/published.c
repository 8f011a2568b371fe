/* SPDX-License-Identifier: MIT */
/*
 * Prints a section about the published report, or shortens the report, in its folder.
 *
 *     posenc-published FOLDER            prints README.md's section about it, in Markdown
 *     posenc-published --brief FOLDER    keeps in report.json only what the section needs
 */
#include "common/field.h"
#include "common/output.h"
#include "reports/model/answer.h"
#include "reports/model/document.h"
#include "reports/page/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the section ---- */

static void write_machine(page *p, const record_report *report, const record_table *table) {
  const json_t *facts = report->environment.timing;
  page_say(p,
           "The table of %s, f32, on %s with %s processors, of which other processes used %s %%; %.10s, posenc %s, "
           "commit %s. ",
           words_size(table).text, field_string(facts, "cpu"), field_string(facts, "cores"),
           words_significant(100 * report->stability.others, 2).text, field_string(facts, "date"),
           field_string(facts, "posenc_version"), field_string(facts, "commit"));
  fputs("[The whole report](reports/published/report.md) has all kernels, other tables and states of memory, and the "
        "method; `make publish` makes it as a page, too.\n\n",
        p->stream);
}

static void write_use(page *p, const record_report *report, const record_table *table, answer_use n) {
  static const char *const titles[USES] = {"posenc, one thread", "posenc, all threads",
                                           "another library's vector sines, the fastest",
                                           "a framework's formula with the C library's sines, the fastest"};
  const record_use *use = answer_find_use(report, n);
  const record_kernel *kernel = use ? report_kernel(report, use->kernel) : NULL;
  const record_row *row = use ? report_row(table, use->kernel) : NULL;
  if (!kernel || !row) return;
  const record_spread *ns = &row->timing.ns_per_element;
  const double elements = table->shape.rows * table->shape.dim * 1e-9;
  page_cell(p, "%s: " CODE("%s"), titles[n], use->kernel);
  page_cell(p, STRONG("%s") "%s (%s–%s)", words_duration(ns->median * elements).text, words_mark(ns),
            words_duration(ns->min * elements).text, words_duration(ns->max * elements).text);
  page_cell(p, "%s%s", words_significant(row->max_abs.abs, 3).text, answer_promises[answer_class(kernel, table)]);
  page_cell_begin(p);
  if (use->speed_up.there)
    page_say(p, STRONG("%s times") " %s", words_significant(use->speed_up.estimate, 3).text,
             words_interval(&use->speed_up).text);
  page_cell_end(p);
}

static int print_section(const record_report *report, const char *folder) {
  static const page_column columns[] = {{"", false}, {"time", true}, {"largest error", true}, {"as fast", true}};
  const record_table *table = report_table(report, report->headline.shape);
  page p = {.format = &page_markdown, .stream = stdout};
  if (!table || !answer_find_use(report, USE_DEFAULT)) {
    fprintf(stderr, "posenc-published: %s: the library's choice was not timed\n", folder);
    return 2;
  }
  write_machine(&p, report, table);
  page_table(&p, "Times are medians (least–most), in memory that is in use.", columns,
             sizeof columns / sizeof *columns);
  for (answer_use use = USE_DEFAULT; use < USES; use++) write_use(&p, report, table, use);
  page_table_end(&p);
  puts("![Time per element of the fastest kernels, coloured by their errors](reports/published/bars.svg)\n");
  return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 2;
}

/* ---- the brief report ---- */

/* Returns a copy with only the members that the section needs, at every depth. */
static json_t *needed_of(const json_t *value) {
  static const char keys[] =
      " schema environment timing cpu cores date posenc_version commit stability others uses use speed_up "
      "estimate low high headline kernels bound ulp abs growth max_position derived shape shapes "
      "name rows dim first dtype bytes kernel max_abs ns_per_element median min max ";
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

/* Replaces the report at that path by the brief one. Returns the exit status. */
static int make_brief(const record_report *report, const char *path) {
  json_t *record = needed_of(report->json), *shapes = json_array();
  RECORD_EACH(table, report, shapes)
    if (strcmp(report->headline.shape, table->shape.name) == 0) json_array_append_new(shapes, needed_of(table->json));
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
  const int status = brief ? make_brief(report, path) : print_section(report, folder);
  record_free(report);
  json_decref(document);
  return status;
}
