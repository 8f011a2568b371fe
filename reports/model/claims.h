/* SPDX-License-Identifier: MIT */
/* Claims about positional encodings, beside the facts. */
#ifndef POSENC_REPORTS_MODEL_CLAIMS_H
#define POSENC_REPORTS_MODEL_CLAIMS_H

#include "records/read.h"
#include "reports/page/page.h"

/* The "claims" of a report, from its shapes and its profile. Null when memory runs out. */
json_t *claims_make(const record_report *report);

/* The section of the page; nothing if there are none. */
void claims_write(page *p, const record_report *report);

#endif
