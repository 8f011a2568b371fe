/* SPDX-License-Identifier: MIT */
/* Times kernels beside the machine's own fill limit. */
#ifndef POSENC_BENCH_BENCH_H
#define POSENC_BENCH_BENCH_H

#include "common/shapes.h"
#include "posenc.h"

typedef struct bench_request {
  const posenc_kernel *const *kernels;
  size_t kernel_count;
  const shape *shapes;
  size_t shape_count;
  unsigned isa;     /* allowed tiers; 0: POSENC_ISA, or all */
  int threads;      /* of threaded kernels; 0: OpenMP's default */
  int repetitions;  /* of each benchmark, interleaved at random; >= 3 */
  double min_time;  /* seconds that one repetition should take, about */
  const char *json; /* path of the Google Benchmark JSON to write, "-" for stdout */
  char **extra;     /* further --benchmark_… flags, null-terminated, or null */
} bench_request;

/*
 * Writes valid Google Benchmark JSON with our environment as custom context. Benchmarks:
 *
 *   "execute/<shape>/<kernel>": steady state, memory touched; counters
 *       bytes_per_second, ns_per_element, fill_bytes_per_second (best of memset and streaming stores on the same
 *       buffer, measured just before and just after this repetition), of_fill (ratio of the two), rows, dim, rows_timed
 *       (fewer than rows where a pass is slow: then each iteration takes the next slice of the same table).
 *   "plan/<shape>/<kernel>": creation and destruction of the plan; counters rows, dim.
 *
 * 0 on success, 1 if nothing could be timed, 2 on an error already told on stderr.
 */
int bench_run(const bench_request *request);

#endif
