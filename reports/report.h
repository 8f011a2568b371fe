/* SPDX-License-Identifier: MIT */
/* Accuracy record and timing record in, page out; or pages of several machines in, one out. */
#ifndef POSENC_REPORTS_REPORT_H
#define POSENC_REPORTS_REPORT_H

#include "reports/model/machines.h"

/*
 * Writes index.html and details.html (each self-contained), report.md, report.json, the data as CSV and each figure as
 * SVG into `directory`, which exists.
 * accuracy: as made by verify_run. timing: Google Benchmark JSON as made by bench_run.
 * command: the command line that reproduces the report.
 * 0 on success, 2 on an error already told on stderr; then none of these files was changed.
 */
int report_write(const char *directory, const json_t *accuracy, const json_t *timing, const char *command);

/* One page of several machines, from the report.json of each. 1 if the page tells of a failed check. */
int report_write_machines(const char *directory, const machines_inputs *given);

/* Null if plots can be made here, else what is missing. */
const char *report_refusal(void);

#endif
