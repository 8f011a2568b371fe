/* SPDX-License-Identifier: MIT */
/* A benchmark, which times one kernel on one shape in one mode; and the session of all benchmarks of a run. */
#ifndef POSENC_BENCH_BENCHMARK_H
#define POSENC_BENCH_BENCHMARK_H

#include "bench/bench.h"
#include "bench/shim.h"
#include "bench/subject.h"

/* The memory for all subjects of a dtype, as large as the largest of them needs. It always holds numbers of the dtype:
   in another dtype these might be NaN, or subnormal, which is slow. */
typedef struct buffer {
  unsigned char *memory;
  const subject *largest;
  size_t bytes; /* needed by the largest subject */
} buffer;

enum { DTYPES = POSENC_BF16 + 1 };

typedef struct session session;

typedef struct benchmark {
  session *run;
  timing timing;
  double beside; /* seconds that the two limits of a repetition take; 0 if not predicted */
} benchmark;

struct session {
  const bench_request *request;
  const bool *left_out; /* kernels that ended an earlier process of this run */
  bool lost;            /* whether there are any */
  subject *subjects;
  size_t subject_count;
  benchmark *benchmarks; /* each subject in each mode, unless it takes too long */
  size_t benchmark_count;
  evictor evictor;
  buffer buffers[DTYPES];
  size_t cache;                    /* size of the last cache level, 0 if unknown */
  bool *mine;                      /* which shapes are to be timed */
  size_t done;                     /* repetitions so far */
  size_t long_passes, whole_plans; /* numbers of benchmarks that are left out */
  bool failed;                     /* a message has been printed */
};

/* Tells the parent process that the subject's kernel is at work from now on. */
void benchmark_take_turn(const subject *s);

/* Prints a line on the caller's stderr. Returns false, for callers that return a failure. */
bool __attribute__((format(printf, 1, 2))) benchmark_tell(const char *format, ...);
bool benchmark_tell_memory(void);

/* Reports that the kernel at work has failed. The run is started again without it. */
void benchmark_give_up(const subject *s, posenc_status status);

/* Runs one repetition, as Google Benchmark calls it. argument: the benchmark. */
void benchmark_run(shim_state *state, void *argument);

#endif
