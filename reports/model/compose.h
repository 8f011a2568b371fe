/* SPDX-License-Identifier: MIT */
/* The document of a report from its records, and parts of it that have a file each. Null when memory runs out. */
#ifndef POSENC_REPORTS_MODEL_COMPOSE_H
#define POSENC_REPORTS_MODEL_COMPOSE_H

#include "records/samples.h"

#include <jansson.h>

/* A "report" of records/record.schema.json. timing may be null. */
json_t *document_make(const record_accuracy *accuracy, const record_timing *timing, const char *command);

/* "claims", claims about positional encodings beside the facts, from the shapes and the profile of a report. */
json_t *claims_make(const record_report *report);

/* "stability", from what was timed hot, where the limit of a shape is the same thing measured again and again: how
   steady the machine was. others: the share that other processes used meanwhile, or NaN. JSON null where nothing was
   timed. */
json_t *stability_make(samples *times, double others);

#endif
