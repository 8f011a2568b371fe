/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "lib/api/kernel.h"

#ifdef HAVE_AVX2
#include <immintrin.h>

#define TARGET __attribute__((target("avx2,fma,f16c")))
/* As many chains as 16 registers hold. */
enum { LANES = 4, VECTORS = 4, STREAMS = true };
#include "lib/simd/vectors.h"

INLINE vector multiply_add(vector a, vector b, vector c) {
  return _mm256_fmadd_pd(a, b, c);
}

INLINE vector multiply_subtract(vector a, vector b, vector c) {
  return _mm256_fmsub_pd(a, b, c);
}

#include "lib/simd/angle-vectors.h"

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

/* As in cr-avx512. */
typedef struct doubt {
  __m256i least, negative;
} doubt;

INLINE doubt no_doubt(void) {
  return (doubt){_mm256_set1_epi32(-1), _mm256_setzero_si256()};
}

INLINE bool is_doubt(posenc_dtype dtype, doubt any) {
  const __m256i zero = _mm256_setzero_si256();
  if (dtype == POSENC_F32) return _mm256_movemask_epi8(_mm256_cmpeq_epi32(any.least, zero)) != 0;
  const unsigned small = cr_least_f32(dtype) >> 16;
  const __m256i positive = _mm256_set1_epi32((int)(small << 16 | 1)),
                negative = _mm256_set1_epi32((int)((small | 0x8000) << 16 | 0x8000));
  const __m256i below =
      _mm256_or_si256(_mm256_subs_epu16(positive, any.least), _mm256_cmpgt_epi16(negative, any.negative));
  return !_mm256_testz_si256(below, below);
}

INLINE void store_f32(bool streamed, float *place, __m128 x) {
  if (streamed)
    _mm_stream_ps(place, x);
  else
    _mm_storeu_ps(place, x);
}

/* Only the low halves of two vectors are looked at, at once. */
INLINE doubt store_pair_f32(bool streamed, float *place, vector a, vector b, doubt any) {
  store_f32(streamed, place, _mm256_cvtpd_ps(a));
  store_f32(streamed, place + LANES, _mm256_cvtpd_ps(b));
  const __m256 low =
      _mm256_shuffle_ps(_mm256_castpd_ps(on_grid(a, CR_GRID)), _mm256_castpd_ps(on_grid(b, CR_GRID)), 0x88);
  const __m256i tested =
      _mm256_and_si256(_mm256_castps_si256(low), _mm256_set1_epi32((int)(uint32_t)cr_doubt_bits(POSENC_F32)));
  any.least = _mm256_min_epu32(any.least, tested);
  return any;
}

INLINE doubt store_pair(posenc_dtype dtype, bool streamed, void *place, vector a, vector b, doubt any) {
  if (dtype == POSENC_F32) return store_pair_f32(streamed, place, a, b, any);
  const __m256 x = _mm256_set_m128(_mm256_cvtpd_ps(b), _mm256_cvtpd_ps(a));
  const int middle = (int)cr_middle_in_f32(dtype);
  __m256i tested;
  __m128i narrow;
  if (dtype == POSENC_F16) {
    tested = _mm256_and_si256(_mm256_xor_si256(_mm256_castps_si256(x), _mm256_set1_epi32(middle)),
                              _mm256_set1_epi32(~(0xffff ^ (2 * middle - 1))));
    narrow = _mm256_cvtps_ph(x, 0);
  } else {
    tested = _mm256_add_epi32(_mm256_castps_si256(x), _mm256_set1_epi32(middle));
    const __m256i upper = _mm256_srli_epi32(tested, 16);
    narrow = _mm_packus_epi32(_mm256_castsi256_si128(upper), _mm256_extracti128_si256(upper, 1));
  }
  if (streamed)
    _mm_stream_si128(place, narrow);
  else
    _mm_storeu_si128(place, narrow);
  any.least = _mm256_min_epu16(any.least, tested);
  any.negative = _mm256_min_epi16(any.negative, tested);
  return any;
}

#include "impls/cr/template.h"
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
    .scales = true,
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
