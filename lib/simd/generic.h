/* SPDX-License-Identifier: MIT */
/* Vectors of 16 bytes without intrinsics, except for one product on SSE2: the compiler makes SSE2, NEON or scalar code
   of them. */
#ifndef POSENC_LIB_SIMD_GENERIC_H
#define POSENC_LIB_SIMD_GENERIC_H

#ifndef TARGET /* the header of a tier that begins with these vectors defines both */
#define TARGET
#define SIMD(name) name##_generic
#endif
#define LANES 2
#ifndef FUSED /* such a header defines it, too, if its tier has fused operations of doubles */
#define FUSED 0
#endif
#ifdef __aarch64__
#define CONVERTS 1
#else
#define CONVERTS 0
#endif
#include "lib/exact/round.h"
#include "lib/simd/vectors.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#if FUSED
INLINE doubles multiply_add(doubles a, doubles b, doubles c) {
  return (doubles){__builtin_fma(a[0], b[0], c[0]), __builtin_fma(a[1], b[1], c[1])};
}
#else
INLINE doubles multiply_add(doubles a, doubles b, doubles c) {
  return a * b + c;
}
#endif

INLINE doubles multiply_subtract(doubles a, doubles b, doubles c) {
  return multiply_add(a, b, -c);
}

INLINE u64s multiply_low(u64s a, u64s b) {
#ifdef __SSE2__
  return (u64s)_mm_mul_epu32((__m128i)a, (__m128i)b);
#else
  return (a & UINT32_MAX) * (b & UINT32_MAX);
#endif
}

INLINE i64s larger(i64s a, i64s b) {
  const i64s greater = a > b;
  return (a & greater) | (b & ~greater);
}

INLINE doubles zip_low(doubles a, doubles b) {
  return (doubles){a[0], b[0]};
}

INLINE doubles zip_high(doubles a, doubles b) {
  return (doubles){a[1], b[1]};
}

INLINE floats to_floats(doubles a, doubles b) {
  return (floats){(float)a[0], (float)a[1], (float)b[0], (float)b[1]};
}

INLINE floats truncated_to_floats(doubles a, doubles b) {
  const u64s kept = ~(u64s){0} << 29;
  return to_floats((doubles)((u64s)a & kept), (doubles)((u64s)b & kept));
}

INLINE u32s low_words(doubles a, doubles b) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_shufflevector((u32s)a, (u32s)b, 1, 3, 5, 7);
#else
  return __builtin_shufflevector((u32s)a, (u32s)b, 0, 2, 4, 6);
#endif
}

INLINE u32s xor_and(u32s x, uint32_t flip, uint32_t mask) {
  return (x ^ flip) & mask;
}

/* For |x| < 2^15. The smallest normal f16 is 2^-14. Smaller ones are as far apart as f32 from 1/2 on, so adding 1/2
   rounds to them. */
INLINE u16s to_f16(floats x) {
  const u32s size = (u32s)x & 0x7fffffff, sign = (u32s)x >> 31 << 15;
  const u32s normal = (size - (112u << 23) + 0xfff + (size >> 13 & 1)) >> 13;
  const u32s subnormal = (u32s)((floats)size + 0.5f) - 0x3f000000;
  const u32s is_normal = (u32s)((i32s)size >= 113 << 23);
  return __builtin_convertvector(sign | (normal & is_normal) | (subnormal & ~is_normal), u16s);
}

INLINE u16s upper_halves(u32s x) {
  return __builtin_convertvector(x >> 16, u16s);
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
  return (x[0] | x[1]) != 0;
}

/* Words that are all ones where a word was flagged. */
typedef u32s flags;

INLINE flags no_flags(void) {
  return (flags){0};
}

INLINE flags flag_zeros(flags so_far, u32s x) {
  return so_far | (u32s)(x == 0);
}

INLINE flags flag_small(flags so_far, u32s x, uint32_t limit) {
  return so_far | (u32s)((x & 0xffff) == 0) | (u32s)((i32s)(x & 0x7fffffff) < (int32_t)(limit << 16));
}

INLINE bool has_zeros(flags found) {
#ifdef __SSE2__
  return _mm_movemask_epi8((__m128i)found) != 0;
#else
  return any_bits((u64s)found);
#endif
}

INLINE bool has_small(flags found, uint32_t limit) {
  (void)limit;
  return has_zeros(found);
}

#include "lib/simd/exact.h"

#endif
