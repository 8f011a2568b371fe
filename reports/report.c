/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "reports/report.h"

#include "common/number.h"
#include "common/output.h"
#include "records/record.h"
#include "reports/model/document.h"
#include "reports/page/plot.h"
#include "reports/sections/sections.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- data: comma-separated values ---- */

/* Writes a field, after a comma unless it is the first of a line. */
static void text(FILE *out, const char *value) {
  if (!strpbrk(value, ",\"\n\r")) {
    fputs(value, out);
    return;
  }
  fputc('"', out);
  for (; *value; value++) {
    if (*value == '"') fputc('"', out);
    fputc(*value, out);
  }
  fputc('"', out);
}

static void next_text(FILE *out, const char *value) {
  fputc(',', out);
  text(out, value);
}

static void number(FILE *out, double value) {
  fputc(',', out);
  if (!isnan(value)) fprintf(out, "%.9g", value);
}

static void integer(FILE *out, int64_t value) {
  fputc(',', out);
  if (value != RECORD_NONE) fprintf(out, "%" PRId64, value);
}

/* ---- data: times ---- */

static void spread(FILE *out, const record_spread *of) {
  number(out, of->median);
  number(out, of->min);
  number(out, of->max);
}

static void state_csv(FILE *out, const char *state, const record_table *tables, size_t count) {
  for (const record_table *table = tables; table < tables + count; table++)
    RECORD_EACH(row, table, rows) {
      if (!row->timing.there) continue;
      text(out, state);
      next_text(out, table->shape.name);
      number(out, table->shape.rows);
      number(out, table->shape.dim);
      number(out, table->bytes);
      next_text(out, row->kernel);
      integer(out, row->timing.repetitions);
      spread(out, &row->timing.ns_per_element);
      spread(out, &row->timing.bytes_per_second);
      spread(out, &row->timing.of_limit);
      spread(out, &row->timing.plan_ns);
      fputc('\n', out);
    }
}

static void times_csv(const record_report *report, FILE *out) {
  fputs("state,shape,rows,dim,bytes,kernel,repetitions,ns_per_element,ns_per_element_least,ns_per_element_most,"
        "bytes_per_second,bytes_per_second_least,bytes_per_second_most,of_limit,of_limit_least,of_limit_most,"
        "plan_ns,plan_ns_least,plan_ns_most\n",
        out);
  state_csv(out, "hot", report->shapes, report->shapes_count);
#define STATE(name) state_csv(out, #name, report->name, report->name##_count);
  REPORT_STATES(STATE)
#undef STATE
}

/* ---- data: errors ---- */

/* Writes the element with the largest error in ulp, the largest absolute error, or the largest share of the bound. */
static void write_worst(FILE *out, const record_table *table, const record_row *row, const char *worst_in,
                        const record_witness *worst) {
  if (!worst->there || isnan(worst->position.part)) return;
  text(out, table->shape.name);
  next_text(out, row->kernel);
  next_text(out, row->mode);
  integer(out, row->elements);
  integer(out, row->of);
  integer(out, row->misrounded);
  number(out, row->mean_ulp);
  next_text(out, worst_in);
  number(out, worst->ulp);
  number(out, worst->abs);
  next_text(out, record_number_text(worst->position).text);
  integer(out, worst->head);
  integer(out, worst->index);
  next_text(out, worst->function);
  next_text(out, worst->got);
  next_text(out, worst->exact);
  next_text(out, *worst->replay ? worst->replay : row->replay);
  fputc('\n', out);
}

static void write_worsts(FILE *out, const record_table *tables, size_t count) {
  for (const record_table *table = tables; table < tables + count; table++)
    RECORD_EACH(row, table, rows) {
      write_worst(out, table, row, "ulp", &row->max_ulp);
      write_worst(out, table, row, "abs", &row->max_abs);
      write_worst(out, table, row, "bound", &row->worst);
    }
}

static void accuracy_csv(const record_report *report, FILE *out) {
  fputs("shape,kernel,mode,elements,of,misrounded,mean_ulp,worst_in,ulp,abs,position,head,index,function,got,exact,"
        "replay\n",
        out);
  write_worsts(out, report->shapes, report->shapes_count);
  write_worsts(out, report->cases, report->cases_count);
}

static void positions_csv(const record_report *report, FILE *out) {
  fputs("kernel,position,rows,max_abs,relative,frequency,phase,trig,store\n", out);
  RECORD_EACH(profile, report, profile)
    RECORD_EACH(point, profile, points) {
      const record_parts none = {.frequency = NAN, .phase = NAN, .trig = NAN, .store = NAN},
                         *parts = point->parts.there ? &point->parts : &none;
      text(out, profile->kernel);
      integer(out, point->position);
      integer(out, point->rows);
      number(out, point->max_abs);
      number(out, point->relative);
      number(out, parts->frequency);
      number(out, parts->phase);
      number(out, parts->trig);
      number(out, parts->store);
      fputc('\n', out);
    }
}

static void frequencies_csv(const record_report *report, FILE *out) {
  fputs("kernel,index,max_abs,position\n", out);
  RECORD_EACH(profile, report, profile)
    RECORD_EACH(column, profile, columns) {
      text(out, profile->kernel);
      integer(out, column->index);
      number(out, column->max_abs);
      integer(out, column->position);
      fputc('\n', out);
    }
}

static void histogram_csv(const record_report *report, FILE *out) {
  const record_headline *headline = &report->headline;
  fputs("kernel,below_ulp,elements\n", out);
  RECORD_EACH(row, headline, rows)
    RECORD_EACH(bin, row, histogram) { /* the last bin has no end */
      text(out, row->kernel);
      number(out, bin->below);
      integer(out, bin->count);
      fputc('\n', out);
    }
}

/* The data of the figures and tables, with a line of names first. Unknown numbers are empty. */
static const struct {
  const char *name;
  void (*write)(const record_report *report, FILE *stream);
} csv_files[] = {{"times.csv", times_csv},
                 {"accuracy.csv", accuracy_csv},
                 {"positions.csv", positions_csv},
                 {"frequencies.csv", frequencies_csv},
                 {"histogram.csv", histogram_csv}};

enum { CSV_FILES = sizeof csv_files / sizeof *csv_files };

/* ---- files ---- */

/* The data of the files, for one machine or several. */
typedef struct report {
  const record_report *one; /* null for several machines */
  const figures *drawn;
  const record_machines *several;
  const machines_figures *machines;
} report;

static void write_page(const report *r, FILE *stream, const page_format *format, contents wanted) {
  page p = {.format = format, .stream = stream, .made = (int64_t)time(NULL)};
  if (r->one) {
    p.svg = r->drawn->svg;
    write_contents(&p, r->one, wanted);
  } else {
    machines_write(&p, r->several, r->machines);
  }
}

static void write_json(const report *r, FILE *stream) {
  char *text = record_text(r->one ? record_write_report(r->one) : record_write_machines(r->several));
  fprintf(stream, "%s\n", text);
  free(text);
}

/* The files, in this order: pages, data, the record, and each figure by itself. */
enum { PAGES = 3, RECORD = PAGES + CSV_FILES, PICTURES, FILES = PICTURES + FIGURES };

static const struct {
  const char *name;
  const page_format *format;
  contents wanted;
} pages[PAGES] = {{"index.html", &page_html, CONTENTS_FIRST},
                  {"details.html", &page_html, CONTENTS_DETAILS},
                  {"report.md", &page_markdown, CONTENTS_ALL}};

typedef struct file_name {
  char text[40];
} file_name;

static file_name name_of(size_t file) {
  file_name name;
  const bool is_picture = file >= PICTURES;
  snprintf(name.text, sizeof name.text, "%s%s",
           is_picture       ? figure_names[file - PICTURES]
           : file == RECORD ? "report.json"
           : file >= PAGES  ? csv_files[file - PAGES].name
                            : pages[file].name,
           is_picture ? ".svg" : "");
  return name;
}

/* Whether the file is written. Several machines have one page, and figures on it alone. */
static bool is_wanted(const report *r, size_t file) {
  if (file >= PICTURES) return r->one && r->drawn->svg[file - PICTURES];
  return r->one || file == RECORD || (file < PAGES && pages[file].wanted != CONTENTS_DETAILS);
}

/* Writes a file. Errors stay in the stream. */
static void write_file(const report *r, FILE *stream, size_t file) {
  if (file < PAGES)
    write_page(r, stream, pages[file].format, pages[file].wanted);
  else if (file == RECORD)
    write_json(r, stream);
  else if (file < RECORD)
    csv_files[file - PAGES].write(r->one, stream);
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
