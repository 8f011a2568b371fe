/* SPDX-License-Identifier: MIT */
/* Watches the workers of kernels from outside: takes the time of their turns, and judges what they did in them. */
#ifndef POSENC_BENCH_WATCH_H
#define POSENC_BENCH_WATCH_H

#include "bench/bench.h"
#include "bench/orders.h"
#include "bench/serve.h"
#include "common/isolate.h"

#include <jansson.h>

/* Prints a line on stderr. Returns false, for callers that return a failure. */
bool __attribute__((format(printf, 1, 2))) bench_tell(const char *format, ...);
bool bench_tell_memory(void);

/* What is checked of kernels while they are timed. */
typedef enum bench_check {
  TIMED_VALUES, /* what timed calls wrote is within the contract */
  LATE_WORK,    /* nothing works on after the calls have returned, nor while other kernels are timed */
  WATCHED_TIME, /* the worker tells no less time than its processors were in use */
  OWN_THREADS,  /* a kernel that is not threaded uses no more time of processors than passes */
  SURROUNDINGS, /* priority, affinity, signals, descriptors … are as before */
  ROWS_IN_PLAN, /* memory does not grow by the rows unless the contract has keeps_rows */
  FLOOR,        /* it is no faster than the machine can be */
  BENCH_CHECKS
} bench_check;

/* The names, as in the record: "timed-values". Static storage. */
const char *bench_check_name(bench_check c);

typedef struct watch watch; /* all workers of a run */

/* Starts a worker for each kernel. Null after an error, which has been printed. */
watch *watch_start(const bench_request *request, size_t cache);

/* Ends all workers, some of which may be lost at that; frees everything. */
void watch_close(watch *w);
void watch_end(watch *w);

/* Adds to the context of a record: "kernel_failed.NAME" for each kernel that was lost, and "checks". */
void watch_tell(const watch *w, json_t *context);

/* Whether a kernel was lost or broke a check, which has been printed. Its turns are left out from then on. */
bool watch_is_lost(const watch *w, size_t kernel);
bool watch_lost_any(const watch *w);

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

/* Returns the seconds that processors spent in the workers. */
double watch_busy(const watch *w);

#endif
