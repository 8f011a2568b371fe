/* SPDX-License-Identifier: MIT */
/* A C interface to Google Benchmark. Its state is global, so there can be one run at a time. */
#ifndef POSENC_BENCH_SHIM_H
#define POSENC_BENCH_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The state that Google Benchmark passes to a running benchmark. */
typedef struct shim_state shim_state;

/* A repetition: prepares, loops while shim_keep_running, then counts. */
typedef void shim_function(shim_state *state, void *arg);

/* All functions below return false if memory runs out, or as described. */

/* Sets --benchmark_… flags, null-terminated, or null. Returns false with a one-line `message` if one is wrong. */
bool shim_initialize(char *const *flags, char *message, size_t size);

/* Registers a benchmark. An iteration is one of `parts` equal parts of the work whose time is in the JSON. */
bool shim_register(const char *name, shim_function *function, void *arg, int64_t iterations, int repetitions,
                   double parts);

/* Returns true once per iteration of the repetition. */
bool shim_keep_running(shim_state *state);

/* Sets the wall time of all iterations together, and the processor's time. To be called once, after the loop. */
void shim_set_times(shim_state *state, double seconds, double busy);

/* Sets a counter. NaN and infinities, which JSON lacks, are left out. */
bool shim_count(shim_state *state, const char *name, double value);

/* Runs all registered benchmarks that the flags select, repetitions in random order. Returns the JSON text, to be
   freed, or null with a one-line `message`. */
char *shim_run(size_t *length, char *message, size_t size);

/* Removes all benchmarks. */
void shim_clear(void);

#ifdef __cplusplus
}
#endif

#endif
