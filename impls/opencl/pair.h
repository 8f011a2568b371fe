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
 *   sin: changes by as much as x or less; the last sum 1; three roundings and ANGLE_S3, times the
 *     correction of at most 0.12 of the sine (3.5 × 0.12 = 0.42); the first term left out, x^17/17! (0.59): 5.37
 *   cos: changes by x tan x <= π/4 of that (2.64); the last sum 0.5, two roundings times the correction of
 *     at most 0.31 (0.62), ANGLE_C4 (0.01) and x^18/18! (0.02), of a cosine of at least 0.7 (1.64):         4.28
 *   the attention factor, rounded, and the product with it:                                                 2
 * Together less than 8 u; second-order terms and truncations are below 0.01 u. The frequency, within 2^-127 turns per
 * position, and the inversion of a negative distance, 2^-128 turns, add less than 2^-123 |position|, absolute.
 * PAIR_ERROR is 16 u; the roundings of the test itself are less than 2 u.
 */
#ifndef POSENC_IMPLS_OPENCL_PAIR_H
#define POSENC_IMPLS_OPENCL_PAIR_H

#ifndef __OPENCL_VERSION__
#include "lib/exact/angle.h"

#include <math.h>
#include <string.h>

/* The upper half of the product, as the function of OpenCL C. */
static inline unsigned long mul_hi(unsigned long a, unsigned long b) {
  return u128_high(u128_product(a, b));
}

/* The bits of x, as the function of OpenCL C. */
static inline unsigned long as_ulong(double x) {
  unsigned long bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
_Static_assert(sizeof(long) == 8, "as in OpenCL C");
#endif

#define PAIR_ERROR 0x1p-49
#define PAIR_GROWTH 0x1p-123

/* A fraction of a turn in units of 2^-128. */
typedef struct pair_turn {
  unsigned long upper, lower;
} pair_turn;

/* The coefficients of the polynomials, from the highest. They are an argument of the device's kernels: a GPU reads
   arguments as operands, and loads each constant by instructions of its own. */
typedef struct pair_terms {
  double sine[7], cosine[8];
} pair_terms;

#define PAIR_TERMS                                                                                                     \
  {                                                                                                                    \
    {ANGLE_S15, ANGLE_S13, ANGLE_S11, ANGLE_S9, ANGLE_S7, ANGLE_S5, ANGLE_S3}, {                                       \
      ANGLE_C16, ANGLE_C14, ANGLE_C12, ANGLE_C10, ANGLE_C8, ANGLE_C6, ANGLE_C4, ANGLE_C2                               \
    }                                                                                                                  \
  }

/* The work of one command of the device: rows of a table, or x to be changed. Arrays are packed. */
typedef struct pair_request {
  long first, listed;             /* position of row 0, or whether there is an array of positions */
  long pairs, sine, cosine, step; /* columns, as in posenc_columns */
  long width;                     /* elements of x at a position */
  long rows, sequences, heads, dim;
  long padding;             /* position whose row is zeros */
  long adds, inverse, bf16; /* add or rope; whether it rotates back; whether x is bf16 */
  long band, each, share;   /* of a work-item: successive rows, pairs of a row, and heads of all sequences */
  long is_scaled;           /* whether the attention factor is another than 1: a GPU compares integers faster */
  double factor;            /* the attention factor */
  unsigned int least;       /* of the largest |position|, as pair_least returns it */
  pair_terms terms;
} pair_request;

/* Returns the product of a frequency and a position, modulo 1. */
static inline pair_turn pair_turn_at(unsigned long high, unsigned long low, long position) {
  const unsigned long p = (unsigned long)position;
  pair_turn turn;
  turn.upper = high * p + mul_hi(low, p) - (position < 0 ? low : 0);
  turn.lower = low * p;
  return turn;
}

/* Returns the turn of the next position: the same bits as those of its product. */
static inline pair_turn pair_turn_next(pair_turn turn, unsigned long high, unsigned long low) {
  turn.lower += low;
  turn.upper += high + (turn.lower < low);
  return turn;
}

/* The sine and cosine of the distance to the nearest quarter of a turn, both 0 or more; the quarter, in the upper two
   bits, and the sign of the distance, in the highest. */
typedef struct pair_near {
  double sine, cosine;
  unsigned int quarter, sign;
} pair_near;

/* A negative distance is inverted instead of negated, which is 2^-128 of a turn more. */
static inline pair_near pair_nearest(const pair_terms *terms, pair_turn turn) {
  const unsigned int top = (unsigned int)(turn.upper >> 32), quarter = (top + 0x20000000) & 0xc0000000;
  const unsigned int rest = top - quarter, sign = rest & 0x80000000;
  const unsigned long flip = sign ? ~0UL : 0;
  const double upper = (double)(((unsigned long)rest << 32 | (turn.upper & 0xffffffff)) ^ flip);
  const double lower = (double)(turn.lower ^ flip);
  const double x = fma(lower, 0x1p-64, upper) * ANGLE_TURN, xx = x * x;
  double s = terms->sine[0], c = terms->cosine[0];
  for (int n = 1; n < 7; n++) s = fma(s, xx, terms->sine[n]);
  for (int n = 1; n < 8; n++) c = fma(c, xx, terms->cosine[n]);
  const pair_near found = {fma(x * xx, s, x), fma(xx, c, 1.0), quarter, sign};
  return found;
}

/* Whether the f32 nearest to the exact value may be another than that nearest to x. `grown` is the absolute part of the
   error. */
static inline int pair_is_uncertain(double x, double grown) {
  const double error = fabs(x) * PAIR_ERROR + grown;
  return (float)(x - error) != (float)(x + error);
}

/*
 * A test without conversions, which nearly all pairs pass; these are not uncertain. The f32 nearest to x changes at
 * midpoints: where |x| is normal in f32, doubles whose lower 29 bits are 2^28. The error of x is at most 16 units of
 * its last place, for PAIR_ERROR, and as much for `grown` if |x| >= 2^49 grown; pair_is_uncertain itself rounds twice.
 * So 64 units from a midpoint are enough. pair_margin is at most PAIR_MARGIN if the sine or the cosine is within these,
 * in eighths of a unit, as the 29 bits are moved to the top. The sine is large enough if the upper half of its bits is
 * at least pair_least; the cosine of the nearest quarter is as large, but for roundings.
 */
#define PAIR_MARGIN (2 * 64 * 8)

static inline unsigned int pair_margin(pair_near at) {
  const unsigned int midpoint = 0x80000000 - PAIR_MARGIN / 2, sine = ((unsigned int)as_ulong(at.sine) << 3) - midpoint,
                     cosine = ((unsigned int)as_ulong(at.cosine) << 3) - midpoint;
  return sine < cosine ? sine : cosine;
}

static inline unsigned int pair_least(double grown) {
  return (unsigned int)(as_ulong(fmax(0x1p-125, grown * 0x1p49)) >> 32) + 1;
}

#endif
