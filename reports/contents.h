/* SPDX-License-Identifier: MIT */
/* What the report says, in the order in which it says it. */
#ifndef POSENC_REPORTS_CONTENTS_H
#define POSENC_REPORTS_CONTENTS_H

#include "reports/figures.h"
#include "reports/page.h"

#include <jansson.h>

/* Writes the whole page. False when memory runs out; errors of the stream stay in the stream. */
bool contents_write(page *p, const json_t *document, const figures *drawn);

#endif
