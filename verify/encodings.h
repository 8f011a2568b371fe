/* SPDX-License-Identifier: MIT */
/* Checks the encodings other than the table against their contracts. */
#ifndef POSENC_VERIFY_ENCODINGS_H
#define POSENC_VERIFY_ENCODINGS_H

#include "verify/encodings-request.h"

#include <jansson.h>

/* The library. */
extern const encoders encoders_library;

/*
 * A record in the form of verify.h, so that it is printed like those: schema "posenc-encodings-1", no kernels, but
 *
 *   "encodings": [ encoding_json() … ]
 *
 * and in its records, whose "kernel" is the encoding's name, "shape" has nothing but a name. Checks: accuracy, memory,
 * extension, index, in-place, threads, special (NaN and infinities), refusal (what is asked in vain is refused, and
 * nothing is written), and of dropout mask (the words of the paper), known-answers (those that Random123 publishes) and
 * statistics. Each encoding is looked at in a process of its own. Null when memory runs out, or, with errno EAGAIN,
 * when a process could not be made.
 */
json_t *verify_encodings(const encodings_request *request);

#endif
