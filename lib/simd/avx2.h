/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LIB_SIMD_AVX2_H
#define POSENC_LIB_SIMD_AVX2_H

#include <immintrin.h>
#include <stdbool.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
#define SIMD(name) name##_avx2
#define LANES 4
#define FUSED 1
#define CONVERTS 0
#include "lib/simd/vectors.h"

INLINE doubles multiply_add(doubles a, doubles b, doubles c) {
  return _mm256_fmadd_pd(a, b, c);
}

INLINE doubles multiply_subtract(doubles a, doubles b, doubles c) {
  return _mm256_fmsub_pd(a, b, c);
}

INLINE u64s multiply_low(u64s a, u64s b) {
  return (u64s)_mm256_mul_epu32((__m256i)a, (__m256i)b);
}

INLINE i64s larger(i64s a, i64s b) {
  const i64s greater = a > b;
  return (a & greater) | (b & ~greater);
}

INLINE doubles zip_low(doubles a, doubles b) {
  return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20);
}

INLINE doubles zip_high(doubles a, doubles b) {
  return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31);
}

INLINE floats to_floats(doubles a, doubles b) {
  return _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
}

INLINE floats truncated_to_floats(doubles a, doubles b) {
  const u64s kept = ~(u64s){0} << 29;
  return to_floats((doubles)((u64s)a & kept), (doubles)((u64s)b & kept));
}

INLINE u32s low_words(doubles a, doubles b) {
  return (u32s)_mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0x88);
}

INLINE u32s xor_and(u32s x, uint32_t flip, uint32_t mask) {
  return (x ^ flip) & mask;
}

INLINE u16s to_f16(floats x) {
  return (u16s)_mm256_cvtps_ph(x, 0);
}

INLINE u16s upper_halves(u32s x) {
  const __m256i upper = (__m256i)(x >> 16);
  return (u16s)_mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
}

INLINE void stream(void *to, u16s half) {
  _mm_stream_si128((__m128i *)to, (__m128i)half);
}

INLINE void stream_doubles(void *to, doubles x) {
  _mm256_stream_pd((double *)to, x);
}

INLINE u64s or_differing(u64s so_far, doubles a, doubles b) {
  return so_far | ((u64s)a ^ (u64s)b);
}

INLINE bool any_bits(u64s x) {
  return !_mm256_testz_si256((__m256i)x, (__m256i)x);
}

/* Flags as running minima: `least` of unsigned words or of unsigned 16-bit words, `negative` of signed 16-bit words.
   Minima leave the execution ports of floating-point additions free. */
typedef struct flags {
  __m256i least, negative;
} flags;

INLINE flags no_flags(void) {
  return (flags){_mm256_set1_epi32(-1), _mm256_setzero_si256()};
}

INLINE flags flag_zeros(flags so_far, u32s x) {
  so_far.least = _mm256_min_epu32(so_far.least, (__m256i)x);
  return so_far;
}

INLINE flags flag_small(flags so_far, u32s x, uint32_t limit) {
  (void)limit;
  so_far.least = _mm256_min_epu16(so_far.least, (__m256i)x);
  so_far.negative = _mm256_min_epi16(so_far.negative, (__m256i)x);
  return so_far;
}

INLINE bool has_zeros(flags found) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(found.least, _mm256_setzero_si256())) != 0;
}

/* The smallest positive halves are the unsigned minima, the smallest negative ones the signed minima. */
INLINE bool has_small(flags found, uint32_t limit) {
  const __m256i positive = _mm256_set1_epi32((int)(limit << 16 | 1)),
                negative = _mm256_set1_epi32((int)((limit | 0x8000) << 16 | 0x8000));
  const __m256i below =
      _mm256_or_si256(_mm256_subs_epu16(positive, found.least), _mm256_cmpgt_epi16(negative, found.negative));
  return !_mm256_testz_si256(below, below);
}

#include "lib/simd/exact.h"

#endif
