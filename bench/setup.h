/* SPDX-License-Identifier: MIT */
/* The set of benchmarks: each kernel on each shape that it can make, in each mode, unless that takes too long. */
#ifndef POSENC_BENCH_SETUP_H
#define POSENC_BENCH_SETUP_H

#include "bench/benchmark.h"

/* All functions that return bool return false after an error, which has been printed. */

/* Starts the workers, and finds out which kernels can make which shapes. environment: to compare the memory that they
   need with that of the machine. */
bool setup_subjects(session *run, const json_t *environment);

/* Calibrates and registers all benchmarks. */
bool setup_benchmarks(session *run);

/* Prints how long the timings will take. */
void setup_predict(const session *run);

#endif
