/* SPDX-License-Identifier: MIT */
/*
 * Vectors of doubles and of words, in the compiler's own terms: operators work lane by lane, and for the rest there are
 * intrinsics. A kernel says LANES and TARGET, the attribute of its functions, before it includes this.
 */
#ifndef POSENC_IMPLS_CORE_VECTORS_H
#define POSENC_IMPLS_CORE_VECTORS_H

#include <stdint.h>

typedef double vector __attribute__((vector_size(8 * LANES)));
typedef int64_t integers __attribute__((vector_size(8 * LANES)));
typedef uint64_t words __attribute__((vector_size(8 * LANES)));

#define INLINE static inline __attribute__((always_inline)) TARGET

/* Before a loop over a few vectors: they stay in registers only if it is unrolled, which gcc -O2 does not do by itself. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* Of as many doubles or words in memory, aligned. */
INLINE vector load(const double *from) {
  return *(const vector *)(const void *)from;
}

INLINE void keep(double *to, vector x) {
  *(vector *)(void *)to = x;
}

/* |x| < grid / 3 rounded to a multiple of grid / 1.5 / 2^52. */
INLINE vector on_grid(vector x, double grid) {
  return (x + grid) - grid;
}

#endif
