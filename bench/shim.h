/* SPDX-License-Identifier: MIT */
/* An interface in C to Google Benchmark, whose state is global: there can be one run at a time. */
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

/* One repetition: prepares, loops while shim_keep_running, then counts. */
typedef void shim_function(shim_state *state, void *arg);

/* All below are false if memory runs out or as said. */

/* Takes --benchmark_… flags, null-terminated, or null. False with a one-line `message` if one is wrong. */
bool shim_initialize(char *const *flags, char *message, size_t size);

/* An iteration is one of `parts` equal parts of the work whose time is in the JSON. */
bool shim_register(const char *name, shim_function *function, void *arg, int64_t iterations, int repetitions,
                   double parts);

/* True once per iteration that is due. */
bool shim_keep_running(shim_state *state);

/* Wall time of all iterations together. Call it once, behind the loop. */
void shim_set_time(shim_state *state, double seconds);

/* JSON has no NaN and no infinity: such counters are left out. */
bool shim_count(shim_state *state, const char *name, double value);

/* Runs all that is registered and the flags select, repetitions in random order. The JSON text, to be freed, or null
   with a one-line `message`. */
char *shim_run(size_t *length, char *message, size_t size);

/* Forgets the benchmarks. */
void shim_clear(void);

#ifdef __cplusplus
}
#endif

#endif
