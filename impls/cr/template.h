/* SPDX-License-Identifier: MIT */
/*
 * The fast path of the correctly rounded kernels, for any instruction set. A kernel includes the header of its
 * instruction set (lib/simd: LANES, FUSED, types and operations of vectors), defines the constants below, and includes
 * this file, which makes `execute` and `write_stages` of it. Without one of the constants it does not compile.
 *
 *   VECTORS         vectors of columns that are computed together in registers, an even number
 *   STREAM_VECTORS  the same for streaming stores, at least as many
 *   STREAMS         whether `stream` bypasses the caches
 *   SHIFT_FROM      bytes of rows from which `execute` aligns regular stores to cache lines, if STREAMS
 *   SUM_VECTORS     the VECTORS of sums.h
 *   TILES           a macro that may be left out: the function, like `tiles` (tiles.h), that makes the rows of a block;
 *                   a kernel with one of its own includes tiles.h before it
 *
 * tiles.h makes of them TILE, TAIL, CHUNK and PART, sums.h SUM_TILE, and below COLUMN_MAKER the variants of a table.
 */
#ifndef POSENC_IMPLS_CR_TEMPLATE_H
#define POSENC_IMPLS_CR_TEMPLATE_H

#include "impls/cr/cr.h"
#include "impls/cr/sums.h"
#include "impls/cr/tiles.h"
#include "lib/api/store.h"

#ifndef TILES
#define TILES tiles
#endif

/* ---- anchors, in the order of the table's columns --------------------------------------------------- */

/* Columns in the order of the table, at the row of the anchor and at the row before: those of PART pairs interleaved,
   or the first and then the second columns of PART pairs. */
typedef struct anchors {
  _Alignas(64) double now[2 * PART], before[2 * PART];
} anchors;

/* The sines and cosines of CHUNK pairs. */
typedef struct anchor_sincos {
  _Alignas(64) double sine[CHUNK], cosine[CHUNK];
} anchor_sincos;

/* Rotates (x, y) from x to y by an angle; with the arguments (y, x), back. */
INLINE void rotate_pairs(doubles *x, doubles *y, doubles sine, doubles cosine) {
  const doubles before = *x;
  *x = multiply_add(*x, cosine, *y * sine);
  *y = multiply_subtract(*y, cosine, before * sine);
}

/* Returns turns_at of LANES pairs. Pairs after the last one are the first pairs of the next row, at the next
   position. */
INLINE u64s row_turns_at(const cr_constants *cr, int64_t pair, int64_t position) {
  const u64s turns = turns_at(cr->angles, pair, position);
  if (__builtin_expect(pair + LANES <= cr->pairs, 1)) return turns;
  const i64s index = lane_numbers() + pair;
  return turns + (load_u64s(cr->angles->turn_high + pair) & (u64s)(index >= cr->pairs));
}

/* Computes anchors from their angles. */
INLINE void seed_anchor(const cr_constants *cr, int64_t pair, int64_t count, int64_t position, anchor_sincos *at) {
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    doubles sine, cosine;
    sincos_of(row_turns_at(cr, pair + i, position), true, &sine, &cosine);
    store_aligned(at->sine + i, sine);
    store_aligned(at->cosine + i, cosine);
  }
}

/* Computes the anchors of the block around `center`. */
TARGET static __attribute__((noinline)) void find_anchor_sincos(const cr_constants *cr, int64_t pair, int64_t count,
                                                                int64_t center, anchor_sincos *at) {
  const int64_t exact = cr_exact_anchor(center);
  seed_anchor(cr, pair, count, exact, at);
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    doubles sine = load_aligned(at->sine + i), cosine = load_aligned(at->cosine + i);
    const doubles block_sin = load_constants(cr->block_sin + pair + i),
                  block_cos = load_constants(cr->block_cos + pair + i);
    for (int64_t position = exact; position < center; position += KERNEL_BLOCK)
      rotate_pairs(&sine, &cosine, block_sin, block_cos);
    store_aligned(at->sine + i, sine);
    store_aligned(at->cosine + i, cosine);
  }
}

/* How a block uses the anchors in anchor_sincos. */
typedef enum anchor_use {
  ANCHOR_ALONE,   /* its only row */
  ANCHOR_FOUND,   /* its anchor; the row before is computed from it */
  ANCHOR_ADVANCED /* they are those of the block before: its anchor is computed from them, then the row before */
} anchor_use;

/* The order of the columns of a pair. find_anchors calls find_columns with two constants, so that its loop has no
   branches of them. */
typedef struct pair_order {
  bool interleaved, cosine_first; /* constants in find_columns */
  anchor_use use;                 /* known at run time only */
} pair_order;

INLINE pair_order pair_order_of(const posenc_problem *problem, anchor_use use) {
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  return (pair_order){columns.step == 2, columns.cos < columns.sin, use};
}

INLINE void place_columns(pair_order as, double *to, doubles sine, doubles cosine) {
  const doubles first = as.cosine_first ? cosine : sine, second = as.cosine_first ? sine : cosine;
  store_aligned(to, as.interleaved ? zip_low(first, second) : first);
  store_aligned(to + (as.interleaved ? LANES : PART), as.interleaved ? zip_high(first, second) : second);
}

/* Finds the columns of at most PART pairs. Their anchors are `from` pairs into the chunk `found`. With ANCHOR_ADVANCED
   they are those of the block before, and are replaced there by those of this block. */
INLINE void find_columns(pair_order as, const cr_constants *cr, int64_t first, int64_t count, anchor_sincos *found,
                         int64_t from, anchors *at) {
  const int64_t step = as.interleaved ? 2 : 1;
  double *const sines = found->sine + from, *const cosines = found->cosine + from;
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    const int64_t pair = first + i;
    doubles sine = load_aligned(sines + i), cosine = load_aligned(cosines + i);
    if (as.use == ANCHOR_ADVANCED) {
      rotate_pairs(&sine, &cosine, load_constants(cr->block_sin + pair), load_constants(cr->block_cos + pair));
      store_aligned(sines + i, sine);
      store_aligned(cosines + i, cosine);
    }
    place_columns(as, at->now + step * i, sine, cosine);
    if (as.use == ANCHOR_ALONE) continue;
    rotate_pairs(&cosine, &sine, load_constants(cr->angles->step_sin + pair),
                 load_constants(cr->angles->step_cos + pair));
    place_columns(as, at->before + step * i, sine, cosine);
  }
}

INLINE void find_anchors(pair_order as, const cr_constants *cr, int64_t pair, int64_t count, anchor_sincos *found,
                         int64_t from, anchors *at) {
  if (as.interleaved && as.cosine_first)
    find_columns((pair_order){true, true, as.use}, cr, pair, count, found, from, at);
  else if (as.interleaved)
    find_columns((pair_order){true, false, as.use}, cr, pair, count, found, from, at);
  else if (as.cosine_first)
    find_columns((pair_order){false, true, as.use}, cr, pair, count, found, from, at);
  else
    find_columns((pair_order){false, false, as.use}, cr, pair, count, found, from, at);
}

/* ---- blocks ------------------------------------------------------------------------------------------ */

/* Makes the rows of a block for a chunk of pairs. `found` has the anchors of this block or, with ANCHOR_ADVANCED, of
   the block before. */
INLINE void execute_block(column_maker *make, const destination *to, pair_span chunk, anchor_sincos *found,
                          pair_order order) {
  const int64_t pairs = to->problem->dim / 2;
  const int step = order.interleaved ? 2 : 1, spans = order.interleaved ? 1 : 2;
  for (int64_t done = 0; done < chunk.count; done += PART) {
    const int64_t pair = chunk.first + done, count = chunk.count - done < PART ? chunk.count - done : PART;
    const int64_t column = step * pair;
    anchors at;
    find_anchors(order, to->cr, pair, count, found, done, &at);
    for (int n = 0; n < spans; n++)
      make(to, column + n * pairs, step * count, to->cr->twice_cosine + column, at.now + n * PART,
           at.before + n * PART);
  }
}

/* A single row is computed as an anchor, without a certificate: certificates hold for rows that are computed from the
   anchor of their block. */
TARGET static void execute_row(column_maker *make, const cr_constants *cr, const posenc_problem *problem,
                               pair_span span, int64_t row, char *out) {
  const int64_t position = problem->first + row;
  const destination to = {cr, problem, out, (int64_t)kernel_row_bytes(problem), {position, 0, 1}};
  const pair_order order = pair_order_of(problem, ANCHOR_ALONE);
  for (int64_t done = 0; done < span.count; done += CHUNK) {
    const pair_span chunk = {span.first + done, span.count - done < CHUNK ? span.count - done : CHUNK};
    anchor_sincos found;
    seed_anchor(cr, chunk.first, chunk.count, position, &found);
    execute_block(make, &to, chunk, &found, order);
  }
}

/* The blocks from one exact anchor to the next are computed for one chunk of pairs after the other. */
TARGET static void execute_rows(column_maker *make, const cr_constants *cr, const posenc_problem *problem,
                                pair_span span, int64_t row, int64_t rows, char *out) {
  pair_order order = pair_order_of(problem, ANCHOR_FOUND);
  destination to = {.cr = cr, .problem = problem, .out = out, .row_bytes = (int64_t)kernel_row_bytes(problem)};
  for (int64_t begin = 0, end; begin < rows; begin = end) {
    const int64_t position = problem->first + row + begin, center = rotation_block_at(position, rows - begin).center;
    const int64_t left = cr_exact_anchor(center) + CR_ADVANCES * KERNEL_BLOCK + KERNEL_BLOCK / 2 - position;
    end = left < rows - begin ? begin + left : rows;
    for (int64_t some = 0; some < span.count; some += CHUNK) {
      const pair_span chunk = {span.first + some, span.count - some < CHUNK ? span.count - some : CHUNK};
      anchor_sincos found;
      for (int64_t done = begin; done < end; done += to.at.to - to.at.from) {
        to.at = rotation_block_at(problem->first + row + done, rows - done);
        to.out = out + done * to.row_bytes;
        if (done == begin) find_anchor_sincos(cr, chunk.first, chunk.count, to.at.center, &found);
        order.use = done > begin ? ANCHOR_ADVANCED : ANCHOR_FOUND;
        execute_block(make, &to, chunk, &found, order);
      }
    }
  }
}

/* Replaces the columns of the anchor by those of row `from` of the block. */
INLINE void row_of(rotation_block at, const double *twice_cosine, int64_t count, double *now, const double *before) {
  const bool back = at.from < 0; /* `before` is one row back already */
  const int steps = back ? -1 - at.from : at.from;
  for (int64_t i = 0; i < count; i += LANES) {
    const doubles k = load_aligned(twice_cosine + i);
    doubles x = load_aligned(back ? before + i : now + i), behind = load_aligned(back ? now + i : before + i);
    for (int n = 0; n < steps; n++) {
      const doubles next = multiply_subtract(k, x, behind);
      behind = x;
      x = next;
    }
    store_aligned(now + i, x);
  }
}

/* Writes the stages of whole rows, computed by the same operations as `execute`. */
TARGET static bool write_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                posenc_stages *stages) {
  const cr_constants *cr = (const cr_constants *)constants;
  if (cr->in_sums) return cr_exact_stages(cr, problem, row, rows, stages);
  const int64_t pairs = problem->dim / 2;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t other = columns.step == 1 ? PART : 1; /* from the first column of a pair to the second */
  const int64_t sine = columns.cos < columns.sin ? other : 0, cosine = other - sine;
  for (int64_t r = 0; r < rows; r++) {
    const rotation_block at = rotation_block_at(problem->first + row + r, 1);
    for (int64_t pair = 0; pair < pairs; pair += PART) {
      const int64_t count = pairs - pair < PART ? pairs - pair : PART;
      const double *twice_cosine = cr->twice_cosine + columns.step * pair;
      anchor_sincos found;
      anchors x;
      find_anchor_sincos(cr, pair, count, at.center, &found);
      find_anchors(pair_order_of(problem, ANCHOR_FOUND), cr, pair, count, &found, 0, &x);
      row_of(at, twice_cosine, columns.step * count, x.now, x.before);
      if (columns.step == 1) row_of(at, twice_cosine, count, x.now + PART, x.before + PART);
      for (int64_t i = 0; i < count; i++)
        *stages++ =
            cr_stages(cr, problem, at, pair + i, x.now[columns.step * i + sine], x.now[columns.step * i + cosine]);
    }
  }
  return true;
}

/* ---- variants ---------------------------------------------------------------------------------------- */

/* The loops over the rows of a block, one for each variant. Each name is written out, so that a search finds it. */
#define COLUMN_MAKER(name, make, type, width, ...)                                                                     \
  TARGET static void name(const destination *to, int64_t column, int64_t count, const double *twice_cosine,            \
                          const double *now, const double *before) {                                                   \
    make((variant){.dtype = (type), .vectors = (width), __VA_ARGS__}, to,                                              \
         (column_span){column, count, twice_cosine, now, before});                                                     \
  }

COLUMN_MAKER(f32_narrow, narrow_tiles, POSENC_F32, 2, .certified = false)
COLUMN_MAKER(f32_narrow_certified, narrow_tiles, POSENC_F32, 2, .certified = true)
COLUMN_MAKER(f32_regular, TILES, POSENC_F32, VECTORS, .rest = f32_narrow)
COLUMN_MAKER(f32_streamed, TILES, POSENC_F32, STREAM_VECTORS, .streamed = true, .rest = f32_narrow)
COLUMN_MAKER(f32_certified, TILES, POSENC_F32, VECTORS, .certified = true, .rest = f32_narrow_certified,
             .tested = f32_regular)
COLUMN_MAKER(f32_certified_streamed, TILES, POSENC_F32, STREAM_VECTORS, .certified = true, .streamed = true,
             .rest = f32_narrow_certified, .tested = f32_streamed)
COLUMN_MAKER(f32_alone, tiles, POSENC_F32, VECTORS, .alone = true)

COLUMN_MAKER(f16_narrow, narrow_tiles, POSENC_F16, 2, .certified = false)
COLUMN_MAKER(f16_narrow_certified, narrow_tiles, POSENC_F16, 2, .certified = true)
COLUMN_MAKER(f16_regular, TILES, POSENC_F16, VECTORS, .rest = f16_narrow)
COLUMN_MAKER(f16_streamed, TILES, POSENC_F16, STREAM_VECTORS, .streamed = true, .rest = f16_narrow)
COLUMN_MAKER(f16_certified, TILES, POSENC_F16, VECTORS, .certified = true, .rest = f16_narrow_certified,
             .tested = f16_regular)
COLUMN_MAKER(f16_certified_streamed, TILES, POSENC_F16, STREAM_VECTORS, .certified = true, .streamed = true,
             .rest = f16_narrow_certified, .tested = f16_streamed)
COLUMN_MAKER(f16_alone, tiles, POSENC_F16, VECTORS, .alone = true)

COLUMN_MAKER(bf16_narrow, narrow_tiles, POSENC_BF16, 2, .certified = false)
COLUMN_MAKER(bf16_narrow_certified, narrow_tiles, POSENC_BF16, 2, .certified = true)
COLUMN_MAKER(bf16_regular, TILES, POSENC_BF16, VECTORS, .rest = bf16_narrow)
COLUMN_MAKER(bf16_streamed, TILES, POSENC_BF16, STREAM_VECTORS, .streamed = true, .rest = bf16_narrow)
COLUMN_MAKER(bf16_certified, TILES, POSENC_BF16, VECTORS, .certified = true, .rest = bf16_narrow_certified,
             .tested = bf16_regular)
COLUMN_MAKER(bf16_certified_streamed, TILES, POSENC_BF16, STREAM_VECTORS, .certified = true, .streamed = true,
             .rest = bf16_narrow_certified, .tested = bf16_streamed)
COLUMN_MAKER(bf16_alone, tiles, POSENC_BF16, VECTORS, .alone = true)

/* Tables with an attention factor, of any dtype. */
COLUMN_MAKER(scaled_rows, tiles, to->problem->dtype, VECTORS, .scaled = true)
COLUMN_MAKER(scaled_alone, tiles, to->problem->dtype, VECTORS, .scaled = true, .alone = true)

/* The variants of a dtype; null for those that are not compiled, as certificates hold for fused operations only. */
typedef struct dtype_makers {
  column_maker *regular, *certified, *streamed, *certified_streamed, *alone;
} dtype_makers;
#define WHERE(compiled, maker) ((compiled) ? (maker) : NULL)
static const dtype_makers makers[] = {
    [POSENC_F32] = {f32_regular, WHERE(FUSED, f32_certified), WHERE(STREAMS, f32_streamed),
                    WHERE(FUSED, WHERE(STREAMS, f32_certified_streamed)), f32_alone},
    [POSENC_F64] = {NULL, NULL, NULL, NULL, NULL}, /* execute_in_sums */
    [POSENC_F16] = {f16_regular, WHERE(FUSED, f16_certified), WHERE(STREAMS, f16_streamed),
                    WHERE(FUSED, WHERE(STREAMS, f16_certified_streamed)), f16_alone},
    [POSENC_BF16] = {bf16_regular, WHERE(FUSED, bf16_certified), WHERE(STREAMS, bf16_streamed),
                     WHERE(FUSED, WHERE(STREAMS, bf16_certified_streamed)), bf16_alone},
};

static bool is_certified(const cr_constants *cr, const posenc_problem *problem, int64_t row, int64_t rows) {
  const int64_t first = problem->first + row;
  return FUSED && cr->certificate.misrounded && first >= 0 && first <= CERTIFIED_POSITIONS - rows;
}

/* Aligns vectors to cache lines where the rows allow it, by making the first columns of the first row and the last
   columns of the last row separately. Only aligned vectors can be streamed; with regular stores, alignment is faster
   from SHIFT_FROM bytes on. */
TARGET static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const cr_constants *cr = (const cr_constants *)constants;
  char *to = (char *)out;
  if (cr->in_sums) {
    execute_in_sums(cr, problem, row, rows, to);
    return;
  }
  const dtype_makers *of = &makers[problem->dtype];
  const pair_span all = {0, cr->pairs};
  if (rows == 1) {
    execute_row(cr->is_scaled ? scaled_alone : of->alone, cr, problem, all, row, to);
    return;
  }
  if (cr->is_scaled) {
    execute_rows(scaled_rows, cr, problem, all, row, rows, to);
    return;
  }
  const int64_t pairs = cr->pairs, element = (int64_t)posenc_dtype_bytes(problem->dtype),
                row_bytes = (int64_t)kernel_row_bytes(problem), last = rows - 1;
  const int64_t columns = STREAMS ? store_columns_to_line(problem, out) : -1;
  const bool can_shift =
      columns > 0 && columns % 2 == 0 && posenc_layout_columns(problem->layout, problem->dim).step == 2;
  const bool streams = (columns == 0 || can_shift) && TILE * element % STORE_LINE == 0 &&
                       store_streams(cr->angles->stores, problem, rows, out);
  const bool certified = is_certified(cr, problem, row, rows);
  column_maker *const regular = certified ? of->certified : of->regular,
                      *const streaming = certified ? of->certified_streamed : of->streamed,
                      *const make = streams ? streaming : regular;
  if (can_shift && (streams || rows * row_bytes >= SHIFT_FROM)) {
    const int64_t shift = columns / 2;
    const pair_span shifted = {shift, pairs};
    execute_row(of->alone, cr, problem, (pair_span){0, shift}, row, to);
    execute_row(of->alone, cr, problem, (pair_span){shift, pairs - shift}, row + last, to + last * row_bytes);
    if (last > 1)
      execute_rows(make, cr, problem, shifted, row, last, to);
    else
      execute_row(of->alone, cr, problem, shifted, row, to);
  } else {
    execute_rows(make, cr, problem, all, row, rows, to);
  }
  if (streams) store_fence();
  if (certified) cr_correct(cr, problem, row, rows, to);
}

#endif
