/* SPDX-License-Identifier: MIT */
/* Binds a problem to a kernel. */
#include "impls/core/apply.h"
#include "impls/core/isa.h"
#include "impls/core/kernel.h"

#include <stdlib.h>
#include <string.h>

struct posenc_plan {
  posenc_problem problem, table; /* the table that the problem's operation works with, or the problem itself */
  const posenc_kernel *kernel;
  void *constants;
  const apply_loops *loops;
};

static int64_t farthest_position(const posenc_problem *problem) {
  const int64_t first = problem->first, last = first + (problem->rows ? problem->rows - 1 : 0);
  if (first == INT64_MIN) return INT64_MAX;
  return -first > last ? -first : last;
}

static bool is_accurate(const posenc_kernel *kernel, const posenc_problem *table, const posenc_options *options) {
  const posenc_bound *bound = &kernel->bound;
  const int64_t farthest = farthest_position(table);
  if (!bound->derived || table->base < 1.0 || farthest > bound->max_position) return false;
  const double default_max_abs = table->dtype == POSENC_F64 ? 0x1p-44 : kernel_ulp_below_one(table->dtype);
  const double max_abs = options->max_abs > 0.0   ? options->max_abs
                         : options->max_ulp > 0.0 ? INFINITY
                                                  : default_max_abs;
  /* What is beside the ulp is no number of them: near a zero of sine they are as small as you like. */
  const double beside_ulp = bound->abs + bound->growth * (double)farthest;
  const bool within_ulp = bound->ulp <= options->max_ulp && beside_ulp == 0.0;
  return posenc_bound_at(bound, table->dtype, farthest) <= max_abs && (options->max_ulp == 0.0 || within_ulp);
}

/* The fastest that fits; of equally fast ones the first. */
static const posenc_kernel *choose(const posenc_problem *problem, const posenc_options *options) {
  const posenc_problem table = posenc_table_of(problem);
  const posenc_kernel *best = NULL;
  double least = INFINITY;
  size_t count;
  const posenc_kernel *const *kernels = posenc_kernels(&count);
  for (size_t i = 0; i < count; i++) {
    if (!is_accurate(kernels[i], &table, options) || posenc_kernel_refusal(kernels[i], problem, options)) continue;
    const double cost = kernel_cost(kernels[i], problem, options);
    if (cost < least) {
      best = kernels[i];
      least = cost;
    }
  }
  return best;
}

static posenc_status check(const posenc_problem *problem, const posenc_options *options) {
  size_t bytes;
  unsigned isa;
  if (!problem || problem->size != sizeof *problem || options->threads < 0 || !(options->max_abs >= 0.0) ||
      !(options->max_ulp >= 0.0) || (options->isa & ~POSENC_ISA_ALL) ||
      (unsigned)options->stores > POSENC_STORES_STREAMING)
    return POSENC_BAD_ARGUMENT;
  if (posenc_table_bytes(problem, &bytes) == POSENC_TOO_LARGE) return POSENC_TOO_LARGE;
  if (posenc_problem_refusal(problem)) return POSENC_BAD_PROBLEM;
  return isa_allowed(options, &isa);
}

posenc_status posenc_plan_create(posenc_plan **plan, const posenc_problem *problem, const posenc_options *given) {
  if (!plan) return POSENC_BAD_ARGUMENT;
  *plan = NULL;
  if (given && given->size != sizeof *given) return POSENC_BAD_ARGUMENT;
  const posenc_options options = given ? *given : posenc_default_options();
  posenc_status status = check(problem, &options);
  if (status != POSENC_OK) return status;

  const posenc_kernel *kernel = options.kernel ? options.kernel : choose(problem, &options);
  if (!kernel) return POSENC_NO_KERNEL;
  if (posenc_kernel_refusal(kernel, problem, &options)) return POSENC_CANNOT_RUN;

  posenc_plan *made = calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->problem = *problem;
  made->table = posenc_table_of(problem);
  made->kernel = kernel;
  made->loops = apply_loops_for(&options);
  /* Rows on their way to x stay in a cache. */
  posenc_options how = options;
  if (problem->op != POSENC_TABLE) how.stores = POSENC_STORES_REGULAR;
  status = kernel->prepare ? kernel->prepare(&made->table, &how, &made->constants) : POSENC_OK;
  if (status != POSENC_OK) {
    free(made);
    return status;
  }
  *plan = made;
  return POSENC_OK;
}

static bool has_rows(const posenc_plan *plan, int64_t row, int64_t rows) {
  return row >= 0 && rows >= 0 && row <= plan->problem.rows && rows <= plan->problem.rows - row;
}

/* Of rows [row, row + rows) in `out`. */
static void zero_padding(const posenc_problem *table, int64_t row, int64_t rows, void *out, size_t row_bytes) {
  const int64_t padding = table->padding, first = table->first + row;
  if (padding != POSENC_NO_PADDING && padding >= first && padding < first + rows)
    memset((char *)out + (size_t)(padding - first) * row_bytes, 0, row_bytes);
}

void kernel_zero_padding(const posenc_problem *table, int64_t row, int64_t rows, void *out) {
  zero_padding(table, row, rows, out, (size_t)table->dim * posenc_dtype_bytes(table->dtype));
}

posenc_status posenc_execute(const posenc_plan *plan, int64_t row, int64_t rows, void *out) {
  if (!plan || plan->problem.op != POSENC_TABLE || !has_rows(plan, row, rows) || (rows && !out))
    return POSENC_BAD_ARGUMENT;
  if (rows == 0) return POSENC_OK;
  const posenc_problem *problem = &plan->problem;
  plan->kernel->execute(plan->constants, problem, row, rows, out);
  kernel_zero_padding(problem, row, rows, out);
  return POSENC_OK;
}

/* The rows are the plan's, and the sequences do not overlap. */
static bool has_slice(const posenc_plan *plan, const posenc_slice *slice, int64_t stride) {
  int64_t packed, last, bytes;
  if (slice->rows < 0 || slice->batch < 0) return false;
  if (__builtin_mul_overflow(slice->rows, apply_width(&plan->problem), &packed) ||
      __builtin_mul_overflow(slice->batch, stride, &last) ||
      __builtin_mul_overflow(last, (int64_t)posenc_dtype_bytes(plan->problem.dtype), &bytes))
    return false;
  if (slice->batch > 1 && stride < packed) return false;
  if (!slice->index) return has_rows(plan, slice->row, slice->rows);
  for (int64_t r = 0; r < slice->rows; r++)
    if (!has_rows(plan, slice->index[r], 1)) return false;
  return true;
}

posenc_status posenc_apply(const posenc_plan *plan, const posenc_slice *given, const void *x, void *out) {
  if (!plan || plan->problem.op == POSENC_TABLE || !given || given->size != sizeof *given) return POSENC_BAD_ARGUMENT;
  posenc_slice slice = *given;
  if ((slice.stride == 0 || slice.batch <= 1) &&
      __builtin_mul_overflow(slice.rows, apply_width(&plan->problem), &slice.stride))
    return POSENC_BAD_ARGUMENT;
  if (!has_slice(plan, &slice, slice.stride)) return POSENC_BAD_ARGUMENT;
  if (slice.rows == 0 || slice.batch == 0) return POSENC_OK;
  if (!x || !out) return POSENC_BAD_ARGUMENT;
  const apply_source source = {.kernel = plan->kernel, .constants = plan->constants, .loops = plan->loops};
  return apply(&source, &plan->problem, &slice, x, out);
}

bool posenc_plan_stages(const posenc_plan *plan, int64_t row, int64_t rows, posenc_stages *stages) {
  if (!plan || !plan->kernel->stages || !has_rows(plan, row, rows) || (rows && !stages)) return false;
  if (rows == 0) return true;
  if (!plan->kernel->stages(plan->constants, &plan->table, row, rows, stages)) return false;
  zero_padding(&plan->table, row, rows, stages, (size_t)(plan->problem.dim / 2) * sizeof *stages);
  return true;
}

void posenc_plan_destroy(posenc_plan *plan) {
  if (!plan) return;
  if (plan->kernel->release) plan->kernel->release(plan->constants);
  free(plan);
}

const posenc_problem *posenc_plan_problem(const posenc_plan *plan) {
  return plan ? &plan->problem : NULL;
}

const posenc_kernel *posenc_plan_kernel(const posenc_plan *plan) {
  return plan ? plan->kernel : NULL;
}
