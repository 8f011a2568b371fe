/* SPDX-License-Identifier: MIT */
/* A benchmark, which times one kernel on one shape in one mode; and the session that all of them are part of. */
#ifndef POSENC_BENCH_BENCHMARK_H
#define POSENC_BENCH_BENCHMARK_H

#include "bench/bench.h"
#include "bench/shim.h"
#include "bench/subject.h"

/* Memory that subjects of one dtype work on, as large as the largest of them needs. Every kernel leaves numbers of
   the dtype there; in another dtype they might be NaN, or subnormal, which is slow. */
typedef struct buffer {
  unsigned char *memory;
  const subject *largest;
  size_t bytes; /* of the largest */
} buffer;

enum { DTYPES = POSENC_BF16 + 1 };

typedef struct session session;

typedef struct benchmark {
  session *run;
  timing timing;
  double beside; /* seconds that the two limits of a repetition take; 0 where no prediction is asked for */
} benchmark;

struct session {
  const bench_request *request;
  const bool *left_out; /* kernels that ended an earlier process of this run */
  bool lost;            /* there are some */
  subject *subjects;
  size_t subject_count;
  benchmark *benchmarks; /* of each subject in each mode that does not take too long */
  size_t benchmark_count;
  evictor evictor;
  buffer buffers[DTYPES];
  size_t cache;                    /* bytes of the last level, 0 if unknown */
  bool *mine;                      /* which shapes are to be timed */
  size_t done;                     /* repetitions */
  size_t long_passes, whole_plans; /* benchmarks that are left out */
  bool failed;                     /* and the user was told */
};

/* Tells the parent process that the subject's kernel is the one at work from now on. */
void benchmark_take_turn(const subject *s);

/* One line on the caller's stderr. Returns false, for callers that pass failure on. */
bool __attribute__((format(printf, 1, 2))) benchmark_tell(const char *format, ...);
bool benchmark_tell_memory(void);

/* Reports that the kernel at work has failed: the run is started again without it. */
void benchmark_give_up(const subject *s, posenc_status status);

/* One repetition, as Google Benchmark calls it: `argument` is the benchmark. */
void benchmark_run(shim_state *state, void *argument);

#endif
