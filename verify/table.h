/* SPDX-License-Identifier: MIT */
/* Compares a table in a file, made by any program, with the exact values. */
#ifndef POSENC_VERIFY_TABLE_H
#define POSENC_VERIFY_TABLE_H

#include "verify/table-request.h"

#include <jansson.h>

/*
 * Returns a record in the form of verify.h, so that it can be printed like those: schema "posenc-check-1", no kernels,
 * no seed, and one entry in its records, whose "kernel" is the file's name. The entry has no digest, and in addition
 *
 *   "format": "npy" | "safetensors" | "memory", "tensor": name or null,
 *   "recorded": whether the problem is from the file's own metadata,
 *   "limit": {"ulp", "abs"}, one of them 0, or null,
 *   "not_finite": n elements,
 *   "positions": [ {"position": 0, ±2^k or the first of the table, "rows": n from there on,
 *                   "max_ulp", "max_abs", "mean_abs", "misrounded": n} … ],
 *   "equal_rows": {"compared": n, from the first row on, "equal": n that have the bits of one before,
 *                  "first": [p, q] or null}
 *
 * The positions of a list need not be integers.
 *
 * Checks: accuracy, bounded, pair-norm, rotation, unique-rows; those about pairs are skipped if there is only one part.
 * Without a limit all are skipped, but have their worst deviations. Returns null if memory runs out.
 */
json_t *verify_table(const table_request *request);

#endif
