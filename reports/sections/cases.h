/* SPDX-License-Identifier: MIT */
/* The part of the report on hard-to-round cases. */
#ifndef POSENC_REPORTS_SECTIONS_CASES_H
#define POSENC_REPORTS_SECTIONS_CASES_H

#include "reports/page/page.h"

#include <jansson.h>

/* A section, if the report has such. */
void cases_write(page *p, const json_t *document);

#endif
