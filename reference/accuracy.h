/* SPDX-License-Identifier: MIT */
/* Errors over the elements of a table: their statistics, and the largest ones of a right result. */
#ifndef POSENC_REFERENCE_ACCURACY_H
#define POSENC_REFERENCE_ACCURACY_H

#include "posenc.h"
#include "reference/format.h"

#include <stdlib.h>

/* A histogram of errors in ulp: bin b counts errors below 2^(b - 4). The first bin starts at 0; the last has everything
   above. */
enum { ACCURACY_BINS = 32, ACCURACY_FIRST_EXPONENT = -4 };

/* Ranges of positions by their distance from 0: range r begins at 16^r, the first one at 0. */
enum { ACCURACY_RANGES = 16 };

/* The ulp and the absolute error of an element. */
typedef struct element_error {
  double ulp, abs;
} element_error;

/* An element of a table: its position, the index of its pair, and whether it is the cosine. */
typedef struct element_place {
  int64_t position, index;
  bool cosine;
} element_place;

/* The largest part of an error beyond half an ulp, and the largest of such a part divided by |position|. */
typedef struct element_rest {
  double most, per_position;
} element_rest;

typedef struct witness {
  double ulp, abs;
  int64_t position, index;
  bool cosine;
  double exact_high, exact_low, got;
} witness;

typedef struct accuracy {
  int64_t elements, misrounded;
  int64_t held;             /* elements with a bound */
  int64_t beyond;           /* of these, elements whose error exceeds it; NaN and infinities too */
  witness max_ulp, max_abs; /* NaN counts as an infinite error; of equal errors the first */
  double worst_share;       /* the largest ratio of an error and its bound */
  witness worst;            /* the element of worst_share */
  double sum_ulp, sum_abs;
  int64_t bins[ACCURACY_BINS];
  element_error most[ACCURACY_RANGES]; /* the largest errors by range of positions; 0 without elements */
  element_rest rest[ACCURACY_RANGES];  /* by range, too; complete if the bound of all elements is half an ulp or less */
} accuracy;

/* Adds one element. bound: null if there is none for it. */
void accuracy_add(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                  element_place at);

/* accuracy_add without the sums, to which the result belongs. */
element_error accuracy_count(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                             element_place at);

/* accuracy_note adds an element whose errors are known, except for the sums. accuracy_hold compares an element with a
   tolerance; a negative tolerance is always exceeded. */
void accuracy_note(accuracy *a, const witness *here, bool misrounded);
void accuracy_hold(accuracy *a, const witness *here, double tolerance);

/* Adds the statistics of other elements. Only the rounding of the sums depends on the order. */
void accuracy_merge(accuracy *into, const accuracy *from);

/* Returns |position|; INT64_MAX for INT64_MIN, whose size is larger by one. */
static inline int64_t accuracy_distance(int64_t position) {
  return position == INT64_MIN ? INT64_MAX : llabs(position);
}

/* Returns the range of a position, and the distance from 0 at which a range begins. */
int accuracy_range(int64_t position);
int64_t accuracy_range_begin(int range);

/* Counts all largest errors in the range of a position: for elements that were counted at other positions. */
void accuracy_move(accuracy *a, int64_t position);

/* Returns the bin of errors from 2^(exponent-1) to 2^exponent ulp. */
int accuracy_bin(int exponent);

/* Returns the upper end of a bin, in ulp; infinity for the last one. */
double accuracy_bin_end(int bin);

/* ---- tolerances ------------------------------------------------------------------------------------------ */

/*
 * The tolerance of a check that is given none: the largest error of a right result, by how such results are computed.
 * With u = 2^-24, the unit of f32, the angle p w of frequency index i is off by at most
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

enum { ROUNDINGS_OF_TABLE = 2, ROUNDINGS_OF_PAIR = 3 }; /* roundings to the dtype */

/* Returns the unit of the arithmetic of results in that dtype. */
static inline double tolerance_unit(posenc_dtype held) {
  return held == POSENC_F64 ? 0x1p-53 : 0x1p-24;
}

/* Returns the most that an angle at a position may be off, of any frequency. Code in f32 stays below 1/8 at positions
   to 131072, and farther out below 4 u |p|: a power off by 2 u, a reciprocal and the product by 1 u each. */
static inline double tolerance_most(double position, double unit) {
  return fmax(0.125, 4.0 * unit * fabs(position));
}

/* Returns the tolerance of the error of an angle at position 1. fastest: w[0]. */
static inline double tolerance_of_angle(double w, double fastest, int64_t index, double unit) {
  const double most = 128.0, of_powers = 4.0 * log(2.0) * fmin((double)index, most);
  return w > 0.0 ? w * unit * (8.0 + 3.0 * fabs(log(w / fastest)) + of_powers) : 0.0;
}

/* Returns what is added to that of the angle, as a share of the amplitude or of the pair's length. */
static inline double tolerance_of_value(posenc_dtype held, double unit, int roundings) {
  return 32.0 * unit + (double)roundings * ldexp(1.0, -format_of(held)->precision);
}

#endif
