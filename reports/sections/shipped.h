/* SPDX-License-Identifier: MIT */
/* The part of the report on what frameworks ship: recipes beside the kernels. */
#ifndef POSENC_REPORTS_SECTIONS_SHIPPED_H
#define POSENC_REPORTS_SECTIONS_SHIPPED_H

#include "reports/page/page.h"

#include <jansson.h>

/* A section, if there are recipes beside kernels. */
void shipped_write(page *p, const json_t *document);

#endif
