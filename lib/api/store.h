/* SPDX-License-Identifier: MIT */
/* Whether rows are stored past the caches. */
#ifndef POSENC_LIB_API_STORE_H
#define POSENC_LIB_API_STORE_H

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

enum { STORE_LINE = 64 };

/* Whether the system has yet to give pages to most of this memory: it clears each when it is first written, so that it
   is in a cache then. False where that cannot be told. */
bool store_is_new(const void *memory, size_t bytes);

/* Whether it pays to stream so many rows to `out`. Not to new memory: what the system has just cleared is in the
   caches, and would reach the memory twice. */
static inline bool store_pays(size_t row_bytes, size_t rows, size_t element_bytes, const void *out) {
  return row_bytes * rows >= store_streams_from(row_bytes, element_bytes) && !store_is_new(out, row_bytes * rows);
}

/* Whether a plan with that wish streams so many rows of its dtype to `out`. */
static inline bool store_streams_rows(posenc_stores wish, size_t row_bytes, int64_t rows, posenc_dtype dtype,
                                      const void *out) {
  return wish == POSENC_STORES_STREAMING ||
         (wish == POSENC_STORES_AUTO && store_pays(row_bytes, (size_t)rows, posenc_dtype_bytes(dtype), out));
}

/* The same of rows of a table. */
static inline bool store_streams(posenc_stores wish, const posenc_problem *problem, int64_t rows, const void *out) {
  const size_t row_bytes = (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
  return store_streams_rows(wish, row_bytes, rows, problem->dtype, out);
}

/* Columns of each row before the first that begins a cache line, and of each half of a row, as split layouts have them;
   -1 where rows or halves differ in that. */
static inline int64_t store_columns_to_line(const posenc_problem *problem, const void *out) {
  const int64_t step = posenc_layout_columns(problem->layout, problem->dim).step;
  const size_t element_bytes = posenc_dtype_bytes(problem->dtype),
               part_bytes = (size_t)(problem->dim / 2 * step) * element_bytes;
  if ((uintptr_t)out % element_bytes || part_bytes % STORE_LINE) return -1;
  return (int64_t)(-(uintptr_t)out % STORE_LINE / element_bytes);
}

/* After the last of them: other threads see what was streamed. */
static inline void store_fence(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#endif
