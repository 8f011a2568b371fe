/* SPDX-License-Identifier: MIT */
/*
 * Sines and cosines in 128-bit fixed point, for the few elements whose rounding a double cannot decide. One takes about
 * 50 ns. The bits are the same everywhere, as libm is not used.
 */
#ifndef POSENC_LIB_EXACT_WIDE_H
#define POSENC_LIB_EXACT_WIDE_H

#include "lib/exact/angle.h"

/* The number ± magnitude × 2^-127, of size at most 1. */
typedef struct wide {
  u128 magnitude;
  bool negative;
} wide;

/* Returns the fraction of a turn at a position, |position| <= 2^62, in units of 2^-128, with an error below 1.5
   units. */
u128 wide_turn(const angle_table *angles, int64_t index, int64_t position);

/* Return sin and cos of a result of wide_turn. The error, including that of the turn, is at most 2^-122. Whole quarters
   of a turn give exact results. */
wide wide_sine(u128 turn);
wide wide_cosine(u128 turn);

/* Returns 2 cos of a frequency, the angle of position 1, which must be at most one radian; rounded to nearest. Takes
   about 5 ns. */
double wide_twice_cosine(const angle_table *angles, int64_t index);

/* Returns x × mantissa × 2^-128, truncated. */
wide wide_times(wide x, u128 mantissa);

/* Returns the upper 106 bits of x. */
posenc_sum wide_sum(wide x);

/* Returns x rounded to nearest, ties to even, among the multiples of 2^least with at most `bits` significant bits (at
   most 53). */
double wide_round(wide x, int bits, int least);

/* Whether wide_round returns the same number for all x' within 2^-121 of x. */
bool wide_decides(wide x, int bits, int least);

/* ---- 256 bits, for elements whose rounding 128 bits cannot decide: some microseconds each ---- */

typedef struct wider {
  fixed magnitude; /* at most 1 */
  bool negative;
} wider;

/* Returns the fraction of a turn at a position, |position| <= 2^62. The error is that of the frequency times the
   position. Frequency i is within i × 2^-232 (frequency.c); with a scaling or a denominator below 1, within 2^-190. */
fixed wider_turn(const angle_table *angles, int64_t index, int64_t position);

/* Return sin and cos of a turn as given, with an error of at most 2^-248. Whole quarters of a turn give exact
   results. */
wider wider_sine(fixed turn);
wider wider_cosine(fixed turn);

/* Returns x × factor, truncated, for a factor below 1. */
wider wider_times(wider x, fixed factor);

/* Returns x rounded to nearest, ties to even, among the multiples of 2^least with at most `bits` significant bits (at
   most 53). */
double wider_round(wider x, int bits, int least);

#endif
