/* SPDX-License-Identifier: MIT */
/* The document of several machines side by side, from the report of each. */
#ifndef POSENC_REPORTS_MODEL_MACHINES_H
#define POSENC_REPORTS_MODEL_MACHINES_H

#include <jansson.h>

/*
 * A "machines" of records/record.schema.json. labels: of the first `label_count` machines, or less; the others are
 * called by their CPU. Null, and `why` in one line, if one of `reports`, which `names` call, is no report, two are of
 * one run, or memory runs out.
 */
json_t *machines_make(json_t *const *reports, char *const *names, size_t count, const char *const *labels,
                      size_t label_count, const char *command, char *why, size_t size);

#endif
