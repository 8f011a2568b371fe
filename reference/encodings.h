/* SPDX-License-Identifier: MIT */
/* Exact values of the encodings other than the sinusoidal table, by MPFR, by integers and from the definitions in the
   papers. */
#ifndef POSENC_REFERENCE_ENCODINGS_H
#define POSENC_REFERENCE_ENCODINGS_H

#include "posenc.h"
#include "reference/format.h"

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
