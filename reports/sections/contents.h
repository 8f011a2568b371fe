/* SPDX-License-Identifier: MIT */
/* What the report says, in the order in which it says it. */
#ifndef POSENC_REPORTS_SECTIONS_CONTENTS_H
#define POSENC_REPORTS_SECTIONS_CONTENTS_H

#include "reports/page/page.h"
#include "reports/sections/figures.h"

#include <jansson.h>

/* Writes the whole page. False when memory runs out; errors of the stream stay in the stream. */
bool contents_write(page *p, const json_t *document, const figures *drawn);

#endif
