/* SPDX-License-Identifier: MIT */
/* The figures of the encoding itself, and the section of the page that shows them. */
#ifndef POSENC_REPORTS_SECTIONS_PORTRAITS_H
#define POSENC_REPORTS_SECTIONS_PORTRAITS_H

#include "reports/page/page.h"
#include "reports/sections/figures.h"

/* False on an error already told on stderr. */
bool portraits_make(const json_t *document, figures *made);

void portraits_write(page *p, const json_t *document, const figures *drawn);

#endif
