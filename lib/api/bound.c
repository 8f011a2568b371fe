/* SPDX-License-Identifier: MIT */
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

double kernel_error_at(const posenc_bound *bound, const posenc_problem *table, int64_t position, double *binade) {
  if (binade) *binade = 1.0;
  if (!problem_attends(table)) return posenc_bound_at(bound, table->dtype, position);
  const double attention = posenc_attention(table);
  int exponent;
  frexp(attention, &exponent);
  const double largest = ldexp(1.0, exponent);
  if (binade) *binade = largest;
  return attention * (posenc_bound_at(bound, POSENC_F64, position) + 0x1p-51) +
         0.5 * largest * kernel_ulp_below_one(table->dtype);
}
