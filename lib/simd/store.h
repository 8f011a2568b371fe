/* SPDX-License-Identifier: MIT */
/* Whether rows are stored past the caches. */
#ifndef POSENC_LIB_SIMD_STORE_H
#define POSENC_LIB_SIMD_STORE_H

#include "posenc.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/*
 * Bytes from which on it pays, by the sweep of `make stores` in doc/performance.md. Rewritten in a cache of 32 MiB, f32
 * is faster up to half of it. Elements of 16 bits are computed more slowly than they could be written there, and gain
 * less. Rows far apart, of which a tile writes 32 together, are slow in all caches. The size of the cache is not asked
 * for: what a virtual machine says of it need not be so.
 */
static inline size_t store_streams_from(size_t row_bytes, size_t element_bytes) {
  if (row_bytes >= (size_t)1 << 14) return (size_t)1 << 21;
  return element_bytes == 2 ? (size_t)1 << 23 : (size_t)1 << 24;
}

/* Streaming stores need rows that keep the alignment of a vector, and so do their halves, where the split layouts
   have their second component. */
static inline bool store_streams(posenc_stores wish, const posenc_problem *problem, int64_t rows, const void *out,
                                 size_t alignment) {
  const size_t element_bytes = posenc_dtype_bytes(problem->dtype), row_bytes = (size_t)problem->dim * element_bytes;
  if ((uintptr_t)out % alignment || row_bytes / 2 % alignment) return false;
  return wish == POSENC_STORES_STREAMING ||
         (wish == POSENC_STORES_AUTO && row_bytes * (size_t)rows >= store_streams_from(row_bytes, element_bytes));
}

/* After the last of them: other threads see what was streamed. */
static inline void store_fence(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#endif
