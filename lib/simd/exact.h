/* SPDX-License-Identifier: MIT */
/* lib/exact/angle.h for LANES frequencies at once, and lib/exact/round.h for vectors. The header of an instruction set
   includes this file after it has defined its operations. */
#ifndef POSENC_LIB_SIMD_EXACT_H
#define POSENC_LIB_SIMD_EXACT_H

#include "lib/exact/angle.h"
#include "lib/exact/round.h"

/* ---- angles ------------------------------------------------------------------------------------------ */

/* Returns the upper half of the 128-bit product. */
INLINE u64s multiply_high(u64s a, u64s b) {
  const u64s a_high = a >> 32, b_high = b >> 32;
  const u64s low = multiply_low(a, b), cross_a = multiply_low(a_high, b), cross_b = multiply_low(a, b_high);
  const u64s middle = (low >> 32) + (cross_a & UINT32_MAX) + (cross_b & UINT32_MAX);
  return multiply_low(a_high, b_high) + (middle >> 32) + (cross_a >> 32) + (cross_b >> 32);
}

/* Returns angle_at of LANES frequencies, from index `pair` on. */
INLINE u64s turns_at(const angle_constants *angles, int64_t pair, int64_t position) {
  if (LANES < 8) { /* without 64-bit vector products, scalar ones are faster */
    u64s turns = {0};
    UNROLL(8)
    for (int lane = 0; lane < LANES; lane++)
      turns[lane] = angle_at(angles->turn_high[pair + lane], angles->turn_low[pair + lane], position);
    return turns;
  }
  const u64s high = load_u64s(angles->turn_high + pair), low = load_u64s(angles->turn_low + pair);
  const u64s p = (uint64_t)position - (u64s){0}, turn = high * p + multiply_high(low, p);
  return position < 0 ? turn - low : turn; /* the unsigned product was that of position + 2^64 */
}

/* Returns sum × xx + coefficient, a step of Horner's rule. */
INLINE doubles angle_horner(bool fused, doubles sum, doubles xx, double coefficient) {
  const doubles term = coefficient - (doubles){0};
  return fused ? multiply_add(sum, xx, term) : sum * xx + term;
}

/* angle_sincos by the same operations, so with the same bits; if `fused`, with fewer roundings. */
INLINE void sincos_of(u64s turn, bool fused, doubles *sine, doubles *cosine) {
  static const double s_terms[] = {ANGLE_S15, ANGLE_S13, ANGLE_S11, ANGLE_S9, ANGLE_S7, ANGLE_S5, ANGLE_S3},
                      c_terms[] = {ANGLE_C16, ANGLE_C14, ANGLE_C12, ANGLE_C10, ANGLE_C8, ANGLE_C6, ANGLE_C4, ANGLE_C2};
  const u64s quarter = (turn + (UINT64_C(1) << 61)) >> 62;
  const doubles x = to_doubles((i64s)(turn - (quarter << 62))) * ANGLE_TURN, xx = x * x;
  doubles s = ANGLE_S17 - (doubles){0}, c = ANGLE_C18 - (doubles){0};
  UNROLL(8)
  for (int n = 0; n < 7; n++) s = angle_horner(fused, s, xx, s_terms[n]);
  UNROLL(8)
  for (int n = 0; n < 8; n++) c = angle_horner(fused, c, xx, c_terms[n]);
  s = x + (x * xx) * s;
  c = 1.0 + xx * c;
  const u64s swap = -(quarter & 1), differ = ((u64s)s ^ (u64s)c) & swap;
  *sine = (doubles)((u64s)s ^ differ ^ (quarter >> 1 << 63));
  *cosine = (doubles)((u64s)c ^ differ ^ ((quarter + 1) >> 1 << 63));
}

/* ---- rounding ---------------------------------------------------------------------------------------- */

/* round_to_16_bits by the same operations; each lane of the result holds one encoding. */
INLINE u64s round_to_16s(doubles x, int precision, uint64_t least) {
  const u64s bits = (u64s)x, lowest = least - (u64s){0};
  const u64s exponent = (u64s)larger((i64s)(bits >> 52 & 0x7ff), (i64s)lowest);
  const doubles unit = (doubles)((exponent + (uint64_t)(53 - precision)) << 52), size = (doubles)(bits & INT64_MAX);
  const u64s n = (u64s)(size + unit), binades = exponent - lowest;
  return (bits >> 63 << 15) | (((binades << (precision - 1)) + n) & 0x7fff);
}

/* Rounds f32 to bf16, to nearest, ties to even; the results are the upper halves of the words. A NaN whose lower half
   is zero stays a NaN, as nothing is carried: so do the default NaN and those converted from bf16. */
INLINE u32s round_to_bf16(floats x) {
  return (u32s)x + 0x7fff + ((u32s)x >> 16 & 1);
}

/* ---- sums ------------------------------------------------------------------------------------------------ */

/*
 * Numbers of about 106 bits, as sums of two doubles. The first double is the sum rounded to nearest, or nearly so.
 * Sources: the error-free sums and products of Møller and Dekker; Joldes, Muller and Popescu, "Tight and rigorous error
 * bounds for basic building blocks of double-word arithmetic", ACM TOMS 44(2), 2017. The header of an instruction set
 * must be included first.
 */

typedef struct sums {
  doubles high, low;
} sums;

INLINE doubles upper_half(doubles x) {
  const doubles shifted = x * 0x1.0000002p27; /* 2^27 + 1: Veltkamp's splitting */
  return shifted - (shifted - x);
}

/* Returns a b - product exactly, where product is a b rounded to nearest. */
INLINE doubles product_rest(doubles a, doubles b, doubles product) {
  if (FUSED) return multiply_subtract(a, b, product);
  const doubles a_high = upper_half(a), b_high = upper_half(b), a_low = a - a_high, b_low = b - b_high;
  return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low;
}

/* Returns high + low exactly, for |low| <= |high| or high = 0. */
INLINE sums sums_of(doubles high, doubles low) {
  const doubles sum = high + low;
  return (sums){sum, low - (sum - high)};
}

/* Returns a b with an error of at most 2^-102 |a b|. */
INLINE sums sums_product(sums a, sums b) {
  const doubles product = a.high * b.high, rest = product_rest(a.high, b.high, product);
  return sums_of(product, rest + multiply_add(a.high, b.low, a.low * b.high));
}

/* Returns a + b with an error of at most 2^-103 (|a| + |b|). */
INLINE sums sums_add(sums a, sums b) {
  const doubles sum = a.high + b.high, part = sum - a.high, rest = (a.high - (sum - part)) + (b.high - part);
  return sums_of(sum, rest + (a.low + b.low));
}

INLINE sums sums_load(const double *high, const double *low) {
  return (sums){load_doubles(high), load_doubles(low)};
}

/* Returns the fraction of a turn (2^64 high + low) / 2^128, less the nearest quarter, in radians: |x| <= π/4, with a
   relative error below 2^-101. */
INLINE sums sums_angle(u64s high, u64s low) {
  const double unit = 0x1.921fb54442d18p-126, unit_low = 0x1.1a62633145c07p-180; /* 2π / 2^128 */
  const u64s rest = high - ((high + (UINT64_C(1) << 61)) >> 62 << 62);
  const doubles upper = to_doubles((i64s)rest >> 21) * 0x1p85, /* exact: 43 bits, 53 and 32 */
      middle = to_doubles((i64s)((rest & 0x1fffff) << 32 | low >> 32)) * 0x1p32,
                lower = to_doubles((i64s)(low & UINT32_MAX));
  const sums turn = sums_of(upper, middle);
  return sums_product(sums_of(turn.high, turn.low + lower), (sums){unit - (doubles){0}, unit_low - (doubles){0}});
}

/* Returns a z + (high + low), where high + low is a constant. */
INLINE sums sums_horner(sums a, sums z, double high, double low) {
  return sums_add((sums){high - (doubles){0}, low - (doubles){0}}, sums_product(a, z));
}

/*
 * sin and cos of such an angle x by Taylor polynomials. The first terms left out are below 2^-92. The terms from x^13
 * and x^14 on, below 2^-36 of sin and 2^-41 of cos, are added up in doubles. The relative error is below 2^-86.
 */
INLINE void sums_taylor(sums x, sums *sine, sums *cosine) {
  static const double s_terms[] = {0x1.71b8ef6dcf572p-66, -0x1.2f49b46814157p-57, 0x1.952c77030ad4ap-49,
                                   -0x1.ae7f3e733b81fp-41, 0x1.6124613a86d09p-33}; /* of x^21 to x^13 */
  static const double c_terms[] = {-0x1.0ce396db7f853p-70, 0x1.e542ba4020225p-62, -0x1.6827863b97d97p-53,
                                   0x1.ae7f3e733b81fp-45, -0x1.93974a8c07c9dp-37}; /* of x^22 to x^14 */
  static const double s_sums[][2] = {{-0x1.ae64567f544e4p-26, 0x1.c062e06d1f209p-80},
                                     {0x1.71de3a556c734p-19, -0x1.c154f8ddc6c00p-73},
                                     {-0x1.a01a01a01a01ap-13, -0x1.a01a01a01a01ap-73},
                                     {0x1.1111111111111p-7, 0x1.1111111111111p-63},
                                     {-0x1.5555555555555p-3, -0x1.5555555555555p-57}};
  static const double c_sums[][2] = {{0x1.1eed8eff8d898p-29, -0x1.2aec959e14c06p-83},
                                     {-0x1.27e4fb7789f5cp-22, -0x1.cbbc05b4fa99ap-76},
                                     {0x1.a01a01a01a01ap-16, 0x1.a01a01a01a01ap-76},
                                     {-0x1.6c16c16c16c17p-10, 0x1.f49f49f49f49fp-65},
                                     {0x1.5555555555555p-5, 0x1.5555555555555p-59}};
  const sums z = sums_product(x, x);
  doubles s = -0x1.761b41316381ap-75 - (doubles){0}, c = 0x1.f2cf01972f578p-80 - (doubles){0};
  for (int n = 0; n < 5; n++) {
    s = multiply_add(s, z.high, s_terms[n] - (doubles){0});
    c = multiply_add(c, z.high, c_terms[n] - (doubles){0});
  }
  sums sine_sum = {s, {0}}, cosine_sum = {c, {0}};
  for (int n = 0; n < 5; n++) {
    sine_sum = sums_horner(sine_sum, z, s_sums[n][0], s_sums[n][1]);
    cosine_sum = sums_horner(cosine_sum, z, c_sums[n][0], c_sums[n][1]);
  }
  *sine = sums_add(x, sums_product(sums_product(x, z), sine_sum));
  *cosine = sums_horner(sums_horner(cosine_sum, z, -0.5, 0.0), z, 1.0, 0.0);
}

/* sin and cos of the fractions of a turn (2^64 high + low) / 2^128, with a relative error below 2^-86. */
INLINE void sums_sincos(u64s high, u64s low, sums *sine, sums *cosine) {
  const u64s quarter = (high + (UINT64_C(1) << 61)) >> 62, swap = -(quarter & 1);
  const u64s sine_sign = quarter >> 1 << 63, cosine_sign = (quarter + 1) >> 1 << 63;
  sums s, c;
  sums_taylor(sums_angle(high, low), &s, &c);
  const u64s differ = ((u64s)s.high ^ (u64s)c.high) & swap, differ_low = ((u64s)s.low ^ (u64s)c.low) & swap;
  *sine = (sums){(doubles)((u64s)s.high ^ differ ^ sine_sign), (doubles)((u64s)s.low ^ differ_low ^ sine_sign)};
  *cosine = (sums){(doubles)((u64s)c.high ^ differ ^ cosine_sign), (doubles)((u64s)c.low ^ differ_low ^ cosine_sign)};
}

#endif
