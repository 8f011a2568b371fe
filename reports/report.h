/* SPDX-License-Identifier: MIT */
/* Makes the pages of a report from an accuracy record and a timing record, or one page from the reports of several
   machines. */
#ifndef POSENC_REPORTS_REPORT_H
#define POSENC_REPORTS_REPORT_H

#include "records/record.h"
#include "reports/model/document.h"
#include "reports/page/page.h"

#include <stdbool.h>
#include <stdio.h>

/*
 * Writes index.html and details.html (each self-contained), report.md, report.json, the data as CSV and each figure as
 * SVG into `directory`, which exists. `accuracy` and `timing`, or null, are of verify_run and bench_run, or of
 * record_read_…. `front` is what stands beside them on the first page. `command` is the command line that reproduces
 * the report. Returns 0 on success, and 2 on an error already printed to stderr; then no file has been changed.
 */
int report_write(const char *directory, const record_accuracy *accuracy, const record_timing *timing,
                 const front_inputs *front, const char *command);

/* Writes one page of several machines, from the report.json of each. Returns as report_write, or 1 if a check on the
   page failed. */
int report_write_machines(const char *directory, const machines_inputs *given);

/* Returns null if plots can be made here, else what is missing. */
const char *report_refusal(void);

/* ---- histories ------------------------------------------------------------------------------------------- */

/* Writes what posenc history found as a page, with a picture of each series. */

/* Write the page: as Markdown, the changes alone; as HTML, also the pictures, which needs gnuplot (report_refusal).
   Returns false on an error already printed to stderr, with nothing written. */
void history_write_markdown(const record_history *found, FILE *stream);
bool history_write_html(const record_history *found, FILE *stream);

/* ---- the page of several machines ------------------------------------------------------------------------ */

/* Writes the page of several machines, see reports/model/document.h. */

/* Whether a check failed, on one machine or in the comparison of two. */
bool machines_failed(const record_machines *record);

/* Figures with shares of the limit by kernel and machine, for each footprint of "fastest"; null if there is none. */
enum { MACHINES_FIGURES = 3 };
typedef struct machines_figures {
  char *svg[MACHINES_FIGURES];
} machines_figures;

/* Draws the figures, to be released with machines_free. Returns false on an error already printed to stderr, with
   nothing to release. */
bool machines_draw(const record_machines *record, machines_figures *made);
void machines_free(machines_figures *made);

/* Writes the whole page. */
void machines_write(page *p, const record_machines *record, const machines_figures *drawn);

#endif
