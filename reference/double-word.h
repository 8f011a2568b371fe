/* SPDX-License-Identifier: MIT */
/* Sums and products of doubles with their errors, in operations that compilers vectorize, and the parts of a double. */
#ifndef POSENC_REFERENCE_DOUBLE_WORD_H
#define POSENC_REFERENCE_DOUBLE_WORD_H

#include "reference/fast.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#ifdef FP_FAST_FMA
enum { FUSED = 1 };
#else
enum { FUSED = 0 };
#endif

INLINE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

INLINE double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns a + b exactly (Knuth, 1969). */
INLINE fast_value two_sum(double a, double b) {
  const double sum = a + b, rest = sum - a;
  return (fast_value){sum, (a - (sum - rest)) + (b - rest)};
}

/* Returns the nearest number of 26 bits. The rest of x, with its sign, has 26 bits too. */
INLINE double upper_half(double x) {
  return double_of((bits_of(x) + (UINT64_C(1) << 26)) & ~((UINT64_C(1) << 27) - 1));
}

/* Returns a b exactly, by FMA or after Dekker (1971). */
INLINE fast_value two_product(double a, double b, bool fused) {
  const double product = a * b;
  if (fused) return (fast_value){product, __builtin_fma(a, b, -product)};
  const double a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
  return (fast_value){product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)};
}

/* Returns x1 y1 + x2 y2 within 7 u² (fast-oracle.c), for sizes of at most 1. */
INLINE fast_value sum_of_products(fast_value x1, fast_value y1, fast_value x2, fast_value y2, bool fused) {
  const fast_value p = two_product(x1.high, y1.high, fused), q = two_product(x2.high, y2.high, fused),
                   t = two_sum(p.high, q.high);
  const double k = (x1.low * y1.high + x1.high * y1.low) + (x2.low * y2.high + x2.high * y2.low);
  return two_sum(t.high, ((p.low + q.low) + t.low) + k);
}

INLINE fast_value negative(fast_value x) {
  return (fast_value){-x.high, -x.low};
}

/* Returns the pair of the sum of two angles. */
INLINE fast_pair rotated(fast_pair a, fast_pair b, bool fused) {
  return (fast_pair){sum_of_products(a.sine, b.cosine, a.cosine, b.sine, fused),
                     sum_of_products(a.cosine, b.cosine, negative(a.sine), b.sine, fused)};
}

/* Returns the largest power of two that is at most |x|. */
#define EXPONENT UINT64_C(0x7ff0000000000000)
#define MANTISSA UINT64_C(0x000fffffffffffff)
INLINE double binade(double x) {
  return double_of(bits_of(x) & EXPONENT);
}

#define SIGN UINT64_C(0x8000000000000000)

#endif
