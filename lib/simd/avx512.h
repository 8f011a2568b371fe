/* SPDX-License-Identifier: MIT */
#ifndef POSENC_LIB_SIMD_AVX512_H
#define POSENC_LIB_SIMD_AVX512_H

#include <immintrin.h>
#include <stdbool.h>

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define SIMD(name) name##_avx512
#define LANES 8
#define FUSED 1
#define CONVERTS 1
#include "lib/simd/vectors.h"

INLINE doubles multiply_add(doubles a, doubles b, doubles c) {
  return _mm512_fmadd_pd(a, b, c);
}

INLINE doubles multiply_subtract(doubles a, doubles b, doubles c) {
  return _mm512_fmsub_pd(a, b, c);
}

INLINE u64s multiply_low(u64s a, u64s b) {
  return (u64s)_mm512_mul_epu32((__m512i)a, (__m512i)b);
}

INLINE i64s larger(i64s a, i64s b) {
  return (i64s)_mm512_max_epi64((__m512i)a, (__m512i)b);
}

INLINE doubles zip_low(doubles a, doubles b) {
  return _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
}

INLINE doubles zip_high(doubles a, doubles b) {
  return _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
}

INLINE floats to_floats(doubles a, doubles b) {
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1);
}

INLINE floats truncated_to_floats(doubles a, doubles b) {
  enum { TOWARD_ZERO = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC };
  return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvt_roundpd_ps(a, TOWARD_ZERO)),
                            _mm512_cvt_roundpd_ps(b, TOWARD_ZERO), 1);
}

INLINE u32s low_words(doubles a, doubles b) {
  return (u32s)_mm512_shuffle_ps(_mm512_castpd_ps(a), _mm512_castpd_ps(b), 0x88);
}

INLINE u32s xor_and(u32s x, uint32_t flip, uint32_t mask) {
  return (u32s)_mm512_ternarylogic_epi32((__m512i)x, _mm512_set1_epi32((int)flip), _mm512_set1_epi32((int)mask), 0x28);
}

INLINE u16s to_f16(floats x) {
  return (u16s)_mm512_cvtps_ph(x, 0);
}

INLINE u16s upper_halves(u32s x) {
  const __m512i upper =
      _mm512_set_epi64(0, 0, 0, 0, 0x1f001d001b0019, 0x17001500130011, 0x0f000d000b0009, 0x07000500030001);
  return (u16s)_mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, (__m512i)x));
}

INLINE void stream(void *to, u16s half) {
  _mm256_stream_si256((__m256i *)to, (__m256i)half);
}

INLINE void stream_doubles(void *to, doubles x) {
  _mm512_stream_pd((double *)to, x);
}

INLINE u64s or_differing(u64s so_far, doubles a, doubles b) {
  return (u64s)_mm512_ternarylogic_epi64((__m512i)so_far, _mm512_castpd_si512(a), _mm512_castpd_si512(b), 0xf6);
}

INLINE bool any_bits(u64s x) {
  return _mm512_test_epi64_mask((__m512i)x, (__m512i)x) != 0;
}

/* Flags as running minima, as in avx2.h. A comparison into a mask would use a port of the floating-point additions. */
typedef struct flags {
  __m512i least, negative;
} flags;

INLINE flags no_flags(void) {
  return (flags){_mm512_set1_epi32(-1), _mm512_setzero_si512()};
}

INLINE flags flag_zeros(flags so_far, u32s x) {
  so_far.least = _mm512_min_epu32(so_far.least, (__m512i)x);
  return so_far;
}

INLINE flags flag_small(flags so_far, u32s x, uint32_t limit) {
  (void)limit;
  so_far.least = _mm512_min_epu16(so_far.least, (__m512i)x);
  so_far.negative = _mm512_min_epi16(so_far.negative, (__m512i)x);
  return so_far;
}

INLINE bool has_zeros(flags found) {
  return _mm512_testn_epi32_mask(found.least, found.least) != 0;
}

INLINE bool has_small(flags found, uint32_t limit) {
  const __m512i positive = _mm512_set1_epi32((int)(limit << 16 | 1)),
                negative = _mm512_set1_epi32((int)((limit | 0x8000) << 16 | 0x8000));
  return (_mm512_cmplt_epu16_mask(found.least, positive) | _mm512_cmplt_epi16_mask(found.negative, negative)) != 0;
}

#include "lib/simd/exact.h"

#endif
