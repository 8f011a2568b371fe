/* SPDX-License-Identifier: MIT */
/* Whether rows are stored past the caches. */
#ifndef POSENC_IMPLS_CORE_STORE_H
#define POSENC_IMPLS_CORE_STORE_H

#include "posenc.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* Streaming stores pay where what is written leaves the caches before anyone reads it. They need rows that keep the alignment of a
   vector, and so do their halves, where the split layouts have their second component. */
static inline bool store_streams(const posenc_problem *problem, int64_t rows, const void *out, size_t alignment) {
  const size_t row_bytes = (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  return row_bytes * (size_t)rows >= (size_t)1 << 24 && (uintptr_t)out % alignment == 0 &&
         row_bytes / 2 % alignment == 0;
}

/* After the last of them: other threads see what was streamed. */
static inline void store_fence(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#endif
