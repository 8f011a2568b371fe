/* SPDX-License-Identifier: MIT */
/* One sine in 256-bit fixed point, for elements whose rounding wide.h cannot decide: some microseconds each. */
#ifndef POSENC_LIB_EXACT_WIDER_H
#define POSENC_LIB_EXACT_WIDER_H

#include "lib/exact/angle.h"

typedef struct wider {
  fixed magnitude; /* at most 1 */
  bool negative;
} wider;

/* The fraction of a turn at a position, |position| <= 2^62: within the error of the frequency times the position. The
   frequency of index i is within i × 2^-232 (frequency.c), with a scaling or a denominator below 1 within 2^-190. */
fixed wider_turn(const angle_table *angles, int64_t index, int64_t position);

/* sin and cos of that turn: |error| <= 2^-248. Exact at whole quarters of a turn. */
wider wider_sine(fixed turn);
wider wider_cosine(fixed turn);

/* x times a number below 1. */
wider wider_times(wider x, fixed factor);

/* The nearest number with so many bits (53 or fewer) that is a multiple of 2^least; of two equally near, the even
   one. */
double wider_round(wider x, int bits, int least);

#endif
