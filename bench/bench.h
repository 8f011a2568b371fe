/* SPDX-License-Identifier: MIT */
/* Times kernels beside the machine's own limits. */
#ifndef POSENC_BENCH_BENCH_H
#define POSENC_BENCH_BENCH_H

#include "bench/modes.h"
#include "common/digest.h"
#include "common/shapes.h"
#include "common/shard.h"
#include "posenc.h"

#include <jansson.h>

typedef struct bench_request {
  const posenc_kernel *const *kernels;
  size_t kernel_count;
  const shape *shapes;
  size_t shape_count;
  const size_t *kernel_counts; /* for each shape, the number of kernels timed on it, the first ones; null: all */
  const unsigned *modes;       /* of each shape: a set of 1 << mode */
  double longest;              /* seconds: a pass that takes longer is left out of the modes of whole tables */
  unsigned isa;                /* allowed tiers; 0: POSENC_ISA, or all */
  int threads;                 /* of threaded kernels; 0: one for each processor */
  posenc_stores stores;
  int repetitions;            /* of each benchmark, interleaved at random; >= 3 */
  int64_t batch;              /* sequences of x that add and rope work on, >= 1 */
  double min_time;            /* seconds that one repetition should take, about */
  const digest_text *plugins; /* of the files of plugins, in order, */
  size_t plugin_count;        /* and how many */
  char **extra;               /* further --benchmark_… flags, null-terminated, or null */
  bool foretell;              /* say on stderr how long it will take, before the first timing */
  shard only;                 /* the part of the shapes that is timed, with all kernels on each */
  double silence;             /* seconds after which a kernel counts as hung, in a call that takes other kernels
                                 milliseconds */
} bench_request;

/* The usual value of `longest`: all repetitions on a whole table take some ten times as long. */
static const double bench_longest = 1;

/*
 * Timed work: writing a table, or the two tables of a rope cache; add and rope in place (x and the result are the same
 * memory), on finite numbers.
 *
 * Makes the timing record: valid Google Benchmark JSON with our environment in its context. Benchmarks are called
 * "<mode>/<shape>/<kernel>". Their counters are in common/counters.def.
 *
 * real_time and cpu_time are those of a pass over the whole table, or x, whatever rows_timed is, so that records can be
 * compared; in "row" those of a row, in "plan" those of a plan. Only cpu_time counts what prepares an iteration of
 * "cold" and "fresh".
 *
 * The context has "choices": [{ "shape", "kernel", "all_threads": what the library chooses for it with one thread, and
 * with `threads` }]; of all shapes, also in a part of a run, whose context has
 *   "shard": { "number": n, "of": n, "shapes": [their numbers], "run": {
 *   "modes": [of each shape a set of 1 << mode], "isa": 0 or a set of tiers, "threads", "stores", "repetitions",
 *   "batch", "min_time", "longest", "flags": further ones [text …], "kernels": [name …], "shapes": [shape_json() …],
 *   "plugins": [digests of their files]} }.
 * It may have nothing to time: then "benchmarks" is empty, and the context has our facts alone.
 *
 * All of it is timed in one process that is not the caller's (common/isolate.h). A kernel that ends it, hangs or
 * misbehaves there otherwise is left out, and the timing begun again; the context then has "kernel_failed.NAME": how it
 * ended.
 *
 * 0 and the record, a new reference; 1 and the record if a kernel had to be left out so; 1 and null if there is nothing
 * to time; 2 and null on an error. What is not 0 has been told on stderr, and so have kernels that do none of the
 * shapes, and what is left out of a mode. No thread may be running, nor have run an OpenMP region in this process.
 */
int bench_run(const bench_request *request, json_t **record);

#endif
