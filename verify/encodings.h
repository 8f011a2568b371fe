/* SPDX-License-Identifier: MIT */
/* Holds the encodings beside the table to their contracts. */
#ifndef POSENC_VERIFY_ENCODINGS_H
#define POSENC_VERIFY_ENCODINGS_H

#include "posenc.h"

#include <jansson.h>

/* Who computes them. */
typedef struct encoders {
  posenc_status (*integer)(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);
  posenc_status (*binary)(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);
  posenc_status (*learned)(const posenc_learned_table *table, const posenc_slice *positions, posenc_dtype dtype,
                           const void *x, void *out);
  posenc_status (*alibi_bias)(const posenc_alibi *bias, void *out);
  posenc_status (*apply_dropout)(const posenc_plan *plan, const posenc_slice *slice, const posenc_dropout *dropout,
                                 const void *x, void *out);
  posenc_status (*dropout_mask)(const posenc_dropout *dropout, const posenc_slice *positions, int64_t dim,
                                unsigned char *keep);
} encoders;

/* The library. */
extern const encoders encoders_library;

typedef struct encodings_request {
  const encoders *by;
  const posenc_encoding *const *encodings; /* those that kernels compute are left out: verify_run holds kernels */
  size_t count;
  uint64_t seed;
  double silence; /* seconds that an encoding may go without a sign of life */
} encodings_request;

/*
 * A record in the form of verify.h, so that it is printed like those: schema "posenc-encodings-1", no kernels, but
 *
 *   "encodings": [ encoding_json() … ]
 *
 * and in its records, whose "kernel" is the encoding's name, "shape" has nothing but a name. Checks: accuracy, memory, extension, index, in-place,
 * threads, special (NaN and infinities), refusal (what is asked in vain is refused, and nothing is written), and of dropout mask (the words of the paper), known-answers (those that
 * Random123 publishes) and statistics. Each encoding is looked at in a process of its own. Null when memory runs out, or, with errno EAGAIN,
 * when a process could not be made.
 */
json_t *verify_encodings(const encodings_request *request);

#endif
