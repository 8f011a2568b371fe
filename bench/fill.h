/* SPDX-License-Identifier: MIT */
/* How fast this machine can write memory at all: the limit that kernels are timed beside. */
#ifndef POSENC_BENCH_FILL_H
#define POSENC_BENCH_FILL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fill {
  unsigned char *buffer; /* 64-byte aligned */
  size_t bytes;          /* the footprint, > 0 */
  bool cached;           /* it fits the last cache: what it is filled with next finds it there */
  size_t next;           /* where the next stretch of a footprint larger than one stretch begins */
} fill;

/* Bytes per second of memset or of streaming stores, whichever is faster, on one thread, in the steady state: a footprint
   that fits the last cache is filled once before, and the best of some stretches counts; of a larger one, the median of the
   next stretches. Takes some milliseconds. */
double fill_rate(fill *f);

#endif
