/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "lib/api/kernel.h"
#include "lib/api/rows.h"
#include "lib/api/store.h"
#include "lib/apply/apply.h"

const apply_loops *apply_loops_for(const posenc_options *options) {
  const unsigned isa = isa_usable(options);
  const apply_loops *widest = &apply_loops_generic;
#define TIER(bit, name)                                                                                                \
  if (isa & (bit)) widest = &apply_loops_##name;
  BUILT_TIERS(TIER)
#undef TIER
  return widest;
}

/* Rotates the heads of one position by a row of the table of grouped axes, which have pairs of their own columns each,
   and those columns side by side in the row, too. */
static void rope_grouped(const apply_loops *loops, const posenc_problem *problem, bool fetch, const float *row,
                         const char *x, char *out) {
  const posenc_axes *axes = problem->axes;
  const int64_t bytes = (int64_t)posenc_dtype_bytes(problem->dtype);
  posenc_problem part = *problem;
  part.heads = 1;
  for (int64_t head = 0, at = 0; head < problem->heads; head++)
    for (int64_t a = 0, column = 0; a < axes->count; a++, column += part.dim, at += part.dim) {
      part.dim = 2 * axes->axis[a].pairs;
      loops->rope(&part, fetch, 0, 1, row + column, x + at * bytes, out + at * bytes);
    }
}

/* Rotates the heads of consecutive positions by rows of the table. */
static void rope_rows(const apply_loops *loops, const posenc_problem *problem, bool fetch, int64_t rows,
                      const float *row, const char *x, char *out) {
  if (!problem->axes || !problem->axes->grouped) {
    loops->rope(problem, fetch, 0, rows, row, x, out);
    return;
  }
  const int64_t bytes = apply_width(problem) * (int64_t)posenc_dtype_bytes(problem->dtype);
  for (; rows > 0; rows--, row += problem->dim, x += bytes, out += bytes)
    rope_grouped(loops, problem, fetch, row, x, out);
}

/* ---- results that are streamed: made in the first cache, a part at a time, and copied from there ------------- */

/* A part is heads of one position, or as many whole positions as half of it holds, which is faster than all of it. */
enum { PART_BYTES = 1 << 12 };

/* Without prefetches of ours rope is faster from so many bytes at a position on, as rows are made seldom; and with any
   number if the table is finished (doc/notebook.md). */
enum { MANY_BYTES = 2560 };

bool apply_streams(posenc_stores stores, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                   const void *out) {
  const size_t bytes = posenc_dtype_bytes(problem->dtype),
               all = (size_t)slice->batch * (size_t)slice->rows * (size_t)apply_width(problem) * bytes;
  if (problem->op == POSENC_ROPE && (size_t)problem->dim * bytes > PART_BYTES) return false;
  return stores != POSENC_STORES_REGULAR && x != out && store_pays_applied(all, bytes, out);
}

static void add_to(const apply_loops *loops, posenc_dtype dtype, int64_t count, const float *table, const char *x,
                   char *out) {
  loops->add(dtype, count, table, x, out);
}

static void stream_added(const apply_loops *loops, posenc_dtype dtype, int64_t count, const float *table, const char *x,
                         char *out) {
  _Alignas(64) char part[PART_BYTES];
  const int64_t bytes = (int64_t)posenc_dtype_bytes(dtype), most = PART_BYTES / bytes;
  for (int64_t i = 0, some; i < count; i += some) {
    some = count - i < most ? count - i : most;
    loops->add(dtype, some, table + i, x + i * bytes, part);
    loops->rows->stream((size_t)(some * bytes), part, out + i * bytes);
  }
}

/* As rope_rows. */
static void stream_rows(const apply_loops *loops, const posenc_problem *problem, bool fetch, int64_t rows,
                        const float *row, const char *x, char *out) {
  _Alignas(64) char part[PART_BYTES];
  const int64_t bytes = (int64_t)kernel_row_bytes(problem), most = PART_BYTES / bytes, heads = problem->heads,
                whole = most / 2 > heads ? most / 2 / heads : 1;
  posenc_problem some = *problem;
  for (int64_t next; rows > 0; rows -= next, row += next * problem->dim) {
    next = rows < whole ? rows : whole;
    for (int64_t head = 0, done; head < heads; head += some.heads, x += done, out += done) {
      some.heads = heads - head < most ? heads - head : most;
      done = next * some.heads * bytes;
      rope_rows(loops, &some, fetch, next, row, x, part);
      loops->rows->stream((size_t)done, part, out);
    }
  }
}

/* ---- rows of the table -------------------------------------------------------------------------------------- */

/* How a call makes its result. */
typedef struct manner {
  const apply_loops *loops;
  bool streamed, fetch;
} manner;

static manner manner_of(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                        const void *x, const void *out) {
  const bool reads_two = from->table && problem->op == POSENC_ADD; /* not faster: most of the traffic is reads */
  const bool streamed = !reads_two && apply_streams(from->stores, problem, slice, x, out);
  const int64_t bytes = apply_width(problem) * (int64_t)posenc_dtype_bytes(problem->dtype);
  return (manner){from->loops, streamed, !from->table && bytes < MANY_BYTES};
}

/* Applies packed rows of the table to rows [r, r + rows) of the slice, for all sequences. */
static void apply_run(manner how, const posenc_problem *problem, const posenc_slice *slice, int64_t r, int64_t rows,
                      const float *table, const void *x, void *out) {
  const int64_t width = apply_width(problem), bytes = (int64_t)posenc_dtype_bytes(problem->dtype);
  for (int64_t sequence = 0; sequence < slice->batch; sequence++) {
    const int64_t at = (sequence * slice->stride + r * width) * bytes;
    const char *from = (const char *)x + at;
    char *to = (char *)out + at;
    if (problem->op == POSENC_ADD)
      (how.streamed ? stream_added : add_to)(how.loops, problem->dtype, rows * width, table, from, to);
    else
      (how.streamed ? stream_rows : rope_rows)(how.loops, problem, how.fetch, rows, table, from, to);
  }
}

/* Rows that are made together should be near each other in the table, and stay in a cache until they are used: one
   block, or fewer if they are large. */
enum { STACK_BYTES = 1 << 15, MOST_BYTES = 1 << 18 };

/* Returns how many rows of the slice, from row r on, are made together: they are consecutive in the table and end at
   the end of a block at the latest. */
static int64_t run_of(const posenc_problem *problem, const posenc_slice *slice, int64_t r, int64_t fitting) {
  const int64_t left = slice->rows - r, most = left < fitting ? left : fitting;
  if (slice->index) {
    int64_t run = 1;
    while (run < most && slice->index[r + run] == slice->index[r] + run) run++;
    return run;
  }
  const int64_t position = problem->first + slice->row + r;
  const int64_t to_end = KERNEL_BLOCK - (int64_t)(((uint64_t)position + KERNEL_BLOCK / 2) % KERNEL_BLOCK);
  return to_end < most ? to_end : most;
}

/* Makes and applies all rows of the slice. `made` has room for `fitting` rows. */
static posenc_status apply_runs(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                                int64_t fitting, float *made, const void *x, void *out) {
  const posenc_problem table = posenc_table_of(problem);
  const manner how = manner_of(from, problem, slice, x, out);
  for (int64_t r = 0, run; r < slice->rows; r += run) {
    const int64_t row = slice_row(slice, r);
    run = run_of(problem, slice, r, fitting);
    if (from->rows) {
      const posenc_status status = rows_make(from->rows, row, run, made);
      if (status != POSENC_OK) return status;
    } else {
      from->kernel->execute(from->constants, &table, row, run, made);
      rows_zero_padding(&table, row, run, made, kernel_row_bytes(&table));
    }
    apply_run(how, problem, slice, r, run, made, x, out);
  }
  if (how.streamed) store_fence();
  return POSENC_OK;
}

static void apply_table(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                        const void *x, void *out) {
  const manner how = manner_of(from, problem, slice, x, out);
  for (int64_t r = 0, run; r < slice->rows; r += run) {
    const int64_t row = slice_row(slice, r);
    run = run_of(problem, slice, r, KERNEL_BLOCK);
    apply_run(how, problem, slice, r, run, from->table + row * problem->dim, x, out);
  }
  if (how.streamed) store_fence();
}

posenc_status apply_rows(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                         const void *x, void *out) {
  if (from->table) {
    apply_table(from, problem, slice, x, out);
    return POSENC_OK;
  }
  const size_t row_bytes = (size_t)problem->dim * sizeof(float);
  const int64_t fitting = rows_fitting(row_bytes, MOST_BYTES, slice->rows < KERNEL_BLOCK ? slice->rows : KERNEL_BLOCK);
  if (row_bytes * (size_t)fitting <= STACK_BYTES) {
    _Alignas(64) float made[STACK_BYTES / sizeof(float)];
    return apply_runs(from, problem, slice, fitting, made, x, out);
  }
  float *made = (float *)posenc_alloc(row_bytes * (size_t)fitting);
  if (!made) return POSENC_OUT_OF_MEMORY;
  const posenc_status status = apply_runs(from, problem, slice, fitting, made, x, out);
  posenc_free(made);
  return status;
}

posenc_status apply(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                    void *out) {
  if (!from->rows && from->kernel->apply) return from->kernel->apply(from->constants, problem, slice, x, out);
  return apply_rows(from, problem, slice, x, out);
}

double posenc_applied_bound_at(const posenc_bound *bound, const posenc_problem *problem, int64_t position,
                               double size) {
  if (!bound || !problem || problem->size != sizeof *problem ||
      (problem->op != POSENC_ADD && problem->op != POSENC_ROPE) || !(size >= 0.0))
    return NAN;
  const bool rope = problem->op == POSENC_ROPE, bf16 = problem->dtype == POSENC_BF16;
  const posenc_problem table = posenc_table_of(problem);
  const double attention = posenc_attention(problem), e = kernel_error_at(bound, &table, attention, position, NULL),
               second_order = 1.0 + 0x1p-20;
  /* Two elements of the table, each wrong by e, change a pair by at most √2 times its length times e. |x + PE| as
     computed may be larger by e than the exact one. */
  const double elements = rope ? 0x1.6a09e667f3bcdp+0 * size / attention * e : e;
  const double computed = (size + elements) * second_order;
  const double rounded = (rope ? 0x1p-23 : 0x1p-24) * computed + (bf16 ? 0x1p-8 * computed : 0.0);
  return elements + rounded * second_order + (bf16 ? 0x1p-134 : 0x1p-149);
}
