/* SPDX-License-Identifier: MIT */
/* What kernels' errors and bits were, to be held to. */
#ifndef POSENC_RECORDS_BASELINE_H
#define POSENC_RECORDS_BASELINE_H

#include <jansson.h>
#include <stdbool.h>

/*
 * { "schema": "posenc-baseline-1", "libc": of the machine that saved it, "kernel_abi",
 *   "seed": n, "budget": n,
 *   "entries": [ { "kernel", "shape", "reproducible": bool, "bound", "mode", "elements", "max_ulp", "max_abs", "mean_ulp", "misrounded",
 *                  "histogram", "share" of the bound, "digest" of the bits, or null } … ] }
 *
 * max_ulp, max_abs: numbers, not witnesses. Null when memory runs out.
 */
json_t *baseline_of(const json_t *record);

/* Null, or what is wrong with it as a baseline, in static storage. */
const char *baseline_fault(const json_t *baseline);

/*
 * Adds the check "baseline" to every result of the record: broken where an error or the number of misrounded elements grew or the bits of a
 * reproducible kernel changed; its note says what changed, also for the better. Skipped where there is nothing to compare with: no
 * entry, another sample, or a kernel that stands on a libm other than the one it was saved with.
 */
void baseline_hold(json_t *record, const json_t *baseline);

#endif
