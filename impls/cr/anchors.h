/* SPDX-License-Identifier: MIT */
/* Finds the anchors of blocks, and puts them in the order of the table's columns, for template.h. */
#ifndef POSENC_IMPLS_CR_ANCHORS_H
#define POSENC_IMPLS_CR_ANCHORS_H

#include "impls/cr/recurrence.h"

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
INLINE void turn(doubles *x, doubles *y, doubles sine, doubles cosine) {
  const doubles before = *x;
  *x = multiply_add(*x, cosine, *y * sine);
  *y = multiply_subtract(*y, cosine, before * sine);
}

INLINE i64s lane_numbers(void) {
  static const uint64_t lanes[] = {0, 1, 2, 3, 4, 5, 6, 7};
  return (i64s)load_u64s(lanes);
}

/* Returns turns_at of LANES pairs. Pairs after the last one are the first pairs of the next row, at the next
   position. */
INLINE u64s row_turns_at(const cr_table *table, int64_t pair, int64_t position) {
  const u64s turns = turns_at(table->angles, pair, position);
  if (__builtin_expect(pair + LANES <= table->pairs, 1)) return turns;
  const i64s index = lane_numbers() + pair;
  return turns + (load_u64s(table->angles->turn_high + pair) & (u64s)(index >= table->pairs));
}

/* Computes anchors from their angles. All variants call this function and the two below, with arguments in registers
   (column_maker): inlined, they take no less time. */
TARGET static __attribute__((noinline)) void seed_anchor(const cr_table *table, int64_t pair, int64_t count,
                                                         int64_t position, anchor_sincos *at) {
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    doubles sine, cosine;
    sincos_of(row_turns_at(table, pair + i, position), true, &sine, &cosine);
    store_aligned(at->sine + i, sine);
    store_aligned(at->cosine + i, cosine);
  }
}

/* Computes the anchors of the block around `center`. */
TARGET static __attribute__((noinline)) void find_anchor_sincos(const cr_table *table, int64_t pair, int64_t count,
                                                                int64_t center, anchor_sincos *at) {
  const int64_t exact = cr_exact_anchor(center);
  seed_anchor(table, pair, count, exact, at);
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    doubles sine = load_aligned(at->sine + i), cosine = load_aligned(at->cosine + i);
    const doubles block_sin = load_constants(table->block_sin + pair + i),
                  block_cos = load_constants(table->block_cos + pair + i);
    for (int64_t position = exact; position < center; position += BLOCK) turn(&sine, &cosine, block_sin, block_cos);
    store_aligned(at->sine + i, sine);
    store_aligned(at->cosine + i, cosine);
  }
}

/* How a block uses the anchors that were found: as they are, without the row before; as they are; or advanced from the
   block before. */
typedef enum anchor_use { ANCHOR_ALONE, ANCHOR_FOUND, ANCHOR_ADVANCED } anchor_use;

/* The order of the columns of a pair, in the loop below a constant of the compiler, and `use`, which is none. */
typedef struct pair_order {
  bool interleaved, cosine_first;
  anchor_use use;
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
INLINE void find_columns(pair_order as, const cr_table *table, int64_t first, int64_t count, anchor_sincos *found,
                         int64_t from, anchors *at) {
  const int64_t step = as.interleaved ? 2 : 1;
  double *const sines = found->sine + from, *const cosines = found->cosine + from;
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    const int64_t pair = first + i;
    doubles sine = load_aligned(sines + i), cosine = load_aligned(cosines + i);
    if (as.use == ANCHOR_ADVANCED) {
      turn(&sine, &cosine, load_constants(table->block_sin + pair), load_constants(table->block_cos + pair));
      store_aligned(sines + i, sine);
      store_aligned(cosines + i, cosine);
    }
    place_columns(as, at->now + step * i, sine, cosine);
    if (as.use == ANCHOR_ALONE) continue;
    turn(&cosine, &sine, load_constants(table->angles->step_sin + pair),
         load_constants(table->angles->step_cos + pair));
    place_columns(as, at->before + step * i, sine, cosine);
  }
}

TARGET static __attribute__((noinline)) void find_anchors(pair_order as, const cr_table *table, int64_t pair,
                                                          int64_t count, anchor_sincos *found, int64_t from,
                                                          anchors *at) {
  if (as.interleaved && as.cosine_first)
    find_columns((pair_order){true, true, as.use}, table, pair, count, found, from, at);
  else if (as.interleaved)
    find_columns((pair_order){true, false, as.use}, table, pair, count, found, from, at);
  else if (as.cosine_first)
    find_columns((pair_order){false, true, as.use}, table, pair, count, found, from, at);
  else
    find_columns((pair_order){false, false, as.use}, table, pair, count, found, from, at);
}

#endif
