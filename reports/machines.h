/* SPDX-License-Identifier: MIT */
/* Writes the page of several machines, see reports/model/machines.h. */
#ifndef POSENC_REPORTS_MACHINES_H
#define POSENC_REPORTS_MACHINES_H

#include "records/read.h"
#include "reports/page/page.h"

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
