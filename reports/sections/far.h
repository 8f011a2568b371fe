/* SPDX-License-Identifier: MIT */
/* What the report says of the search for the worst case, far beyond what tables hold. */
#ifndef POSENC_REPORTS_SECTIONS_FAR_H
#define POSENC_REPORTS_SECTIONS_FAR_H

#include "reports/page/page.h"

#include <jansson.h>

/* Writes the section, if anything was searched. */
void far_write(page *p, const json_t *document);

#endif
