/* SPDX-License-Identifier: MIT */
/* Finds the causes of the errors of kernels. */
#ifndef POSENC_REPORTS_MODEL_CAUSES_H
#define POSENC_REPORTS_MODEL_CAUSES_H

#include "records/read.h"

#include <jansson.h>

/* The parts of an error, in the order of a kernel's steps. */
enum { CAUSES = 4 };
extern const char *const cause_names[CAUSES];

static inline double cause_part(const record_parts *parts, size_t cause) {
  return (const double[CAUSES]){parts->frequency, parts->phase, parts->trig, parts->store}[cause];
}

/*
 * Makes the "causes" of a report from the profiles of an accuracy record. A span lists each cause with a fifth of the
 * error or more; the largest of four shares is at least a quarter, so every span lists one. Kernels without parts are
 * left out.
 */
json_t *causes_make(const record_accuracy *record);

#endif
