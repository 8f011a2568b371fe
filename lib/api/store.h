/* SPDX-License-Identifier: MIT */
/* The choice between regular and streaming stores. */
#ifndef POSENC_LIB_API_STORE_H
#define POSENC_LIB_API_STORE_H

#include "lib/api/kernel.h"

#include "posenc.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/*
 * The size in bytes from which streaming stores are faster, measured by `make stores` (doc/notebook.md). Regular
 * stores of f32 are faster up to half the size of a cache of 32 MiB. Elements of 16 bits gain less, because computing
 * them takes longer than storing them in the cache. Long rows, of which a tile writes 32 together, are slow to store in
 * every cache. The size of this machine's cache is not used, because a virtual machine may report a wrong one.
 */
static inline size_t store_streams_from(size_t row_bytes, size_t element_bytes) {
  if (row_bytes >= (size_t)1 << 14) return (size_t)1 << 21;
  return element_bytes == 2 ? (size_t)1 << 23 : (size_t)1 << 24;
}

enum { STORE_LINE = 64 }; /* the bytes of a cache line */

/* Whether the system has not yet given pages to most of this memory. It clears each page at the first write, so that
   the page is in the cache afterwards. False where the system cannot tell. (lib/api/alloc.c) */
bool store_is_new(const void *memory, size_t bytes);

/* Whether streaming `rows` rows to `out` is faster. It is not for new memory: pages that the system has just cleared
   are in the caches, and would be written to memory twice. */
static inline bool store_pays(size_t row_bytes, size_t rows, size_t element_bytes, const void *out) {
  return row_bytes * rows >= store_streams_from(row_bytes, element_bytes) && !store_is_new(out, row_bytes * rows);
}

/* Whether streaming a result of add or rope of so many bytes pays: from half the size of a table on, as x takes as much
   of the caches. */
static inline bool store_pays_applied(size_t bytes, size_t element_bytes, const void *out) {
  return bytes >= store_streams_from(0, element_bytes) / 2 && !store_is_new(out, bytes);
}

/* Whether a plan with this choice of stores streams `rows` rows of a dtype to `out`. */
static inline bool store_streams_rows(posenc_stores wish, size_t row_bytes, int64_t rows, posenc_dtype dtype,
                                      const void *out) {
  return wish == POSENC_STORES_STREAMING ||
         (wish == POSENC_STORES_AUTO && store_pays(row_bytes, (size_t)rows, posenc_dtype_bytes(dtype), out));
}

/* Whether a plan with this choice of stores streams `rows` rows of the problem's table to `out`. */
static inline bool store_streams(posenc_stores wish, const posenc_problem *problem, int64_t rows, const void *out) {
  return store_streams_rows(wish, kernel_row_bytes(problem), rows, problem->dtype, out);
}

/* Returns the number of columns of each row that precede the first cache line boundary; in split layouts, of each half
   row. Returns -1 if rows or halves differ in this number. */
static inline int64_t store_columns_to_line(const posenc_problem *problem, const void *out) {
  const int64_t step = posenc_layout_columns(problem->layout, problem->dim).step;
  const size_t element_bytes = posenc_dtype_bytes(problem->dtype),
               part_bytes = (size_t)(problem->dim / 2 * step) * element_bytes;
  if ((uintptr_t)out % element_bytes || part_bytes % STORE_LINE) return -1;
  return (int64_t)(-(uintptr_t)out % STORE_LINE / element_bytes);
}

/* Makes earlier streaming stores visible to other threads. To be called after the last one. */
static inline void store_fence(void) {
#if defined(__x86_64__)
  _mm_sfence();
#endif
}

#endif
