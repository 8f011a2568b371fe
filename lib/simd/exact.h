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
INLINE u64s turns_at(const angle_table *angles, int64_t pair, int64_t position) {
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

#endif
