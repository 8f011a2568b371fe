/* SPDX-License-Identifier: MIT */
/* Vectors and angles with AVX-512. */
#ifndef POSENC_LIB_SIMD_ANGLE_AVX512_H
#define POSENC_LIB_SIMD_ANGLE_AVX512_H

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
enum { LANES = 8 };

#include "lib/simd/vectors.h"

INLINE vector multiply_add(vector a, vector b, vector c) {
  return _mm512_fmadd_pd(a, b, c);
}

#include "lib/simd/angle-vectors.h"

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
INLINE words turns_at(const angle_table *angles, int64_t pair, int64_t position) {
  const __m512i high = _mm512_load_si512(angles->turn_high + pair), low = _mm512_load_si512(angles->turn_low + pair);
  const __m512i p = _mm512_set1_epi64(position);
  const __m512i turn = _mm512_add_epi64(_mm512_mullo_epi64(high, p), multiply_high(low, p));
  return (words)(position < 0 ? _mm512_sub_epi64(turn, low) : turn); /* p is p + 2^64 to an unsigned product */
}

#endif
