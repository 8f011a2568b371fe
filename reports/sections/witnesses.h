/* SPDX-License-Identifier: MIT */
/* The part of the report on every worst case. */
#ifndef POSENC_REPORTS_SECTIONS_WITNESSES_H
#define POSENC_REPORTS_SECTIONS_WITNESSES_H

#include "reports/page/page.h"

#include <jansson.h>

/* A section, if anything was verified. */
void witnesses_write(page *p, const json_t *document);

#endif
