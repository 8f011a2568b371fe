/* SPDX-License-Identifier: MIT */
/* Floating-point formats, exact values and errors. */
#ifndef POSENC_REFERENCE_FORMAT_H
#define POSENC_REFERENCE_FORMAT_H

#include "posenc.h"

#include <math.h>
#include <mpfr.h>
#include <stdint.h>
#include <string.h>

typedef struct format {
  int precision; /* bits of a significand, including the hidden one */
  int least;     /* the smallest subnormal is 2^least */
} format;

extern const format format_f64, format_f32, format_f16, format_bf16;

/* Returns the format of a valid dtype. */
const format *format_of(posenc_dtype dtype);

/* The dtypes that arrays of a wider one may have been converted from. bf16 is before f16, because most values of bf16
   are also in f16, and few of f16 in bf16. */
enum { FORMAT_NARROWER = 3 };
extern const posenc_dtype format_narrower[FORMAT_NARROWER];

/* Return the number with these bits. bf16 has the upper bits of an f32; f16 has those of an f32 whose exponent is
   larger by 112. Conditions select results, so that the compiler can vectorize this. */
static inline double format_decode_bf16(uint16_t encoding) {
  const uint32_t bits = (uint32_t)encoding << 16;
  float x;
  memcpy(&x, &bits, sizeof x);
  return (double)x;
}

static inline double format_decode_f16(uint16_t encoding) {
  const uint32_t magnitude = encoding & 0x7fff, sign = (uint32_t)(encoding >> 15) << 31;
  /* The subnormal n × 2^-24 is computed as (0.5 + n × 2^-24) - 0.5, as it has no bits to shift. Infinity and NaN keep
     their exponent, all bits set. */
  const uint32_t subnormal = (126u << 23) + (magnitude & 0x3ff), offset = magnitude < 0x400 ? 126u << 23 : 0;
  const uint32_t normal = (magnitude << 13) + (magnitude < 0x7c00 ? 112u << 23 : 224u << 23);
  const uint32_t bits = magnitude < 0x400 ? subnormal : normal;
  float x, less;
  memcpy(&x, &bits, sizeof x);
  memcpy(&less, &offset, sizeof less);
  return (sign ? -1.0 : 1.0) * (double)(x - less);
}

/* Returns element `at` of a table. */
static inline double format_element(posenc_dtype dtype, const void *table, int64_t at) {
  switch (dtype) {
  case POSENC_F32:
    return (double)((const float *)table)[at];
  case POSENC_F64:
    break;
  case POSENC_F16:
    return format_decode_f16(((const uint16_t *)table)[at]);
  case POSENC_BF16:
    return format_decode_bf16(((const uint16_t *)table)[at]);
  }
  return ((const double *)table)[at];
}

/* Stores a number of the dtype's format as element `at` of a table; numbers beyond the largest become infinities. */
void format_store(posenc_dtype dtype, void *table, int64_t at, double x);

/* A real number, as accurate as measures of error need it. */
typedef struct exact {
  double high, low; /* |value - (high + low)| <= 2^-105 |value| or 2^-1074; high is the value rounded to double;
                       if high is a power of two and the value is not, low is not 0 */
  double rounded;   /* the value rounded to nearest in the target format */
} exact;

/* Returns the number in the format nearest to x, ties to even, for x below the format's overflow; subnormal numbers
   too. The double holds it exactly. */
double format_round(const format *f, const mpfr_t x);

/* Returns the number in a format narrower than double that is nearest to x, ties to even, in operations that compilers
   vectorize; NaN for infinities and NaN. */
static inline double format_nearest(const format *f, double x) {
  const uint64_t smallest = (uint64_t)(1023 + f->least + f->precision - 1) << 52; /* the smallest normal number */
  double normal, power, magnitude = fabs(x);
  uint64_t bits;
  memcpy(&bits, &magnitude, sizeof bits);
  bits &= UINT64_C(0x7ff) << 52;
  memcpy(&power, &bits, sizeof power);
  memcpy(&normal, &smallest, sizeof normal);
  /* 2^52 units of the format in this binade: in a sum with them, the last bit is one unit, and midpoints round to even
     units. */
  const double units = (power > normal ? power : normal) * (double)(UINT64_C(1) << (53 - f->precision));
  return copysign((magnitude + units) - units, x);
}

/* Returns high + low rounded once, to any of the formats. */
double format_nearest_sum(const format *f, double high, double low);

/* Whether all of these are numbers of a dtype narrower than f64; NaN and infinities are. */
static inline bool format_holds(const format *f, const double *values, int64_t count) {
  for (int64_t n = 0; n < count; n++) {
    const double held = format_nearest(f, values[n]);
    if (isfinite(values[n]) && !(held >= values[n] && held <= values[n])) return false;
  }
  return true;
}

/* Returns the ulp: the distance of the format's numbers in the binade of the exact value. Just below a power of two
   this is the lower binade; below the smallest normal number the distance is that of subnormal numbers. */
double format_ulp(const format *f, const exact *value);

/* Returns the distance of the value from the nearest midpoint of the format, 0 to 1/2 ulp, to double precision. */
double format_from_midpoint(const format *f, const exact *value);

/* Returns |got - value|, to double precision. */
double exact_error(const exact *value, double got);

#endif
