/* SPDX-License-Identifier: MIT */
/* How fast this machine can write memory at all: the limit that kernels are timed beside. */
#ifndef POSENC_BENCH_FILL_H
#define POSENC_BENCH_FILL_H

#include <stddef.h>

typedef struct fill {
  unsigned char *buffer; /* 64-byte aligned */
  size_t bytes;          /* the footprint, > 0 */
  size_t next;           /* where the next stretch of a footprint larger than one stretch begins */
} fill;

/* Bytes per second of the best stretch of memset and of streaming stores, on one thread, over the next part of the
   footprint. Takes some milliseconds. */
double fill_rate(fill *f);

#endif
