/* SPDX-License-Identifier: MIT */
#include "reports/report.h"

#include "common/output.h"
#include "records/read.h"
#include "reports/machines.h"
#include "reports/model/compose.h"
#include "reports/model/machines.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <errno.h>
#include <string.h>

/* The data of the files: of one machine, or of several. */
typedef struct report {
  const json_t *record; /* what report.json holds */
  bool brief;
  const record_report *one; /* or null, and its figures */
  const figures *drawn;
  const record_machines *several;
  const machines_figures *machines;
} report;

static bool write_page(const report *r, FILE *stream, const page_format *format) {
  page p = {.format = format, .stream = stream, .brief = r->brief && format == &page_html};
  if (r->one) {
    p.svg = r->drawn->svg;
    write_contents(&p, r->one);
  } else {
    machines_write(&p, r->several, r->machines);
  }
  return !p.failed;
}

/* The figure of all kernels alone, as for a README. */
static bool write_picture(const report *r, FILE *stream, const page_format *format) {
  (void)format;
  plot_standalone(r->drawn->svg[FIGURE_PARETO], stream);
  return true;
}

static bool write_json(const report *r, FILE *stream, const page_format *format) {
  (void)format;
  return json_dumpf(r->record, stream, JSON_COMPACT) == 0 && fputc('\n', stream) != EOF;
}

static const struct {
  const char *name;
  bool (*write)(const report *r, FILE *stream, const page_format *format);
  const page_format *format;
} files[] = {{"index.html", write_page, &page_html},
             {"report.md", write_page, &page_markdown},
             {"report.json", write_json, NULL},
             {"headline.svg", write_picture, NULL}};

enum { FILES = sizeof files / sizeof *files };

/* Without times there is no picture. */
static bool is_wanted(const report *r, size_t file) {
  return files[file].write != write_picture || (r->one && r->drawn->svg[FIGURE_PARETO]);
}

static int fail(const char *directory, const char *name, output *const outputs[FILES]) {
  fprintf(stderr, "posenc: report: cannot write %s/%s: %s\n", directory, name, strerror(errno));
  for (size_t i = 0; i < FILES; i++) output_abandon(outputs[i]);
  return 2;
}

enum { PATH_BYTES = 4096 };

/* False, with errno set, if it is too long. */
static bool path_in(char path[PATH_BYTES], const char *directory, const char *name) {
  errno = ENAMETOOLONG;
  return snprintf(path, PATH_BYTES, "%s/%s", directory, name) < PATH_BYTES;
}

/* Removes the file of an earlier report that this one does not have. */
static bool remove_older(const char *directory, const char *name) {
  char path[PATH_BYTES];
  return path_in(path, directory, name) && (remove(path) == 0 || errno == ENOENT);
}

/* All are on disk before the first is put in its place, so that what can fail has failed by then. */
static int write_files(const char *directory, const report *r) {
  output *outputs[FILES] = {NULL};
  for (size_t i = 0; i < FILES; i++) {
    char path[PATH_BYTES];
    if (!is_wanted(r, i)) continue;
    if (path_in(path, directory, files[i].name)) outputs[i] = output_open(path);
    if (!outputs[i]) return fail(directory, files[i].name, outputs);
  }
  for (size_t i = 0; i < FILES; i++) {
    if (!outputs[i]) continue;
    FILE *stream = output_stream(outputs[i]);
    errno = ENOMEM;
    if (!files[i].write(r, stream, files[i].format) || fflush(stream) != 0 || ferror(stream))
      return fail(directory, files[i].name, outputs);
  }
  for (size_t i = 0; i < FILES; i++) {
    output *pending = outputs[i];
    outputs[i] = NULL;
    if (pending && !output_commit(pending)) return fail(directory, files[i].name, outputs);
    if (!is_wanted(r, i) && !remove_older(directory, files[i].name)) return fail(directory, files[i].name, outputs);
  }
  return 0;
}

static int out_of_memory(void) {
  fputs("posenc: report: out of memory\n", stderr);
  return 2;
}

static int write_report(const char *directory, const record_report *shown, const json_t *record, bool brief) {
  figures drawn;
  if (!figures_make(shown, &drawn)) return 2;
  const int status = write_files(directory, &(report){.record = record, .brief = brief, .one = shown, .drawn = &drawn});
  figures_free(&drawn);
  return status;
}

int report_write(const char *directory, const json_t *accuracy, const json_t *timing, const char *command) {
  record_fault fault;
  const record_accuracy *verified = record_read_accuracy(accuracy, &fault);
  if (!verified) {
    fprintf(stderr, "posenc: report: accuracy record: %s\n", fault.text);
    return 2;
  }
  const record_timing *timed = timing ? record_read_timing(timing, &fault) : NULL;
  int status = 2;
  if (timing && !timed) {
    fprintf(stderr, "posenc: report: timing record: %s\n", fault.text);
  } else {
    json_t *document = document_make(verified, timed, command);
    const record_report *shown = document ? record_take_report(document) : NULL;
    status = shown ? write_report(directory, shown, document, false) : out_of_memory();
    record_free(shown);
    json_decref(document);
  }
  record_free(timed);
  record_free(verified);
  return status;
}

int report_publish(const char *directory, const record_report *shown, const json_t *record) {
  return write_report(directory, shown, record, true);
}

static int write_machines(const char *directory, const json_t *document) {
  machines_figures drawn;
  const record_machines *shown = record_take_machines(document);
  if (!shown) return out_of_memory();
  int status = machines_draw(shown, &drawn) ? 0 : 2;
  if (status == 0) {
    status = write_files(directory, &(report){.record = document, .several = shown, .machines = &drawn});
    machines_free(&drawn);
  }
  if (status == 0) status = machines_failed(shown);
  record_free(shown);
  return status;
}

int report_write_machines(const char *directory, json_t *const *reports, char *const *names, size_t count,
                          const char *const *labels, size_t label_count, const char *command) {
  char why[900];
  json_t *document = machines_make(reports, names, count, labels, label_count, command, why, sizeof why);
  if (!document) {
    fprintf(stderr, "posenc: report: %s\n", why);
    return 2;
  }
  const int status = write_machines(directory, document);
  json_decref(document);
  return status;
}

const char *report_refusal(void) {
  return plot_refusal();
}
