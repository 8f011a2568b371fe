/* SPDX-License-Identifier: MIT */
/* How fast this machine can write memory at all: the limit that kernels are timed beside. */
#ifndef POSENC_BENCH_FILL_H
#define POSENC_BENCH_FILL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fill fill;
struct fill {
  unsigned char *buffer; /* 64-byte aligned */
  size_t bytes;          /* the footprint, > 0 */
  bool cached;           /* it fits the last cache: what it is filled with next finds it there */
  size_t next;           /* where the next stretch of a footprint larger than one stretch begins */
  bool (*prepare)(
      fill *
          f); /* null: in the steady state. Else it brings about the state to fill from, and may change `buffer`; false when
                               memory runs out */
  void *arg; /* of prepare */
};

/* Bytes per second of memset or of streaming stores, whichever is faster, on one thread. The byte is not zero: there are
   machines that write zeros twice as fast (doc/performance.md).

   In the steady state, a footprint that fits the last cache is filled once before, and the best of some stretches counts; of a
   larger one, the median of the next stretches. Takes some milliseconds. With `prepare` the median of some fillings of the whole, each
   prepared, or NaN when that fails. */
double fill_rate(fill *f);

#endif
