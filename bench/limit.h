/* SPDX-License-Identifier: MIT */
/* How fast this machine can do at all what moves the same bytes: the limit that kernels are timed beside. */
#ifndef POSENC_BENCH_LIMIT_H
#define POSENC_BENCH_LIMIT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct limit limit;
struct limit {
  bool scales;           /* numbers in place, as add and rope do; else the memory is filled, as by a table */
  unsigned char *buffer; /* 64-byte aligned */
  size_t bytes;          /* the footprint, > 0 */
  bool cached;           /* it fits the last cache: what works on it next finds it there */
  size_t next;           /* where the next stretch of a footprint larger than one stretch begins */
  bool (*prepare)(
      limit *
          l); /* null: in the steady state. Else it brings about the state to start from, and may change `buffer`; false
                                when memory runs out */
  void *arg;  /* of prepare */
};

/* Bytes per second, on one thread, of the fastest way:  - to fill: memset or streaming stores. The byte is not zero:
   there are machines that write zeros twice as fast (doc/performance.md); - to scale: x *= constant, of f32, with
   the widest vectors that there are, with prefetching or without; bytes read and bytes written. The constant is 1,
   which the compiler does not know, so that no x changes. Memory that holds bf16 is scaled as if it were f32: the
   same bytes are moved. Streaming stores are no such way: less than half as fast in cache, and no faster elsewhere.
   In the steady state, a footprint that fits the last cache is passed over once before, and the best of some
   stretches counts; of a larger one, the median of the next stretches. Takes some milliseconds. With `prepare` one
   pass over the whole, prepared, or NaN when that fails. */
double limit_rate(limit *l);

#endif
