/* SPDX-License-Identifier: MIT */
/* The limit beside which kernels are timed: the speed at which this machine can move the same bytes; and what evicts
   other data from its caches. */
#ifndef POSENC_BENCH_LIMIT_H
#define POSENC_BENCH_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct limit limit;
struct limit {
  bool scales;           /* scales numbers in place, as add and rope do; otherwise fills memory */
  unsigned char *buffer; /* 64-byte aligned */
  size_t bytes;          /* the footprint, > 0 */
  bool cached;           /* the footprint fits the last cache, and the next work finds it there */
  size_t next;           /* where the next stretch of a large footprint begins */
  /* Brings about the state before a pass, and may change `buffer`; returns false if memory runs out. Null for the
     steady state. */
  bool (*prepare)(limit *l);
  void *arg; /* for `prepare` */
};

/*
 * Returns the bytes per second of the fastest way with `threads` threads, each with a part of the memory, which start
 * and end together as a kernel's do; NaN if there are not as many or memory runs out.
 *
 * - to fill: memset, or vector stores, regular or streaming. The byte is not zero, as some machines write zeros twice
 * as fast (doc/notebook.md);
 * - to scale: x *= constant, of f32, with the widest vectors of the CPU, with or without prefetching; both bytes read
 * and bytes written count. The constant is 1, which the compiler does not know, so x does not change. Memory with bf16
 * is scaled as if it were f32, since the same bytes are moved. Streaming stores are left out: they are less than half
 * as fast in cache, and no faster elsewhere.
 *
 * In the steady state, a footprint that fits the last cache is passed over once before, and the best of some stretches
 * counts; for a larger one, the median of the next stretches. This takes some milliseconds. With `prepare`, the best of
 * two prepared passes over the whole footprint counts; NaN if the preparation fails.
 */
double limit_rate(limit *l, int threads);

/* Memory that is read to evict other data from caches. All zeros, or opened by evictor_open. */
typedef struct evictor {
  unsigned char *memory;
  size_t bytes;
} evictor;

/* Returns false if memory runs out. Must be closed in any case. */
bool evictor_open(evictor *e, size_t last_cache_bytes);
void evictor_close(evictor *e);

/* Evicts this memory from the caches of all cores (x86; elsewhere from those of this core and the last cache), and all
   other data from those of this core. The caches are then full of data that need not be written back. */
void evict(const evictor *e, const unsigned char *memory, size_t bytes);

#endif
