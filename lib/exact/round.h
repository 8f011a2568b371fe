/* SPDX-License-Identifier: MIT */
/* The last rounding: from double to an element of the table, once, to nearest, ties to even. */
#ifndef POSENC_LIB_EXACT_ROUND_H
#define POSENC_LIB_EXACT_ROUND_H

#include "posenc.h"

#include <math.h>
#include <string.h>

/* Formats of 16 bits: bits of a significand, the hidden one included, and the exponent of the smallest normal
   number, biased as in a double. */
enum {
  ROUND_F16_PRECISION = 11,
  ROUND_F16_LEAST = 1023 - 14,
  ROUND_BF16_PRECISION = 8,
  ROUND_BF16_LEAST = 1023 - 126,
};

static inline uint64_t round_bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline double round_double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint32_t round_float_bits_of(float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float round_float_of(uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* An f32 as bf16, to nearest, ties to even; a NaN keeps its upper half, which is made quiet. */
static inline uint16_t round_to_bf16_bits(float x) {
  const uint32_t bits = round_float_bits_of(x), nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest);
}

/*
 * The encoding of |x| < 2^15 rounded, of a precision p. `unit` is 2^52 u, where u is the spacing of the format at x,
 * that of `least` below it. As |x| < 2^p u, the sum |x| + unit is below 2 unit, where doubles are u apart: the adder
 * rounds |x| to a multiple n u of u, once, and ties to even n. The lowest bits of the sum are n, and the encoding is
 * (binades above that of `least`) × 2^(p-1) + n: for a normal number that is the exponent's field, less one, and n >=
 * 2^(p-1) adds the one back; n = 2^p carries into the next binade, as it must; and a subnormal is n alone. No value
 * takes another way, so that vector kernels can repeat this.
 */
static inline uint16_t round_to_16_bits(double x, int precision, uint64_t least) {
  const uint64_t bits = round_bits_of(x), own = bits >> 52 & 0x7ff, exponent = own > least ? own : least;
  const double unit = round_double_of((exponent + 53 - (uint64_t)precision) << 52);
  const uint64_t n = round_bits_of(fabs(x) + unit), binades = exponent - least;
  return (uint16_t)((bits >> 63 << 15) | (((binades << (precision - 1)) + n) & 0x7fff));
}

/* Writes the number |x| < 2^15, or NaN, as element `at` of the table. */
static inline __attribute__((always_inline)) void round_to(posenc_dtype dtype, void *table, int64_t at, double x) {
  switch (dtype) {
  case POSENC_F32:
    ((float *)table)[at] = (float)x;
    break;
  case POSENC_F64:
    ((double *)table)[at] = x;
    break;
  case POSENC_F16:
    ((uint16_t *)table)[at] = x != x ? 0x7e00 : round_to_16_bits(x, ROUND_F16_PRECISION, ROUND_F16_LEAST);
    break;
  case POSENC_BF16:
    ((uint16_t *)table)[at] = x != x ? 0x7fc0 : round_to_16_bits(x, ROUND_BF16_PRECISION, ROUND_BF16_LEAST);
    break;
  }
}

/* Calls function(dtype, …) with the dtype as a constant: in what is inlined, a compile-time parameter, no branch in its
 * loops. */
#define ROUND_DISPATCH(dtype, function, ...)                                                                           \
  do {                                                                                                                 \
    if ((dtype) == POSENC_F32) function(POSENC_F32, __VA_ARGS__);                                                      \
    if ((dtype) == POSENC_F64) function(POSENC_F64, __VA_ARGS__);                                                      \
    if ((dtype) == POSENC_F16) function(POSENC_F16, __VA_ARGS__);                                                      \
    if ((dtype) == POSENC_BF16) function(POSENC_BF16, __VA_ARGS__);                                                    \
  } while (0)

#endif
