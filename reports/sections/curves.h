/* SPDX-License-Identifier: MIT */
/* The figures of errors: against position, by cause, against frequency. */
#ifndef POSENC_REPORTS_SECTIONS_CURVES_H
#define POSENC_REPORTS_SECTIONS_CURVES_H

#include "reports/sections/figures.h"

/* Draws those that the document has data for. False on an error already told on stderr. */
bool curves_make(const json_t *document, figures *made);

#endif
