/* SPDX-License-Identifier: MIT */
/* Included by every kernel: the type of its contract, and functions that several kernels need. */
#ifndef POSENC_LIB_API_KERNEL_H
#define POSENC_LIB_API_KERNEL_H

#include "posenc.h"

#include <math.h>
#include <stdint.h>

#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || defined(__RECIPROCAL_MATH__) || __FINITE_MATH_ONLY__
#error "posenc's error bounds are those of IEEE arithmetic: compile it without -ffast-math, and without parts of it"
#endif

/* Value of `absent` in the contract of a kernel that was not compiled. */
#define KERNEL_LEFT_OUT "it was left out when posenc was built"

/* Allocates memory for a plan's constants, aligned to cache lines and a multiple of 64 bytes long; null if memory runs
   out; free() releases it. The system is asked for all pages at once: in new memory, one fault per page takes 2 µs each
   under a hypervisor, and one request for all pages 2 µs. */
void *kernel_alloc(size_t bytes);

/* The denominator of the frequencies' exponent: w_i = base^(-i / denominator). */
static inline double kernel_denominator(const posenc_problem *problem) {
  return (double)(problem->dim / 2) - problem->shift;
}

/* Whether the frequencies are those of the base alone. */
static inline bool kernel_is_plain(const posenc_problem *problem) {
  return problem->scaling.kind == POSENC_SCALING_NONE && problem->scale == 1.0;
}

/* The bytes of a row of a table. */
static inline size_t kernel_row_bytes(const posenc_problem *problem) {
  return (size_t)problem->dim * posenc_dtype_bytes(problem->dtype);
}

/* The distance of the dtype's numbers just below 1; 0 if the value is no dtype. */
double kernel_ulp_below_one(posenc_dtype dtype);

/* Returns 1/x with a relative error below 2^-105, the frequency of a kernel that divides by x. */
static inline posenc_sum kernel_reciprocal(double x) {
  const double high = 1.0 / x;
  return (posenc_sum){high, fma(-high, x, 1.0) / x};
}

/* The reason why the scaling of the problem is refused, or null. */
const char *problem_scaling_refusal(const posenc_problem *problem);

/* Whether the attention factor of a valid problem differs from 1 in exact arithmetic. posenc_attention rounds: it
   returns 1 for a factor that is nearer to 1 than to the next double, as for a scaling by 1 + 2^-52. */
bool problem_attends(const posenc_problem *problem);

/* posenc_kernel_refusal of a valid problem, for callers that ask for many kernels: `tables` is found once by
   rows_find_tables. */
struct rows_tables;
const char *kernel_refusal(const posenc_kernel *kernel, const struct rows_tables *tables,
                           const posenc_options *options);

/* Returns the dtype of the rows that the kernel is asked for, to make a table without axes. */
posenc_dtype kernel_dtype(const posenc_kernel *kernel, const posenc_problem *table);

/* Returns the largest error of an element at the position, for a kernel with this bound; a multiplication by the
   attention factor, which is that of posenc_attention, in the library is included. *binade, unless null, is set to the
   power of two that all values of the table are below: 1 without an attention factor. */
double kernel_error_at(const posenc_bound *bound, const posenc_problem *table, double attention, int64_t position,
                       double *binade);

/* Returns the fastest serial, reproducible kernel whose bound is exactly `promise` and that can make the table; null if
   there is none. */
const posenc_kernel *kernel_best_serial(const posenc_problem *problem, const posenc_options *options,
                                        const posenc_bound *promise);

/* Estimates the time of executing the whole problem, in picoseconds, by a kernel of the library that can do it.
   Creating the plan is not included, since a plan can be used many times. */
double kernel_cost(const posenc_kernel *kernel, const posenc_problem *problem, const posenc_options *options);

/* Returns the seconds that the kernel took, by earlier measurements on this machine, for the measured problem whose
   number of rows is nearest, within a factor of two, and which is otherwise like this one; INFINITY if there is
   none. */
double wisdom_seconds(const posenc_wisdom *wisdom, const posenc_problem *problem, int threads, const char *kernel);

/* Sets *isa to the tiers that the options (may be null) and the environment's POSENC_ISA allow, whether the CPU has
   them or not. */
posenc_status isa_allowed(const posenc_options *options, unsigned *isa);

/* Returns the tiers that the options (may be null) allow and this CPU has; none if POSENC_ISA cannot be parsed. */
unsigned isa_usable(const posenc_options *options);

/* Returns the tiers of an x86-64 CPU with these CPUID registers, under a system that saves the register state xcr0. An
   instruction set whose registers the system does not save cannot be used. Other architectures ignore the arguments. */
unsigned isa_of(unsigned leaf1_ecx, unsigned leaf7_ebx, unsigned xcr0);

/* posenc_apply, with another choice of stores than the plan's. */
posenc_status plan_apply(const posenc_plan *plan, const posenc_slice *slice, posenc_stores stores, const void *x,
                         void *out);

/* ---- blocks of rows -------------------------------------------------------------------------------------- */

/* Kernels that go from row to row begin at an anchor, which takes as long as many rows: the position in the middle of a
   block, a multiple of this number of positions. Calls that end with a block compute no anchor twice. The bits and
   the proofs of these kernels depend on it. */
enum { KERNEL_BLOCK = 32 };

/* ---- helper threads -------------------------------------------------------------------------------------- */

/*
 * The helper threads of a plan. The calling thread does parts of the work too, and waits only for helpers that are
 * working on a part, so a helper that gets no core does not make a call slower than one thread alone. OpenMP's teams
 * wait for every thread: while other work used all cores, a call of 0.4 ms took 7 ms with OpenMP (doc/notebook.md).
 */

/* Does one part of the work; parts are numbered from 0. */
typedef void team_work(void *argument, int64_t part);

typedef struct team team;

/* Returns the number of processors that this process may use, at least 1. */
int team_processors(void);

/* Creates a team of `threads` threads, including the caller, without starting any. Null if memory runs out. */
team *team_create(int threads);

/* Makes the helpers end, without waiting for them. No call may be running. `t` may be null. */
void team_destroy(team *t);

/*
 * Does each part once, in any order, and returns when all are done. `alone` is the estimated time of all parts on one
 * thread, in seconds. If that time is worth it, or if another call has just ended, sleeping helpers are woken and
 * missing ones are started, as many as the system gives; otherwise the caller does all parts. Any number of threads may
 * call at the same time: one of them gets the helpers, the others work alone, and so does a forked child. Helpers block
 * all signals, have the floating-point environment of the first caller, sleep after 50 µs without work, and avoid the
 * caller's processor.
 */
void team_run(team *t, int64_t parts, team_work *work, void *argument, double alone);

#endif
