/* SPDX-License-Identifier: MIT */
/* Time and bandwidth against length: hot, cold and fresh. */
#ifndef POSENC_REPORTS_SECTIONS_LENGTHS_H
#define POSENC_REPORTS_SECTIONS_LENGTHS_H

#include "reports/page/page.h"
#include "reports/sections/figures.h"

/* Draws those that the document has data for. False on an error already told on stderr. */
bool lengths_make(const json_t *document, figures *made);

/* The section, with the data as tables; nothing if nothing was drawn. */
void lengths_write(page *p, const json_t *document, const figures *drawn);

#endif
