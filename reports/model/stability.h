/* SPDX-License-Identifier: MIT */
/* How steady the machine was while kernels were timed: the limit, measured beside each of them, tells. */
#ifndef POSENC_REPORTS_MODEL_STABILITY_H
#define POSENC_REPORTS_MODEL_STABILITY_H

#include "records/samples.h"
#include "reports/page/page.h"

/* The "stability" of a report, from what was timed hot, where the limit of a shape is the same thing measured again and
   again; others: the share that other processes used meanwhile, or NaN. JSON null where nothing was timed; null when
   memory runs out. */
json_t *stability_make(samples *times, double others);

/* A paragraph. */
void stability_write(page *p, const record_report *report);

#endif
