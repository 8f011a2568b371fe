/* SPDX-License-Identifier: MIT */
/* Exact results of add and rope for a given x, the errors of computed results, and exact values of other encodings. */
#ifndef POSENC_REFERENCE_APPLIED_H
#define POSENC_REFERENCE_APPLIED_H

#include "posenc.h"
#include "reference/accuracy.h"
#include "reference/fast.h"
#include "reference/format.h"

/* ---- add and rope ---------------------------------------------------------------------------------------- */

/* The heads × dim elements of x at one position. All of them must be numbers. */
typedef struct applied_row {
  const posenc_problem *problem; /* add or rope */
  const posenc_bound *bound;     /* of the kernel's table; null if none */
  int64_t position;              /* or the place, with axes */
  int64_t bounded;               /* the position for the bound: with axes, the farthest from 0 of the place */
  const fast_lanes *exact_pairs; /* fast_lanes_of this position */
  const void *x, *got;
  double attention; /* attention_of the problem */
  bool plain;       /* counts in all figures; otherwise only compared with its bound */
} applied_row;

/*
 * Adds a row's elements to `a`, except for the sums, which are returned. The ulp of an error is the distance of the
 * dtype's numbers in the binade of the exact result for add, and in that of the exact pair's length, including the
 * attention factor, for rope. An element is misrounded if it is not the number nearest to its own exact value. The
 * `index` of witnesses is head × dim/2 + frequency index; for rope, `cosine` stands for the second element of the pair.
 * No element is left uncertain: the exact values are within 2^-96 of the length of a pair, for add within 2^-97 of the
 * larger of 1 and the result.
 *
 * known: the errors found so far. An error that is not larger is not examined further.
 */
element_error applied_check(const applied_row *row, const accuracy *known, accuracy *a);

/* Writes the exact results of a row, each rounded once to the problem's dtype; `got`, the bound and `plain` are not
   read. A value within 2^-96 of a midpoint, but not on it, may be rounded to its other side. */
void applied_make(const applied_row *row, void *out);

/* ---- other encodings ------------------------------------------------------------------------------------- */

/* Exact values of the encodings other than the sinusoidal table, by MPFR, by integers and from the definitions in the
   papers. */

/* In all results, `rounded` is infinite if the value is at least half an ulp above the largest number of the dtype. */

/* Return an element of the integer table, and of the binary one (position >= 0). */
exact encodings_integer(int64_t position, int64_t column, posenc_dtype dtype);
exact encodings_binary(int64_t position, int64_t column, posenc_dtype dtype);

/* Returns element + x. */
exact encodings_sum(double element, double x, posenc_dtype dtype);

/* Returns x * scale; both have at most 26 bits. */
exact encodings_product(double x, double scale, posenc_dtype dtype);

/* Return the slope of head 0 .. heads-1 of ALiBi, and the bias at a distance of 0 .. 2^53. */
void encodings_slope(int64_t heads, int64_t head, mpfr_t slope);
exact encodings_alibi(const mpfr_t slope, int64_t distance, posenc_dtype dtype);
enum { ENCODINGS_PRECISION = 300 }; /* of slopes, in bits */

/* Replaces the counter by Philox4x32-10 of the counter and the key. */
void encodings_philox(uint32_t counter[4], const uint32_t key[2]);

/* The decision of posenc_dropout for an element. */
typedef struct encodings_fate {
  bool kept;
  double scale; /* an f32 */
} encodings_fate;
encodings_fate encodings_dropout(const posenc_dropout *dropout, int64_t sequence, int64_t position, int64_t column,
                                 int64_t dim);

#endif
