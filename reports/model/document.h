/* SPDX-License-Identifier: MIT */
/* Look-ups in the document that page, Markdown and report.json show: a "report" of records/record.schema.json. */
#ifndef POSENC_REPORTS_MODEL_DOCUMENT_H
#define POSENC_REPORTS_MODEL_DOCUMENT_H

#include "posenc.h"
#include "records/read.h"

#include <jansson.h>
#include <stdbool.h>

/* The entry of "shapes" of that name, and in it the row of a kernel; null if there is none. */
const json_t *document_shape(const json_t *document, const char *name);
const json_t *document_row(const json_t *table, const char *kernel);

/* The shape that headlines are about, where it was verified. */
extern const char document_reference[];

/* Was anything timed? */
bool document_is_timed(const json_t *document);

/* "recipe" of the kernel of that name. */
bool document_is_recipe(const json_t *document, const char *kernel);

/* The bound of an entry of "kernels". */
posenc_bound document_bound(const json_t *kernel);

/* The same of a parsed report. The row is null without a table, too. */
const record_table *report_table(const record_report *report, const char *name);
const record_row *report_row(const record_table *table, const char *kernel);

/* Whether it is a table of f32, as opposed to an x or a rope cache. */
bool report_is_f32_table(const record_table *table);

posenc_bound report_bound(const record_kernel *kernel);

#endif
