/* SPDX-License-Identifier: MIT */
/* The part of the report on how many elements have which error. */
#ifndef POSENC_REPORTS_HISTOGRAM_H
#define POSENC_REPORTS_HISTOGRAM_H

#include "reports/figures.h"
#include "reports/page.h"

/* A section, if the figure is there. */
void histogram_write(page *p, const json_t *document, const figures *drawn);

#endif
