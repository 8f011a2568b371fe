/* SPDX-License-Identifier: MIT */
/* Sums and products of doubles with their errors, in operations that a compiler makes vectors of; and the parts of a double. */
#ifndef POSENC_REFERENCE_DOUBLE_WORD_H
#define POSENC_REFERENCE_DOUBLE_WORD_H

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

INLINE double two_sum(double a, double b, double *error) {
  const double sum = a + b, rest = sum - a;
  *error = (a - (sum - rest)) + (b - rest);
  return sum;
}

/* The nearest number of 26 bits; what is left of x has no more, either, with its sign. */
INLINE double upper_half(double x) {
  return double_of((bits_of(x) + (UINT64_C(1) << 26)) & ~((UINT64_C(1) << 27) - 1));
}

INLINE double two_product(double a, double b, double *error, bool fused) {
  const double product = a * b;
  if (fused) {
    *error = __builtin_fma(a, b, -product);
  } else {
    const double a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
    *error = a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2);
  }
  return product;
}

/* x1 y1 + x2 y2 */
INLINE double sum_of_products(double x1, double x1_low, double y1, double y1_low, double x2, double x2_low, double y2,
                              double y2_low, double *low, bool fused) {
  double p_error, q_error, t_error;
  const double p = two_product(x1, y1, &p_error, fused), q = two_product(x2, y2, &q_error, fused);
  const double t = two_sum(p, q, &t_error);
  const double k = (x1_low * y1 + x1 * y1_low) + (x2_low * y2 + x2 * y2_low);
  return two_sum(t, ((p_error + q_error) + t_error) + k, low);
}

/* The power of two at the bottom of the binade. */
#define EXPONENT UINT64_C(0x7ff0000000000000)
#define MANTISSA UINT64_C(0x000fffffffffffff)
INLINE double binade(double x) {
  return double_of(bits_of(x) & EXPONENT);
}

#define SIGN UINT64_C(0x8000000000000000)

#endif
