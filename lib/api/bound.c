/* SPDX-License-Identifier: MIT */
/* Bounds of kernels. Programs of the tools take these functions from libimpls.a beside the shared library: in a file
   with the list of kernels, they would bring a second list. */
#include "lib/api/kernel.h"

double kernel_ulp_below_one(posenc_dtype dtype) {
  switch (dtype) {
  case POSENC_F32:
    return 0x1p-24;
  case POSENC_F64:
    return 0x1p-53;
  case POSENC_F16:
    return 0x1p-11;
  case POSENC_BF16:
    return 0x1p-8;
  }
  return 0.0;
}

double posenc_bound_at(const posenc_bound *bound, posenc_dtype dtype, int64_t position) {
  const double distance = position < 0 ? -(double)position : (double)position;
  if (!bound || !posenc_dtype_bytes(dtype)) return NAN;
  return bound->ulp * kernel_ulp_below_one(dtype) + bound->abs + bound->growth * distance;
}

posenc_dtype kernel_dtype(const posenc_kernel *kernel, const posenc_problem *table) {
  const bool is_multiplied = problem_attends(table) && !kernel->attends;
  if (kernel->f32_only && table->dtype != POSENC_F64) return POSENC_F32;
  return is_multiplied ? POSENC_F64 : table->dtype;
}

/*
 * Rows of f32 that are rounded again. With E the error before the last rounding, that rounding adds half an ulp of the
 * computed value's binade. Where this is above the exact value's, the excess is at most E/2, as in
 * impls/rotation/rotation.h. An ulp of f32 is at most 2^-24 for values up to 1; if the kernel multiplied them by A, at
 * most 2A 2^-24. The callers multiply `abs` and `growth` by A, and `growth` by the scale.
 */
posenc_bound posenc_kernel_bound(const posenc_kernel *kernel, const posenc_problem *problem) {
  if (!kernel || !problem || problem->size != sizeof *problem)
    return (posenc_bound){INFINITY, INFINITY, INFINITY, 0, false};
  posenc_bound bound = kernel->bound;
  const posenc_problem table = posenc_table_of(problem);
  const bool attends = problem_attends(&table), is_own = table.dtype == POSENC_F32 && (kernel->attends || !attends);
  if (!kernel->f32_only || is_own || table.dtype == POSENC_F64) return bound;
  bound.abs = 1.5 * (bound.abs + bound.ulp * (attends && kernel->attends ? 0x1p-23 : 0x1p-24));
  bound.growth *= 1.5;
  bound.ulp = 0.5;
  return bound;
}

double kernel_error_at(const posenc_bound *bound, const posenc_problem *table, double attention, int64_t position,
                       double *binade) {
  if (binade) *binade = 1.0;
  if (!problem_attends(table)) return posenc_bound_at(bound, table->dtype, position);
  int exponent;
  frexp(attention, &exponent);
  const double largest = ldexp(1.0, exponent);
  if (binade) *binade = largest;
  return attention * (posenc_bound_at(bound, POSENC_F64, position) + 0x1p-51) +
         fmax(0.5, bound->ulp) * largest * kernel_ulp_below_one(table->dtype);
}
