/* SPDX-License-Identifier: MIT */
/*
 * The limit of a check that is given none: the largest error of a right result, by how such results are computed. With
 * u = 2^-24, the unit of f32, the angle p w of frequency index i is off by at most
 *
 *   |p w| u (8 + 3 |ln (w / w[0])| + 4 ln 2 min(i, 128)).
 *
 * 3 |ln (w / w[0])|: the exponent of w is a product of up to three rounded factors, each off by a unit of the exponent.
 * 4 ln 2 i: on a GPU, w is a power of a step whose logarithm is off by 2^-22 (doc/recipes.md); heads have no more than
 * 128 pairs. 8: a power is off by 2, a reciprocal by 1, the steps of a scaling by 2, the product with p by 1, and an
 * angle in turns, which fast instructions take, by 2.
 *
 * The sine of that angle is off by as much, by up to 9 u of fast instructions, and by the roundings of an attention
 * factor, of products and of sums: 32 u in all. Each rounding to the dtype adds its unit: a table has one, and one for
 * an addend or a factor in the dtype; the components of a turned pair have three, of sine and cosine, the products, and
 * the sum. Positions and frequencies in a dtype narrower than f32 are wrong. Results in f64 are of code in f64, with
 * its unit.
 */
#ifndef POSENC_REFERENCE_LIMIT_H
#define POSENC_REFERENCE_LIMIT_H

#include "posenc.h"
#include "reference/format.h"

enum { LIMIT_OF_TABLE = 2, LIMIT_OF_PAIR = 3 }; /* roundings to the dtype */

/* Returns the unit of the arithmetic of results in that dtype. */
static inline double limit_unit(posenc_dtype held) {
  return held == POSENC_F64 ? 0x1p-53 : 0x1p-24;
}

/* Returns the most that an angle at a position may be off, of any frequency. Code in f32 stays below 1/8 at positions
   to 131072, and farther out below 4 u |p|: a power off by 2 u, a reciprocal and the product by 1 u each. */
static inline double limit_most(double position, double unit) {
  return fmax(0.125, 4.0 * unit * fabs(position));
}

/* Returns the limit of the error of an angle at position 1. fastest: w[0]. */
static inline double limit_of_angle(double w, double fastest, int64_t index, double unit) {
  const double most = 128.0, of_powers = 4.0 * log(2.0) * fmin((double)index, most);
  return w > 0.0 ? w * unit * (8.0 + 3.0 * fabs(log(w / fastest)) + of_powers) : 0.0;
}

/* Returns what is added to that of the angle, as a share of the amplitude or of the pair's length. */
static inline double limit_of_value(posenc_dtype held, double unit, int roundings) {
  return 32.0 * unit + (double)roundings * ldexp(1.0, -format_of(held)->precision);
}

#endif
