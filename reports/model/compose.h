/* SPDX-License-Identifier: MIT */
/* Records in, the document out. */
#ifndef POSENC_REPORTS_MODEL_COMPOSE_H
#define POSENC_REPORTS_MODEL_COMPOSE_H

#include "records/read.h"

#include <jansson.h>

/* A "report" of records/record.schema.json. timing may be null. Null when memory runs out. */
json_t *document_make(const record_accuracy *accuracy, const record_timing *timing, const char *command);

#endif
