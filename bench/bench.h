/* SPDX-License-Identifier: MIT */
/* Times kernels, and the limits of the machine beside them. */
#ifndef POSENC_BENCH_BENCH_H
#define POSENC_BENCH_BENCH_H

#include "common/run.h"
#include "posenc.h"
#include "records/record.h"

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

/* A kernel on a device with memory of its own. It is timed by the clock of the device, in the modes hot and plan, while
   x and the results stay there, beside what the device does with the same bytes. */
typedef struct bench_device {
  const posenc_kernel *kernel;
  bool (*stay)(void);                        /* begins this; false if the device tells no times */
  double (*busy)(void);                      /* returns the seconds of its work since the last call */
  double (*rate)(bool scales, size_t bytes); /* its limit, bytes per second, as limit_rate (bench/limit.h) */
} bench_device;

/* The default of run_timing's `longest`. All repetitions on a whole table take about ten times as long. */
static const double bench_longest = 1;

/*
 * Timed work: writing a table, or the two tables of a rope cache; add and rope in place (x and the result are the same
 * memory), on finite numbers.
 *
 * Makes the timing record: valid Google Benchmark JSON with the environment's facts in its context. Benchmarks are
 * called "<mode>/<shape>/<kernel>". Their counters are in records/counters.def.
 *
 * real_time and cpu_time are for a pass over the whole table, or x, for any value of rows_timed, so that records can be
 * compared; in "row" they are for a row, in "plan" for a plan. Only cpu_time includes the preparation of iterations in
 * "cold" and "fresh".
 *
 * The context has the library's choices for all shapes; that of a shard has which part of the run it is
 * (records/fields.def).
 * If a shard has nothing to time, or no kernel is left, "benchmarks" is empty, and the context has the environment's
 * facts only.
 *
 * Each kernel has a process of its own (common/isolate.h), which stays for the run and makes the calls of one benchmark
 * at a time; this process takes their times, reads what they wrote, and judges it (bench/watch.h, doc/timing.md). A
 * kernel that ends its process, hangs, or breaks a check is left out from then on, and none of its times are in the
 * record. The context then has "kernel_failed.NAME": how the process ended, or the check and how it failed. The context
 * also has the checks of all kernels.
 *
 * Returns 0 and the record, for record_free; 1 and the record if kernels were left out in this way; 1 and null if there
 * is nothing to time; 2 and null on an error. The reasons of 1 and 2 are printed on stderr, as are kernels that can
 * make none of the shapes, and benchmarks that are left out of a mode. No thread may be running, and this process must
 * not have run an OpenMP region.
 */
int bench_run(run_request *request, const record_timing **record);

#endif
