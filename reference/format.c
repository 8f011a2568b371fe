/* SPDX-License-Identifier: MIT */
#include "reference/format.h"

#include <math.h>

const posenc_dtype format_narrower[] = {POSENC_BF16, POSENC_F16, POSENC_F32};

const format format_f64 = {53, -1074}, format_f32 = {24, -149}, format_f16 = {11, -24}, format_bf16 = {8, -133};

const format *format_of(posenc_dtype dtype) {
  static const format *const formats[] = {
      [POSENC_F32] = &format_f32, [POSENC_F64] = &format_f64, [POSENC_F16] = &format_f16, [POSENC_BF16] = &format_bf16};
  return formats[dtype];
}

double format_round(const format *f, const mpfr_t x) {
  if (mpfr_zero_p(x)) return mpfr_signbit(x) ? -0.0 : 0.0;
  /* 2^(exponent-1) <= |x| < 2^exponent */
  const long exponent = mpfr_get_exp(x), bits = exponent - f->least < f->precision ? exponent - f->least : f->precision;
  const double sign = mpfr_signbit(x) ? -1.0 : 1.0;
  if (bits < 0) return sign * 0.0;
  mpfr_t rounded;
  mpfr_init2(rounded, bits > 0 ? bits : 1);
  double result;
  if (bits > 0) {
    mpfr_set(rounded, x, MPFR_RNDN);
    result = mpfr_get_d(rounded, MPFR_RNDN);
  } else {
    /* Between half the smallest subnormal number and itself. The half is a midpoint and rounds to zero, which is
       even. */
    mpfr_set_si_2exp(rounded, 1, f->least - 1, MPFR_RNDN);
    result = mpfr_cmpabs(x, rounded) > 0 ? sign * ldexp(1.0, f->least) : sign * 0.0;
  }
  mpfr_clear(rounded);
  return result;
}

static uint16_t encode_f16(double x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0, infinite = 0x7c00;
  const double magnitude = fabs(x);
  if (magnitude < 0x1p-14) return (uint16_t)(sign | (uint16_t)(magnitude * 0x1p24)); /* subnormal, or 0 */
  if (!(magnitude < 0x1p16)) return sign | infinite;
  const int exponent = ilogb(magnitude);
  return (uint16_t)(sign | ((exponent + 14) * 1024 + (int)ldexp(magnitude, 10 - exponent)));
}

void format_store(posenc_dtype dtype, void *table, int64_t at, double x) {
  const float single = (float)x;
  uint32_t bits;
  memcpy(&bits, &single, sizeof bits);
  if (dtype == POSENC_F64)
    ((double *)table)[at] = x;
  else if (dtype == POSENC_F32)
    ((float *)table)[at] = single;
  else
    ((uint16_t *)table)[at] = dtype == POSENC_BF16 ? (uint16_t)(bits >> 16) : encode_f16(x);
}

double format_nearest_sum(const format *f, double high, double low) {
  const double sum = high + low, other = sum - high, rest = (high - (sum - other)) + (low - other);
  if (f->precision == format_f64.precision) return sum;
  if (!(fabs(rest) > 0.0)) return format_nearest(f, sum);
  /* Rounded to odd, the sum is on the same side of every midpoint of a format with two bits less (Boldo and Melquiond,
     2008). */
  uint64_t bits;
  memcpy(&bits, &sum, sizeof bits);
  if (!(bits & 1)) bits += (rest > 0.0) == (sum > 0.0) ? 1 : UINT64_MAX;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return format_nearest(f, odd);
}

double format_ulp(const format *f, const exact *value) {
  enum { BIAS = 1023, FRACTION = 52 };
  uint64_t bits;
  memcpy(&bits, &value->high, sizeof bits);
  int exponent = (int)(bits >> FRACTION & 0x7ff) - BIAS;
  const bool is_power = bits << (64 - FRACTION) == 0;
  /* high may have been rounded up to a power of two, with the value below it */
  if (is_power && value->low != 0.0 && signbit(value->low) != signbit(value->high)) exponent--;
  const int last = exponent + 1 - f->precision, ulp = last < f->least ? f->least : last;
  if (ulp <= -BIAS) return ldexp(1.0, ulp); /* subnormal */
  double power;
  bits = (uint64_t)(ulp + BIAS) << FRACTION;
  memcpy(&power, &bits, sizeof power);
  return power;
}

double format_from_midpoint(const format *f, const exact *value) {
  const double ulp = format_ulp(f, value), high = value->high / ulp; /* exact: a power of two */
  const double from_midpoint = fabs(((high - floor(high)) - 0.5) + value->low / ulp);
  return from_midpoint <= 0.5 ? from_midpoint : 1.0 - from_midpoint; /* low may reach past the number below */
}

double exact_error(const exact *value, double got) {
  return fabs((got - value->high) - value->low);
}
