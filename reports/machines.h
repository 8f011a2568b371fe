/* SPDX-License-Identifier: MIT */
/* The page of several machines, side by side; see reports/model/machines.h. */
#ifndef POSENC_REPORTS_MACHINES_H
#define POSENC_REPORTS_MACHINES_H

#include "records/read.h"
#include "reports/page/page.h"

/* Is there a failed check, on one machine or in the comparison of two? */
bool machines_failed(const record_machines *record);

/* Shares of the limit by kernel and machine, for each footprint of "fastest"; null where there is none. */
enum { MACHINES_FIGURES = 3 };
typedef struct machines_figures {
  char *svg[MACHINES_FIGURES];
} machines_figures;

/* False on an error already told on stderr; nothing to free then. */
bool machines_draw(const record_machines *record, machines_figures *made);
void machines_free(machines_figures *made);

/* The whole page. */
void machines_write(page *p, const record_machines *record, const machines_figures *drawn);

#endif
