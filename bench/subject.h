/* SPDX-License-Identifier: MIT */
/* The timed work: a kernel on a table, in add or in rope, in every mode. */
#ifndef POSENC_BENCH_SUBJECT_H
#define POSENC_BENCH_SUBJECT_H

#include "bench/evict.h"
#include "bench/limit.h"
#include "bench/modes.h"
#include "common/shapes.h"
#include "posenc.h"

enum { DRAWS = 1024 };

typedef struct subject {
  const shape *shape;
  const posenc_kernel *kernel;
  posenc_options options;
  unsigned modes; /* in which it is timed: set of 1 << mode */
  posenc_plan *plan;
  int64_t batch;         /* sequences of x; 1 for a table */
  size_t bytes;          /* of the table, or of all of x */
  unsigned char *buffer; /* holds it, and BENCH_OFFSET_BYTES more, numbers; other subjects of the dtype use it too */
  const evictor *evictor;
  int64_t draws[DRAWS]; /* rows */
  double pass;          /* seconds that a pass over all rows takes, about */
} subject;

/* Bytes past a cache line, as malloc's 16-byte alignment gives them. A buffer has room for so many more. */
enum { BENCH_OFFSET_BYTES = 16 };

/* A subject in one mode: a benchmark. */
typedef struct timing {
  const subject *subject;
  bench_mode mode;
  int64_t rows;        /* of one iteration */
  int64_t iterations;  /* of one repetition */
  double seconds;      /* that these take, about */
  limit limit;         /* of the memory that the mode works on; 0 bytes where it works on none */
  int64_t next;        /* where the next iteration begins: a row in "hot", a draw in "row" */
  double plan_seconds; /* in "first", what the plans of all iterations took */
  unsigned char
      *memory; /* of the table, or x: the subject's buffer or a place in it, or, in "fresh" and "malloc", of the
                            last iteration alone, or null */
} timing;

/* Makes the plan and the draws, and measures a pass. The members before `plan`, and bytes, buffer and evictor, must
   be set. */
posenc_status subject_prepare(subject *s);
void subject_release(subject *s);

/* Sets up a mode, with iterations that take min_time seconds together, about, the preparation of each included. */
posenc_status timing_set_up(timing *t, const subject *s, bench_mode mode, size_t last_cache_bytes, double min_time);

/* Whether the mode has a meaning for such work: fresh memory has no x in it. */
bool mode_suits(const posenc_problem *problem, bench_mode mode);

/* Whether the mode times whole tables, or plans that make them, and one takes `longest` seconds or more. */
bool timing_takes_long(const subject *s, bench_mode mode, double longest);

/* Threads that the kernel may use at once, as far as there are CPUs for them; 1 of a serial kernel. */
int timing_threads(const timing *t);

/* Before each repetition: wakes threads and warms the constants. After it: frees what an iteration left. */
void timing_wake(timing *t);
void timing_rest(timing *t);

/* One iteration calls both; the second is timed. The first does nothing in most modes. */
posenc_status timing_prepare(timing *t);
posenc_status timing_work(timing *t);

/* Whether the first does something. */
bool timing_has_preparation(const timing *t);

#endif
