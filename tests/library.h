/* SPDX-License-Identifier: MIT */
/* Helpers of the tests of posenc.h: plans and tables of one kernel, in one call. If the kernel is null, the library
   chooses. */
#ifndef POSENC_TESTS_LIBRARY_H
#define POSENC_TESTS_LIBRARY_H

#include "posenc.h"
#include "tests/tap.h"

#include <string.h>

static inline posenc_problem table_of(int64_t rows, int64_t dim, int64_t first, double base, double shift) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.first = first;
  problem.base = base;
  problem.shift = shift;
  return problem;
}

/* Returns the default options with this kernel and two threads, which only kernels of teams use. */
static inline posenc_options options_by(const posenc_kernel *kernel) {
  posenc_options options = posenc_default_options();
  options.kernel = kernel;
  options.threads = 2;
  return options;
}

/* Returns a plan, or null if the kernel refuses the problem. */
static inline posenc_plan *plan_by(const posenc_kernel *kernel, const posenc_problem *problem) {
  const posenc_options options = options_by(kernel);
  posenc_plan *plan;
  return posenc_plan_create(&plan, problem, &options) == POSENC_OK ? plan : NULL;
}

/* Returns a plan; if it is null, skips the point `what` with the kernel's reason. */
static inline posenc_plan *plan_or_skip(const char *what, const posenc_kernel *kernel, const posenc_problem *problem) {
  posenc_plan *plan = plan_by(kernel, problem);
  if (!plan) skip(what, posenc_kernel_refusal(kernel, problem, NULL));
  return plan;
}

/* Makes all rows of a table. Returns whether that succeeded. */
static inline bool make_table(const posenc_kernel *kernel, const posenc_problem *problem, void *out) {
  posenc_plan *plan = plan_by(kernel, problem);
  const bool made = plan && posenc_execute(plan, 0, problem->rows, out) == POSENC_OK;
  posenc_plan_destroy(plan);
  return made;
}

/* Applies add or rope to these rows of x. Returns whether that succeeded. */
static inline bool apply_rows(const posenc_kernel *kernel, const posenc_problem *problem, const posenc_slice *slice,
                              const void *x, void *out) {
  posenc_plan *plan = plan_by(kernel, problem);
  const bool made = plan && posenc_apply(plan, slice, x, out) == POSENC_OK;
  posenc_plan_destroy(plan);
  return made;
}

/* Runs a test with every kernel of the library. */
static inline void each_kernel(void (*test)(const posenc_kernel *kernel)) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t k = 0; k < count; k++) test(kernels[k]);
}

/* Returns the portable kernel with the same bound, or null. A family of reproducible kernels has the same bits. */
static inline const posenc_kernel *portable_of(const posenc_kernel *kernel) {
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t k = 0; k < count; k++)
    if (kernels[k]->reproducible && kernels[k]->isa == POSENC_ISA_GENERIC &&
        memcmp(&kernels[k]->bound, &kernel->bound, sizeof kernel->bound) == 0)
      return kernels[k];
  return NULL;
}

#endif
