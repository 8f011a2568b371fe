/* SPDX-License-Identifier: MIT */
/* The answer on the page: see reports/model/answer.h. */
#ifndef POSENC_REPORTS_SECTIONS_ANSWER_H
#define POSENC_REPORTS_SECTIONS_ANSWER_H

#include "reports/page/page.h"
#include "reports/sections/figures.h"

/* Draws the figure of all kernels, if there is a reference table with times. False on an error told on stderr. */
bool answer_draw(const json_t *document, figures *made);

/* A sentence, a table, and the figure of all kernels. */
void answer_write(page *p, const json_t *document, const figures *drawn);

#endif
