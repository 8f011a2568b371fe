/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/report.h"

#include "common/output.h"
#include "records/record.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- files ---- */

/* The data of the files, for one machine or several. */
typedef struct report {
  const record_report *one; /* null for several machines */
  const figures *drawn;
  const record_machines *several;
  const machines_figures *machines;
} report;

static void write_json(const report *r, FILE *stream) {
  char *text = record_text(r->one ? record_write_report(r->one) : record_write_machines(r->several));
  fprintf(stream, "%s\n", text);
  free(text);
}

/* The files, in this order: pages and data, the record, and each figure by itself. */
typedef void page_writer(page *p, const record_report *of);

static void write_first(page *p, const record_report *of) {
  write_contents(p, of, CONTENTS_FIRST);
}

static void write_details(page *p, const record_report *of) {
  write_contents(p, of, CONTENTS_DETAILS);
}

static void write_all(page *p, const record_report *of) {
  write_contents(p, of, CONTENTS_ALL);
}

static const struct {
  const char *name;
  const page_format *format;
  page_writer *write;
  bool of_several; /* there is one for several machines, too */
} pages[] = {
    {"index.html", &page_html, write_first, true},           {"details.html", &page_html, write_details, false},
    {"report.md", &page_markdown, write_all, true},          {"times.csv", &page_csv, data_times, false},
    {"accuracy.csv", &page_csv, data_accuracy, false},       {"positions.csv", &page_csv, data_positions, false},
    {"frequencies.csv", &page_csv, data_frequencies, false}, {"histogram.csv", &page_csv, data_histogram, false}};

enum { PAGES = sizeof pages / sizeof *pages, RECORD = PAGES, PICTURES, FILES = PICTURES + FIGURES };

static void write_page(const report *r, FILE *stream, size_t number) {
  page p = {.format = pages[number].format, .stream = stream, .made = (int64_t)time(NULL)};
  if (r->one) {
    p.svg = r->drawn->svg;
    pages[number].write(&p, r->one);
  } else {
    machines_write(&p, r->several, r->machines);
  }
}

typedef struct file_name {
  char text[40];
} file_name;

static file_name name_of(size_t file) {
  file_name name;
  if (file >= PICTURES)
    snprintf(name.text, sizeof name.text, "%s.svg", figure_names[file - PICTURES]);
  else
    snprintf(name.text, sizeof name.text, "%s", file == RECORD ? "report.json" : pages[file].name);
  return name;
}

/* Whether the file is written. Several machines have one page, and figures on it alone. */
static bool is_wanted(const report *r, size_t file) {
  if (file >= PICTURES) return r->one && r->drawn->svg[file - PICTURES];
  return r->one || file == RECORD || pages[file].of_several;
}

/* Writes a file. Errors stay in the stream. */
static void write_file(const report *r, FILE *stream, size_t file) {
  if (file < PAGES)
    write_page(r, stream, file);
  else if (file == RECORD)
    write_json(r, stream);
  else
    plot_standalone(r->drawn->svg[file - PICTURES], stream);
}

static int fail(const char *directory, const char *name, output *const outputs[FILES]) {
  fprintf(stderr, "posenc report: cannot write %s/%s: %s\n", directory, name, strerror(errno));
  for (size_t i = 0; i < FILES; i++) output_abandon(outputs[i]);
  return 2;
}

enum { PATH_BYTES = 4096 };

/* Makes a path. Returns false, with errno set, if it is too long. */
static bool path_in(char path[PATH_BYTES], const char *directory, const char *name) {
  errno = ENAMETOOLONG;
  return snprintf(path, PATH_BYTES, "%s/%s", directory, name) < PATH_BYTES;
}

/* Removes a file of an earlier report that this report does not have. */
static bool remove_older(const char *directory, const char *name) {
  char path[PATH_BYTES];
  return path_in(path, directory, name) && (remove(path) == 0 || errno == ENOENT);
}

/* Writes all files before the first one is renamed to its final name, so that a full disk leaves the old report
   unchanged. */
static int write_files(const char *directory, const report *r) {
  output *outputs[FILES] = {NULL};
  for (size_t i = 0; i < FILES; i++) {
    char path[PATH_BYTES];
    if (!is_wanted(r, i)) continue;
    if (path_in(path, directory, name_of(i).text)) outputs[i] = output_open(path);
    if (!outputs[i]) return fail(directory, name_of(i).text, outputs);
  }
  for (size_t i = 0; i < FILES; i++) {
    if (!outputs[i]) continue;
    FILE *stream = output_stream(outputs[i]);
    write_file(r, stream, i);
    if (fflush(stream) != 0 || ferror(stream)) return fail(directory, name_of(i).text, outputs);
  }
  for (size_t i = 0; i < FILES; i++) {
    output *pending = outputs[i];
    outputs[i] = NULL;
    if (pending && !output_commit(pending)) return fail(directory, name_of(i).text, outputs);
    if (!is_wanted(r, i) && !remove_older(directory, name_of(i).text)) return fail(directory, name_of(i).text, outputs);
  }
  return 0;
}

static int write_report(const char *directory, const record_report *shown) {
  figures drawn;
  if (!figures_make(shown, &drawn)) return 2;
  const int status = write_files(directory, &(report){.one = shown, .drawn = &drawn});
  figures_free(&drawn);
  return status;
}

int report_write(const char *directory, const record_accuracy *accuracy, const record_timing *timing,
                 const front_inputs *front, const char *command) {
  document made;
  document_make(&made, accuracy, timing, command);
  front_add(&made.of, front, &made.memory);
  const int status = write_report(directory, &made.of);
  document_free(&made);
  return status;
}

static int write_machines(const char *directory, const record_machines *shown) {
  machines_figures drawn;
  int status = machines_draw(shown, &drawn) ? 0 : 2;
  if (status == 0) {
    status = write_files(directory, &(report){.several = shown, .machines = &drawn});
    machines_free(&drawn);
  }
  return status == 0 ? machines_failed(shown) : status;
}

int report_write_machines(const char *directory, const machines_inputs *given) {
  char why[900];
  record_memory memory = {NULL};
  record_machines made;
  const bool is_made = machines_make(&made, given, &memory, why, sizeof why);
  if (!is_made) fprintf(stderr, "posenc report: %s\n", why);
  const int status = is_made ? write_machines(directory, &made) : 2;
  record_release(&memory);
  return status;
}

const char *report_refusal(void) {
  return plot_refusal();
}
