/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LIB_SIMD_NEON_H
#define POSENC_LIB_SIMD_NEON_H

#if !defined(__aarch64__) || __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#error "these are the vectors of AArch64, with lane 0 in the lowest bytes"
#endif

#include <arm_neon.h>
#include <stdbool.h>

#ifndef TARGET /* sve.h defines both */
#define TARGET
#define SIMD(name) name##_neon
#endif
#define LANES 2
#define FUSED 1
#define CONVERTS 1
#include "lib/simd/vectors.h"

INLINE doubles multiply_add(doubles a, doubles b, doubles c) {
  return (doubles)vfmaq_f64((float64x2_t)c, (float64x2_t)a, (float64x2_t)b);
}

/* FMLA and FMLS add the product to the third operand, or subtract it from that operand; here the third operand is
   negated first. */
INLINE doubles multiply_subtract(doubles a, doubles b, doubles c) {
  return multiply_add(a, b, -c);
}

INLINE u64s multiply_low(u64s a, u64s b) {
  return (u64s)vmull_u32(vmovn_u64((uint64x2_t)a), vmovn_u64((uint64x2_t)b));
}

INLINE i64s larger(i64s a, i64s b) {
  return (i64s)vbslq_s64(vcgtq_s64((int64x2_t)a, (int64x2_t)b), (int64x2_t)a, (int64x2_t)b);
}

INLINE doubles zip_low(doubles a, doubles b) {
  return (doubles)vzip1q_f64((float64x2_t)a, (float64x2_t)b);
}

INLINE doubles zip_high(doubles a, doubles b) {
  return (doubles)vzip2q_f64((float64x2_t)a, (float64x2_t)b);
}

INLINE floats to_floats(doubles a, doubles b) {
  return (floats)vcvt_high_f32_f64(vcvt_f32_f64((float64x2_t)a), (float64x2_t)b);
}

/* Rounds to odd: toward zero, with the lowest bit set if that is inexact. Rounding the result again, to a format with
   at least two bits less, gives the double rounded once (Boldo and Melquiond, 2008). */
INLINE floats odd_to_floats(doubles a, doubles b) {
  return (floats)vcvtx_high_f32_f64(vcvtx_f32_f64((float64x2_t)a), (float64x2_t)b);
}

INLINE floats truncated_to_floats(doubles a, doubles b) {
  return odd_to_floats(a, b);
}

INLINE u32s low_words(doubles a, doubles b) {
  return (u32s)vuzp1q_u32((uint32x4_t)a, (uint32x4_t)b);
}

INLINE u32s xor_and(u32s x, uint32_t flip, uint32_t mask) {
  return (x ^ flip) & mask;
}

INLINE u16s to_f16(floats x) {
  return (u16s)vcvt_f16_f32((float32x4_t)x);
}

INLINE u16s upper_halves(u32s x) {
  return (u16s)vshrn_n_u32((uint32x4_t)x, 16);
}

INLINE void stream(void *to, u16s half) {
  store_u16s(to, half);
}

INLINE void stream_doubles(void *to, doubles x) {
  store_doubles(to, x);
}

INLINE u64s or_differing(u64s so_far, doubles a, doubles b) {
  return so_far | ((u64s)a ^ (u64s)b);
}

INLINE bool any_bits(u64s x) {
  return vgetq_lane_u64((uint64x2_t)vpmaxq_u32((uint32x4_t)x, (uint32x4_t)x), 0) != 0;
}

/* Flags as running minima, as in avx2.h. */
typedef struct flags {
  uint32x4_t least, negative;
} flags;

INLINE flags no_flags(void) {
  return (flags){vdupq_n_u32(UINT32_MAX), vdupq_n_u32(0)};
}

INLINE flags flag_zeros(flags so_far, u32s x) {
  so_far.least = vminq_u32(so_far.least, (uint32x4_t)x);
  return so_far;
}

INLINE flags flag_small(flags so_far, u32s x, uint32_t limit) {
  (void)limit;
  so_far.least = (uint32x4_t)vminq_u16((uint16x8_t)so_far.least, (uint16x8_t)x);
  so_far.negative = (uint32x4_t)vminq_s16((int16x8_t)so_far.negative, (int16x8_t)x);
  return so_far;
}

INLINE bool has_zeros(flags found) {
  return vminvq_u32(found.least) == 0;
}

INLINE bool has_small(flags found, uint32_t limit) {
  const uint32x4_t positive = vdupq_n_u32(limit << 16 | 1), negative = vdupq_n_u32((limit | 0x8000) << 16 | 0x8000);
  return any_bits((u64s)vcgtq_u16((uint16x8_t)positive, (uint16x8_t)found.least) |
                  (u64s)vcgtq_s16((int16x8_t)negative, (int16x8_t)found.negative));
}

#include "lib/simd/exact.h"

#endif
