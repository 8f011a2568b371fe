/* SPDX-License-Identifier: MIT */
/* Makes the pages of a report from an accuracy record and a timing record, or one page from the reports of several
   machines. */
#ifndef POSENC_REPORTS_REPORT_H
#define POSENC_REPORTS_REPORT_H

#include "records/read.h"
#include "reports/model/machines.h"

/*
 * Writes index.html and details.html (each self-contained), report.md, report.json, the data as CSV and each figure
 * as SVG into `directory`, which exists. `accuracy` is a record of verify_run; `timing`, or null, is one of bench_run
 * or of a file, which may have defects. `command` is the command line that reproduces the report. Returns 0 on
 * success, and 2 on an error already printed to stderr; then no file has been changed.
 */
int report_write(const char *directory, const json_t *accuracy, const record_timing *timing, const char *command);

/* Writes one page of several machines, from the report.json of each. Returns as report_write, or 1 if a check on the
   page failed. */
int report_write_machines(const char *directory, const machines_inputs *given);

/* Returns null if plots can be made here, else what is missing. */
const char *report_refusal(void);

#endif
