/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/core/cr.h"
#include "impls/core/kernel.h"

#ifdef HAVE_AVX512
#include "impls/core/angle-avx512.h"
#include "impls/core/store.h"

/* Vectors of eight columns that walk down the rows together: two for each vector of pairs, enough chains to hide the latency of
   a step. */
enum { LANES = 8, PAIR_VECTORS = 4, TILE = LANES * PAIR_VECTORS, VECTORS = 2 * PAIR_VECTORS };
_Static_assert(ANGLE_PADDING % TILE == 0, "tiles load whole vectors of constants");

/* Sines and cosines of some pairs at an anchor: found together, since each takes long but many can be under way. */
enum { ANCHORS = 256 };
typedef struct anchors {
  _Alignas(64) double sine[ANCHORS], cosine[ANCHORS];
} anchors;

/* Rows in which something is in doubt, and a bit for each column of the tile that is. */
typedef struct doubts {
  int count;
  struct {
    int row;
    uint64_t lanes;
  } at[32];
} doubts;

/* Given by value, so that no store can be thought to change it. */
typedef struct target {
  const cr_table *table;
  const posenc_problem *problem;
  char *out;         /* row `from` of the block */
  int64_t row_bytes; /* from one row to the next */
  int64_t pair;      /* the first of the tile, */
  int pairs;         /* and how many: TILE, or fewer in one vector of them */
  int64_t half;      /* of the columns */
  bool cosine_first;
} target;

/* What does not change in the loops must not be asked there: known where a tile is compiled. */
typedef struct form {
  int vectors; /* of pairs */
  posenc_dtype dtype;
  bool interleaved, streamed;
} form;

/* Two vectors, one of sines and one of cosines or the other way round, as their columns lie in the table. */
INLINE void lay(form as, __m512d first, __m512d second, __m512d *x, int v) {
  if (as.interleaved) {
    x[2 * v] = _mm512_permutex2var_pd(first, _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), second);
    x[2 * v + 1] = _mm512_permutex2var_pd(first, _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15), second);
  } else {
    x[v] = first;
    x[as.vectors + v] = second;
  }
}

/* Column of the first lane of a vector. */
INLINE int64_t column_of(form as, target to, int vector) {
  if (as.interleaved) return 2 * to.pair + vector * LANES;
  return to.pair + (vector < as.vectors ? vector * LANES : to.half + (vector - as.vectors) * LANES);
}

/* Lanes of a vector that are columns. */
INLINE __mmask8 lanes_of(form as, target to, int vector) {
  if (as.vectors > 1) return 0xff;
  if (!as.interleaved) return (__mmask8)((1u << to.pairs) - 1);
  return (__mmask8)(((1u << 2 * to.pairs) - 1) >> (vector * LANES));
}

/* The row of the anchor, and the one before it. */
INLINE void start(form as, target to, const anchors *at, __m512d *k, __m512d *now, __m512d *before) {
  const angle_table *angles = to.table->angles;
  UNROLL
  for (int v = 0; v < as.vectors; v++) {
    const int64_t pair = to.pair + v * LANES;
    const __m512d sine = _mm512_load_pd(at->sine + pair % ANCHORS),
                  cosine = _mm512_load_pd(at->cosine + pair % ANCHORS);
    const __m512d step_sin = _mm512_load_pd(angles->step_sin + pair),
                  step_cos = _mm512_load_pd(angles->step_cos + pair);
    const __m512d sine_before = _mm512_fmsub_pd(sine, step_cos, _mm512_mul_pd(cosine, step_sin)),
                  cosine_before = _mm512_fmadd_pd(cosine, step_cos, _mm512_mul_pd(sine, step_sin));
    const __m512d twice = _mm512_load_pd(to.table->twice_cosine + pair);
    lay(as, twice, twice, k, v);
    lay(as, to.cosine_first ? cosine : sine, to.cosine_first ? sine : cosine, now, v);
    lay(as, to.cosine_first ? cosine_before : sine_before, to.cosine_first ? sine_before : cosine_before, before, v);
  }
}

/* x(n+1) in the place of x(n-1). */
INLINE void advance(form as, __m512d *before, const __m512d *now, const __m512d *k) {
  UNROLL
  for (int v = 0; v < 2 * as.vectors; v++) before[v] = _mm512_fmsub_pd(k[v], now[v], before[v]);
}

INLINE __m512d on_grid(__m512d x) {
  const __m512d grid = _mm512_set1_pd(CR_GRID);
  return _mm512_sub_pd(_mm512_add_pd(x, grid), grid);
}

/* Is any lane of the two in doubt? Only their low halves are looked at, so there may be a false alarm in the narrow formats. */
INLINE __mmask16 in_doubt(form as, __m512d a, __m512d b) {
  const __m512 low = _mm512_shuffle_ps(_mm512_castpd_ps(on_grid(a)), _mm512_castpd_ps(on_grid(b)), 0x88);
  return _mm512_testn_epi32_mask(_mm512_castps_si512(low), _mm512_set1_epi32((int)(uint32_t)cr_doubt_bits(as.dtype)));
}

INLINE __mmask8 lanes_in_doubt(form as, __m512d x) {
  return _mm512_testn_epi64_mask(_mm512_castpd_si512(on_grid(x)), _mm512_set1_epi64((int64_t)cr_doubt_bits(as.dtype)));
}

/* Of the pairs [pair, to), at most ANCHORS of them and the first a multiple of that. */
INLINE void find_anchors(const angle_table *angles, int64_t pair, int64_t to, int64_t position, anchors *at) {
  for (; pair < to; pair += LANES) {
    __m512d sine, cosine;
    sincos_of(turns_at(angles, pair, position), true, &sine, &cosine);
    _mm512_store_pd(at->sine + pair % ANCHORS, sine);
    _mm512_store_pd(at->cosine + pair % ANCHORS, cosine);
  }
}

/*
 * The 16-bit format of numbers that are not in doubt. Cut to f32, with the last bit set: no number that is cut so is in the
 * middle between two of the format, and none has passed one, since that has its last bits zero. So the second rounding, to
 * nearest, gives what one rounding would.
 */
INLINE __m128i narrow_16(posenc_dtype dtype, __m512d x) {
  const __m256i cut = _mm256_castps_si256(_mm512_cvt_roundpd_ps(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC));
  const __m256i odd = _mm256_or_si256(cut, _mm256_set1_epi32(1));
  if (dtype == POSENC_F16) return _mm256_mask_cvt_roundps_ph(_mm_setzero_si128(), 0xff, _mm256_castsi256_ps(odd), 0);
  return _mm256_cvtepi32_epi16(_mm256_srli_epi32(_mm256_add_epi32(odd, _mm256_set1_epi32(0x8000)), 16));
}

/* Eight columns, or those of them that are in the table. */
INLINE void store_vector(form as, char *row, int64_t column, __m512d x, __mmask8 lanes) {
  if (as.dtype == POSENC_F32) {
    float *place = (float *)(void *)row + column;
    const __m256 narrow = _mm512_cvtpd_ps(x);
    if (as.streamed)
      _mm256_stream_ps(place, narrow);
    else if (as.vectors > 1)
      _mm256_storeu_ps(place, narrow);
    else
      _mm256_mask_storeu_ps(place, lanes, narrow);
  } else {
    uint16_t *place = (uint16_t *)(void *)row + column;
    const __m128i narrow = narrow_16(as.dtype, x);
    if (as.streamed)
      _mm_stream_si128((__m128i *)(void *)place, narrow);
    else
      _mm_mask_storeu_epi16(place, lanes, narrow);
  }
}

INLINE void store(form as, target to, char *out, int row, const __m512d *x, doubts *found) {
  __mmask16 any = 0;
  UNROLL
  for (int v = 0; v < 2 * as.vectors; v++) {
    store_vector(as, out, column_of(as, to, v), x[v], lanes_of(as, to, v));
    if (v % 2) any = _kor_mask16(any, in_doubt(as, x[v - 1], x[v]));
  }
  if (__builtin_expect(_kortestz_mask16_u8(any, any), 1)) return;
  uint64_t lanes = 0;
  UNROLL
  for (int v = 0; v < 2 * as.vectors; v++)
    lanes |= (uint64_t)(lanes_in_doubt(as, x[v]) & lanes_of(as, to, v)) << (v * LANES);
  found->at[found->count].row = row;
  found->at[found->count++].lanes = lanes;
}

TARGET static __attribute__((noinline)) void settle(form as, target to, rotation_block at, const doubts *found) {
  for (int n = 0; n < found->count; n++) {
    if (at.center + found->at[n].row == 0) continue; /* exact already */
    for (uint64_t lanes = found->at[n].lanes; lanes; lanes &= lanes - 1) {
      const int lane = __builtin_ctzll(lanes), row = found->at[n].row;
      cr_element(to.table, to.problem, at.center + row, column_of(as, to, lane / LANES) + lane % LANES,
                 to.out + (row - at.from) * to.row_bytes);
    }
  }
}

/* Rows first, first + way, … as many as `rows`, of which those of the block are stored; a row on, the two of a pair of states have
   changed their parts. */
INLINE void walk(form as, target to, rotation_block at, int first, int way, int rows, __m512d *now, __m512d *before,
                 const __m512d *k, doubts *found) {
  char *out = to.out + (first - at.from) * to.row_bytes;
  for (int n = 0; n < rows; n += 2) {
    const int row = first + way * n, next = row + way;
    if (row >= at.from && row < at.to) store(as, to, out, row, now, found);
    advance(as, before, now, k);
    out += way * to.row_bytes;
    if (n + 1 < rows && next >= at.from && next < at.to) store(as, to, out, next, before, found);
    advance(as, now, before, k);
    out += way * to.row_bytes;
  }
}

INLINE void tile(form as, target to, const anchors *from, rotation_block at) {
  __m512d k[VECTORS], now[VECTORS], before[VECTORS], back[VECTORS], back_before[VECTORS];
  doubts found;
  found.count = 0;
  start(as, to, from, k, now, before);
  UNROLL
  for (int v = 0; v < 2 * as.vectors; v++) {
    back[v] = before[v];
    back_before[v] = now[v];
  }
  walk(as, to, at, 0, 1, at.to, now, before, k, &found);
  walk(as, to, at, -1, -1, -at.from, back, back_before, k, &found);
  if (found.count) settle(as, to, at, &found);
}

INLINE void execute_as(form as, const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows,
                       char *out) {
  const int64_t pairs = problem->dim / 2;
  const posenc_columns columns_at = posenc_layout_columns(problem->layout, problem->dim);
  const form tail = {1, as.dtype, as.interleaved, false};
  target to = {.table = table,
               .problem = problem,
               .row_bytes = problem->dim * (int64_t)posenc_dtype_bytes(as.dtype),
               .half = pairs,
               .cosine_first = columns_at.cos < columns_at.sin};
  for (int64_t done = 0; done < rows;) {
    const rotation_block at = rotation_block_at(problem->first + row + done, rows - done);
    to.out = out + done * to.row_bytes;
    for (int64_t chunk = 0; chunk < pairs; chunk += ANCHORS) {
      const int64_t end = pairs - chunk < ANCHORS ? pairs : chunk + ANCHORS;
      anchors found;
      find_anchors(table->angles, chunk, end, at.center, &found);
      to.pairs = TILE;
      for (to.pair = chunk; to.pair + TILE <= end; to.pair += TILE) tile(as, to, &found, at);
      for (; to.pair < end; to.pair += LANES) {
        to.pairs = end - to.pair < LANES ? (int)(end - to.pair) : LANES;
        tile(tail, to, &found, at);
      }
    }
    done += at.to - at.from;
  }
}

/* One instance for each form. */
#define INSTANCE(name, dtype, interleaved, streamed)                                                                   \
  TARGET static void name(const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows,             \
                          char *out) {                                                                                 \
    execute_as((form){PAIR_VECTORS, dtype, interleaved, streamed}, table, problem, row, rows, out);                    \
  }
INSTANCE(f32_split, POSENC_F32, false, false)
INSTANCE(f32_split_streamed, POSENC_F32, false, true)
INSTANCE(f32_interleaved, POSENC_F32, true, false)
INSTANCE(f32_interleaved_streamed, POSENC_F32, true, true)
INSTANCE(f16_split, POSENC_F16, false, false)
INSTANCE(f16_split_streamed, POSENC_F16, false, true)
INSTANCE(f16_interleaved, POSENC_F16, true, false)
INSTANCE(f16_interleaved_streamed, POSENC_F16, true, true)
INSTANCE(bf16_split, POSENC_BF16, false, false)
INSTANCE(bf16_split_streamed, POSENC_BF16, false, true)
INSTANCE(bf16_interleaved, POSENC_BF16, true, false)
INSTANCE(bf16_interleaved_streamed, POSENC_BF16, true, true)

TARGET static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  typedef void instance(const cr_table *, const posenc_problem *, int64_t, int64_t, char *);
  static instance *const instances[][2][2] = {
      [POSENC_F32] = {{f32_split, f32_split_streamed}, {f32_interleaved, f32_interleaved_streamed}},
      [POSENC_F16] = {{f16_split, f16_split_streamed}, {f16_interleaved, f16_interleaved_streamed}},
      [POSENC_BF16] = {{bf16_split, bf16_split_streamed}, {bf16_interleaved, bf16_interleaved_streamed}}};
  const bool interleaved = problem->layout == POSENC_INTERLEAVED || problem->layout == POSENC_INTERLEAVED_CS;
  const bool streamed = store_streams(problem, rows, out, LANES * posenc_dtype_bytes(problem->dtype));
  instances[problem->dtype][interleaved][streamed](constants, problem, row, rows, out);
  if (streamed) _mm_sfence();
}

/* Row `from` of a block, for one vector of pairs. */
INLINE void row_of(const cr_table *table, int64_t pair, rotation_block at, double *sine, double *cosine) {
  const form as = {1, POSENC_F32, false, false};
  const target to = {.table = table, .pair = pair, .pairs = LANES};
  __m512d k[2], now[2], before[2];
  anchors found;
  find_anchors(table->angles, pair, pair + LANES, at.center, &found);
  start(as, to, &found, k, now, before);
  /* one row on, the two change their parts; the row before the anchor is one row back already */
  const int steps = at.from < 0 ? -1 - at.from : at.from;
  __m512d *ahead = at.from < 0 ? before : now, *behind = at.from < 0 ? now : before;
  for (int n = 0; n < steps; n++) {
    __m512d *const next = behind;
    advance(as, next, ahead, k);
    behind = ahead;
    ahead = next;
  }
  _mm512_storeu_pd(sine, ahead[0]);
  _mm512_storeu_pd(cosine, ahead[1]);
}

TARGET static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                               posenc_stages *stages) {
  double sine[LANES], cosine[LANES];
  for (int64_t r = 0; r < rows; r++) {
    const rotation_block at = rotation_block_at(problem->first + row + r, 1);
    for (int64_t pair = 0; pair < problem->dim / 2; pair += LANES) {
      row_of(constants, pair, at, sine, cosine);
      for (int64_t i = 0; i < LANES && pair + i < problem->dim / 2; i++)
        *stages++ = cr_stages(constants, problem, at, pair + i, sine[i], cosine[i]);
    }
  }
  return true;
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
    .stages = tell_stages,
#else
    .absent = "it was left out when posenc was built",
#endif
};
