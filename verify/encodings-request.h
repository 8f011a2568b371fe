/* SPDX-License-Identifier: MIT */
/* A request to check the other encodings, and the functions that compute them. */
#ifndef POSENC_VERIFY_ENCODINGS_REQUEST_H
#define POSENC_VERIFY_ENCODINGS_REQUEST_H

#include "posenc.h"

/* The functions that compute the encodings. */
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

typedef struct encodings_request {
  const encoders *by;
  const posenc_encoding *const *encodings; /* those of kernels are left out: verify_run checks them */
  size_t count;
  uint64_t seed;
  double silence; /* time limit between signs of life, seconds */
} encodings_request;

#endif
