/* SPDX-License-Identifier: MIT */
/*
 * The fast path for f64 and, in any format, for tables with many tiny sines, whose rounding a double does not decide.
 * Included by template.h. It is the recurrence of cr.h in sums of two doubles, split so that products are exact.
 *
 * Columns are computed in blocks: x(n+1) = 2 cos w x(n) - x(n-1). The scale of a column in a block is a power of two
 * above all values that the column has there: above |x(0)| + 16 w, or 1. 2 cos w is kept as head + tail, where head is
 * a multiple of 2^-25, and x(n) as s + e, where s is a multiple of 2^-26 scales. Then t = head s(n) - s(n-1) is a
 * multiple of 2^-51 scales and below 3 scales, so a double holds it exactly, fused or not. The rest,
 *
 *     r = tail s(n) + (2 cos w) e(n) - e(n-1),
 *
 * is small. s(n+1) is the sum of t, r and the error below, rounded to the grid of s; e(n+1) = (t - s(n+1)) + r is at
 * most 2^-27 scales and that error.
 *
 * Error bound in units u = 2^-80 scales. A step has the rounding errors 1 of tail; 2 of subtracting e(n-1) from tail
 * s(n), which gives a number below 2^-25.4 scales; 4 of adding (2 cos w) e(n), which gives one below 2^-24.7 scales; 1
 * of 2 cos w in that product; and 0.5 of e(n+1): 8.5 in all. Unfused, two products are rounded first, 2 each: 12.5. The
 * error of a step is carried on over 15, 14 … 1 rows and grows with their number: 120 × 12.5 = 1500. In the row before
 * the anchor, e is rounded, 0.5, which is carried on over 16 rows: 8. The two ends of the interval below add 4, an
 * attention factor 12 for its products and their sum, and anchors 9. In all 1533 u of the 2048 u = 2^-69 scales that
 * are assumed as the error of an element; the errors of the cosines that the constants are made of, within 2^-104, fit
 * in the rest. An element is uncertain if the two ends of that interval round to different doubles: about one element
 * in 2^14 of columns that are not small.
 *
 * Anchors are sums of 106 bits. The first anchor of a call, and one in each SUM_RUN rows, is computed from its angles,
 * with relative errors of sine and cosine below 2^-86. The others are rotated by the angle of a block, at most 128
 * times, each time with an error within 2^-101 of the rotated sine and cosine. A sine within a run is below |x(0)| +
 * 4096 w, which is 2^8 scales, and an error of its cosine adds 4096 w times as much to it. In scales these errors are
 * 2^-78, 2^-78 and, for the rotations, 2^-86. The errors of angles, 2^-124, and of the sine of a block's angle, 2^-122
 * (wide.c), 128 times, do not shrink with the values: together they are below 2^-114, which is added to the error.
 *
 * In formats other than f64, the ends are rounded twice, to double and to the format. There the error is assumed to be
 * 2^-50 scales, so that the ends as doubles are still on either side of the exact value.
 */
#ifndef POSENC_IMPLS_CR_SUMS_H
#define POSENC_IMPLS_CR_SUMS_H

#include "impls/cr/rounding.h"
#include "impls/cr/tiles.h"
#include "lib/exact/angle.h"
#include "lib/simd/exact.h"

/* SUM_GRID, in scales, is added and subtracted to round a double to the grid of s. The error is SUM_ERROR, in scales,
   plus SUM_LEAST. */
#define SUM_GRID 0x1.8p26
#define SUM_ERROR_BITS 69
#define SUM_ERROR CR_POWER(SUM_ERROR_BITS)
#define SUM_LEAST 0x1p-114
#define SUM_NARROW_ERROR 0x1p-50

enum { SUM_TILE = SUM_VECTORS * LANES, SUM_CHUNK = 64, SUM_RUN = 4096 };
_Static_assert(SUM_CHUNK % SUM_TILE == 0 && ANGLE_PADDING % SUM_TILE == 0, "whole tiles of constants");
_Static_assert(SUM_RUN == 128 * KERNEL_BLOCK, "an anchor is turned 128 times at most");
/* The sum above, in halves of u: steps, the row before the anchor, both ends, the attention factor, anchors. */
enum { SUM_SUM = 25 * CR_CARRIED + CR_HALF + 2 * (4 + 12 + 9) };
_Static_assert(SUM_SUM < 2 << (80 - SUM_ERROR_BITS), "SUM_ERROR is above what the fast path of f64 adds up to");

/* The sines and cosines of the pairs of a chunk, at the anchor of a block. */
typedef struct sum_anchors {
  _Alignas(64) double sine[SUM_CHUNK], sine_low[SUM_CHUNK], cosine[SUM_CHUNK], cosine_low[SUM_CHUNK];
} sum_anchors;

/* The columns of a chunk in a block: interleaved, or the first columns and then the second ones. Their values at the
   anchor and at the row before, the number that rounds to the grid of s, and the error. */
typedef struct sum_columns {
  _Alignas(64) double now[2 * SUM_CHUNK], now_low[2 * SUM_CHUNK], before[2 * SUM_CHUNK],
      before_low[2 * SUM_CHUNK], grid[2 * SUM_CHUNK], error[2 * SUM_CHUNK];
} sum_columns;

/* Consecutive columns: the first one of the table, their number, and their indices in the constants and in a chunk. */
typedef struct sum_span {
  int64_t column, count, constants, place;
  const sum_columns *columns;
} sum_span;

/* The rows of a tile with uncertain elements: those whose `low` and `high` differ. */
typedef struct uncertain_sums {
  int count, rows[KERNEL_BLOCK];
  _Alignas(64) double low[KERNEL_BLOCK][SUM_TILE], high[KERNEL_BLOCK][SUM_TILE];
} uncertain_sums;

/* The variant of a sum_maker. */
typedef struct sum_variant {
  posenc_dtype dtype;
  bool scaled, streamed;
} sum_variant;

/* Makes the rows of a block for some columns, a sum_span, as a column_maker does. */
typedef void sum_maker(const destination *to, int64_t column, int64_t count, int64_t constants, int64_t place,
                       const sum_columns *columns);

INLINE int64_t sum_bytes(sum_variant as) {
  const int64_t narrow = as.dtype == POSENC_F32 ? 4 : 2;
  return as.dtype == POSENC_F64 ? 8 : narrow;
}

INLINE void store_sums(sum_variant as, posenc_sum factor, char *to, int row, const doubles *t, const doubles *r,
                       const doubles *above, const double *error, uncertain_sums *found) {
  u64s differ = {0};
  UNROLL(8)
  for (int v = 0; v < SUM_VECTORS; v += 2) {
    const interval x = interval_of(as.scaled, factor, t[v], r[v], above[v], load_aligned(error + v * LANES)),
                   y = interval_of(as.scaled, factor, t[v + 1], r[v + 1], above[v + 1],
                                   load_aligned(error + (v + 1) * LANES));
    char *const pair = to + v * LANES * sum_bytes(as);
    if (as.dtype == POSENC_F64) {
      store_sum(as.streamed, (double *)(void *)pair, x);
      store_sum(as.streamed, (double *)(void *)pair + LANES, y);
      differ = or_differing(or_differing(differ, x.low, x.high), y.low, y.high);
    } else {
      const doubles low[] = {x.low, y.low}, high[] = {x.high, y.high};
      differ |= store_between(as.dtype, pair, low, high);
    }
  }
  if (__builtin_expect(!any_bits(differ), 1)) return;
  UNROLL(8)
  for (int v = 0; v < SUM_VECTORS; v++) {
    const interval x = interval_of(as.scaled, factor, t[v], r[v], above[v], load_aligned(error + v * LANES));
    store_aligned(found->low[found->count] + v * LANES, x.low);
    store_aligned(found->high[found->count] + v * LANES, x.high);
  }
  found->rows[found->count++] = row;
}

/* Computes the rows of the block from its anchor on, or back from the row before it. */
INLINE void run_sums(sum_variant as, destination to, sum_span from, bool back, char *out, int64_t row_bytes,
                     uncertain_sums *found) {
  const rotation_block at = to.at;
  const int first = back ? -1 : 0, way = back ? -1 : 1, rows = back ? -at.from : at.to;
  const sum_columns *columns = from.columns;
  const double *start = (back ? columns->before : columns->now) + from.place,
               *start_low = (back ? columns->before_low : columns->now_low) + from.place,
               *behind = (back ? columns->now : columns->before) + from.place,
               *behind_low = (back ? columns->now_low : columns->before_low) + from.place,
               *grid = columns->grid + from.place, *error = columns->error + from.place;
  const cr_sums *by = &to.cr->sums;
  const double *head = by->twice_head + from.constants, *tail = by->twice_tail + from.constants,
               *twice = by->twice_cosine + from.constants;
  const posenc_sum factor = to.cr->factor;
  doubles t[SUM_VECTORS], r[SUM_VECTORS], s_before[SUM_VECTORS], e_before[SUM_VECTORS], above[SUM_VECTORS];
  UNROLL(8)
  for (int v = 0; v < SUM_VECTORS; v++) {
    const doubles x = load_aligned(behind + v * LANES), to_grid = load_aligned(grid + v * LANES);
    t[v] = load_aligned(start + v * LANES);
    r[v] = load_aligned(start_low + v * LANES);
    s_before[v] = (x + to_grid) - to_grid;
    e_before[v] = (x - s_before[v]) + load_aligned(behind_low + v * LANES);
  }
  out += (first - at.from) * row_bytes;
  for (int n = 0, row = first; n < rows; n++, row += way, out += way * row_bytes) {
    UNROLL(8)
    for (int v = 0; v < SUM_VECTORS; v++) above[v] = t[v] + (r[v] + load_aligned(error + v * LANES));
    if (row >= at.from && row < at.to) store_sums(as, factor, out, row, t, r, above, error, found);
    UNROLL(8)
    for (int v = 0; v < SUM_VECTORS; v++) {
      const doubles to_grid = load_aligned(grid + v * LANES), s = (above[v] + to_grid) - to_grid, e = (t[v] - s) + r[v];
      t[v] = multiply_subtract(load_constants(head + v * LANES), s, s_before[v]);
      r[v] = multiply_add(load_constants(twice + v * LANES), e,
                          multiply_subtract(load_constants(tail + v * LANES), s, e_before[v]));
      s_before[v] = s;
      e_before[v] = e;
    }
  }
}

TARGET static __attribute__((noinline)) void recompute_sums(destination to, sum_span from,
                                                            const uncertain_sums *found) {
  for (int n = 0; n < found->count; n++)
    for (int64_t i = 0; i < from.count; i++)
      if (rounds_differently(to.problem->dtype, found->low[n][i], found->high[n][i]))
        cr_element(to.cr, to.problem, to.at.center + found->rows[n], from.column + i,
                   to.out + (found->rows[n] - to.at.from) * to.row_bytes);
}

INLINE void sum_tile(sum_variant as, destination to, sum_span from) {
  enum { MOST_BYTES = 8 };
  _Alignas(64) char part[KERNEL_BLOCK * SUM_TILE * MOST_BYTES];
  const int64_t bytes = sum_bytes(as);
  uncertain_sums found;
  const bool whole = from.count >= SUM_TILE;
  char *const place = to.out + from.column * bytes, *const out = whole ? place : part;
  const int64_t row_bytes = whole ? to.row_bytes : SUM_TILE * bytes;
  found.count = 0;
  for (int row = 0; as.streamed && !whole && row < to.at.to - to.at.from; row++)
    for (int64_t at = 0; at < from.count * bytes; at += STORE_LINE)
      __builtin_prefetch(place + row * to.row_bytes + at, 1);
  as.streamed = as.streamed && whole;
  run_sums(as, to, from, false, out, row_bytes, &found);
  run_sums(as, to, from, true, out, row_bytes, &found);
  for (int row = 0; !whole && row < to.at.to - to.at.from; row++)
    memcpy(place + row * to.row_bytes, part + row * row_bytes, (size_t)(from.count * bytes));
  if (found.count) recompute_sums(to, from, &found);
}

INLINE void sum_tiles(sum_variant as, destination to, sum_span from) {
  for (int64_t done = 0; done < from.count; done += SUM_TILE)
    sum_tile(as, to,
             (sum_span){from.column + done, from.count - done < SUM_TILE ? from.count - done : SUM_TILE,
                        from.constants + done, from.place + done, from.columns});
}

/* Rotates (sine, cosine) by an angle, or back. */
INLINE void rotate_sums(bool back, sums *sine, sums *cosine, sums by_sine, sums by_cosine) {
  if (back) by_sine = (sums){-by_sine.high, -by_sine.low};
  const sums minus = {-by_sine.high, -by_sine.low};
  const sums turned = sums_add(sums_product(*sine, by_cosine), sums_product(*cosine, by_sine));
  *cosine = sums_add(sums_product(*cosine, by_cosine), sums_product(*sine, minus));
  *sine = turned;
}

/* Computes anchors from their angles; after the last pair of a chunk all values are 0. */
TARGET static __attribute__((noinline)) void seed_sums(const cr_constants *cr, int64_t pair, int64_t count,
                                                       int64_t position, sum_anchors *at) {
  uint64_t high[SUM_CHUNK] = {0}, low[SUM_CHUNK] = {0};
  for (int64_t i = 0; i < count; i++) {
    const u128 turn = wide_turn(cr->angles, pair + i, position);
    high[i] = u128_high(turn);
    low[i] = u128_low(turn);
  }
  for (int64_t i = 0; i < SUM_CHUNK; i += LANES) {
    sums sine, cosine;
    sums_sincos(load_u64s(high + i), load_u64s(low + i), &sine, &cosine);
    const u64s any = (u64s)(lane_numbers() + i < count);
    store_aligned(at->sine + i, sine.high);
    store_aligned(at->sine_low + i, sine.low);
    store_aligned(at->cosine + i, (doubles)((u64s)cosine.high & any));
    store_aligned(at->cosine_low + i, cosine.low);
  }
}

/* Rotates the anchors to the next block. */
INLINE void advance_sums(const cr_sums *by, int64_t pair, int64_t count, sum_anchors *at) {
  for (int64_t i = 0; i < count; i += LANES) {
    sums sine = sums_load(at->sine + i, at->sine_low + i), cosine = sums_load(at->cosine + i, at->cosine_low + i);
    rotate_sums(false, &sine, &cosine, sums_load(by->block_sin + pair + i, by->block_sin_low + pair + i),
                sums_load(by->block_cos + pair + i, by->block_cos_low + pair + i));
    store_aligned(at->sine + i, sine.high);
    store_aligned(at->sine_low + i, sine.low);
    store_aligned(at->cosine + i, cosine.high);
    store_aligned(at->cosine_low + i, cosine.low);
  }
}

/* Returns the scale: the power of two above |x| + 16 w, at most 1; 0 for lanes without a column. 16 w is below 20 sines
   of w. */
INLINE doubles scale_of(doubles x, doubles step_sine) {
  const u64s size = (u64s)x & INT64_MAX;
  const u64s above = (u64s)((doubles)size + 20.0 * step_sine) >> 52;
  const i64s exponent = -larger(-(i64s)above - 1, -1023 - (i64s){0}), any = above != 0;
  return (doubles)((u64s)(exponent & any) << 52);
}

/* Returns the error of a column with this scale; 0 for lanes without a column. The attention factor is below
   `factor`. */
INLINE doubles error_of(posenc_dtype dtype, double factor, doubles scale) {
  const double error = dtype == POSENC_F64 ? SUM_ERROR : SUM_NARROW_ERROR;
  return (doubles)((u64s)(factor * (error * scale + SUM_LEAST)) & (u64s)(scale > 0.0));
}

/* Stores the first and the second columns of LANES pairs, in the order of the table. */
INLINE void store_columns(bool interleaved, double *to, doubles first, doubles second) {
  store_aligned(to, interleaved ? zip_low(first, second) : first);
  store_aligned(to + (interleaved ? LANES : SUM_CHUNK), interleaved ? zip_high(first, second) : second);
}

INLINE void find_sum_columns(const cr_constants *cr, posenc_dtype dtype, int64_t pair, int64_t count,
                             const sum_anchors *at, posenc_columns columns, sum_columns *to) {
  const cr_sums *by = &cr->sums;
  const double factor = cr->is_scaled ? ldexp(1.0, cr->exact_factor.exponent) : 1.0;
  const bool interleaved = columns.step == 2, cosine_first = columns.cos < columns.sin;
  for (int64_t i = 0; i < SUM_CHUNK; i += LANES) {
    const int64_t place = columns.step * i, from = i < count ? pair + i : pair;
    const bool any = i < count;
    sums x[2], before[2];
    x[cosine_first] = sums_load(at->sine + i, at->sine_low + i);
    x[!cosine_first] = sums_load(at->cosine + i, at->cosine_low + i);
    const sums step_sine = sums_load(by->step_sin + from, by->step_sin_low + from),
               step_cosine = sums_load(by->step_cos + from, by->step_cos_low + from);
    sums sine = x[cosine_first], cosine = x[!cosine_first];
    rotate_sums(true, &sine, &cosine, step_sine, step_cosine);
    before[cosine_first] = sine;
    before[!cosine_first] = cosine;
    const doubles step = any ? step_sine.high : (doubles){0},
                  scale[2] = {scale_of(x[0].high, step), scale_of(x[1].high, step)};
    store_columns(interleaved, to->now + place, x[0].high, x[1].high);
    store_columns(interleaved, to->now_low + place, x[0].low, x[1].low);
    store_columns(interleaved, to->before + place, before[0].high, before[1].high);
    store_columns(interleaved, to->before_low + place, before[0].low, before[1].low);
    store_columns(interleaved, to->grid + place, SUM_GRID * scale[0], SUM_GRID * scale[1]);
    store_columns(interleaved, to->error + place, error_of(dtype, factor, scale[0]), error_of(dtype, factor, scale[1]));
  }
}

/* Makes the rows of a block for a chunk of pairs. */
INLINE void sum_block(sum_maker *make, const destination *to, int64_t pair, int64_t count, const sum_anchors *at,
                      posenc_columns columns) {
  const int64_t pairs = to->problem->dim / 2, column = columns.step * pair;
  const int parts = columns.step == 1 ? 2 : 1;
  sum_columns found;
  find_sum_columns(to->cr, to->problem->dtype, pair, count, at, columns, &found);
  for (int n = 0; n < parts; n++) make(to, column + n * pairs, columns.step * count, column, n * SUM_CHUNK, &found);
}

/* The first chunk has `ahead` pairs, so that the following chunks begin at cache lines and can be streamed. */
TARGET static void execute_sums(sum_maker *make, const cr_constants *cr, const posenc_problem *problem, int64_t ahead,
                                int64_t row, int64_t rows, char *out) {
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  destination to = {.cr = cr, .problem = problem, .row_bytes = (int64_t)kernel_row_bytes(problem)};
  for (int64_t run = 0, end; run < rows; run = end) {
    end = rows - run < SUM_RUN ? rows : run + SUM_RUN - KERNEL_BLOCK;
    for (int64_t pair = 0, count; pair < cr->pairs; pair += count) {
      const int64_t most = pair == 0 && ahead ? ahead : SUM_CHUNK;
      sum_anchors at;
      count = cr->pairs - pair < most ? cr->pairs - pair : most;
      for (int64_t done = run; done < end; done += to.at.to - to.at.from) {
        const int64_t position = problem->first + row + done;
        to.at = rotation_block_at(position, end - done);
        if (rows == 1) to.at = (rotation_block){position, 0, 1};
        to.out = out + done * to.row_bytes;
        if (done == run)
          seed_sums(cr, pair, count, to.at.center, &at);
        else
          advance_sums(&cr->sums, pair, count, &at);
        sum_block(make, &to, pair, count, &at, columns);
      }
    }
  }
}

/* What is compiled for each variant. Other dtypes than f64, and all with an attention factor, share one maker each. */
#define SUM_MAKER(name, ...)                                                                                           \
  TARGET static void name(const destination *to, int64_t column, int64_t count, int64_t constants, int64_t place,      \
                          const sum_columns *columns) {                                                                \
    sum_tiles((sum_variant){__VA_ARGS__}, *to, (sum_span){column, count, constants, place, columns});                  \
  }
SUM_MAKER(make_sums_f64, .dtype = POSENC_F64)
SUM_MAKER(make_sums_f64_streamed, .dtype = POSENC_F64, .streamed = STREAMS)
SUM_MAKER(make_sums_narrow, .dtype = to->problem->dtype)
SUM_MAKER(make_sums_scaled, .dtype = to->problem->dtype, .scaled = true)

static void execute_in_sums(const cr_constants *cr, const posenc_problem *problem, int64_t row, int64_t rows,
                            char *out) {
  enum { LEAST_PART = 256 }; /* fewest columns for streaming rows that begin within a cache line */
  const int64_t columns = STREAMS ? store_columns_to_line(problem, out) : -1,
                step = posenc_layout_columns(problem->layout, problem->dim).step;
  const bool can = columns == 0 || (columns > 0 && columns % step == 0 && cr->pairs * step >= LEAST_PART);
  sum_maker *const plain = problem->dtype == POSENC_F64 ? make_sums_f64 : make_sums_narrow;
  sum_maker *const make = cr->is_scaled ? make_sums_scaled : plain;
  if (can && make == make_sums_f64 && store_streams(cr->angles->stores, problem, rows, out)) {
    execute_sums(make_sums_f64_streamed, cr, problem, columns / step, row, rows, out);
    store_fence();
  } else {
    execute_sums(make, cr, problem, 0, row, rows, out);
  }
}

#endif
