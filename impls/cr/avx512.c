/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/cr/cr.h"
#include "lib/api/kernel.h"
#include "lib/apply/apply.h"

#ifdef HAVE_AVX512
#include "lib/simd/angle-avx512.h"

/* Enough chains to hide the latency of a step. */
enum { VECTORS = 8, STREAMS = true };

INLINE vector multiply_subtract(vector a, vector b, vector c) {
  return _mm512_fmsub_pd(a, b, c);
}

INLINE vector zip_low(vector a, vector b) {
  return _mm512_permutex2var_pd(a, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), b);
}

INLINE vector zip_high(vector a, vector b) {
  return _mm512_permutex2var_pd(a, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), b);
}

/* Of f32 the least of the words of 32 bits that must not be zero: a minimum runs where the additions do not, a test into a mask does not.
   Of 16 bits the least words of 16 bits of the numbers, without and with a sign. */
typedef struct doubt {
  __m512i least, negative;
} doubt;

INLINE doubt no_doubt(void) {
  return (doubt){_mm512_set1_epi32(-1), _mm512_setzero_si512()};
}

/* The upper half of an f32 says whether it is too small; positive ones are the least without a sign, negative ones with it. */
INLINE bool is_doubt(posenc_dtype dtype, doubt any) {
  if (dtype == POSENC_F32) return _mm512_testn_epi32_mask(any.least, any.least) != 0;
  const unsigned small = cr_least_f32(dtype) >> 16;
  const __m512i positive = _mm512_set1_epi32((int)(small << 16 | 1)),
                negative = _mm512_set1_epi32((int)((small | 0x8000) << 16 | 0x8000));
  return (_mm512_cmplt_epu16_mask(any.least, positive) | _mm512_cmplt_epi16_mask(any.negative, negative)) != 0;
}

INLINE void store_f32(bool streamed, float *place, __m256 x) {
  if (streamed)
    _mm256_stream_ps(place, x);
  else
    _mm256_storeu_ps(place, x);
}

/* Only the low halves of two vectors are looked at, at once. */
INLINE doubt store_pair_f32(bool streamed, float *place, vector a, vector b, doubt any) {
  store_f32(streamed, place, _mm512_cvtpd_ps(a));
  store_f32(streamed, place + LANES, _mm512_cvtpd_ps(b));
  const __m512 low =
      _mm512_shuffle_ps(_mm512_castpd_ps(on_grid(a, CR_GRID)), _mm512_castpd_ps(on_grid(b, CR_GRID)), 0x88);
  const __m512i tested =
      _mm512_and_si512(_mm512_castps_si512(low), _mm512_set1_epi32((int)(uint32_t)cr_doubt_bits(POSENC_F32)));
  any.least = _mm512_min_epu32(any.least, tested);
  return any;
}

INLINE doubt store_pair(posenc_dtype dtype, bool streamed, void *place, vector a, vector b, doubt any) {
  if (dtype == POSENC_F32) return store_pair_f32(streamed, place, a, b, any);
  const __m512 x = _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(a)), _mm512_cvtpd_ps(b), 1);
  const int middle = (int)cr_middle_in_f32(dtype);
  __m512i tested; /* its lower half is zero in a middle, its upper one is that of x or nearly so */
  __m256i narrow;
  if (dtype == POSENC_F16) {
    tested = _mm512_ternarylogic_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(middle),
                                       _mm512_set1_epi32(~(0xffff ^ (2 * middle - 1))), 0x28); /* (x ^ middle) & … */
    narrow = _mm512_cvtps_ph(x, 0);
  } else {
    const __m512i upper =
        _mm512_set_epi64(0, 0, 0, 0, 0x1f001d001b0019, 0x17001500130011, 0x0f000d000b0009, 0x07000500030001);
    tested = _mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(middle));
    narrow = _mm512_castsi512_si256(_mm512_permutexvar_epi16(upper, tested));
  }
  if (streamed)
    _mm256_stream_si256(place, narrow);
  else
    _mm256_storeu_si256(place, narrow);
  any.least = _mm512_min_epu16(any.least, tested);
  any.negative = _mm512_min_epi16(any.negative, tested);
  return any;
}

#include "impls/cr/template.h"

/* Add without rows on the way; else by rows. */
static posenc_status apply_fused(const void *table, const posenc_problem *problem, const posenc_slice *slice,
                                 const void *x, void *out) {
  static const posenc_kernel rows = {.execute = execute};
  const apply_source source = {.kernel = &rows, .constants = table, .loops = &apply_loops_avx512};
  if (problem->op != POSENC_ADD || problem->padding != POSENC_NO_PADDING)
    return apply_rows(&source, problem, slice, x, out);
  add_avx512(table, problem, slice, x, out);
  return POSENC_OK;
}
#endif

const posenc_kernel posenc_kernel_cr_avx512 = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_AVX512,
    .name = "cr-avx512",
    .summary = "correctly rounded, with AVX-512: the fastest where it runs",
    .algorithm = "As cr-portable, 64 columns in registers, fused; large tables are stored past the caches.",
    .provenance = "as cr-portable; posenc, 2026",
    .bound = CR_BOUND,
    .basis = CR_BASIS,
    .reproducible = true,
    .scales = true,
    .can_do = cr_can_do,
    .prepare = cr_prepare,
    .release = cr_release,
#ifdef HAVE_AVX512
    .execute = execute,
    .apply = apply_fused,
    .stages = tell_stages,
#else
    .absent = "it was left out when posenc was built",
#endif
};
