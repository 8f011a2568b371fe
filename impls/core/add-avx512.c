/* SPDX-License-Identifier: MIT */
/*
 * x + PE with the rotations of the avx512 kernel, without a table: x is read and written once, and nothing else is. So memory decides, and it
 * likes one row after the other: the rotations of all columns are under way at once, and lie in the first cache from row to row.
 */
#include "config.h"

#ifdef HAVE_AVX512
#include "impls/core/angle-avx512.h"
#include "impls/core/apply.h"
#include "impls/core/rotation.h"

/* Pairs whose rotations, both ways, and steps take half of a first cache. A longer row is added in several passes. */
enum { CHUNK = 512 };

typedef struct rotations {
  _Alignas(64) double sine[CHUNK], cosine[CHUNK];
} rotations;

/* What does not change in the loops must not be asked there: known where they are compiled. */
typedef struct form {
  posenc_dtype dtype;
  bool interleaved, cosine_first;
} form;

INLINE int64_t bytes_of(form as) {
  return as.dtype == POSENC_F32 ? 4 : 2;
}

/* ---- sixteen elements, or as many as the mask says ------------------------------------------------- */

enum { ALL = 0xffff };

INLINE __m512 load_x(form as, const char *from, __mmask16 mask) {
  if (as.dtype == POSENC_F32) return mask == ALL ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(mask, from);
  const __m256i upper = mask == ALL ? _mm256_loadu_si256((const void *)from) : _mm256_maskz_loadu_epi16(mask, from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16));
}

/* As `store` of apply-vectors.h. */
INLINE __m256i to_bf16(__m512 x) {
  const __m512i bits = _mm512_castps_si512(x), upper = _mm512_srli_epi32(bits, 16);
  const __m512i even = _mm512_and_si512(upper, _mm512_set1_epi32(1));
  const __m512i half = _mm512_add_epi32(even, _mm512_set1_epi32(0x7fff));
  const __m512i rounded = _mm512_srli_epi32(_mm512_add_epi32(bits, half), 16);
  const __mmask16 nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_mask_or_epi32(rounded, nan, upper, _mm512_set1_epi32(0x40)));
}

INLINE void store_x(form as, char *to, __mmask16 mask, __m512 x) {
  if (as.dtype == POSENC_F32) {
    if (mask == ALL)
      _mm512_storeu_ps(to, x);
    else
      _mm512_mask_storeu_ps(to, mask, x);
  } else if (mask == ALL) {
    _mm256_storeu_si256((void *)to, to_bf16(x));
  } else {
    _mm256_mask_storeu_epi16(to, mask, to_bf16(x));
  }
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* A row of x and of the result. */
typedef struct target {
  const char *x;
  char *out;
  int64_t row_bytes; /* to the next; negative on the way back */
} target;

INLINE target row_of(target here, int64_t row) {
  here.x += row * here.row_bytes;
  here.out += row * here.row_bytes;
  return here;
}

/* Adds at some byte of the row, and has the same of the next row come nearer. */
INLINE void add_at(form as, target here, int64_t byte, __mmask16 mask, __m512 pe) {
  _mm_prefetch(here.x + byte + here.row_bytes, _MM_HINT_T1);
  store_x(as, here.out + byte, mask, _mm512_add_ps(load_x(as, here.x + byte, mask), pe));
}

/* Columns of the first component start at `first` and of the second at `second`, unless they alternate. */
INLINE void add_pairs(form as, target here, int64_t first, int64_t second, int pairs, __m512d sine, __m512d cosine) {
  const __m512 a = _mm512_castps256_ps512(_mm512_cvtpd_ps(as.cosine_first ? cosine : sine)),
               b = _mm512_castps256_ps512(_mm512_cvtpd_ps(as.cosine_first ? sine : cosine));
  if (as.interleaved) {
    const __m512i zip = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    add_at(as, here, first, (__mmask16)((1u << 2 * pairs) - 1), _mm512_permutex2var_ps(a, zip, b));
  } else {
    add_at(as, here, first, (__mmask16)((1u << pairs) - 1), a);
    add_at(as, here, second, (__mmask16)((1u << pairs) - 1), b);
  }
}

INLINE void rotate(__m512d *sine, __m512d *cosine, __m512d step_sin, __m512d step_cos) {
  const __m512d next = _mm512_add_pd(_mm512_mul_pd(*sine, step_cos), _mm512_mul_pd(*cosine, step_sin));
  *cosine = _mm512_sub_pd(_mm512_mul_pd(*cosine, step_cos), _mm512_mul_pd(*sine, step_sin));
  *sine = next;
}

/* Some frequencies, and the bytes where their columns are. */
typedef struct strip {
  const double *step_sin, *step_cos;
  int64_t count, first, second;
} strip;

/* Eight pairs or fewer of a row, which leaves their rotations at the next. */
INLINE void add_vector(form as, target here, strip of, int64_t i, int pairs, rotations *at, __m512d sign) {
  __m512d sine = _mm512_load_pd(at->sine + i), cosine = _mm512_load_pd(at->cosine + i);
  const int64_t bytes = (as.interleaved ? 2 : 1) * i * bytes_of(as);
  add_pairs(as, here, of.first + bytes, of.second + bytes, pairs, sine, cosine);
  rotate(&sine, &cosine, _mm512_xor_pd(_mm512_load_pd(of.step_sin + i), sign), _mm512_load_pd(of.step_cos + i));
  _mm512_store_pd(at->sine + i, sine);
  _mm512_store_pd(at->cosine + i, cosine);
}

INLINE void add_rows(form as, target here, strip of, int rows, bool back, rotations *at) {
  const __m512d sign = _mm512_set1_pd(back ? -0.0 : 0.0);
  if (back) here.row_bytes = -here.row_bytes;
  for (; rows > 0; rows--) {
    int64_t i = 0;
    for (; i + LANES <= of.count; i += LANES) add_vector(as, here, of, i, LANES, at, sign);
    if (i < of.count) add_vector(as, here, of, i, (int)(of.count - i), at, sign);
    here = row_of(here, 1);
  }
}

/* The rotations at the first row of the block that is not before its center, and at the last that is. */
INLINE void start(const angle_table *angles, int64_t pair, strip of, rotation_block block, rotations *on,
                  rotations *back) {
  for (int64_t i = 0; i < of.count; i += LANES) {
    const __m512d step_cos = _mm512_load_pd(of.step_cos + i), step_sin = _mm512_load_pd(of.step_sin + i),
                  step_back = _mm512_xor_pd(step_sin, _mm512_set1_pd(-0.0));
    __m512d sine, cosine;
    sincos_of(turns_at(angles, pair + i, block.center), false, &sine, &cosine);
    __m512d sine_back = sine, cosine_back = cosine;
    for (int n = 0; n < block.from; n++) rotate(&sine, &cosine, step_sin, step_cos);
    for (int n = 0; n >= block.to || n == 0; n--) rotate(&sine_back, &cosine_back, step_back, step_cos);
    _mm512_store_pd(on->sine + i, sine);
    _mm512_store_pd(on->cosine + i, cosine);
    _mm512_store_pd(back->sine + i, sine_back);
    _mm512_store_pd(back->cosine + i, cosine_back);
  }
}

/* The rows of a block; `here` is the one at block.from. As in the kernel, they are reached from the center both ways. */
INLINE void add_block(form as, const angle_table *angles, const posenc_problem *problem, rotation_block block,
                      target here) {
  const int64_t pairs = problem->dim / 2;
  const int from = block.from > 0 ? block.from : 0, until = block.to < 0 ? block.to : 0;
  for (int64_t pair = 0; pair < pairs; pair += CHUNK) {
    const int64_t first = (as.interleaved ? 2 : 1) * pair * bytes_of(as), second = first + pairs * bytes_of(as);
    const strip of = {angles->step_sin + pair, angles->step_cos + pair, pairs - pair < CHUNK ? pairs - pair : CHUNK,
                      first, second};
    rotations on, back;
    start(angles, pair, of, block, &on, &back);
    add_rows(as, row_of(here, from - block.from), of, block.to - from, false, &on);
    add_rows(as, row_of(here, until - 1 - block.from), of, until - block.from, true, &back);
  }
}

INLINE void add_as(form as, const angle_table *angles, const posenc_problem *problem, const posenc_slice *slice,
                   const char *x, char *out) {
  for (int64_t sequence = 0; sequence < slice->batch; sequence++) {
    const int64_t start_at = sequence * slice->stride * bytes_of(as);
    target here = {x + start_at, out + start_at, problem->dim * bytes_of(as)};
    for (int64_t r = 0, rows; r < slice->rows; r += rows) {
      const int64_t row = slice->index ? slice->index[r] : slice->row + r;
      const rotation_block block = rotation_block_at(problem->first + row, slice->index ? 1 : slice->rows - r);
      rows = block.to - block.from;
      add_block(as, angles, problem, block, here);
      here = row_of(here, rows);
    }
  }
}

TARGET void add_avx512(const void *angles, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                       void *out) {
  const bool interleaved = problem->layout == POSENC_INTERLEAVED || problem->layout == POSENC_INTERLEAVED_CS,
             cosine_first = problem->layout == POSENC_INTERLEAVED_CS || problem->layout == POSENC_SPLIT_CS;
  if (problem->dtype == POSENC_F32 && interleaved)
    add_as((form){POSENC_F32, true, cosine_first}, angles, problem, slice, x, out);
  else if (problem->dtype == POSENC_F32)
    add_as((form){POSENC_F32, false, cosine_first}, angles, problem, slice, x, out);
  else if (interleaved)
    add_as((form){POSENC_BF16, true, cosine_first}, angles, problem, slice, x, out);
  else
    add_as((form){POSENC_BF16, false, cosine_first}, angles, problem, slice, x, out);
}
#else
typedef int add_avx512_absent; /* a file has to hold something */
#endif
