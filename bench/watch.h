/* SPDX-License-Identifier: MIT */
/* Watches the workers of kernels from outside: takes the time of their turns, and judges what they did in them. */
#ifndef POSENC_BENCH_WATCH_H
#define POSENC_BENCH_WATCH_H

#include "bench/watched.h"

/* Orders, each for kernel and shape by number. They return false if the kernel is lost. watch_prepare also has the
   kernel write the whole shape, unless that takes long, and judges it. */
bool watch_open(watch *w, size_t kernel, size_t table, bool wanted, answer *a);
bool watch_prepare(watch *w, size_t kernel, size_t table, answer *a);

/* A benchmark's turn: the repetition and both limits, the better of before and after. */
typedef struct turn_times {
  answer of;
  limits best;
} turn_times;
bool watch_turn(watch *w, size_t kernel, size_t table, bench_mode mode, turn_times *times);

/* Judges a share of the limit, of a repetition (NaN if there is none). */
void watch_share(watch *w, size_t kernel, size_t table, bench_mode mode, double share);

/* Judges what only several turns of a benchmark can tell, when all are done. */
void watch_conclude(watch *w);

#endif
