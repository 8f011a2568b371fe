/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/core/cr.h"
#include "impls/core/kernel.h"

#ifdef HAVE_AVX2
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
/* As many chains as 16 registers hold. */
enum { LANES = 4, VECTORS = 4, STREAMS = true };
#include "impls/core/vectors.h"

INLINE vector multiply_add(vector a, vector b, vector c) {
  return _mm256_fmadd_pd(a, b, c);
}

INLINE vector multiply_subtract(vector a, vector b, vector c) {
  return _mm256_fmsub_pd(a, b, c);
}

#include "impls/core/angle-vectors.h"

/* There is no product of 64 bits but the scalar one. */
INLINE words turns_at(const angle_table *angles, int64_t pair, int64_t position) {
  words turns;
  UNROLL
  for (int lane = 0; lane < LANES; lane++)
    turns[lane] = angle_at(angles->turn_high[pair + lane], angles->turn_low[pair + lane], position);
  return turns;
}

INLINE vector zip_low(vector a, vector b) {
  return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x20);
}

INLINE vector zip_high(vector a, vector b) {
  return _mm256_permute2f128_pd(_mm256_unpacklo_pd(a, b), _mm256_unpackhi_pd(a, b), 0x31);
}

/* The least of the words of 32 bits that must not be zero. */
typedef __m256i doubt;

INLINE doubt no_doubt(void) {
  return _mm256_set1_epi32(-1);
}

/* Only the low halves of two vectors are looked at, at once. */
INLINE doubt doubt_in(doubt least, vector a, vector b, uint64_t bits) {
  const __m256 low = _mm256_shuffle_ps(_mm256_castpd_ps(a), _mm256_castpd_ps(b), 0x88);
  return _mm256_min_epu32(least, _mm256_and_si256(_mm256_castps_si256(low), _mm256_set1_epi32((int)(uint32_t)bits)));
}

INLINE bool is_doubt(doubt least) {
  return _mm256_movemask_epi8(_mm256_cmpeq_epi32(least, _mm256_setzero_si256())) != 0;
}

INLINE void store_f32(bool streamed, float *place, __m128 x) {
  if (streamed)
    _mm_stream_ps(place, x);
  else
    _mm_storeu_ps(place, x);
}

INLINE void store_pair(posenc_dtype dtype, bool streamed, void *place, vector a, vector b) {
  const __m128 low = _mm256_cvtpd_ps(a), high = _mm256_cvtpd_ps(b);
  if (dtype == POSENC_F32) {
    store_f32(streamed, place, low);
    store_f32(streamed, (float *)place + LANES, high);
    return;
  }
  const __m256 x = _mm256_set_m128(high, low);
  const __m256i bf16 = _mm256_srli_epi32(_mm256_add_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(0x8000)), 16);
  const __m128i narrow = dtype == POSENC_F16
                             ? _mm256_cvtps_ph(x, 0)
                             : _mm_packus_epi32(_mm256_castsi256_si128(bf16), _mm256_extracti128_si256(bf16, 1));
  if (streamed)
    _mm_stream_si128(place, narrow);
  else
    _mm_storeu_si128(place, narrow);
}

#include "impls/core/cr-vectors.h"
#endif

const posenc_kernel posenc_kernel_cr_avx2 = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_AVX2,
    .name = "cr-avx2",
    .summary = "correctly rounded, with AVX2",
    .algorithm = "As cr-portable, 16 columns in registers, fused; large tables are stored past the caches.",
    .provenance = "as cr-portable; posenc, 2026",
    .bound = CR_BOUND,
    .basis = CR_BASIS,
    .reproducible = true,
    .can_do = cr_can_do,
    .prepare = cr_prepare,
    .release = cr_release,
#ifdef HAVE_AVX2
    .execute = execute,
    .stages = tell_stages,
#else
    .absent = "it was left out when posenc was built",
#endif
};
