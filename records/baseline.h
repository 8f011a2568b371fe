/* SPDX-License-Identifier: MIT */
/* Compares errors and bits of kernels with those of an earlier run, which later runs must not exceed or change. */
#ifndef POSENC_RECORDS_BASELINE_H
#define POSENC_RECORDS_BASELINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Makes the baseline of an accuracy record; see record.schema.json. Null when memory runs out. */
json_t *baseline_of(const json_t *record);

/* Prints a baseline with a line for each entry, so that a diff of two shows what has changed and of which kernel and
   table. Errors are left in the stream's error indicator. */
void baseline_print(const json_t *baseline, FILE *stream);

/*
 * Adds the check "baseline" to every result of the record. The check fails if an error or the number of misrounded
 * elements has grown, or if the bits of a reproducible kernel have changed; its note says what has changed, also for
 * the better. The check is skipped if there is nothing to compare with: another sample, or a kernel that depends on
 * libm and another libm than in the baseline. If a result has no entry, the check fails, or is skipped with
 * `allow_new`. `baseline` is one that record_read_baseline accepts. Returns false when memory runs out.
 */
bool baseline_hold(json_t *record, const json_t *baseline, bool allow_new);

#endif
