/* SPDX-License-Identifier: MIT */
/* angle.h for eight frequencies at once, operation by operation. */
#ifndef POSENC_IMPLS_CORE_ANGLE_AVX512_H
#define POSENC_IMPLS_CORE_ANGLE_AVX512_H

#include "impls/core/angle.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* Before a loop over a few vectors: they stay in registers only if it is unrolled, which gcc -O2 does not do by itself. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* High half of the 128-bit product, by 32-bit halves. */
INLINE __m512i multiply_high(__m512i a, __m512i b) {
  const __m512i mask = _mm512_set1_epi64(0xffffffff), a1 = _mm512_srli_epi64(a, 32), b1 = _mm512_srli_epi64(b, 32);
  const __m512i low = _mm512_mul_epu32(a, b), cross_a = _mm512_mul_epu32(a1, b), cross_b = _mm512_mul_epu32(a, b1);
  const __m512i middle = _mm512_add_epi64(_mm512_add_epi64(_mm512_srli_epi64(low, 32), _mm512_and_si512(cross_a, mask)),
                                          _mm512_and_si512(cross_b, mask));
  return _mm512_add_epi64(_mm512_add_epi64(_mm512_mul_epu32(a1, b1), _mm512_srli_epi64(middle, 32)),
                          _mm512_add_epi64(_mm512_srli_epi64(cross_a, 32), _mm512_srli_epi64(cross_b, 32)));
}

/* angle_at, for eight frequencies. */
INLINE __m512i turns_at(const angle_table *angles, int64_t pair, int64_t position) {
  const __m512i high = _mm512_load_si512(angles->turn_high + pair), low = _mm512_load_si512(angles->turn_low + pair);
  const __m512i p = _mm512_set1_epi64(position);
  const __m512i turn = _mm512_add_epi64(_mm512_mullo_epi64(high, p), multiply_high(low, p));
  return position < 0 ? _mm512_sub_epi64(turn, low) : turn; /* p is p + 2^64 to an unsigned product */
}

/* angle_sincos, operation by operation, for the same bits; or fused, which rounds less. */
INLINE void sincos_of(__m512i turn, bool fused, __m512d *sine, __m512d *cosine) {
  const __m512i quarter = _mm512_srli_epi64(_mm512_add_epi64(turn, _mm512_set1_epi64(INT64_C(1) << 61)), 62);
  const __m512i rest = _mm512_sub_epi64(turn, _mm512_slli_epi64(quarter, 62));
  const __m512d x = _mm512_mul_pd(_mm512_cvtepi64_pd(rest), _mm512_set1_pd(ANGLE_TURN)), xx = _mm512_mul_pd(x, x);
#define STEP(value, coefficient)                                                                                       \
  (fused ? _mm512_fmadd_pd(value, xx, _mm512_set1_pd(coefficient))                                                     \
         : _mm512_add_pd(_mm512_mul_pd(value, xx), _mm512_set1_pd(coefficient)))
  __m512d s = _mm512_set1_pd(ANGLE_S17), c = _mm512_set1_pd(ANGLE_C18);
  s = STEP(s, ANGLE_S15);
  s = STEP(s, ANGLE_S13);
  s = STEP(s, ANGLE_S11);
  s = STEP(s, ANGLE_S9);
  s = STEP(s, ANGLE_S7);
  s = STEP(s, ANGLE_S5);
  s = STEP(s, ANGLE_S3);
  s = _mm512_add_pd(x, _mm512_mul_pd(_mm512_mul_pd(x, xx), s));
  c = STEP(c, ANGLE_C16);
  c = STEP(c, ANGLE_C14);
  c = STEP(c, ANGLE_C12);
  c = STEP(c, ANGLE_C10);
  c = STEP(c, ANGLE_C8);
  c = STEP(c, ANGLE_C6);
  c = STEP(c, ANGLE_C4);
  c = STEP(c, ANGLE_C2);
  c = _mm512_add_pd(_mm512_set1_pd(1.0), _mm512_mul_pd(xx, c));
#undef STEP
  const __mmask8 swap = _mm512_test_epi64_mask(quarter, _mm512_set1_epi64(1));
  const __m512i sine_sign = _mm512_slli_epi64(_mm512_srli_epi64(quarter, 1), 63);
  const __m512i cosine_sign =
      _mm512_slli_epi64(_mm512_srli_epi64(_mm512_add_epi64(quarter, _mm512_set1_epi64(1)), 1), 63);
  *sine = _mm512_xor_pd(_mm512_mask_blend_pd(swap, s, c), _mm512_castsi512_pd(sine_sign));
  *cosine = _mm512_xor_pd(_mm512_mask_blend_pd(swap, c, s), _mm512_castsi512_pd(cosine_sign));
}

#endif
