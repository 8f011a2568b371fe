/* SPDX-License-Identifier: MIT */
/*
 * The sine and cosine of a position and a frequency: C and OpenCL C at once, so that the stages of the kernel, which
 * the host computes, are those of the device. In OpenCL C, lib/exact/sincos.h precedes this file (Makefile.inc). `long`
 * has 64 bits in both languages, so the host must be a 64-bit one.
 *
 * The angle is a fraction of a turn in 128 bits, as in angle.h. Here the lower 64 bits are not dropped, and the
 * distance to the nearest quarter of a turn is converted with its own exponent, so that the error is relative, also of
 * tiny sines. In units of u = 2^-53, relative:
 *   x, the distance: two conversions and a sum (2), ANGLE_TURN (0.36) and their product (1):                3.36
 *   sin: changes by as much as x or less; the last sum 1; four roundings and ANGLE_S3, times the
 *     correction of at most 0.12 of the sine (4.5 × 0.12 = 0.54):                                           4.90
 *   cos: changes by x tan x <= π/4 of that (2.64); the last sum 0.5, three roundings times the correction of
 *     at most 0.31 (0.93) and ANGLE_C4 (0.01), of a cosine of at least 0.7 (2.06):                          4.70
 *   the attention factor, rounded, and the product with it:                                                 2
 * Together less than 7 u; second-order terms and truncations are below 0.01 u. The frequency, within 2^-127 turns, adds
 * less than 2^-124 |position|, absolute. PAIR_ERROR is 16 u; the roundings of the test itself are less than 2 u.
 */
#ifndef POSENC_IMPLS_OPENCL_PAIR_H
#define POSENC_IMPLS_OPENCL_PAIR_H

#ifndef __OPENCL_VERSION__
#include "lib/exact/angle.h"

#include <math.h>

/* The upper half of the product, as the function of OpenCL C. */
static inline unsigned long mul_hi(unsigned long a, unsigned long b) {
  return u128_high(u128_product(a, b));
}
_Static_assert(sizeof(long) == 8, "as in OpenCL C");
#endif

#define PAIR_ERROR 0x1p-49
#define PAIR_GROWTH 0x1p-124

/* A fraction of a turn in units of 2^-128. */
typedef struct pair_turn {
  unsigned long upper, lower;
} pair_turn;

typedef struct pair {
  double sine, cosine;
} pair;

/* The work of one command of the device: rows of a table, or x to be changed. Arrays are packed. */
typedef struct pair_request {
  long first;                     /* position of row 0, if there is no array of positions */
  long pairs, sine, cosine, step; /* columns, as in posenc_columns */
  long width;                     /* elements of x at a position */
  long rows, sequences, heads, dim;
  long padding;             /* position whose row is zeros */
  long adds, inverse, bf16; /* add or rope; whether it rotates back; whether x is bf16 */
  double factor;            /* the attention factor */
} pair_request;

/* Returns the product of a frequency and a position, modulo 1. */
static inline pair_turn pair_turn_at(unsigned long high, unsigned long low, long position) {
  const unsigned long p = (unsigned long)position;
  pair_turn turn;
  turn.upper = high * p + mul_hi(low, p) - (position < 0 ? low : 0);
  turn.lower = low * p;
  return turn;
}

static inline pair pair_of(pair_turn turn) {
  const unsigned long quarter = (turn.upper + (1UL << 61)) >> 62;
  unsigned long size = turn.upper - (quarter << 62), rest = turn.lower;
  const int negative = (size >> 63) != 0;
  if (negative) {
    size = ~size + (rest == 0);
    rest = -rest;
  }
  const double distance = ((double)size + (double)rest * 0x1p-64) * ANGLE_TURN;
  pair found;
  angle_polynomials(negative ? -distance : distance, (int)quarter, &found.sine, &found.cosine);
  return found;
}

/* Whether the f32 nearest to the exact value may be another than that nearest to x. `grown` is the absolute part of the
   error. */
static inline int pair_is_uncertain(double x, double grown) {
  const double error = fabs(x) * PAIR_ERROR + grown;
  return (float)(x - error) != (float)(x + error);
}

#endif
