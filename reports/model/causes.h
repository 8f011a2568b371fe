/* SPDX-License-Identifier: MIT */
/* Where the errors of kernels come from. */
#ifndef POSENC_REPORTS_MODEL_CAUSES_H
#define POSENC_REPORTS_MODEL_CAUSES_H

#include "records/read.h"

#include <jansson.h>

/* The parts of an error, in the order in which a kernel makes them. */
enum { CAUSES = 4 };
extern const char *const cause_names[CAUSES];

/*
 * Made of the profiles of an accuracy record:
 *
 * [ { "kernels": [ names of those whose parts are the same at every position ],
 *     "points": [ {"position": n, "parts": as in the record, "sum" of them, "shares": {cause: of that sum} } … ],
 *     "spans": [ {"from": n, "to": n, "shares": {cause: {"least", "most"}} } … ] } … ]
 *
 * A span is as many points in a row as have the same causes of a fifth of the sum or more; it lists these. The largest
 * of four shares is a quarter or more, so there is always one, and rounding cannot hide it. Kernels without parts are
 * left out. Null when memory runs out.
 */
json_t *causes_make(const record_accuracy *record);

#endif
