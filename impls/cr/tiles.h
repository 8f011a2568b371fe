/* SPDX-License-Identifier: MIT */
/* Computes and stores the rows of a tile from its anchor on, with the rounding test, for template.h and sums.h.
 * VECTORS, STREAM_VECTORS and STREAMS are the kernel's (see the table in template.h), LANES and the operations those of
 * its header in lib/simd. */
#ifndef POSENC_IMPLS_CR_TILES_H
#define POSENC_IMPLS_CR_TILES_H

#include "impls/cr/cr.h"
#include "impls/cr/rounding.h"
#include "lib/api/store.h"

/* TILE: the most columns that are computed together. TAIL: the columns of the last tiles of a row. CHUNK: pairs whose
   sines are computed together, as each takes long but several can overlap. PART: pairs of a chunk whose anchors are put
   in the order of the columns just before they are used, while earlier stores are still on their way to memory. */
enum { TILE = STREAM_VECTORS * LANES, TAIL = 2 * LANES, CHUNK = 256, PART = 64 };
_Static_assert(TILE % TAIL == 0, "a tile is some tails");
_Static_assert(ANGLE_PADDING % TAIL == 0 && CHUNK % PART == 0 && PART % TILE == 0,
               "whole vectors of constants, and of anchors");
_Static_assert(CR_NEXT_PAIRS >= STORE_LINE / 2 / 2 + TAIL, "constants of pairs past the last one");

/* The rows of a tile with an uncertain rounding. They are recomputed after the tile, so that its columns stay in
   registers. */
typedef struct uncertain_rows {
  int count, rows[KERNEL_BLOCK];
  _Alignas(64) double columns[KERNEL_BLOCK][TILE];
} uncertain_rows;

/* Where a block is stored. Passed by value, so that output stores cannot alias it. */
typedef struct destination {
  const cr_constants *cr;
  const posenc_problem *problem;
  char *out;         /* the row `at.from` of the block */
  int64_t row_bytes; /* from one row to the next */
  rotation_block at;
} destination;

/* Consecutive columns: the first one of the table, their number, and their constants and anchors. */
typedef struct column_span {
  int64_t column, count;
  const double *twice_cosine, *now, *before;
} column_span;

/* Consecutive pairs of a table. In interleaved layouts they may extend past the last pair, to the first pairs of the
   next row, so that a span of a row's length can begin at a cache line. */
typedef struct pair_span {
  int64_t first, count;
} pair_span;

/* Makes the rows of a block for some columns. The parts of their column_span are arguments in registers: on the stack
   they would be written one by one and read as a vector, which waits until all earlier stores are done. */
typedef void column_maker(const destination *to, int64_t column, int64_t count, const double *twice_cosine,
                          const double *now, const double *before);

/* The variant of a column_maker. The compiler knows its members, so that they leave no branch in the loops; but the
   dtype of tables with an attention factor is known at run time only. */
typedef struct variant {
  posenc_dtype dtype;
  int vectors;
  bool certified, streamed, scaled; /* certified: without rounding test; scaled: with attention factor */
  bool alone;                       /* the anchor is the only row */
  /* Not used by `alone` and `scaled`: */
  column_maker *rest;   /* makes columns that fill no tile */
  column_maker *tested; /* makes the columns of the next row, where this row is certified */
} variant;

INLINE int64_t bytes_of(variant as) {
  return as.dtype == POSENC_F32 ? 4 : 2;
}

/* Loads constants of any column. Instruction sets that do not stream only begin rows at pair 0; unaligned loads would
   cost them an instruction. */
INLINE doubles load_constants(const double *from) {
  return STREAMS ? load_doubles(from) : load_aligned(from);
}

/* Stores a row of a tile times the attention factor; returns whether a rounding is uncertain. */
INLINE bool store_scaled_row(variant as, const cr_constants *cr, char *out, const doubles *x) {
  const double factor = cr->factor.high, error = cr->scaled_error;
  u64s any = {0};
  UNROLL(8)
  for (int v = 0; v < as.vectors; v += 2) {
    const doubles a = x[v] * factor, b = x[v + 1] * factor, least[] = {a - error, b - error},
                  most[] = {a + error, b + error};
    any |= store_between(as.dtype, out + v * LANES * bytes_of(as), least, most);
  }
  return any_bits(any);
}

INLINE void store_row(variant as, const cr_constants *cr, char *out, int row, const doubles *x, uncertain_rows *found) {
  bool uncertain;
  if (as.scaled) {
    uncertain = store_scaled_row(as, cr, out, x);
  } else {
    flags any = no_flags();
    UNROLL(8)
    for (int v = 0; v < as.vectors; v += 2)
      any = store_pair(as.dtype, as.streamed, as.certified, out + v * LANES * bytes_of(as), x[v], x[v + 1], any);
    uncertain = !as.certified && is_uncertain(as.dtype, any);
  }
  if (__builtin_expect(!uncertain, 1)) return;
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) store_aligned(found->columns[found->count] + v * LANES, x[v]);
  found->rows[found->count++] = row;
}

/* A step of the recurrence: replaces x(n-1) by x(n+1). The constants stay in memory, because there are few
   registers. */
INLINE void advance(variant as, doubles *before, const doubles *now, const double *twice_cosine) {
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++)
    before[v] = multiply_subtract(load_constants(twice_cosine + v * LANES), now[v], before[v]);
}

/* Returns the number of rows in one direction; there are none if it is negative. */
INLINE int rows_to_run(rotation_block at, bool back) {
  return back ? -at.from : at.to;
}

/* Computes the rows of the block from its anchor on, or, if `back`, from the row before the anchor; a variant that is
   `alone` has no such row. A pass of the loop makes two rows: the first advance() replaces `before` by the row after
   `now`, which is stored next; the second replaces `now` by the row after that. */
INLINE void run_recurrence(variant as, destination to, column_span from, bool back, char *out, int64_t row_bytes,
                           uncertain_rows *found) {
  const rotation_block at = as.alone ? (rotation_block){to.at.center, 0, 1} : to.at; /* 0 and 1 are constants */
  const int first = back ? -1 : 0, way = back ? -1 : 1, rows = rows_to_run(at, back);
  doubles now[VECTORS], before[VECTORS];
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) {
    now[v] = load_aligned((back ? from.before : from.now) + v * LANES);
    before[v] = load_aligned((back ? from.now : from.before) + v * LANES);
  }
  out += (first - at.from) * row_bytes;
  for (int n = 0; n < rows; n += 2) {
    const int row = first + way * n, next = row + way;
    if (row >= at.from && row < at.to) store_row(as, to.cr, out, row, now, found);
    advance(as, before, now, from.twice_cosine);
    out += way * row_bytes;
    if (n + 1 < rows && next >= at.from && next < at.to) store_row(as, to.cr, out, next, before, found);
    advance(as, now, before, from.twice_cosine);
    out += way * row_bytes;
  }
}

/* run_recurrence for more vectors than the registers hold twice. The earlier rows are in memory: one load and one store
   per vector. Left to itself, the compiler would move both states of some vectors, which takes twice as long. */
INLINE void run_recurrence_wide(variant as, destination to, column_span from, bool back, char *out,
                                uncertain_rows *found) {
  const rotation_block at = to.at;
  const int first = back ? -1 : 0, way = back ? -1 : 1, rows = rows_to_run(at, back);
  doubles now[STREAM_VECTORS];
  _Alignas(64) double before[STREAM_VECTORS * LANES];
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) {
    now[v] = load_aligned((back ? from.before : from.now) + v * LANES);
    store_aligned(before + v * LANES, load_aligned((back ? from.now : from.before) + v * LANES));
  }
  out += (first - at.from) * to.row_bytes;
  for (int n = 0; n < rows; n++, out += way * to.row_bytes) {
    const int row = first + way * n;
    if (row >= at.from && row < at.to) store_row(as, to.cr, out, row, now, found);
    UNROLL(8)
    for (int v = 0; v < as.vectors; v++) {
      const doubles was = load_aligned(before + v * LANES);
      store_aligned(before + v * LANES, now[v]);
      now[v] = multiply_subtract(load_constants(from.twice_cosine + v * LANES), now[v], was);
    }
    __asm__ volatile("" ::"r"(before) : "memory"); /* keeps `before` in memory */
  }
}

INLINE bool has_next_row(destination to, column_span from) {
  return from.column + from.count > to.problem->dim;
}

INLINE bool rounds_differently(posenc_dtype dtype, double low, double high) {
  uint64_t one = 0, other = 0; /* room for any dtype */
  round_to(dtype, &one, 0, low);
  round_to(dtype, &other, 0, high);
  return one != other;
}

/* Whether the rounding of an element times the attention factor is uncertain. */
INLINE bool is_between(const cr_constants *cr, posenc_dtype dtype, double x) {
  const double scaled = x * cr->factor.high;
  return rounds_differently(dtype, scaled - cr->scaled_error, scaled + cr->scaled_error);
}

TARGET static __attribute__((noinline)) void recompute_uncertain(destination to, column_span from,
                                                                 const uncertain_rows *found) {
  const posenc_dtype dtype = to.problem->dtype;
  const bool scaled = to.cr->is_scaled;
  for (int n = 0; n < found->count; n++) {
    if (to.at.center + found->rows[n] == 0 && !has_next_row(to, from) && !scaled) continue; /* an exact anchor */
    for (int64_t i = 0; i < from.count; i++) {
      const double x = found->columns[n][i];
      const bool is_uncertain = scaled ? is_between(to.cr, dtype, x) : cr_is_uncertain(x, cr_midpoint_bits(dtype));
      if (dtype == POSENC_F32 || scaled ? !is_uncertain : !cr_needs_double(x, dtype)) continue;
      const bool is_next = from.column + i >= to.problem->dim;
      const int64_t column = from.column + i - (is_next ? to.problem->dim : 0), row = found->rows[n] + is_next;
      char *out = to.out + (row - to.at.from) * to.row_bytes;
      if (is_uncertain)
        cr_element(to.cr, to.problem, to.at.center + row, column, out);
      else
        round_to(dtype, out, column, x);
    }
  }
}

/* Makes a tile of two vectors. If it has fewer columns than they hold, rows are stored by way of a buffer. */
INLINE void narrow_tile(variant as, destination to, column_span from) {
  enum { MOST_BYTES = 4 };
  _Alignas(64) char part[KERNEL_BLOCK * TAIL * MOST_BYTES];
  const bool whole = from.count == TAIL;
  const int64_t row_bytes = whole ? to.row_bytes : TAIL * bytes_of(as);
  char *const place = to.out + from.column * bytes_of(as), *const out = whole ? place : part;
  uncertain_rows found;
  found.count = 0;
  run_recurrence(as, to, from, false, out, row_bytes, &found);
  run_recurrence(as, to, from, true, out, row_bytes, &found);
  for (int row = 0; !whole && row < to.at.to - to.at.from; row++)
    memcpy(place + row * to.row_bytes, part + row * row_bytes, (size_t)(from.count * bytes_of(as)));
  if (found.count) recompute_uncertain(to, from, &found);
}

/* Splits off the first `columns` columns. */
INLINE column_span split_columns(column_span *from, int64_t columns) {
  column_span taken = *from;
  taken.count = columns;
  from->column += columns;
  from->count -= columns;
  from->twice_cosine += columns;
  from->now += columns;
  from->before += columns;
  return taken;
}

INLINE void narrow_tiles(variant as, const destination *to, column_span from) {
  as.vectors = 2;
  while (from.count) narrow_tile(as, *to, split_columns(&from, from.count < TAIL ? from.count : TAIL));
}

/* Makes whole tiles, and then the rest. Columns of the next row are always tested: a certificate holds for columns that
   start from the anchor of their own row's block, and these start from the anchor of the row before. */
INLINE void tiles(variant as, const destination *to, column_span from) {
  const int64_t width = as.vectors * LANES;
  const bool is_cut = as.certified && has_next_row(*to, from);
  for (int64_t left = is_cut ? to->problem->dim - from.column : from.count; left >= width; left -= width) {
    const column_span tile = split_columns(&from, width);
    const destination by = *to;
    char *const out = by.out + tile.column * bytes_of(as);
    uncertain_rows found;
    found.count = 0;
    if (as.vectors > VECTORS) {
      run_recurrence_wide(as, by, tile, false, out, &found);
      run_recurrence_wide(as, by, tile, true, out, &found);
    } else {
      run_recurrence(as, by, tile, false, out, by.row_bytes, &found);
      run_recurrence(as, by, tile, true, out, by.row_bytes, &found);
    }
    if (found.count) recompute_uncertain(by, tile, &found);
  }
  if (as.alone || as.scaled)
    narrow_tiles(as, to, from);
  else if (from.count)
    (is_cut ? as.tested : as.rest)(to, from.column, from.count, from.twice_cosine, from.now, from.before);
}

#endif
