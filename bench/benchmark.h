/* SPDX-License-Identifier: MIT */
/* A benchmark, which times one kernel on one shape in one mode; and the session of all benchmarks of a run. */
#ifndef POSENC_BENCH_BENCHMARK_H
#define POSENC_BENCH_BENCHMARK_H

#include "bench/bench.h"
#include "bench/shim.h"
#include "bench/watch.h"

typedef struct session session;

typedef struct benchmark {
  session *run;
  size_t kernel, shape; /* numbers of the request */
  bench_mode mode;
  mode_facts facts;
  double plan_seconds; /* of making a plan, and its memory */
  size_t plan_bytes;
} benchmark;

struct session {
  const bench_request *request;
  watch *watch;
  benchmark *benchmarks; /* each kernel on each shape in each mode, unless it takes too long */
  size_t benchmark_count;
  size_t subject_count;            /* kernels on shapes */
  bool *mine;                      /* which shapes are to be timed */
  bool *taken;                     /* by shape, kernel after kernel: whether the kernel takes the shape */
  size_t done;                     /* repetitions so far */
  size_t long_passes, whole_plans; /* numbers of benchmarks that are left out */
  bool failed;                     /* a message has been printed */
};

/* Runs one repetition, as Google Benchmark calls it. argument: the benchmark. */
void benchmark_run(shim_state *state, void *argument);

#endif
