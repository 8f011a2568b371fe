/* SPDX-License-Identifier: MIT */
/* Benchmark modes: the state of machine and memory, and the part of the work that is timed. */
#ifndef POSENC_BENCH_MODES_H
#define POSENC_BENCH_MODES_H

#include <stdbool.h>

/* The state of machine and memory before the work, and the part of the work that is timed. */
typedef enum bench_mode {
  BENCH_HOT,    /* the same memory again and again, touched; the plan is there */
  BENCH_COLD,   /* table, or x, and constants evicted from all caches before each iteration */
  BENCH_FRESH,  /* writes to memory just allocated by posenc_alloc: its page faults count; tables alone */
  BENCH_MALLOC, /* the same, allocated by malloc */
  BENCH_OFFSET, /* as hot, 16 bytes past a cache line, where malloc places tables; or x */
  BENCH_FIRST,  /* making a plan, the whole table or x, and destroying the plan, in touched memory: a single use */
  BENCH_ROW,    /* single rows at random positions, in the same memory; each waits for the one before */
  BENCH_PLAN,   /* only to make the plan and to destroy it */
  BENCH_MODES
} bench_mode;

/* "hot", as in the names of benchmarks, and what it is in a few words. Static storage. */
const char *bench_mode_name(bench_mode mode);
const char *bench_mode_summary(bench_mode mode);

/* "cold,fresh": a set, of bits 1 << mode. False if a word is no mode. */
bool bench_modes_parse(const char *text, unsigned *modes);

#define BENCH_DEFAULT_MODES (1u << BENCH_HOT | 1u << BENCH_PLAN)

#endif
