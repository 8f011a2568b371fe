/* SPDX-License-Identifier: MIT */
/* Compares a table in a file with the exact values, whoever made it. */
#ifndef POSENC_VERIFY_TABLE_H
#define POSENC_VERIFY_TABLE_H

#include "verify/table-request.h"

#include <jansson.h>

/*
 * A record in the form of verify.h, so that it is printed like those: schema "posenc-check-1", no kernels, no seed, and
 * one entry in its records, whose "kernel" is the file's name. The entry has no digest, and further
 *
 *   "format": "npy" | "safetensors" | "memory", "tensor": name or null,
 *   "recorded": whether the problem is what the file says of itself,
 *   "limit": {"ulp", "abs"}, one of them 0, or null,
 *   "not_finite": n elements,
 *   "positions": [ {"position": 0, ±2^k or the first of the table, "rows": n from there on,
 *                   "max_ulp", "max_abs", "mean_abs", "misrounded": n} … ],
 *   "equal_rows": {"compared": n, from the first row on, "equal": n that have the bits of one before,
 *                  "first": [p, q] or null}
 *
 * The positions of a list need not be whole.
 *
 * Checks: accuracy, bounded, pair-norm, rotation, unique-rows; of one part alone, those about pairs are skipped.
 * Without a limit all are skipped, but have their worst deviations. Null when memory runs out.
 */
json_t *verify_table(const table_request *request);

#endif
