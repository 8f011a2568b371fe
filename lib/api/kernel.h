/* SPDX-License-Identifier: MIT */
/* Included by every kernel: the type of its contract, and the few functions that all kernels need. */
#ifndef POSENC_LIB_API_KERNEL_H
#define POSENC_LIB_API_KERNEL_H

#include "posenc.h"

#include <math.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || __FINITE_MATH_ONLY__
#error "posenc's error bounds are those of IEEE arithmetic: compile it without -ffast-math, and without parts of it"
#endif

/* A kernel's `absent`. */
#define KERNEL_LEFT_OUT "it was left out when posenc was built"

/* Memory for constants of a plan, a multiple of 64 bytes on a cache line, or null; free() releases it. Its pages are
   asked for at once: where they are new, a fault for each takes 2 µs under a hypervisor, and all together 2. */
void *kernel_alloc(size_t bytes);

/* Denominator of the exponent: w_i = base^(-i / denominator). */
static inline double kernel_denominator(const posenc_problem *problem) {
  return (double)(problem->dim / 2) - problem->shift;
}

/* Spacing of the dtype's numbers just below 1; 0 for what is no dtype. */
double kernel_ulp_below_one(posenc_dtype dtype);

/* 1/x within 2^-105 of itself: the frequency of a kernel that divides. */
static inline posenc_sum kernel_reciprocal(double x) {
  const double high = 1.0 / x;
  return (posenc_sum){high, fma(-high, x, 1.0) / x};
}

/* The reason why the scaling of the problem is refused, or null. */
const char *problem_scaling_refusal(const posenc_problem *problem);

/* Whether the attention factor, of a problem that is not refused, is not exactly 1. posenc_attention may be 1 although
   it is: a scaling by 1 + 2^-52 has one that is nearer to 1 than to the next double. */
bool problem_attends(const posenc_problem *problem);

/* posenc_kernel_refusal of a valid problem, for callers that ask for many kernels: the tables that its rows are made
   from are found once. */
struct rows_tables;
const char *kernel_refusal(const posenc_kernel *kernel, const struct rows_tables *tables,
                           const posenc_options *options);

/* The size of the largest error of an element of a table by a kernel of that bound, its attention factor included,
   with which the library multiplies; *binade, unless null, is how many times larger than 1 the power of two is below
   which the values are. */
double kernel_error_at(const posenc_bound *bound, const posenc_problem *table, int64_t position, double *binade);

/* can_do of a kernel that writes f32 only. */
const char *kernel_f32_only(const posenc_problem *problem);

/* The fastest serial, reproducible kernel that has exactly this bound, for a table; or null. */
const posenc_kernel *kernel_best_serial(const posenc_problem *problem, const posenc_options *options,
                                        const posenc_bound *promise);

/* The estimated time of executing the whole problem by a kernel of the library that can do it, in picoseconds; the
   plan is not included, since it may be used many times. */
double kernel_cost(const posenc_kernel *kernel, const posenc_problem *problem, const posenc_options *options);

#endif
