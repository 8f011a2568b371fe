/* SPDX-License-Identifier: MIT */
/* The timed work: a kernel that makes a table or does add or rope, in every mode. */
#ifndef POSENC_BENCH_SUBJECT_H
#define POSENC_BENCH_SUBJECT_H

#include "bench/bench.h"
#include "bench/limit.h"
#include "bench/slot.h"
#include "common/shapes.h"
#include "posenc.h"

enum { DRAWS = 1024 };

typedef struct timed_subject {
  const shape *shape;
  const posenc_kernel *kernel;
  const bench_device *device; /* that the kernel runs on, or null */
  posenc_options options;
  unsigned modes;                      /* modes to time, a set of 1 << mode */
  posenc_problem problems[SLOT_PLANS]; /* that of the shape, and ones that begin later */
  posenc_plan *plans[SLOT_PLANS];      /* of these; of a kernel that keeps rows, one plan with the rows of all */
  int64_t later[SLOT_PLANS];           /* by how many rows of the plan its calls begin later */
  int plan_count;
  int64_t batch;         /* number of sequences of x; 1 for a table */
  int64_t call_rows;     /* of the request */
  size_t bytes;          /* size of the table, or of all of x */
  unsigned char *buffer; /* numbers, BENCH_OFFSET_BYTES more; shared by the subjects of a dtype */
  const evictor *evictor;
  double pass;         /* approximate seconds of a pass over all rows */
  double plan_seconds; /* time and bytes of one plan */
  size_t plan_bytes;
} timed_subject;

/* The distance from a cache line at malloc's 16-byte alignment. A buffer has room for that many bytes more. */
enum { BENCH_OFFSET_BYTES = 16 };

/* A subject in one mode: a benchmark. */
typedef struct timing {
  const timed_subject *subject;
  bench_mode mode;
  int64_t rows;        /* rows of one iteration */
  int64_t iterations;  /* iterations of one repetition */
  double seconds;      /* approximate time of these */
  limit limit;         /* for the memory of the mode; 0 bytes if it has none */
  int64_t next, slice; /* the next call: its number, and its slice of the rows */
  int plan;            /* its plan */
  /* The plans of the slot: plan n is (begin + n x step) modulo `of`. The next call's n, and that of the first slice of
     this pass. */
  int begin, step, of, plans, number, pass_number;
  int64_t draws[DRAWS]; /* in "row", random rows */
  double plan_seconds;  /* in "first", the time of the plans of all iterations */
  /* The memory of the table or x: the subject's buffer or a place in it; in "fresh" and "malloc", that of the last
     iteration only, or null. */
  unsigned char *memory;
} timing;

/* Sets the problems of the plans, before which the members before `problems` must be set. seed: of their shifts. If the
   kernel does not make them, there is one plan, and false is returned. */
bool subject_vary(timed_subject *s, uint64_t seed);

/* Make the plans, before which bytes, buffer and evictor must be set; and measure the seconds of a pass over all rows,
   or extrapolate them from enough rows. */
posenc_status subject_prepare(timed_subject *s);
posenc_status subject_predict(timed_subject *s);
void subject_release(timed_subject *s);

/* Sets up a mode whose iterations, with their preparations, take about min_time seconds together. */
posenc_status timing_set_up(timing *t, const timed_subject *s, bench_mode mode, size_t last_cache_bytes,
                            double min_time);

/* Whether the mode has a meaning for the problem: fresh memory has no x in it. */
bool mode_suits(const posenc_problem *problem, bench_mode mode);

/* Whether it has one for the kernel: states of the host's memory do not matter to a device. */
bool mode_suits_kernel(const timed_subject *s, bench_mode mode);

/* Whether the mode works on whole tables, or plans that make them, and one takes `longest` seconds or more. */
bool timing_takes_long(const timed_subject *s, bench_mode mode, double longest);

/* Points to the subject's buffer, whose address may have changed. */
void timing_place(timing *t);

/* Whether each iteration has memory of its own. */
bool timing_allocates(const timing *t);

/* Return how many calls make a pass over the rows in a mode, and the memory that the next call writes. */
int64_t timing_slices(const timing *t);
region timing_region(const timing *t);

/* Returns the number of threads that the kernel may use at once, at most one per CPU; 1 for a serial kernel. */
int timing_threads(const timing *t);

/* timing_wake, before each repetition, wakes threads and loads constants into caches; timing_rest frees what an
   iteration left. */
void timing_wake(timing *t);
void timing_rest(timing *t);

/* Begins a slot: its first call is number 0. */
void timing_begin(timing *t, const slot_terms *terms);

/* The two parts of an iteration, of which the second is timed. timing_prepare does nothing in most modes. */
posenc_status timing_prepare(timing *t);
posenc_status timing_work(timing *t);

/* In mode plan, writes `rows` rows from `row` on by a plan made as the last call made it. */
enum { SHOWN_ROWS = 64 };
posenc_status timing_show(timing *t, int plan, int64_t row, int64_t rows);

/* Whether timing_prepare does anything. */
bool timing_has_preparation(const timing *t);

#endif
