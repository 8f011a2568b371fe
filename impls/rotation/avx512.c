/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/rotation/rotation.h"
#include "lib/api/kernel.h"
#include "lib/api/store.h"
#include "lib/exact/angle.h"
#include "lib/exact/round.h"

#ifdef HAVE_AVX512
#include "lib/simd/avx512.h"

/* VECTORS of eight pairs are computed together: enough independent chains to hide the latency of a rotation. Streaming
   stores are whole vectors at cache lines, in all layouts and dtypes, so they need no mask. */
enum { VECTORS = 4, TILE = LANES * VECTORS, PEELED_DIM = 256 };
_Static_assert(ANGLE_PADDING % TILE == 0, "tiles load whole vectors of constants");

typedef struct state {
  doubles sine[VECTORS], cosine[VECTORS];
} state;

INLINE void rotate(state *at, const state *step, int vectors) {
  UNROLL(8)
  for (int v = 0; v < vectors; v++) {
    const doubles sine = at->sine[v] * step->cosine[v] + at->cosine[v] * step->sine[v];
    at->cosine[v] = at->cosine[v] * step->cosine[v] - at->sine[v] * step->sine[v];
    at->sine[v] = sine;
  }
}

/* The place of a tile's vectors in the output. */
typedef struct target {
  char *out;                        /* the row `from`, at column 0 */
  int64_t row_bytes, first, second; /* columns of the first component and of the second */
  bool cosine_first, interleaved, streamed;
  posenc_dtype dtype;
} target;

INLINE void store_f32(float *first, float *second, doubles x, doubles y, bool interleaved, bool streamed, int pairs) {
  const half_floats a = __builtin_convertvector(x, half_floats), b = __builtin_convertvector(y, half_floats);
  if (interleaved) {
    const floats both = zip_floats(a, b);
    if (streamed)
      _mm512_stream_ps(first, both);
    else if (pairs == LANES)
      _mm512_storeu_ps(first, both);
    else
      _mm512_mask_storeu_ps(first, (__mmask16)((1u << 2 * pairs) - 1), both);
  } else if (streamed) {
    _mm256_stream_ps(first, a);
    _mm256_stream_ps(second, b);
  } else {
    const __mmask8 mask = (__mmask8)((1u << pairs) - 1);
    _mm256_mask_storeu_ps(first, mask, a);
    _mm256_mask_storeu_ps(second, mask, b);
  }
}

INLINE doubles within_one(doubles x) {
  return _mm512_max_pd(_mm512_min_pd(x, _mm512_set1_pd(1.0)), _mm512_set1_pd(-1.0));
}

INLINE void put_f64(double *place, doubles x, bool streamed, unsigned mask) {
  if (streamed)
    _mm512_stream_pd(place, x);
  else
    _mm512_mask_storeu_pd(place, (__mmask8)mask, x);
}

INLINE void store_f64(double *first, double *second, doubles a, doubles b, bool interleaved, bool streamed, int pairs) {
  a = within_one(a);
  b = within_one(b);
  if (interleaved) {
    const unsigned mask = (1u << 2 * pairs) - 1;
    put_f64(first, zip_low(a, b), streamed, mask);
    put_f64(first + LANES, zip_high(a, b), streamed, mask >> LANES);
  } else {
    const unsigned mask = (1u << pairs) - 1;
    put_f64(first, a, streamed, mask);
    put_f64(second, b, streamed, mask);
  }
}

INLINE void store_16(uint16_t *first, uint16_t *second, u64s a, u64s b, bool interleaved, bool streamed, int pairs) {
  const __mmask8 mask = (__mmask8)((1u << pairs) - 1);
  void *place = first, *other = second;
  if (interleaved) {
    const __m256i both = _mm512_cvtepi64_epi32((__m512i)(a | b << 16));
    if (streamed)
      _mm256_stream_si256((__m256i *)place, both);
    else
      _mm256_mask_storeu_epi32(place, mask, both);
  } else if (streamed) {
    _mm_stream_si128((__m128i *)place, _mm512_cvtepi64_epi16((__m512i)a));
    _mm_stream_si128((__m128i *)other, _mm512_cvtepi64_epi16((__m512i)b));
  } else {
    _mm_mask_storeu_epi16(place, mask, _mm512_cvtepi64_epi16((__m512i)a));
    _mm_mask_storeu_epi16(other, mask, _mm512_cvtepi64_epi16((__m512i)b));
  }
}

/* Stores at most eight pairs in the columns of a row. */
INLINE void store(const target *to, char *row, int64_t column, doubles a, doubles b, int pairs) {
  const int64_t first = to->first + column, second = to->second + column;
  void *out = row;
  switch (to->dtype) {
  case POSENC_F32:
    store_f32((float *)out + first, (float *)out + second, a, b, to->interleaved, to->streamed, pairs);
    break;
  case POSENC_F64:
    store_f64((double *)out + first, (double *)out + second, a, b, to->interleaved, to->streamed, pairs);
    break;
  case POSENC_F16:
    store_16((uint16_t *)out + first, (uint16_t *)out + second, round_to_16s(a, ROUND_F16_PRECISION, ROUND_F16_LEAST),
             round_to_16s(b, ROUND_F16_PRECISION, ROUND_F16_LEAST), to->interleaved, to->streamed, pairs);
    break;
  case POSENC_BF16:
    store_16((uint16_t *)out + first, (uint16_t *)out + second, round_to_16s(a, ROUND_BF16_PRECISION, ROUND_BF16_LEAST),
             round_to_16s(b, ROUND_BF16_PRECISION, ROUND_BF16_LEAST), to->interleaved, to->streamed, pairs);
    break;
  }
}

INLINE void store_row(const target *to, int64_t row, const state *at, int vectors, int last_pairs) {
  UNROLL(8)
  for (int v = 0; v < vectors; v++) {
    const doubles a = to->cosine_first ? at->cosine[v] : at->sine[v],
                  b = to->cosine_first ? at->sine[v] : at->cosine[v];
    const int pairs = v + 1 < vectors ? LANES : last_pairs;
    store(to, to->out + row * to->row_bytes, (to->interleaved ? 2 : 1) * v * LANES, a, b, pairs);
  }
}

/* Computes the states of `vectors` vectors of pairs at an anchor. A call takes no more time than a copy. */
TARGET static __attribute__((noinline)) void find_anchor(const angle_constants *angles, int64_t pair, int64_t position,
                                                         int vectors, state *at) {
  for (int v = 0; v < vectors; v++)
    sincos_of(turns_at(angles, pair + v * LANES, position), false, &at->sine[v], &at->cosine[v]);
}

/* Computes rows at.from .. at.to of `vectors` vectors of pairs. The last vector has `last_pairs` pairs. */
INLINE void tile(const angle_constants *angles, const target *to, int64_t pair, rotation_block at, int vectors,
                 int last_pairs) {
  state step, back, anchor, forward, backward;
  find_anchor(angles, pair, at.center, vectors, &anchor);
  UNROLL(8)
  for (int v = 0; v < vectors; v++) {
    step.sine[v] = load_doubles(angles->step_sin + pair + v * LANES);
    step.cosine[v] = load_doubles(angles->step_cos + pair + v * LANES);
    back.sine[v] = -step.sine[v];
    back.cosine[v] = step.cosine[v];
    forward.sine[v] = backward.sine[v] = anchor.sine[v];
    forward.cosine[v] = backward.cosine[v] = anchor.cosine[v];
  }
  for (int row = 0; row < at.to; row++) {
    if (row) rotate(&forward, &step, vectors);
    if (row >= at.from) store_row(to, row - at.from, &forward, vectors, last_pairs);
  }
  for (int row = -1; row >= at.from; row--) {
    rotate(&backward, &back, vectors);
    if (row < at.to) store_row(to, row - at.from, &backward, vectors, last_pairs);
  }
}

/* One variant per way to store, layout family and dtype, so that no branch is left in the loops. The first `peeled`
   pairs are not streamed. */
INLINE void execute_as(const angle_constants *angles, const posenc_problem *problem, int64_t row, int64_t rows,
                       char *out, posenc_dtype dtype, bool interleaved, bool streamed, int64_t peeled) {
  const int64_t pairs = problem->dim / 2;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  const bool cosine_first = columns.cos < columns.sin;
  const int64_t first = cosine_first ? columns.cos : columns.sin, second = cosine_first ? columns.sin : columns.cos;
  const int64_t row_bytes = (int64_t)kernel_row_bytes(problem);
  for (int64_t done = 0; done < rows;) {
    const rotation_block at = rotation_block_at(problem->first + row + done, rows - done);
    for (int64_t pair = 0; pair < pairs;) {
      const int64_t left = (pair < peeled ? peeled : pairs) - pair, column = (interleaved ? 2 : 1) * pair;
      target to = {.out = out + done * row_bytes,
                   .row_bytes = row_bytes,
                   .first = first + column,
                   .second = second + column,
                   .cosine_first = cosine_first,
                   .interleaved = interleaved,
                   .streamed = streamed,
                   .dtype = dtype};
      int64_t done_pairs = LANES;
      if (left >= TILE) {
        tile(angles, &to, pair, at, VECTORS, LANES);
        done_pairs = TILE;
      } else if (streamed && left >= LANES && pair >= peeled) {
        tile(angles, &to, pair, at, 1, LANES);
      } else {
        to.streamed = false;
        done_pairs = left < LANES ? left : LANES;
        tile(angles, &to, pair, at, 1, (int)done_pairs);
      }
      pair += done_pairs;
    }
    done += at.to - at.from;
  }
}

INLINE void execute_stored(const angle_constants *angles, const posenc_problem *problem, int64_t row, int64_t rows,
                           char *out, bool streamed, int64_t peeled) {
  const bool interleaved = problem->layout == POSENC_INTERLEAVED || problem->layout == POSENC_INTERLEAVED_CS;
  switch (problem->dtype) {
  case POSENC_F32:
    if (interleaved)
      execute_as(angles, problem, row, rows, out, POSENC_F32, true, streamed, peeled);
    else
      execute_as(angles, problem, row, rows, out, POSENC_F32, false, streamed, peeled);
    break;
  case POSENC_F64:
    execute_as(angles, problem, row, rows, out, POSENC_F64, interleaved, streamed, peeled);
    break;
  case POSENC_F16:
    execute_as(angles, problem, row, rows, out, POSENC_F16, interleaved, streamed, peeled);
    break;
  case POSENC_BF16:
    execute_as(angles, problem, row, rows, out, POSENC_BF16, interleaved, streamed, peeled);
    break;
  }
}

TARGET static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const angle_constants *angles = (const angle_constants *)constants;
  char *to = (char *)out;
  const int64_t columns = store_columns_to_line(problem, out),
                step = posenc_layout_columns(problem->layout, problem->dim).step;
  const bool aligned = columns == 0 || (columns > 0 && columns % step == 0 && problem->dim >= PEELED_DIM);
  if (aligned && store_streams(angles->stores, problem, rows, out)) {
    execute_stored(angles, problem, row, rows, to, true, columns / step);
    store_fence();
  } else {
    execute_stored(angles, problem, row, rows, to, false, 0);
  }
}
#endif

const posenc_kernel posenc_kernel_rotation_avx512 = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_AVX512,
    .name = "rotation-avx512",
    .summary = "rotation-portable with AVX-512 intrinsics: the same bits",
    .algorithm =
        "As rotation-portable, anchors included: 32 pairs are rotated from row to row in registers, unfused so that "
        "each operation is the portable kernel's; converted, zipped and stored as whole vectors, tails by mask; large "
        "tables past the caches.",
    .provenance = "posenc, 2026",
    ROTATION_CONTRACT,
#ifdef HAVE_AVX512
    ROTATION_FUNCTIONS(execute),
#else
    .absent = KERNEL_LEFT_OUT,
#endif
};
