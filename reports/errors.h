/* SPDX-License-Identifier: MIT */
/* What the report says of errors: against position, where they come from, against frequency, and what they spoil. */
#ifndef POSENC_REPORTS_ERRORS_H
#define POSENC_REPORTS_ERRORS_H

#include "reports/figures.h"
#include "reports/page.h"

/* Writes those sections that the document has data for. False when memory runs out; errors of the stream stay in the
   stream. */
bool errors_write(page *p, const json_t *document, const figures *drawn);

#endif
