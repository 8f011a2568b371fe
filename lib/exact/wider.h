/* SPDX-License-Identifier: MIT */
/* Sines and cosines in 256-bit fixed point, for elements whose rounding wide.h cannot decide. One takes some
   microseconds. */
#ifndef POSENC_LIB_EXACT_WIDER_H
#define POSENC_LIB_EXACT_WIDER_H

#include "lib/exact/angle.h"

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
