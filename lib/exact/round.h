/* SPDX-License-Identifier: MIT */
/* The final rounding of a double to an element of the table: a single rounding, to nearest, ties to even. */
#ifndef POSENC_LIB_EXACT_ROUND_H
#define POSENC_LIB_EXACT_ROUND_H

#include "posenc.h"

#include <math.h>
#include <string.h>

/* The 16-bit formats: bits of the significand, including the hidden one, and the exponent of the smallest normal
   number, with the bias of a double. */
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

/* Rounds an f32 to bf16, to nearest, ties to even. A NaN keeps its upper half and becomes quiet. */
static inline uint16_t round_to_bf16_bits(float x) {
  const uint32_t bits = round_float_bits_of(x), nearest = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return (uint16_t)((bits & 0x7fffffff) > 0x7f800000 ? bits >> 16 | 0x40 : nearest);
}

/*
 * Returns |x| < 2^15 rounded to a format of precision p, with its sign, as the bits of that format. `unit` is 2^52 u,
 * where u is the distance of the format's numbers at x; below the exponent `least`, it is the distance at `least`. As
 * |x| < 2^p u, the sum |x| + unit is below 2 unit, where doubles are u apart. So the addition rounds |x| once, to a
 * multiple n u of u, with ties to even n. The lowest bits of the sum are n, and the encoding is (binades above that of
 * `least`) × 2^(p-1) + n. For a normal number, the first term is the exponent field less one, and n >= 2^(p-1) adds one
 * to it; n = 2^p carries into the next binade, as it should; a subnormal number is n alone. There is no branch, so
 * vector kernels can repeat this.
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

/* Calls function(dtype, …) with the dtype as a constant. In inlined functions it is a compile-time parameter then,
   without branches in loops. */
#define ROUND_DISPATCH(dtype, function, ...)                                                                           \
  do {                                                                                                                 \
    if ((dtype) == POSENC_F32) function(POSENC_F32, __VA_ARGS__);                                                      \
    if ((dtype) == POSENC_F64) function(POSENC_F64, __VA_ARGS__);                                                      \
    if ((dtype) == POSENC_F16) function(POSENC_F16, __VA_ARGS__);                                                      \
    if ((dtype) == POSENC_BF16) function(POSENC_BF16, __VA_ARGS__);                                                    \
  } while (0)

#endif
