/* SPDX-License-Identifier: MIT */
/* The part of the report on how many elements have which error. */
#ifndef POSENC_REPORTS_SECTIONS_HISTOGRAM_H
#define POSENC_REPORTS_SECTIONS_HISTOGRAM_H

#include "reports/page/page.h"
#include "reports/sections/figures.h"

/* A section, if the figure is there. */
void histogram_write(page *p, const json_t *document, const figures *drawn);

#endif
