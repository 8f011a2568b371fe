/* SPDX-License-Identifier: MIT */
/*
 * The fast path of the correctly rounded kernels, for any instruction set. A kernel includes the header of its
 * instruction set (lib/simd) and store.h, and defines VECTORS, the even number of vectors of columns that are computed
 * together in registers; STREAM_VECTORS, the number for streaming stores, at least as many; STREAMS, whether `stream`
 * bypasses the caches; SHIFT_FROM, see `execute`; and SUM_VECTORS, the VECTORS of sums.h. Then it includes this file,
 * and has its `execute` and `stage_samples`.
 */
#ifndef POSENC_IMPLS_CR_TEMPLATE_H
#define POSENC_IMPLS_CR_TEMPLATE_H

#include "impls/cr/cr.h"
#include "lib/api/store.h"

/* TILE: the most columns that are computed together. TAIL: the columns of the last tiles of a row. CHUNK: pairs whose
   sines are computed together, as each takes long but several can overlap. PART: pairs of a chunk whose anchors are put
   in the order of the columns just before they are used, while earlier stores are still on their way to memory. */
enum { TILE = STREAM_VECTORS * LANES, TAIL = 2 * LANES, BLOCK = CR_BLOCK, CHUNK = 256, PART = 64 };
_Static_assert(TILE % TAIL == 0, "a tile is some tails");
_Static_assert(ANGLE_PADDING % TAIL == 0 && CHUNK % PART == 0 && PART % TILE == 0,
               "whole vectors of constants, and of anchors");
_Static_assert(CR_NEXT_PAIRS >= STORE_LINE / 2 / 2 + TAIL, "constants of pairs past the last one");

/* Columns in the order of the table, at the row of the anchor and at the row before: those of PART pairs interleaved,
   or the first and then the second columns of PART pairs. */
typedef struct anchors {
  _Alignas(64) double now[2 * PART], before[2 * PART];
} anchors;

/* The sines and cosines of CHUNK pairs. */
typedef struct anchor_sincos {
  _Alignas(64) double sine[CHUNK], cosine[CHUNK];
} anchor_sincos;

/* The rows of a tile with an uncertain rounding. They are recomputed after the tile, so that its columns stay in
   registers. */
typedef struct uncertain_rows {
  int count, rows[BLOCK];
  _Alignas(64) double columns[BLOCK][TILE];
} uncertain_rows;

/* Where a block is stored. Passed by value, so that output stores cannot alias it. */
typedef struct destination {
  const cr_table *table;
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

/* Compile-time parameters, which leave no branch in the loops. */
typedef struct variant {
  int vectors;
  posenc_dtype dtype;
  bool streamed, certified, scaled; /* certified: without rounding test; scaled: with attention factor */
} variant;

INLINE int64_t bytes_of(variant as) {
  return as.dtype == POSENC_F32 ? 4 : 2;
}

/* Loads constants of any column. Instruction sets that do not stream only begin rows at pair 0; unaligned loads would
   cost them an instruction. */
INLINE doubles load_constants(const double *from) {
  return STREAMS ? load_doubles(from) : load_aligned(from);
}

/* Stores a row of a tile; returns whether a rounding is uncertain. */
INLINE bool store_tested_row(variant as, char *out, const doubles *x) {
  flags any = no_flags();
  UNROLL(8)
  for (int v = 0; v < as.vectors; v += 2)
    any = store_pair(as.dtype, as.streamed, out + v * LANES * bytes_of(as), x[v], x[v + 1], any);
  return is_uncertain(as.dtype, any);
}

/* Stores a row of a tile times the attention factor; returns whether a rounding is uncertain. */
INLINE bool store_scaled_row(variant as, const cr_table *table, char *out, const doubles *x) {
  const double factor = table->factor.high, error = table->scaled_error;
  u64s any = {0};
  UNROLL(8)
  for (int v = 0; v < as.vectors; v += 2) {
    const doubles a = x[v] * factor, b = x[v + 1] * factor, least[] = {a - error, b - error},
                  most[] = {a + error, b + error};
    any |= store_between(as.dtype, out + v * LANES * bytes_of(as), least, most);
  }
  return any_bits(any);
}

INLINE void store_row(variant as, const cr_table *table, char *out, int row, const doubles *x, uncertain_rows *found) {
  if (as.certified) {
    UNROLL(8)
    for (int v = 0; v < as.vectors; v += 2)
      store_certain(as.dtype, as.streamed, out + v * LANES * bytes_of(as), x[v], x[v + 1]);
    return;
  }
  const bool uncertain = as.scaled ? store_scaled_row(as, table, out, x) : store_tested_row(as, out, x);
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
INLINE int rows_walked(rotation_block at, bool back) {
  return back ? -at.from : at.to;
}

/* Computes the rows of the block from its anchor on, or back from the row before it. The two states swap their parts
   after each row. */
INLINE void walk(variant as, destination to, column_span from, bool back, char *out, int64_t row_bytes,
                 uncertain_rows *found) {
  const rotation_block at = to.at;
  const int first = back ? -1 : 0, way = back ? -1 : 1, rows = rows_walked(at, back);
  doubles now[VECTORS], before[VECTORS];
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) {
    now[v] = load_aligned((back ? from.before : from.now) + v * LANES);
    before[v] = load_aligned((back ? from.now : from.before) + v * LANES);
  }
  out += (first - at.from) * row_bytes;
  for (int n = 0; n < rows; n += 2) {
    const int row = first + way * n, next = row + way;
    if (row >= at.from && row < at.to) store_row(as, to.table, out, row, now, found);
    advance(as, before, now, from.twice_cosine);
    out += way * row_bytes;
    if (n + 1 < rows && next >= at.from && next < at.to) store_row(as, to.table, out, next, before, found);
    advance(as, now, before, from.twice_cosine);
    out += way * row_bytes;
  }
}

/* `walk` for more vectors than the registers hold twice. The earlier rows are in memory: one load and one store per
   vector. Left to itself, the compiler would move both states of some vectors, which takes twice as long. */
INLINE void walk_wide(variant as, destination to, column_span from, bool back, char *out, int64_t row_bytes,
                      uncertain_rows *found) {
  const rotation_block at = to.at;
  const int first = back ? -1 : 0, way = back ? -1 : 1, rows = rows_walked(at, back);
  doubles now[STREAM_VECTORS];
  _Alignas(64) double before[STREAM_VECTORS * LANES];
  UNROLL(8)
  for (int v = 0; v < as.vectors; v++) {
    now[v] = load_aligned((back ? from.before : from.now) + v * LANES);
    store_aligned(before + v * LANES, load_aligned((back ? from.now : from.before) + v * LANES));
  }
  out += (first - at.from) * row_bytes;
  for (int n = 0; n < rows; n++, out += way * row_bytes) {
    const int row = first + way * n;
    if (row >= at.from && row < at.to) store_row(as, to.table, out, row, now, found);
    UNROLL(8)
    for (int v = 0; v < as.vectors; v++) {
      const doubles was = load_aligned(before + v * LANES);
      store_aligned(before + v * LANES, now[v]);
      now[v] = multiply_subtract(load_constants(from.twice_cosine + v * LANES), now[v], was);
    }
    __asm__ volatile("" ::"r"(before) : "memory"); /* keeps `before` in memory */
  }
}

INLINE void walk_as(variant as, destination to, column_span from, char *out, int64_t row_bytes, uncertain_rows *found) {
  if (as.vectors > VECTORS) {
    walk_wide(as, to, from, false, out, row_bytes, found);
    walk_wide(as, to, from, true, out, row_bytes, found);
  } else {
    walk(as, to, from, false, out, row_bytes, found);
    walk(as, to, from, true, out, row_bytes, found);
  }
}

INLINE bool has_next_row(destination to, column_span from) {
  return from.column + from.count > to.problem->dim;
}

/* Computes a tile's rows in both directions. Columns of the next row are always tested, as certificates do not hold for
   them: they start from another anchor than in the next row's own block. */
INLINE void walk_both_ways(variant as, destination to, column_span from, char *out, int64_t row_bytes,
                           uncertain_rows *found) {
  const variant tested = {as.vectors, as.dtype, as.streamed, false, as.scaled};
  found->count = 0;
  if (as.certified && has_next_row(to, from))
    walk_as(tested, to, from, out, row_bytes, found);
  else
    walk_as(as, to, from, out, row_bytes, found);
}

INLINE bool rounds_differently(posenc_dtype dtype, double low, double high) {
  uint64_t one = 0, other = 0; /* room for any dtype */
  round_to(dtype, &one, 0, low);
  round_to(dtype, &other, 0, high);
  return one != other;
}

/* Whether the rounding of an element times the attention factor is uncertain. */
INLINE bool is_between(const cr_table *table, posenc_dtype dtype, double x) {
  const double scaled = x * table->factor.high;
  return rounds_differently(dtype, scaled - table->scaled_error, scaled + table->scaled_error);
}

TARGET static __attribute__((noinline)) void recompute_uncertain(destination to, column_span from,
                                                                 const uncertain_rows *found) {
  const posenc_dtype dtype = to.problem->dtype;
  const bool scaled = to.table->is_scaled;
  for (int n = 0; n < found->count; n++) {
    if (to.at.center + found->rows[n] == 0 && !has_next_row(to, from) && !scaled) continue; /* an exact anchor */
    for (int64_t i = 0; i < from.count; i++) {
      const double x = found->columns[n][i];
      const bool in_doubt = scaled ? is_between(to.table, dtype, x) : cr_is_uncertain(x, cr_midpoint_bits(dtype));
      if (dtype == POSENC_F32 || scaled ? !in_doubt : !cr_needs_double(x, dtype)) continue;
      const bool is_next = from.column + i >= to.problem->dim;
      const int64_t column = from.column + i - (is_next ? to.problem->dim : 0), row = found->rows[n] + is_next;
      char *out = to.out + (row - to.at.from) * to.row_bytes;
      if (in_doubt)
        cr_element(to.table, to.problem, to.at.center + row, column, out);
      else
        round_to(dtype, out, column, x);
    }
  }
}

INLINE void tile(variant as, destination to, column_span from) {
  uncertain_rows found;
  walk_both_ways(as, to, from, to.out + from.column * bytes_of(as), to.row_bytes, &found);
  if (found.count) recompute_uncertain(to, from, &found);
}

/* A tile with fewer columns than two vectors hold. */
INLINE void cut_tile(variant as, destination to, column_span from) {
  enum { MOST_BYTES = 4 };
  const int64_t bytes = from.count * bytes_of(as), whole_bytes = TAIL * bytes_of(as);
  _Alignas(64) char whole[BLOCK * TAIL * MOST_BYTES];
  uncertain_rows found;
  walk_both_ways(as, to, from, whole, whole_bytes, &found);
  for (int row = 0; row < to.at.to - to.at.from; row++)
    memcpy(to.out + row * to.row_bytes + from.column * bytes_of(as), whole + row * whole_bytes, (size_t)bytes);
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

INLINE void tiles(variant as, destination to, column_span from) {
  const bool streams_tail = as.streamed && TAIL * bytes_of(as) % STORE_LINE == 0;
  const variant tail = {2, as.dtype, streams_tail, as.certified, as.scaled},
                cut = {2, as.dtype, false, as.certified, as.scaled};
  const int64_t width = as.vectors * LANES;
  while (from.count >= width) tile(as, to, split_columns(&from, width));
  while (from.count >= TAIL) tile(tail, to, split_columns(&from, TAIL));
  if (from.count) cut_tile(cut, to, from);
}

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

INLINE void seed_anchor(const cr_table *table, pair_span pairs, int64_t position, anchor_sincos *at) {
  for (int64_t i = 0; i < pairs.count || i % TAIL; i += LANES) {
    doubles sine, cosine;
    sincos_of(row_turns_at(table, pairs.first + i, position), true, &sine, &cosine);
    store_aligned(at->sine + i, sine);
    store_aligned(at->cosine + i, cosine);
  }
}

/* Computes the anchors of the block around `center`. */
INLINE void find_anchor_sincos(const cr_table *table, pair_span pairs, int64_t center, anchor_sincos *at) {
  const int64_t exact = cr_exact_anchor(center);
  seed_anchor(table, pairs, exact, at);
  for (int64_t i = 0; i < pairs.count || i % TAIL; i += LANES) {
    doubles sine = load_aligned(at->sine + i), cosine = load_aligned(at->cosine + i);
    const doubles block_sin = load_constants(table->block_sin + pairs.first + i),
                  block_cos = load_constants(table->block_cos + pairs.first + i);
    for (int64_t position = exact; position < center; position += BLOCK) turn(&sine, &cosine, block_sin, block_cos);
    store_aligned(at->sine + i, sine);
    store_aligned(at->cosine + i, cosine);
  }
}

/* Compile-time parameters: the order of the columns of a pair. */
typedef struct pair_order {
  bool interleaved, cosine_first;
} pair_order;

INLINE void place_columns(pair_order as, double *to, doubles sine, doubles cosine) {
  const doubles first = as.cosine_first ? cosine : sine, second = as.cosine_first ? sine : cosine;
  store_aligned(to, as.interleaved ? zip_low(first, second) : first);
  store_aligned(to + (as.interleaved ? LANES : PART), as.interleaved ? zip_high(first, second) : second);
}

/* Finds the columns of at most PART pairs. Their anchors are `from` pairs into the chunk `found`; with `leap`, these
   are first advanced to this block. */
INLINE void find_columns(pair_order as, const cr_table *table, pair_span pairs, anchor_sincos *found, int64_t from,
                         bool leap, anchors *at) {
  const int64_t step = as.interleaved ? 2 : 1;
  for (int64_t i = 0; i < pairs.count || i % TAIL; i += LANES) {
    const int64_t pair = pairs.first + i;
    doubles sine = load_aligned(found->sine + from + i), cosine = load_aligned(found->cosine + from + i);
    if (leap) {
      turn(&sine, &cosine, load_constants(table->block_sin + pair), load_constants(table->block_cos + pair));
      store_aligned(found->sine + from + i, sine);
      store_aligned(found->cosine + from + i, cosine);
    }
    place_columns(as, at->now + step * i, sine, cosine);
    turn(&cosine, &sine, load_constants(table->angles->step_sin + pair),
         load_constants(table->angles->step_cos + pair));
    place_columns(as, at->before + step * i, sine, cosine);
  }
}

INLINE void find_anchors(posenc_columns columns, const cr_table *table, pair_span pairs, anchor_sincos *found,
                         int64_t from, bool leap, anchors *at) {
  const bool cosine_first = columns.cos < columns.sin;
  if (columns.step == 2 && cosine_first)
    find_columns((pair_order){true, true}, table, pairs, found, from, leap, at);
  else if (columns.step == 2)
    find_columns((pair_order){true, false}, table, pairs, found, from, leap, at);
  else if (cosine_first)
    find_columns((pair_order){false, true}, table, pairs, found, from, leap, at);
  else
    find_columns((pair_order){false, false}, table, pairs, found, from, leap, at);
}

/* Stores the rows of a block for a chunk of pairs. `found` has the anchors of this block or, with `leap`, of the block
   before. */
INLINE void execute_block(variant as, destination to, pair_span chunk, anchor_sincos *found, bool leap,
                          posenc_columns columns) {
  const int64_t pairs = to.problem->dim / 2;
  const int strips = columns.step == 1 ? 2 : 1;
  for (int64_t done = 0; done < chunk.count; done += PART) {
    const pair_span part = {chunk.first + done, chunk.count - done < PART ? chunk.count - done : PART};
    const int64_t column = columns.step * part.first;
    anchors at;
    find_anchors(columns, to.table, part, found, done, leap, &at);
    for (int n = 0; n < strips; n++) /* a loop, as each call is inlined */
      tiles(as, to,
            (column_span){column + n * pairs, columns.step * part.count, to.table->twice_cosine + column,
                          at.now + n * PART, at.before + n * PART});
  }
}

/* A single row is computed as an anchor, without a certificate: certificates hold for rows that are computed from the
   anchor of their block. */
INLINE void execute_row(variant as, destination to, pair_span span, int64_t position, posenc_columns columns) {
  const variant tested = {as.vectors, as.dtype, as.streamed, false, as.scaled};
  to.at = (rotation_block){position, 0, 1};
  for (int64_t done = 0; done < span.count; done += CHUNK) {
    const pair_span chunk = {span.first + done, span.count - done < CHUNK ? span.count - done : CHUNK};
    anchor_sincos found;
    seed_anchor(to.table, chunk, position, &found);
    execute_block(tested, to, chunk, &found, false, columns);
  }
}

/* The blocks from one exact anchor to the next are computed for one chunk of pairs after the other. */
INLINE void execute_as(variant as, const cr_table *table, const posenc_problem *problem, pair_span span, int64_t row,
                       int64_t rows, char *out) {
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  destination to = {.table = table, .problem = problem, .out = out, .row_bytes = problem->dim * bytes_of(as)};
  if (rows == 1) {
    execute_row(as, to, span, problem->first + row, columns);
    return;
  }
  for (int64_t run = 0, end; run < rows; run = end) {
    const int64_t position = problem->first + row + run, center = rotation_block_at(position, rows - run).center;
    const int64_t left = cr_exact_anchor(center) + CR_ADVANCES * BLOCK + BLOCK / 2 - position;
    end = left < rows - run ? run + left : rows;
    for (int64_t some = 0; some < span.count; some += CHUNK) {
      const pair_span chunk = {span.first + some, span.count - some < CHUNK ? span.count - some : CHUNK};
      anchor_sincos found;
      for (int64_t done = run; done < end; done += to.at.to - to.at.from) {
        to.at = rotation_block_at(problem->first + row + done, rows - done);
        to.out = out + done * to.row_bytes;
        if (done == run) find_anchor_sincos(table, chunk, to.at.center, &found);
        execute_block(as, to, chunk, &found, done > run, columns);
      }
    }
  }
}

#include "impls/cr/sums.h"

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
TARGET static bool stage_samples(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                                 posenc_stages *stages) {
  const cr_table *table = constants;
  if (table->in_sums) return cr_exact_stages(table, problem, row, rows, stages);
  const int64_t pairs = problem->dim / 2;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t other = columns.step == 1 ? PART : 1; /* from the first column of a pair to the second */
  const int64_t sine = columns.cos < columns.sin ? other : 0, cosine = other - sine;
  for (int64_t r = 0; r < rows; r++) {
    const rotation_block at = rotation_block_at(problem->first + row + r, 1);
    for (int64_t pair = 0; pair < pairs; pair += PART) {
      const int64_t count = pairs - pair < PART ? pairs - pair : PART;
      const double *twice_cosine = table->twice_cosine + columns.step * pair;
      anchor_sincos found;
      anchors x;
      find_anchor_sincos(table, (pair_span){pair, count}, at.center, &found);
      find_anchors(columns, table, (pair_span){pair, count}, &found, 0, false, &x);
      row_of(at, twice_cosine, columns.step * count, x.now, x.before);
      if (columns.step == 1) row_of(at, twice_cosine, count, x.now + PART, x.before + PART);
      for (int64_t i = 0; i < count; i++)
        *stages++ =
            cr_stages(table, problem, at, pair + i, x.now[columns.step * i + sine], x.now[columns.step * i + cosine]);
    }
  }
  return true;
}

/* One instance for each variant. */
typedef void instance(const cr_table *table, const posenc_problem *problem, pair_span span, int64_t row, int64_t rows,
                      char *out);
#define CR_INSTANCE(name, dtype, streamed, certified, scaled)                                                          \
  TARGET static void name(const cr_table *table, const posenc_problem *problem, pair_span span, int64_t row,           \
                          int64_t rows, char *out) {                                                                   \
    const variant as = {(streamed) ? STREAM_VECTORS : VECTORS, dtype, streamed, certified, scaled};                    \
    execute_as(as, table, problem, span, row, rows, out);                                                              \
  }
#define CR_INSTANCES(way, streamed, certified, scaled)                                                                 \
  CR_INSTANCE(f32##way, POSENC_F32, streamed, certified, scaled)                                                       \
  CR_INSTANCE(f16##way, POSENC_F16, streamed, certified, scaled)                                                       \
  CR_INSTANCE(bf16##way, POSENC_BF16, streamed, certified, scaled)
CR_INSTANCES(_plain, false, false, false)
CR_INSTANCES(_streamed, STREAMS, false, false)
/* Certificates hold for fused operations only. */
CR_INSTANCES(_certified, false, FUSED, false)
CR_INSTANCES(_both, STREAMS, FUSED, false)
CR_INSTANCES(_scaled, false, false, true)

/* Indexed by dtype, by whether stores are streaming, and by whether there is a certificate. */
static instance *const instances[][2][2] = {[POSENC_F32] = {{f32_plain, f32_certified}, {f32_streamed, f32_both}},
                                            [POSENC_F16] = {{f16_plain, f16_certified}, {f16_streamed, f16_both}},
                                            [POSENC_BF16] = {{bf16_plain, bf16_certified}, {bf16_streamed, bf16_both}}};
static instance *const scaled_instances[] = {
    [POSENC_F32] = f32_scaled, [POSENC_F16] = f16_scaled, [POSENC_BF16] = bf16_scaled};

static bool is_certified(const cr_table *table, const posenc_problem *problem, int64_t row, int64_t rows) {
  const int64_t first = problem->first + row;
  return table->certificate.misrounded && first >= 0 && first <= CERTIFIED_POSITIONS - rows;
}

/* Aligns vectors to cache lines where the rows allow it, by making the first columns of the first row and the last
   columns of the last row separately. Only aligned vectors can be streamed; with regular stores, alignment is faster
   from SHIFT_FROM bytes on. */
TARGET static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const cr_table *table = constants;
  if (table->in_sums) {
    execute_in_sums(table, problem, row, rows, out);
    return;
  }
  if (table->is_scaled) {
    scaled_instances[problem->dtype](table, problem, (pair_span){0, table->pairs}, row, rows, out);
    return;
  }
  const int64_t pairs = table->pairs, element = (int64_t)posenc_dtype_bytes(problem->dtype),
                row_bytes = problem->dim * element, last = rows - 1;
  const int64_t columns = STREAMS ? store_columns_to_line(problem, out) : -1;
  const bool can_shift =
      columns > 0 && columns % 2 == 0 && rows > 1 && posenc_layout_columns(problem->layout, problem->dim).step == 2;
  const bool streams = (columns == 0 || can_shift) && TILE * element % STORE_LINE == 0 &&
                       store_streams(table->angles->stores, problem, rows, out);
  const bool certified = is_certified(table, problem, row, rows);
  instance *const regular = instances[problem->dtype][false][false], *const most =
                                                                         instances[problem->dtype][streams][certified];
  if (can_shift && (streams || rows * row_bytes >= SHIFT_FROM)) {
    const int64_t shift = columns / 2;
    regular(table, problem, (pair_span){0, shift}, row, 1, out);
    regular(table, problem, (pair_span){shift, pairs - shift}, row + last, 1, (char *)out + last * row_bytes);
    most(table, problem, (pair_span){shift, pairs}, row, last, out);
  } else {
    most(table, problem, (pair_span){0, pairs}, row, rows, out);
  }
  if (streams) store_fence();
  if (certified) cr_correct(table, problem, row, rows, out);
}

#endif
