/* SPDX-License-Identifier: MIT */
/* The errors and bits of kernels as they were, which later runs must not exceed or change. */
#ifndef POSENC_RECORDS_BASELINE_H
#define POSENC_RECORDS_BASELINE_H

#include <jansson.h>
#include <stdbool.h>

/* Makes the baseline of an accuracy record; see record.schema.json. Null when memory runs out. */
json_t *baseline_of(const json_t *record);

/*
 * Adds the check "baseline" to every result of the record: broken where an error or the number of misrounded elements
 * grew or the bits of a reproducible kernel changed; its note says what changed, also for the better. Skipped where
 * there is nothing to compare with: another sample, or a kernel that depends on another libm than when it was
 * saved. A result without an entry is broken, or with `allow_new` skipped. `baseline` is one that record_read_baseline
 * accepts. Returns false when memory runs out.
 */
bool baseline_hold(json_t *record, const json_t *baseline, bool allow_new);

#endif
