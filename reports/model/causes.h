/* SPDX-License-Identifier: MIT */
/* Where the errors of kernels come from. */
#ifndef POSENC_REPORTS_MODEL_CAUSES_H
#define POSENC_REPORTS_MODEL_CAUSES_H

#include "records/read.h"

#include <jansson.h>

/* The parts of an error, in the order in which a kernel makes them. */
enum { CAUSES = 4 };
extern const char *const cause_names[CAUSES];

static inline double cause_part(const record_parts *parts, size_t cause) {
  return (const double[CAUSES]){parts->frequency, parts->phase, parts->trig, parts->store}[cause];
}

/*
 * The "causes" of a report, from the profiles of an accuracy record. The largest of four shares is a quarter or more:
 * every span has one of a fifth, and rounding cannot hide it. Kernels without parts are left out. Null when memory runs
 * out.
 */
json_t *causes_make(const record_accuracy *record);

#endif
