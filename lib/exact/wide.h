/* SPDX-License-Identifier: MIT */
/*
 * One sine in 128-bit fixed point, for the few elements whose rounding a double cannot decide: some 50 ns each, the
 * same bits everywhere, no libm.
 */
#ifndef POSENC_LIB_EXACT_WIDE_H
#define POSENC_LIB_EXACT_WIDE_H

#include "lib/exact/angle.h"

/* magnitude × 2^-127, at most 1 */
typedef struct wide {
  u128 magnitude;
  bool negative;
} wide;

/* The fraction of a turn at a position, |position| <= 2^62, in units of 2^-128: error below 1.5 of them. */
u128 wide_turn(const angle_table *angles, int64_t index, int64_t position);

/* sin and cos of that turn, the turn's own error included: |error| <= 2^-122. Exact at whole quarters of a turn. */
wide wide_sine(u128 turn);
wide wide_cosine(u128 turn);

/* 2 cos of one position, which is a radian or less, rounded to nearest: some 5 ns. */
double wide_twice_cosine(const angle_table *angles, int64_t index);

/* x times mantissa × 2^-128, truncated. */
wide wide_times(wide x, u128 mantissa);

/* The upper 106 bits of it. */
posenc_sum wide_sum(wide x);

/* The nearest number with so many bits (53 or fewer) that is a multiple of 2^least; of two equally near, the even
   one. */
double wide_round(wide x, int bits, int least);

/* Whether the number is the same for all x' within 2^-121 of x. */
bool wide_decides(wide x, int bits, int least);

#endif
