/* SPDX-License-Identifier: MIT */
/* Times kernels beside the machine's own fill limit. */
#ifndef POSENC_BENCH_BENCH_H
#define POSENC_BENCH_BENCH_H

#include "common/shapes.h"
#include "posenc.h"

#include <jansson.h>

typedef struct bench_request {
  const posenc_kernel *const *kernels;
  size_t kernel_count;
  const shape *shapes;
  size_t shape_count;
  unsigned isa;    /* allowed tiers; 0: POSENC_ISA, or all */
  int threads;     /* of threaded kernels; 0: OpenMP's default */
  int repetitions; /* of each benchmark, interleaved at random; >= 3 */
  double min_time; /* seconds that one repetition should take, about */
  char **extra;    /* further --benchmark_… flags, null-terminated, or null */
} bench_request;

/*
 * Makes the timing record: valid Google Benchmark JSON with our environment in its context. Benchmarks:
 *
 *   "execute/<shape>/<kernel>": steady state, memory touched; counters
 *       bytes_per_second, ns_per_element, fill_bytes_per_second (see bench/fill.h; on the same buffer, the better of just
 *       before and just after this repetition), of_fill (ratio of the two), rows, dim, rows_timed (fewer than rows where
 *       a pass is slow: then each iteration takes the next slice of the same table), turn.
 *   "plan/<shape>/<kernel>": creation and destruction of the plan; counters rows, dim, turn.
 *
 * real_time and cpu_time are those of a pass over the whole table, whatever rows_timed is, so that records can be
 * compared. turn: which of all repetitions of the run this one was, from 1 on.
 *
 * 0 and the record, a new reference; 1 and null if there is nothing of "execute" to time; 2 and null on an error. What
 * is not 0 has been told on stderr.
 */
int bench_run(const bench_request *request, json_t **record);

#endif
