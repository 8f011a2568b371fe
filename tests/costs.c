/* SPDX-License-Identifier: MIT */
/*
 * A plugin of kernels with known cost, for tests/known-costs.sh: they write the table, and end at a time by the
 * clock. Other work on the machine can add time, but not reduce it.
 */
#include <posenc.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef ROW
#define ROW 40e-6 /* seconds for a row */
#endif
#define PLAN 4e-4 /* seconds for a plan of the kernels that wait in it */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_until(double end) {
  while (now() < end) continue;
}

/* ---- plans ---- */

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)options;
  const int64_t pairs = problem->dim / 2;
  double *frequencies = malloc((size_t)pairs * sizeof *frequencies);
  for (int64_t i = 0; frequencies && i < pairs; i++)
    frequencies[i] = pow(problem->base, -(double)i / ((double)pairs - problem->shift));
  *constants = frequencies;
  return frequencies ? POSENC_OK : POSENC_OUT_OF_MEMORY;
}

/* Waits three quarters of the plan's time before the rows, the rest after them. */
static posenc_status prepare_slowly(const posenc_problem *problem, const posenc_options *options, void **constants) {
  const double end = now() + 0.75 * PLAN;
  const posenc_status status = prepare(problem, options, constants);
  wait_until(end);
  return status;
}

/* A plan that no number of calls in a test pays for. */
static posenc_status prepare_dearly(const posenc_problem *problem, const posenc_options *options, void **constants) {
  wait_until(now() + 100 * PLAN);
  return prepare(problem, options, constants);
}

static void release_slowly(void *constants) {
  wait_until(now() + 0.25 * PLAN);
  free(constants);
}

/* ---- rows ---- */

static const char *can_do(const posenc_problem *problem) {
  return problem->dtype == POSENC_F32 ? NULL : "it writes f32 only";
}

static void compute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const double *frequencies = constants;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  float *place = out;
  for (int64_t r = 0; r < rows; r++, place += problem->dim)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double angle = (double)(problem->first + row + r) * frequencies[i];
      place[i * columns.step + columns.sin] = (float)sin(angle);
      place[i * columns.step + columns.cos] = (float)cos(angle);
    }
}

static void write_and_wait(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const double end = now() + (double)rows * ROW;
  compute(constants, problem, row, rows, out);
  wait_until(end);
}

static void four_times(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const double end = now() + 4 * (double)rows * ROW;
  compute(constants, problem, row, rows, out);
  wait_until(end);
}

/* Takes ten times as long in every tenth call: 1.9 waits per call. */
static void slow_tenth(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  static _Atomic unsigned calls;
  const double end = now() + (calls++ % 10 ? 1 : 10) * (double)rows * ROW;
  compute(constants, problem, row, rows, out);
  wait_until(end);
}

/* Writes no table, but as many bytes as the limit, or three times as many. */
static void fill(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants, (void)row;
  memset(out, 0x55, (size_t)(rows * problem->dim) * sizeof(float));
  __asm__ volatile("" ::"r"(out) : "memory");
}

static void fill_thrice(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  for (int i = 0; i < 3; i++) fill(constants, problem, row, rows, out);
}

/* The bound assumes pow, sin and cos within 2 ulp, as in examples/plugin/kernel.c. That of what fills memory always
   holds. */
#define BOUND                                                                                                          \
  { .ulp = 0.5, .abs = 2 * DBL_EPSILON, .growth = 6 * DBL_EPSILON, .max_position = 1 << 30, .derived = true }
#define NONE                                                                                                           \
  { .abs = 1e30, .max_position = 1 << 30 }
#define KERNEL(kernel, title, claimed, before, work, after)                                                            \
  static const posenc_kernel kernel = {                                                                                \
      .abi = POSENC_KERNEL_ABI,                                                                                        \
      .isa = POSENC_ISA_GENERIC,                                                                                       \
      .name = title,                                                                                                   \
      .summary = "of known cost",                                                                                      \
      .algorithm = "it waits",                                                                                         \
      .provenance = "a test",                                                                                          \
      .basis = "a test",                                                                                               \
      .bound = claimed,                                                                                                \
      .can_do = can_do,                                                                                                \
      .prepare = before,                                                                                               \
      .execute = work,                                                                                                 \
      .release = after,                                                                                                \
  }

KERNEL(waits, "waits", BOUND, prepare, write_and_wait, free);
KERNEL(fourfold, "fourfold", BOUND, prepare, four_times, free);
KERNEL(plans, "plans", BOUND, prepare_slowly, write_and_wait, release_slowly);
KERNEL(dear, "dear", BOUND, prepare_dearly, write_and_wait, free);
KERNEL(tenth, "tenth", BOUND, prepare, slow_tenth, free);
KERNEL(fills, "fills", NONE, NULL, fill, NULL);
KERNEL(fills_thrice, "fills-thrice", NONE, NULL, fill_thrice, NULL);

POSENC_PLUGIN(&waits, &fourfold, &plans, &tenth, &fills, &fills_thrice, &dear);
