/* SPDX-License-Identifier: MIT */
/* Checks the encodings other than the table against their contracts. */
#ifndef POSENC_VERIFY_ENCODINGS_H
#define POSENC_VERIFY_ENCODINGS_H

#include "verify/encodings-request.h"

#include <jansson.h>

/* The library's functions. */
extern const encoders encoders_library;

/*
 * Returns a record in the form of doc/records.md, so that it can be printed like those: schema "posenc-encodings-1", no
 * kernels, but
 *
 *   "encodings": [ encoding_json() … ]
 *
 * In its records, "kernel" is the encoding's name and "shape" has a name only. Checks: accuracy, memory, extension,
 * index, in-place, threads, special (NaN and infinities), refusal (a wrong call is refused, and nothing is written),
 * and for dropout mask (the words of the paper), known-answers (those that Random123 publishes) and statistics. Each
 * encoding is checked in a process of its own. Returns null if memory runs out or, with errno EAGAIN, if a process
 * could not be created.
 */
json_t *verify_encodings(const encodings_request *request);

#endif
