/* SPDX-License-Identifier: MIT */
/* What is said of positional encodings, beside what is so. */
#ifndef POSENC_REPORTS_MODEL_CLAIMS_H
#define POSENC_REPORTS_MODEL_CLAIMS_H

#include "reports/page/page.h"

#include <jansson.h>
#include <stdbool.h>

/*
 * [ {"claim": what is said, "found": what was computed just now, or measured in the records, "verdict": "holds" | "holds only when" | "false" |
 *    "not measured", "when": the condition, or ""} … ]
 *
 * document: as in reports/model/document.h, with its shapes and profile. Null when memory runs out.
 */
json_t *claims_make(const json_t *document);

/* The section of the page; nothing if there are none. */
void claims_write(page *p, const json_t *document);

#endif
