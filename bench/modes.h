/* SPDX-License-Identifier: MIT */
/* Benchmark modes. */
#ifndef POSENC_BENCH_MODES_H
#define POSENC_BENCH_MODES_H

#include <stdbool.h>

/* A mode: the state of machine and memory before the work, and the part of the work that is timed. */
typedef enum bench_mode {
  BENCH_HOT,    /* the same touched memory again and again; the plan exists */
  BENCH_COLD,   /* table, or x, and constants evicted from all caches before each iteration */
  BENCH_FRESH,  /* into memory just allocated by posenc_alloc, page faults included; tables only */
  BENCH_MALLOC, /* into memory just allocated by malloc */
  BENCH_OFFSET, /* as hot, 16 bytes past a cache line, where malloc places tables and x */
  BENCH_FIRST,  /* making a plan, the whole table or x, and destroying the plan, in touched memory: a single use */
  BENCH_ROW,    /* single rows at random positions, in the same memory; each waits for the one before */
  BENCH_PLAN,   /* making and destroying the plan only */
  BENCH_MODES
} bench_mode;

/* The mode's name in names of benchmarks, such as "hot", and its description in a few words. Static storage. */
const char *bench_mode_name(bench_mode mode);
const char *bench_mode_summary(bench_mode mode);

/* Parses a set of modes, "cold,fresh", as bits 1 << mode. Returns false if a word is not a mode. */
bool bench_modes_parse(const char *text, unsigned *modes);

#define BENCH_DEFAULT_MODES (1u << BENCH_HOT | 1u << BENCH_PLAN)

#endif
