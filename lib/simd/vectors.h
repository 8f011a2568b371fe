/* SPDX-License-Identifier: MIT */
/*
 * Vectors of doubles and of words, in the compiler's own terms: operators work lane by lane, and for the rest there are
 * intrinsics. A kernel says LANES and TARGET, the attribute of its functions, before it includes this.
 */
#ifndef POSENC_LIB_SIMD_VECTORS_H
#define POSENC_LIB_SIMD_VECTORS_H

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

/* The nearest double. Where there is no instruction for it, the compiler would go lane by lane: 2^63 more, the two halves become the low bits of 2^84 and of 2^52, what is too much
   is taken off exactly, and their sum is rounded, once. */
INLINE vector to_doubles(integers x) {
  if (LANES == 8) return __builtin_convertvector(x, vector);
  const words biased = (words)x ^ UINT64_C(1) << 63;
  const words high = biased >> 32 | UINT64_C(0x453) << 52, low = (biased & UINT32_MAX) | UINT64_C(0x433) << 52;
  return ((vector)high - (0x1p84 + 0x1p63 + 0x1p52)) + (vector)low;
}

/* |x| < grid / 3 rounded to a multiple of grid / 1.5 / 2^52. */
INLINE vector on_grid(vector x, double grid) {
  return (x + grid) - grid;
}

#endif
