/* SPDX-License-Identifier: MIT */
/* The fastest kernel for each error budget on this machine, and by how much. */
#ifndef POSENC_REPORTS_MODEL_ANSWER_H
#define POSENC_REPORTS_MODEL_ANSWER_H

#include "records/samples.h"

/*
 * The "answer" of the report, from the rest of it: on the reference table, the largest one and the largest in cache,
 * the fastest kernel whose every check passed, that computes its rows, and whose proved bound is within "half" an ulp
 * (correct rounding), within "one" ulp just below 1 (2^-24), or "any". Null when memory runs out.
 */
json_t *answer_make(const record_report *report, samples *times);

/* The name of the fastest kernel on a table of the report within "half", "one" or "any"; null if there is none, or no
   table. */
const char *answer_fastest(const record_report *report, const record_table *table, const char *budget);

#endif
