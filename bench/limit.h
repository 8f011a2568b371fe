/* SPDX-License-Identifier: MIT */
/* The limit that kernels are timed beside: the speed at which this machine can move the same bytes at all. */
#ifndef POSENC_BENCH_LIMIT_H
#define POSENC_BENCH_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct limit limit;
struct limit {
  bool scales;           /* numbers in place, as add and rope do; else the memory is filled, as by a table */
  unsigned char *buffer; /* 64-byte aligned */
  size_t bytes;          /* the footprint, > 0 */
  bool cached;           /* it fits the last cache, and the next work on it finds it there */
  size_t next;           /* where the next stretch of a footprint larger than one stretch begins */
  /* Null: in the steady state. Else it brings about the state to start from, and may change `buffer`; false when memory
     runs out. */
  bool (*prepare)(limit *l);
  void *arg; /* of prepare */
};

/*
 * Bytes per second of the fastest way by so many threads, each with a part of the memory, which start and end together
 * as a kernel's do. Without OpenMP there is one.
 *
 * - to fill: memset, or stores of vectors through the caches or past them. The byte is not zero: there are machines
 *   that write zeros twice as fast (doc/performance.md);
 * - to scale: x *= constant, of f32, with the widest vectors of the CPU, with prefetching or without; bytes read and
 *   bytes written. The constant is 1, which the compiler does not know, so no x changes. Memory that holds bf16 is
 *   scaled as if it were f32: the same bytes are moved. Streaming stores are left out: less than half as fast in cache,
 *   and no faster elsewhere.
 *
 * In the steady state, a footprint that fits the last cache is passed over once before, and the best of some stretches
 * counts; of a larger one, the median of the next stretches. Takes some milliseconds. With `prepare`, the best of
 * two passes over the whole footprint, each prepared; NaN when that fails.
 */
double limit_rate(limit *l, int threads);

#endif
