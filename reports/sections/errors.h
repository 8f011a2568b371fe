/* SPDX-License-Identifier: MIT */
/* What the report says of errors: against position, where they come from, against frequency, and what they spoil. */
#ifndef POSENC_REPORTS_SECTIONS_ERRORS_H
#define POSENC_REPORTS_SECTIONS_ERRORS_H

#include "reports/page/page.h"
#include "reports/sections/figures.h"

/* Writes those sections that the document has data for. False when memory runs out; errors of the stream stay in the
   stream. */
bool errors_write(page *p, const json_t *document, const figures *drawn);

#endif
