/* SPDX-License-Identifier: MIT */
/* Add and rope: rows of a kernel's table are made a few at a time and applied to x. */
#ifndef POSENC_LIB_APPLY_APPLY_H
#define POSENC_LIB_APPLY_APPLY_H

#include "posenc.h"

/* The inner loops for one instruction set. All instruction sets give the same bits, as no operation is fused. */
typedef struct apply_loops {
  /* Adds `count` elements of the table to as many of x. */
  void (*add)(posenc_dtype dtype, int64_t count, const float *table, const void *x, void *out);
  /* Rotates the heads of consecutive positions by as many rows of the table that posenc_table_of describes, from column
     `from` on; of pairs of halves, from that column of the first half on. `fetch`: x is prefetched. */
  void (*rope)(const posenc_problem *problem, bool fetch, int64_t from, int64_t rows, const float *row, const void *x,
               void *out);
  const struct rows_loops *rows; /* of the same instruction set */
} apply_loops;

/* apply_loops_NAME exists for each tier that is built. */
#define TIER(bit, name, title, cpu) extern const apply_loops apply_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

/* Returns the loops of the widest tier that the options (null for the defaults) and this CPU allow. */
const apply_loops *apply_loops_for(const posenc_options *options);

/* ---- slices: checks of a caller's, for the other encodings too -------------------------------------- */

/* Copies the slice and sets its stride, for `width` elements at each position. Returns false if a field is invalid or a
   size overflows. */
static inline bool slice_resolve(posenc_slice *slice, const posenc_slice *given, int64_t width, posenc_dtype dtype) {
  int64_t packed, last, all, end;
  if (!given || given->size != sizeof *given || given->rows < 0 || given->batch < 0 || width < 1 ||
      !posenc_dtype_bytes(dtype))
    return false;
  *slice = *given;
  if (__builtin_mul_overflow(slice->rows, width, &packed)) return false;
  if (slice->stride == 0 || slice->batch <= 1) slice->stride = packed;
  return slice->stride >= packed && !__builtin_mul_overflow(slice->batch, slice->stride, &last) &&
         !__builtin_mul_overflow(last, (int64_t)posenc_dtype_bytes(dtype), &all) &&
         (slice->index || !__builtin_add_overflow(slice->row, slice->rows, &end));
}

static inline int64_t slice_row(const posenc_slice *slice, int64_t r) {
  return slice->index ? slice->index[r] : slice->row + r;
}

/* Whether all rows of the slice are among 0 .. count - 1. */
static inline bool slice_within(const posenc_slice *slice, int64_t count) {
  if (!slice->index) return slice->rows == 0 || (slice->row >= 0 && slice->row + slice->rows <= count);
  for (int64_t r = 0; r < slice->rows; r++)
    if (slice->index[r] < 0 || slice->index[r] >= count) return false;
  return true;
}

/* ---- a table and a slice ----------------------------------------------------------------------------- */

/* Where the rows of the table come from: a kernel with its constants, a row source, or a finished table. */
typedef struct apply_source {
  const posenc_kernel *kernel;
  const void *constants;
  const apply_loops *loops;
  const float *table;            /* a finished table, from the problem's first row on, or null */
  const struct row_source *rows; /* makes the rows instead of the kernel, or null */
  posenc_stores stores;          /* whether the result may be streamed: POSENC_STORES_REGULAR, or any other */
} apply_source;

/* The number of elements of x at one position. */
static inline int64_t apply_width(const posenc_problem *problem) {
  return problem->heads * problem->dim;
}

/* Whether the result of a slice should be streamed. In place it is in the caches, as x has just been read. */
bool apply_streams(posenc_stores stores, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                   const void *out);

/* Applies the table by the kernel's own `apply` if it has one, otherwise by rows. The slice must be valid, with a
   stride that is not 0. */
posenc_status apply(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice, const void *x,
                    void *out);

/* Applies the table by rows, a block at a time, even if the kernel has its own `apply`. */
posenc_status apply_rows(const apply_source *from, const posenc_problem *problem, const posenc_slice *slice,
                         const void *x, void *out);

/* Adds correctly rounded values of a cr_constants to x without making rows. The padding row is not zeroed. `streamed`:
   if it can be, as vectors of f32 are that are whole and lie at cache lines. */
void add_avx512(const void *table, const posenc_problem *problem, const posenc_slice *slice, bool streamed,
                const void *x, void *out);

#endif
