/* SPDX-License-Identifier: MIT */
/*
 * Exact angles. A frequency is a fraction of a turn per position, base^(-i/denominator) / 2π, in 128-bit fixed point.
 * Its product with a 64-bit position wraps modulo one turn, so angles are equally exact at every position.
 */
#ifndef POSENC_LIB_EXACT_ANGLE_H
#define POSENC_LIB_EXACT_ANGLE_H

#include "lib/exact/fixed.h"
#include "lib/exact/sincos.h"
#include "posenc.h"

#include <float.h>

/* 16: processors with arithmetic of f16. */
_Static_assert(FLT_EVAL_METHOD == 0 || FLT_EVAL_METHOD == 16,
               "doubles must not have excess precision: -msse2 -mfpmath=sse for 32-bit x86");

/* Arrays have zeros after the last frequency, up to the next multiple of this number of pairs and as many more. So
   whole vectors can be loaded from any frequency on. */
enum { ANGLE_PADDING = 32 };

/* The largest |position|; it leaves room for the anchors next to it. */
#define ANGLE_MAX_POSITION (INT64_C(1) << 62)

/* The constants of a plan with angles. Arrays have angle_padded entries, one per frequency, and are 64-byte aligned. */
typedef struct angle_constants {
  uint64_t *turn_high, *turn_low;  /* high and low half of floor(2^128 × fraction of a turn per position), ± 1 */
  uint64_t *turn_rest, *turn_last; /* the 64 bits after turn_low, and the next 64 */
  double *step_sin, *step_cos;     /* angle_sincos of one position */
  posenc_stores stores;            /* the choice of the plan's options */
} angle_constants;

/* Returns the number of entries of an array, including padding. */
size_t angle_padded(const posenc_problem *problem);

/* The functions prepare, release and can_do of kernels whose constants are angles alone. */
posenc_status angle_prepare(const posenc_problem *problem, const posenc_options *options, void **constants);
void angle_release(void *constants);
const char *angle_can_do(const posenc_problem *problem);

/* Computes fractions of a turn, dim/2 of each part: `high`, `low` and `rest` are floor(2^192 × fraction), ± 1; `last`
   is the next 64 bits, whose lowest are wrong (frequency.c). */
void angle_turns(const posenc_problem *problem, uint64_t *high, uint64_t *low, uint64_t *rest, uint64_t *last);

/* A positive number, mantissa × 2^exponent, with 1/2 <= mantissa < 1. */
typedef struct angle_factor {
  fixed mantissa;
  int exponent;
} angle_factor;

/* Returns the attention factor of a valid problem with a relative error below 2^-190. */
angle_factor angle_attention(const posenc_problem *problem);

/* Convert a 128-bit fraction of a turn to radians, with a relative error below 2^-104. angle_phase subtracts a whole
   turn if the result is nearer to 0 then. */
posenc_sum angle_radians(uint64_t high, uint64_t low);
posenc_sum angle_phase(uint64_t high, uint64_t low);

/* Returns the fraction of a turn at a position, in units of 2^-64, with an error below 2^-64 + |position| 2^-127
   turns. */
static inline uint64_t angle_at(uint64_t high, uint64_t low, int64_t position) {
  const uint64_t wrapped = (uint64_t)position; /* 2^64 too large if negative */
  return u128_high(u128_product(low, wrapped)) + high * wrapped - (position < 0 ? low : 0);
}

/* Turns a point by this many quarters, of which only the lowest two bits count. */
static inline void angle_quarters(int quarters, double *sine, double *cosine) {
  const double s = quarters & 1 ? *cosine : *sine, c = quarters & 1 ? *sine : *cosine;
  *sine = quarters & 2 ? -s : s;
  *cosine = (quarters + 1) & 2 ? -c : c;
}

/* Computes the sine and cosine of x and this many quarter turns. No operation is fused. */
static inline void angle_polynomials(double x, int quarters, double *sine, double *cosine) {
  const double xx = x * x;
  double s = ANGLE_S17, c = ANGLE_C18;
  s = s * xx + ANGLE_S15;
  s = s * xx + ANGLE_S13;
  s = s * xx + ANGLE_S11;
  s = s * xx + ANGLE_S9;
  s = s * xx + ANGLE_S7;
  s = s * xx + ANGLE_S5;
  s = s * xx + ANGLE_S3;
  *sine = x + (x * xx) * s;
  c = c * xx + ANGLE_C16;
  c = c * xx + ANGLE_C14;
  c = c * xx + ANGLE_C12;
  c = c * xx + ANGLE_C10;
  c = c * xx + ANGLE_C8;
  c = c * xx + ANGLE_C6;
  c = c * xx + ANGLE_C4;
  c = c * xx + ANGLE_C2;
  *cosine = 1.0 + xx * c;
  angle_quarters(quarters, sine, cosine);
}

/*
 * The point (cos, sin) is within 4 × 2^-53 of the exact one. Errors in units of 2^-53:
 *   x:     at most π/4 times the relative errors of the conversion (1), ANGLE_TURN (0.36) and their product (1):  1.86;
 *   sin:   the last sum 0.5; four roundings and ANGLE_S3 (0.5), times the correction of at most 0.08:             0.86;
 *   cos:   the last sum 0.5; three roundings, times the correction of at most 0.30; ANGLE_C4, 0.5 times 0.016:    1.41;
 *   together 1.86 + |(0.86, 1.41)| = 3.52. Other coefficients add 0.01, truncations less than 2^-60.
 * Vector kernels repeat these operations one by one, unfused, so that they get the same bits.
 */
static inline void angle_sincos(uint64_t turn, double *sine, double *cosine) {
  const uint64_t quarter = (turn + (UINT64_C(1) << 61)) >> 62;
  angle_polynomials((double)(int64_t)(turn - (quarter << 62)) * ANGLE_TURN, (int)quarter, sine, cosine);
}

/* ---- sines to 128 and 256 bits --------------------------------------------------------------------------- */

/*
 * Sines and cosines in 128-bit fixed point, for the few elements whose rounding a double cannot decide. One takes about
 * 50 ns. The bits are the same everywhere, as libm is not used.
 */

/* The number ± magnitude × 2^-127, of size at most 1. */
typedef struct wide {
  u128 magnitude;
  bool negative;
} wide;

/* Returns the fraction of a turn at a position, |position| <= 2^62, in units of 2^-128, with an error below 1.5
   units. */
u128 wide_turn(const angle_constants *angles, int64_t index, int64_t position);

/* Return sin and cos of a result of wide_turn. The error, including that of the turn, is at most 2^-122. Whole quarters
   of a turn give exact results. */
wide wide_sine(u128 turn);
wide wide_cosine(u128 turn);

/* Returns 2 cos of a frequency, the angle of position 1, which must be at most one radian; rounded to nearest. Takes
   about 5 ns. */
double wide_twice_cosine(const angle_constants *angles, int64_t index);

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
fixed wider_turn(const angle_constants *angles, int64_t index, int64_t position);

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
