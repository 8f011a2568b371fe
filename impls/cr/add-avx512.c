/* SPDX-License-Identifier: MIT */
/*
 * Adds correctly rounded values to x without making a table. The program only reads x and writes x + PE, so memory
 * bandwidth limits it, and memory is fastest for one row after the other. Therefore the rotations of all columns run at
 * the same time, and their state stays in the L1 cache from row to row.
 *
 * The rotations start from an exact anchor every 64 rows. After n rotations they are within 4 + 6.5 n units of 2^-53
 * (rotation.h), so within 414 units < CR_ERROR = 512. Uncertain elements are recomputed, as in cr.h.
 */
#include "config.h"

#ifdef HAVE_AVX512
#include "impls/cr/cr.h"
#include "lib/api/store.h"
#include "lib/apply/apply.h"
#include "lib/simd/avx512.h"

/* The pairs whose rotations and steps fill a third of an L1 cache. Longer rows are added in several passes. */
enum { CHUNK = 512 };

/* The rows from one anchor to the next. */
enum { BLOCK = 64 };
_Static_assert(2 * 4 + 13 * (BLOCK - 1) < CR_MOST, "CR_ERROR is above what rotations add up to");

/* Eight pairs. Their four vectors are adjacent, because in four separate arrays, each a page long, they would conflict
   in the cache. */
typedef struct rotation {
  doubles sine, cosine, step_sin, step_cos;
} rotation;

/* Compile-time parameters, which leave no branch in the loops. */
typedef struct add_variant {
  posenc_dtype dtype;
  bool interleaved, cosine_first;
  bool streamed; /* all vectors of the result are whole and lie at cache lines */
} add_variant;

INLINE int64_t bytes_of(add_variant as) {
  return as.dtype == POSENC_F32 ? 4 : 2;
}

/* ---- sixteen elements, or those of the mask -------------------------------------------------------- */

enum { ALL = 0xffff };

INLINE floats load_x(add_variant as, const char *from, __mmask16 mask) {
  if (as.dtype == POSENC_F32) return mask == ALL ? _mm512_loadu_ps(from) : _mm512_maskz_loadu_ps(mask, from);
  const __m256i upper =
      mask == ALL ? _mm256_loadu_si256((const __m256i *)(const void *)from) : _mm256_maskz_loadu_epi16(mask, from);
  return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(upper), 16));
}

INLINE void store_x(add_variant as, char *to, __mmask16 mask, floats x) {
  const u16s bf16 = upper_halves(round_to_bf16(x));
  if (as.dtype == POSENC_F32) {
    if (as.streamed)
      _mm512_stream_ps((float *)(void *)to, x);
    else if (mask == ALL)
      _mm512_storeu_ps(to, x);
    else
      _mm512_mask_storeu_ps(to, mask, x);
  } else if (mask == ALL) {
    store_u16s(to, bf16);
  } else {
    _mm256_mask_storeu_epi16(to, mask, (__m256i)bf16);
  }
}

/* ---- rows ------------------------------------------------------------------------------------------ */

/* A row of x and the row of the result. */
typedef struct destination {
  const char *x;
  char *out;
  int64_t row_bytes;
  int64_t ahead; /* bytes from here to the elements of x to prefetch */
} destination;

INLINE destination row_of(destination here, int64_t row) {
  here.x += row * here.row_bytes;
  here.out += row * here.row_bytes;
  return here;
}

/* Adds at this byte of the row, and prefetches x `ahead` bytes farther on. */
INLINE void add_at(add_variant as, destination here, int64_t byte, __mmask16 mask, floats pe) {
  _mm_prefetch((const char *)((uintptr_t)here.x + (uintptr_t)(byte + here.ahead)), _MM_HINT_T1);
  store_x(as, here.out + byte, mask, _mm512_add_ps(load_x(as, here.x + byte, mask), pe));
}

/* Adds `pairs` pairs. The columns of the first component start at byte `first`, those of the second at `second`;
   interleaved columns alternate from `first` on. */
INLINE void add_pairs(add_variant as, destination here, int64_t first, int64_t second, int pairs, doubles sine,
                      doubles cosine) {
  const half_floats a = __builtin_convertvector(as.cosine_first ? cosine : sine, half_floats),
                    b = __builtin_convertvector(as.cosine_first ? sine : cosine, half_floats);
  if (as.interleaved) {
    add_at(as, here, first, (__mmask16)((1u << 2 * pairs) - 1), zip_floats(a, b));
  } else {
    add_at(as, here, first, (__mmask16)((1u << pairs) - 1), _mm512_castps256_ps512(a));
    add_at(as, here, second, (__mmask16)((1u << pairs) - 1), _mm512_castps256_ps512(b));
  }
}

/* ---- rotations ------------------------------------------------------------------------------------- */

/* The pairs of a chunk, and the bytes of a row at which their columns start. */
typedef struct column_span {
  const cr_constants *cr;
  int64_t pair, count, first, second;
} column_span;

INLINE void start_rotations(column_span of, int64_t position, rotation *at) {
  for (int64_t i = 0; i < of.count; i += LANES, at++) {
    const angle_constants *angles = of.cr->angles;
    sincos_of(turns_at(angles, of.pair + i, position), true, &at->sine, &at->cosine);
    at->step_sin = load_aligned(angles->step_sin + of.pair + i);
    at->step_cos = load_aligned(angles->step_cos + of.pair + i);
  }
}

/* Whether any element of the vectors is uncertain; tests the low words of both vectors at once. */
INLINE bool are_uncertain(doubles sine, doubles cosine) {
  const u32s low = low_words(on_grid(sine, CR_GRID), on_grid(cosine, CR_GRID));
  const int bits = (int)(uint32_t)cr_midpoint_bits(POSENC_F32);
  return _mm512_testn_epi32_mask((__m512i)low, _mm512_set1_epi32(bits)) != 0;
}

/* Recomputes the uncertain elements of a vector of sines and a vector of cosines. */
TARGET static __attribute__((noinline)) void recompute_uncertain(column_span of, int64_t i, int64_t position,
                                                                 doubles *both) {
  const uint64_t bits = cr_midpoint_bits(POSENC_F32);
  for (int lane = 0; lane < LANES && i + lane < of.count; lane++)
    for (int cosine = 0; cosine < 2; cosine++)
      if (cr_is_uncertain(both[cosine][lane], bits))
        both[cosine][lane] = cr_value(of.cr, POSENC_F32, position, of.pair + i + lane, cosine);
}

/* Adds at most eight pairs of a row, and rotates them to the next row. */
INLINE void add_vector(add_variant as, destination here, column_span of, int64_t i, int pairs, int64_t position,
                       bool exact, rotation *at) {
  doubles sine = at->sine, cosine = at->cosine;
  at->sine = multiply_add(cosine, at->step_sin, sine * at->step_cos);
  at->cosine = multiply_subtract(cosine, at->step_cos, sine * at->step_sin);
  if (!exact && __builtin_expect(are_uncertain(sine, cosine), 0)) {
    doubles both[2] = {sine, cosine}; /* a copy, so that certain values stay in registers */
    recompute_uncertain(of, i, position, both);
    sine = both[0];
    cosine = both[1];
  }
  const int64_t bytes = (as.interleaved ? 2 : 1) * i * bytes_of(as);
  add_pairs(as, here, of.first + bytes, of.second + bytes, pairs, sine, cosine);
}

INLINE void add_row(add_variant as, destination here, column_span of, int64_t position, bool exact, rotation *at) {
  int64_t i = 0;
  for (; i + LANES <= of.count; i += LANES, at++) add_vector(as, here, of, i, LANES, position, exact, at);
  if (i < of.count) add_vector(as, here, of, i, (int)(of.count - i), position, exact, at);
}

/* ---- blocks, slices -------------------------------------------------------------------------------- */

/* Adds the rows of a block. Position 0 is added without the rounding test: its values are exact, but the test would
   flag all of them. */
INLINE void add_rows(add_variant as, destination here, column_span of, int64_t position, int64_t rows) {
  rotation at[CHUNK / LANES];
  start_rotations(of, position, at);
  for (int64_t r = 0; r < rows; r++, here = row_of(here, 1))
    if (position + r == 0)
      add_row(as, here, of, 0, true, at);
    else
      add_row(as, here, of, position + r, false, at);
}

/* Returns the number of rows from an anchor to the next one. Position 0 is always an anchor. */
INLINE int64_t block_at(int64_t position, int64_t rows) {
  const int64_t most = position < 0 && position > -BLOCK ? -position : BLOCK;
  return rows < most ? rows : most;
}

INLINE void add_block(add_variant as, const cr_constants *cr, const posenc_problem *problem, int64_t position,
                      int64_t rows, destination here) {
  const int64_t pairs = problem->dim / 2, half_bytes = pairs * bytes_of(as);
  for (int64_t pair = 0; pair < pairs; pair += CHUNK) {
    const int64_t count = pairs - pair < CHUNK ? pairs - pair : CHUNK;
    const int64_t first = (as.interleaved ? 2 : 1) * pair * bytes_of(as), second = first + half_bytes;
    add_rows(as, here, (column_span){cr, pair, count, first, second}, position, rows);
  }
}

INLINE void add_as(add_variant as, const cr_constants *cr, const posenc_problem *problem, const posenc_slice *slice,
                   const char *x, char *out) {
  enum { AHEAD = 12288 };
  const int64_t row_bytes = problem->dim * bytes_of(as),
                ahead = row_bytes < AHEAD ? AHEAD / row_bytes * row_bytes : row_bytes;
  for (int64_t sequence = 0; sequence < slice->batch; sequence++) {
    const int64_t at = sequence * slice->stride * bytes_of(as);
    destination here = {x + at, out + at, row_bytes, ahead};
    for (int64_t r = 0, rows; r < slice->rows; r += rows, here = row_of(here, rows)) {
      const int64_t position = problem->first + (slice->index ? slice->index[r] : slice->row + r);
      rows = block_at(position, slice->index ? 1 : slice->rows - r);
      add_block(as, cr, problem, position, rows, here);
    }
  }
}

/* Whether all vectors of all rows are whole and lie at cache lines. */
static bool are_whole(const posenc_problem *problem, const posenc_slice *slice, const void *out) {
  return problem->dtype == POSENC_F32 && problem->dim % (2 * LANES) == 0 && slice->stride % (2 * LANES) == 0 &&
         (uintptr_t)out % STORE_LINE == 0;
}

TARGET void add_avx512(const void *constants, const posenc_problem *problem, const posenc_slice *slice, bool streamed,
                       const void *x, void *out) {
  const cr_constants *cr = (const cr_constants *)constants;
  const char *from = (const char *)x;
  char *to = (char *)out;
  const bool interleaved = problem->layout == POSENC_INTERLEAVED || problem->layout == POSENC_INTERLEAVED_CS,
             cosine_first = problem->layout == POSENC_INTERLEAVED_CS || problem->layout == POSENC_SPLIT_CS;
  if (interleaved && streamed && are_whole(problem, slice, out)) {
    add_as((add_variant){POSENC_F32, true, cosine_first, true}, cr, problem, slice, from, to);
    store_fence();
  } else if (problem->dtype == POSENC_F32 && interleaved) {
    add_as((add_variant){POSENC_F32, true, cosine_first, false}, cr, problem, slice, from, to);
  } else if (problem->dtype == POSENC_F32) {
    add_as((add_variant){POSENC_F32, false, cosine_first, false}, cr, problem, slice, from, to);
  } else if (interleaved) {
    add_as((add_variant){POSENC_BF16, true, cosine_first, false}, cr, problem, slice, from, to);
  } else {
    add_as((add_variant){POSENC_BF16, false, cosine_first, false}, cr, problem, slice, from, to);
  }
}
#else
typedef int add_avx512_absent; /* C requires a declaration in a file */
#endif
