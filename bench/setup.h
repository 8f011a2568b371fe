/* SPDX-License-Identifier: MIT */
/* The set of benchmarks, each kernel on each shape that it can make unless that takes too long, and their buffers. */
#ifndef POSENC_BENCH_SETUP_H
#define POSENC_BENCH_SETUP_H

#include "bench/benchmark.h"

/* All functions that return bool return false after an error, which has been printed. */

/* Returns the options of a plan with this kernel; null lets the library choose. */
posenc_options setup_options(const bench_request *request, const posenc_kernel *kernel);

/* Collects the kernels that can make a shape. */
bool setup_subjects(session *run);

/* Allocates the buffers of all benchmarks, with each page touched, and the memory that evicts them from caches. */
bool setup_buffers(session *run, const json_t *environment);

/* Calibrates and registers all benchmarks. */
bool setup_benchmarks(session *run);

/* Prints how long the timings will take. */
void setup_predict(const session *run);

#endif
