/* SPDX-License-Identifier: MIT */
/* Floating-point formats as the definitions of error need them. */
#ifndef POSENC_REFERENCE_FORMAT_H
#define POSENC_REFERENCE_FORMAT_H

#include <mpfr.h>

typedef struct format {
  int precision; /* bits of a significand, the hidden one included */
  int least;     /* the smallest subnormal is 2^least */
} format;

extern const format format_f64, format_f32, format_f16, format_bf16;

/* A real number as accurately as any measure of error needs it. */
typedef struct exact {
  double high, low; /* |value - (high + low)| <= 2^-105 |value| or 2^-1074; high is the value rounded to double, and
                       where that is a power of two that the value is not, low is not 0 */
  double rounded;   /* the value rounded to nearest in the target format */
} exact;

/* The number in `format` nearest to x, ties to even; subnormals included, x below the format's overflow. A double holds
 * it exactly. */
double format_round(const format *f, const mpfr_t x);

/* Spacing of the format in the binade of the exact value: just below a power of two it is that of the lower binade,
   below the smallest normal that of the subnormals. */
double format_ulp(const format *f, const exact *value);

/* |got - value|, to double precision. */
double exact_error(const exact *value, double got);

#endif
