/* SPDX-License-Identifier: MIT */
/* Compares what was made of an array x, by add or rope, with the exact values, whoever made it. */
#ifndef POSENC_VERIFY_ARRAY_H
#define POSENC_VERIFY_ARRAY_H

#include "verify/array-request.h"

#include <jansson.h>

/*
 * A record in the form of verify_table, without "recorded" and "equal_rows". Further, in its entry,
 *
 *   "x": name of the file, "axes": as requested, "start": n,
 *   "cause": what was done instead, as far as known, or null.
 *
 * The ulp of an error of rope is that of the length of the exact pair; "function" of a witness is "first" or "second"
 * then, and "place" tells the index of each axis.
 *
 * Checks: accuracy, and untouched: the columns that are not worked on have the bits of x. Null when memory runs out.
 * A number of x that is not finite: *bad_row is its row, and the record null.
 */
json_t *verify_array(const array_request *request, int64_t *bad_row);

#endif
