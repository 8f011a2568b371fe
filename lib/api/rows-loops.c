/* SPDX-License-Identifier: MIT */
/* The last step of rows with an attention factor, compiled once for each tier, with its header of lib/simd before it
   (lib/tiers.am). */
#include "lib/api/rows.h"
#include "lib/exact/round.h"

INLINE void scale_as(posenc_dtype dtype, int64_t count, double factor, const double *x, void *out) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) round_to(dtype, out, i, factor * x[i]);
}

TARGET static void scale(posenc_dtype dtype, int64_t count, double factor, const double *x, void *out) {
  ROUND_DISPATCH(dtype, scale_as, count, factor, x, out);
}

const rows_loops SIMD(rows_loops) = {scale};
