/* SPDX-License-Identifier: MIT */
/* The answer first: the fastest kernel within so much, on this machine, and by how much. */
#ifndef POSENC_REPORTS_MODEL_ANSWER_H
#define POSENC_REPORTS_MODEL_ANSWER_H

#include "records/samples.h"

/*
 * From the rest of the document. Of kernels every check of which passed, and which do not copy a table that they keep:
 *
 * [ {"shape", "footprint": "reference" | "largest" | "in cache",
 *    "budget": "half" (correct rounding) | "one" (an ulp just below 1, 2^-24, in absolute terms) | "any"; a proved bound holds it, but for "any",
 *    "kernel": the fastest on that shape, of f32,
 *    "next": {"kernel", "estimate", "low", "high"} of the second, or null: how many times as long it takes, 90 %; low and high are null where timings are
 *            too few,
 *    "naive": the same of naive, or null} ]
 *
 * Null when memory runs out.
 */
json_t *answer_make(const json_t *document, samples *times);

/* The name of the fastest kernel on a table of the document within "half", "one" or "any"; null if there is none. */
const char *answer_fastest(const json_t *document, const json_t *table, const char *budget);

#endif
