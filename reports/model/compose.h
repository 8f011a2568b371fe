/* SPDX-License-Identifier: MIT */
/* Makes the document of a report from its records. */
#ifndef POSENC_REPORTS_MODEL_COMPOSE_H
#define POSENC_REPORTS_MODEL_COMPOSE_H

#include "records/timings.h"

#include <jansson.h>

/* Makes a "report" of records/record.schema.json. `timing` may be null. */
json_t *document_make(const record_accuracy *accuracy, const record_timing *timing, const char *command);

/* Makes "claims": common claims about positional encodings, and what the shapes and the profile of the report show
   about each. */
json_t *claims_make(const record_report *report);

/* Makes "stability": how steady the machine was, from the timings with hot caches, as the limit of a shape is measured
   again beside each kernel. `others` is the share of the processors that other processes used in that time, or NaN.
   Returns JSON null if nothing was timed. */
json_t *stability_make(samples *times, double others);

#endif
