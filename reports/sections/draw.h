/* SPDX-License-Identifier: MIT */
/* Draws all figures. */
#ifndef POSENC_REPORTS_SECTIONS_DRAW_H
#define POSENC_REPORTS_SECTIONS_DRAW_H

#include "reports/sections/figures.h"

#include <jansson.h>
#include <stdbool.h>

/* False on an error already told on stderr; nothing to free then. */
bool figures_make(const json_t *document, figures *made);

#endif
