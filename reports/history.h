/* SPDX-License-Identifier: MIT */
/* Writes what posenc history found as a page, with a picture of each series. */
#ifndef POSENC_REPORTS_HISTORY_H
#define POSENC_REPORTS_HISTORY_H

#include "records/read.h"

#include <stdbool.h>
#include <stdio.h>

/* Write the page: as Markdown, the changes alone; as HTML, also the pictures, which needs gnuplot (report_refusal).
   Returns false on an error already printed to stderr, with nothing written. */
void history_write_markdown(const record_history *found, FILE *stream);
bool history_write_html(const record_history *found, FILE *stream);

#endif
