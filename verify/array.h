/* SPDX-License-Identifier: MIT */
/* Compares the result of add or rope on an array x, by any program, with the exact values. */
#ifndef POSENC_VERIFY_ARRAY_H
#define POSENC_VERIFY_ARRAY_H

#include "verify/array-request.h"

#include <jansson.h>

/*
 * Returns a record in the form of verify_table, without "recorded" and "equal_rows". Its entry has in addition
 *
 *   "x": name of the file, "axes": as requested, "start": n.
 *
 * For rope, the ulp of an error is that of the length of the exact pair; the "function" of a witness is "first" or
 * "second", and "place" has the index on each axis.
 *
 * Checks: accuracy; and untouched: the columns that are not processed have the bits of x. Returns null if memory runs
 * out, or if a number of x is not finite; *bad_row is then its row.
 */
json_t *verify_array(const array_request *request, int64_t *bad_row);

#endif
