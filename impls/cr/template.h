/* SPDX-License-Identifier: MIT */
/*
 * The fast path of the correctly rounded kernels, for any kind of vector. A kernel includes vectors.h, defines what is
 * listed here, includes this, and has its `execute` and `tell_stages`:
 *
 *     VECTORS           even; so many vectors of columns walk down the rows together
 *     STREAMS           whether store_pair can store past the caches
 *     turns_at          angle_at, for LANES frequencies
 *     multiply_add, multiply_subtract    a b + c and a b - c, fused or not
 *     zip_low, zip_high     a0 b0 a1 b1 …, the lower and the upper half of it
 *     doubt, no_doubt, is_doubt    gathers whether a lane is in doubt; where it says so falsely, time is lost
 *     store_pair        2 LANES columns, rounded to the table's format if not in doubt, and gathers whether one is
 */
#ifndef POSENC_IMPLS_CR_TEMPLATE_H
#define POSENC_IMPLS_CR_TEMPLATE_H

#include "impls/cr/cr.h"
#include "lib/simd/angle-vectors.h"
#include "lib/simd/store.h"
#include "lib/simd/vectors.h"

/* Columns of a tile, which walk down the rows together; of the last tiles of a row; and of the tables of anchors: many sines
   are found together, since each takes long but several can be under way. */
enum { TILE = VECTORS * LANES, TAIL = 2 * LANES, BLOCK = 32, CHUNK = 256 };
_Static_assert(TILE % TAIL == 0, "a tile is some tails");
_Static_assert(ANGLE_PADDING % TAIL == 0 && CHUNK % TILE == 0, "whole vectors of constants, and of anchors");

/* Columns as they lie in the table, at the row of the anchor and at the one before: of CHUNK pairs interleaved, or of
   CHUNK pairs the first and then the second column. */
typedef struct anchors {
  _Alignas(64) double now[2 * CHUNK], before[2 * CHUNK];
} anchors;

/* Sines and cosines of CHUNK pairs. */
typedef struct points {
  _Alignas(64) double sine[CHUNK], cosine[CHUNK];
} points;

/* Rows of a tile in which something is in doubt. They are looked at when the tile is done, so that its columns stay in registers. */
typedef struct doubts {
  int count, rows[BLOCK];
  _Alignas(64) double columns[BLOCK][TILE];
} doubts;

/* Given by value, so that no store can be thought to change it. */
typedef struct target {
  const cr_table *table;
  const posenc_problem *problem;
  char *out;         /* row `at.from` of the block */
  int64_t row_bytes; /* from one row to the next */
  rotation_block at;
} target;

/* Columns next to each other: the first of the table, how many, and their constants and anchors. */
typedef struct strip {
  int64_t column, count;
  const double *twice_cosine, *now, *before;
} strip;

/* What does not change in the loops must not be asked there: known where a tile is compiled. */
typedef struct form {
  int vectors;
  posenc_dtype dtype;
  bool streamed;
} form;

INLINE int64_t bytes_of(form as) {
  return as.dtype == POSENC_F32 ? 4 : 2;
}

INLINE void store_row(form as, char *out, int row, const vector *x, doubts *found) {
  doubt any = no_doubt();
  UNROLL
  for (int v = 0; v < as.vectors; v += 2)
    any = store_pair(as.dtype, as.streamed, out + v * LANES * bytes_of(as), x[v], x[v + 1], any);
  if (__builtin_expect(!is_doubt(as.dtype, any), 1)) return;
  UNROLL
  for (int v = 0; v < as.vectors; v++) keep(found->columns[found->count] + v * LANES, x[v]);
  found->rows[found->count++] = row;
}

/* x(n+1) in the place of x(n-1). The constants stay in memory: registers are few. */
INLINE void advance(form as, vector *before, const vector *now, const double *twice_cosine) {
  UNROLL
  for (int v = 0; v < as.vectors; v++) before[v] = multiply_subtract(load(twice_cosine + v * LANES), now[v], before[v]);
}

/* Rows first, first + way, … as many as `rows`, of which those of the block are stored; a row on, the two states have changed
   their parts. */
INLINE void walk(form as, char *out, int64_t row_bytes, rotation_block at, int first, int way, int rows,
                 const double *twice_cosine, const double *start, const double *start_before, doubts *found) {
  vector now[VECTORS], before[VECTORS];
  UNROLL
  for (int v = 0; v < as.vectors; v++) {
    now[v] = load(start + v * LANES);
    before[v] = load(start_before + v * LANES);
  }
  out += (first - at.from) * row_bytes;
  for (int n = 0; n < rows; n += 2) {
    const int row = first + way * n, next = row + way;
    if (row >= at.from && row < at.to) store_row(as, out, row, now, found);
    advance(as, before, now, twice_cosine);
    out += way * row_bytes;
    if (n + 1 < rows && next >= at.from && next < at.to) store_row(as, out, next, before, found);
    advance(as, now, before, twice_cosine);
    out += way * row_bytes;
  }
}

INLINE void walk_both_ways(form as, char *out, int64_t row_bytes, rotation_block at, strip from, doubts *found) {
  found->count = 0;
  walk(as, out, row_bytes, at, 0, 1, at.to, from.twice_cosine, from.now, from.before, found);
  walk(as, out, row_bytes, at, -1, -1, -at.from, from.twice_cosine, from.before, from.now, found);
}

TARGET static __attribute__((noinline)) void settle(target to, strip from, const doubts *found) {
  const posenc_dtype dtype = to.problem->dtype;
  for (int n = 0; n < found->count; n++) {
    const int row = found->rows[n];
    if (to.at.center + row == 0) continue; /* exact already */
    char *out = to.out + (row - to.at.from) * to.row_bytes;
    for (int64_t i = 0; i < from.count; i++) {
      const double x = found->columns[n][i];
      if (dtype != POSENC_F32 && !cr_needs_double(x, dtype)) continue;
      if (cr_in_doubt(x, cr_doubt_bits(dtype)))
        cr_element(to.table, to.problem, to.at.center + row, from.column + i, out);
      else
        round_to(dtype, out, from.column + i, x);
    }
  }
}

INLINE void tile(form as, target to, strip from) {
  doubts found;
  walk_both_ways(as, to.out + from.column * bytes_of(as), to.row_bytes, to.at, from, &found);
  if (found.count) settle(to, from, &found);
}

/* Fewer columns than a pair of vectors has. */
INLINE void cut_tile(form as, target to, strip from) {
  enum { MOST_BYTES = 4 };
  const int64_t bytes = from.count * bytes_of(as), whole_bytes = TAIL * bytes_of(as);
  _Alignas(64) char whole[BLOCK * TAIL * MOST_BYTES];
  doubts found;
  walk_both_ways(as, whole, whole_bytes, to.at, from, &found);
  for (int row = 0; row < to.at.to - to.at.from; row++)
    memcpy(to.out + row * to.row_bytes + from.column * bytes_of(as), whole + row * whole_bytes, (size_t)bytes);
  if (found.count) settle(to, from, &found);
}

/* Takes so many columns off. */
INLINE strip take(strip *from, int64_t columns) {
  strip taken = *from;
  taken.count = columns;
  from->column += columns;
  from->count -= columns;
  from->twice_cosine += columns;
  from->now += columns;
  from->before += columns;
  return taken;
}

INLINE void tiles(form as, target to, strip from) {
  const form tail = {2, as.dtype, false};
  while (from.count >= TILE) tile(as, to, take(&from, TILE));
  while (from.count >= TAIL) tile(tail, to, take(&from, TAIL));
  if (from.count) cut_tile(tail, to, from);
}

/* One block on, of the pairs [pair, pair + count), and on to whole tails. */
INLINE void leap(const cr_table *table, int64_t pair, int64_t count, points *at) {
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    const vector sine = load(at->sine + i), cosine = load(at->cosine + i);
    const vector leap_sin = load(table->leap_sin + pair + i), leap_cos = load(table->leap_cos + pair + i);
    keep(at->sine + i, multiply_add(sine, leap_cos, cosine * leap_sin));
    keep(at->cosine + i, multiply_subtract(cosine, leap_cos, sine * leap_sin));
  }
}

INLINE void find_exact(const cr_table *table, int64_t pair, int64_t count, int64_t position, points *at) {
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    vector sine, cosine;
    sincos_of(turns_at(table->angles, pair + i, position), true, &sine, &cosine);
    keep(at->sine + i, sine);
    keep(at->cosine + i, cosine);
  }
}

/* The anchors at a center. */
INLINE void find_points(const cr_table *table, int64_t pair, int64_t count, int64_t center, points *at) {
  const int64_t exact = cr_exact_anchor(center);
  find_exact(table, pair, count, exact, at);
  for (int64_t position = exact; position < center; position += BLOCK) leap(table, pair, count, at);
}

INLINE void find_anchors(const cr_table *table, int64_t pair, int64_t count, const points *from, posenc_columns to,
                         anchors *at) {
  const angle_table *angles = table->angles;
  for (int64_t i = 0; i < count || i % TAIL; i += LANES) {
    const vector sine = load(from->sine + i), cosine = load(from->cosine + i);
    const vector step_sin = load(angles->step_sin + pair + i), step_cos = load(angles->step_cos + pair + i);
    const vector sine_before = multiply_subtract(sine, step_cos, cosine * step_sin),
                 cosine_before = multiply_add(cosine, step_cos, sine * step_sin);
    const bool cosine_first = to.cos < to.sin;
    const vector first = cosine_first ? cosine : sine, second = cosine_first ? sine : cosine;
    const vector first_before = cosine_first ? cosine_before : sine_before,
                 second_before = cosine_first ? sine_before : cosine_before;
    const bool interleaved = to.step == 2;
    double *now = at->now + to.step * i, *before = at->before + to.step * i;
    const int64_t next = interleaved ? LANES : CHUNK;
    keep(now, interleaved ? zip_low(first, second) : first);
    keep(now + next, interleaved ? zip_high(first, second) : second);
    keep(before, interleaved ? zip_low(first_before, second_before) : first_before);
    keep(before + next, interleaved ? zip_high(first_before, second_before) : second_before);
  }
}

/* The rows of a block, for a chunk of pairs. */
INLINE void execute_block(form as, target to, int64_t pair, int64_t count, const points *found,
                          posenc_columns columns) {
  const int64_t pairs = to.problem->dim / 2, column = columns.step * pair;
  const double *twice_cosine = to.table->twice_cosine + column;
  const int strips = columns.step == 1 ? 2 : 1;
  anchors at;
  find_anchors(to.table, pair, count, found, columns, &at);
  for (int n = 0; n < strips; n++) /* one call, as all of it is compiled for each */
    tiles(as, to,
          (strip){column + n * pairs, columns.step * count, twice_cosine, at.now + n * CHUNK, at.before + n * CHUNK});
}

/* A row alone is an anchor of its own. */
INLINE void execute_row(form as, target to, int64_t position, posenc_columns columns) {
  const int64_t pairs = to.problem->dim / 2;
  to.at = (rotation_block){position, 0, 1};
  for (int64_t pair = 0; pair < pairs; pair += CHUNK) {
    const int64_t count = pairs - pair < CHUNK ? pairs - pair : CHUNK;
    points found;
    find_exact(to.table, pair, count, position, &found);
    execute_block(as, to, pair, count, &found, columns);
  }
}

/* The blocks from one exact anchor to the next are done for a chunk of pairs at a time. */
INLINE void execute_as(form as, const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows,
                       char *out) {
  const int64_t pairs = problem->dim / 2;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  target to = {.table = table, .problem = problem, .out = out, .row_bytes = problem->dim * bytes_of(as)};
  if (rows == 1) {
    execute_row(as, to, problem->first + row, columns);
    return;
  }
  for (int64_t run = 0, end; run < rows; run = end) {
    const int64_t position = problem->first + row + run, center = rotation_block_at(position, rows - run).center;
    const int64_t left = cr_exact_anchor(center) + CR_LEAPS * BLOCK + BLOCK / 2 - position;
    end = left < rows - run ? run + left : rows;
    for (int64_t pair = 0; pair < pairs; pair += CHUNK) {
      const int64_t count = pairs - pair < CHUNK ? pairs - pair : CHUNK;
      points found;
      for (int64_t done = run; done < end; done += to.at.to - to.at.from) {
        to.at = rotation_block_at(problem->first + row + done, rows - done);
        to.out = out + done * to.row_bytes;
        if (done == run)
          find_points(table, pair, count, to.at.center, &found);
        else
          leap(table, pair, count, &found);
        execute_block(as, to, pair, count, &found, columns);
      }
    }
  }
}

/* Columns of the row `from` of a block, in the place of those of the anchor. */
INLINE void row_of(rotation_block at, const double *twice_cosine, int64_t count, double *now, const double *before) {
  const bool back = at.from < 0; /* the row before the anchor is one row back already */
  const int steps = back ? -1 - at.from : at.from;
  for (int64_t i = 0; i < count; i += LANES) {
    const vector k = load(twice_cosine + i);
    vector x = load(back ? before + i : now + i), behind = load(back ? now + i : before + i);
    for (int n = 0; n < steps; n++) {
      const vector next = multiply_subtract(k, x, behind);
      behind = x;
      x = next;
    }
    keep(now + i, x);
  }
}

/* The stages of whole rows, from the same operations. */
TARGET static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                               posenc_stages *stages) {
  const cr_table *table = constants;
  const int64_t pairs = problem->dim / 2;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t other = columns.step == 1 ? CHUNK : 1; /* from the first column of a pair to the second */
  const int64_t sine = columns.cos < columns.sin ? other : 0, cosine = other - sine;
  for (int64_t r = 0; r < rows; r++) {
    const rotation_block at = rotation_block_at(problem->first + row + r, 1);
    for (int64_t pair = 0; pair < pairs; pair += CHUNK) {
      const int64_t count = pairs - pair < CHUNK ? pairs - pair : CHUNK;
      const double *twice_cosine = table->twice_cosine + columns.step * pair;
      points found;
      anchors x;
      find_points(table, pair, count, at.center, &found);
      find_anchors(table, pair, count, &found, columns, &x);
      row_of(at, twice_cosine, columns.step * count, x.now, x.before);
      if (columns.step == 1) row_of(at, twice_cosine, count, x.now + CHUNK, x.before + CHUNK);
      for (int64_t i = 0; i < count; i++)
        *stages++ =
            cr_stages(table, problem, at, pair + i, x.now[columns.step * i + sine], x.now[columns.step * i + cosine]);
    }
  }
  return true;
}

/* One instance for each form. */
#define CR_INSTANCE(name, dtype, streamed)                                                                             \
  TARGET static void name(const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows,             \
                          char *out) {                                                                                 \
    execute_as((form){VECTORS, dtype, streamed}, table, problem, row, rows, out);                                      \
  }
CR_INSTANCE(f32, POSENC_F32, false)
CR_INSTANCE(f32_streamed, POSENC_F32, true)
CR_INSTANCE(f16, POSENC_F16, false)
CR_INSTANCE(f16_streamed, POSENC_F16, true)
CR_INSTANCE(bf16, POSENC_BF16, false)
CR_INSTANCE(bf16_streamed, POSENC_BF16, true)

TARGET static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  typedef void instance(const cr_table *, const posenc_problem *, int64_t, int64_t, char *);
  static instance *const instances[][2] = {[POSENC_F32] = {f32, STREAMS ? f32_streamed : f32},
                                           [POSENC_F16] = {f16, STREAMS ? f16_streamed : f16},
                                           [POSENC_BF16] = {bf16, STREAMS ? bf16_streamed : bf16}};
  const bool streamed = STREAMS && store_streams(((const cr_table *)constants)->angles->stores, problem, rows, out,
                                                 TAIL * posenc_dtype_bytes(problem->dtype));
  instances[problem->dtype][streamed](constants, problem, row, rows, out);
  if (streamed) store_fence();
}

#endif
