/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/core/apply.h"
#include "impls/core/cr.h"
#include "impls/core/kernel.h"

#ifdef HAVE_AVX512
#include "impls/core/angle-avx512.h"

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

/* The least of the words of 32 bits that must not be zero: a minimum runs where the additions do not, a test into a mask does not. */
typedef __m512i doubt;

INLINE doubt no_doubt(void) {
  return _mm512_set1_epi32(-1);
}

/* Only the low halves of two vectors are looked at, at once. */
INLINE doubt doubt_in(doubt least, vector a, vector b, uint64_t bits) {
  const __m512 low = _mm512_shuffle_ps(_mm512_castpd_ps(a), _mm512_castpd_ps(b), 0x88);
  return _mm512_min_epu32(least, _mm512_and_si512(_mm512_castps_si512(low), _mm512_set1_epi32((int)(uint32_t)bits)));
}

INLINE bool is_doubt(doubt least) {
  return _mm512_testn_epi32_mask(least, least) != 0;
}

INLINE void store_f32(bool streamed, float *place, __m256 x) {
  if (streamed)
    _mm256_stream_ps(place, x);
  else
    _mm256_storeu_ps(place, x);
}

INLINE void store_pair(posenc_dtype dtype, bool streamed, void *place, vector a, vector b) {
  const __m256 low = _mm512_cvtpd_ps(a), high = _mm512_cvtpd_ps(b);
  if (dtype == POSENC_F32) {
    store_f32(streamed, place, low);
    store_f32(streamed, (float *)place + LANES, high);
    return;
  }
  const __m512 x = _mm512_insertf32x8(_mm512_castps256_ps512(low), high, 1);
  const __m512i bf16 = _mm512_srli_epi32(_mm512_add_epi32(_mm512_castps_si512(x), _mm512_set1_epi32(0x8000)), 16);
  const __m256i narrow = dtype == POSENC_F16 ? _mm512_cvtps_ph(x, 0) : _mm512_cvtepi32_epi16(bf16);
  if (streamed)
    _mm256_stream_si256(place, narrow);
  else
    _mm256_storeu_si256(place, narrow);
}

#include "impls/core/cr-vectors.h"

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
