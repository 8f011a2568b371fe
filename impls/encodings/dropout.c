/* SPDX-License-Identifier: MIT */
/* Dropout from a counter-based generator: the random number of an element depends only on its place. */
#include "config.h"

#include "impls/encodings/dropout.h"
#include "impls/encodings/encoding.h"
#include "lib/api/kernel.h"

#include <math.h>
#include <stdlib.h>

static const dropout_loops *loops_here(void) {
  const unsigned isa = isa_usable(NULL);
  const dropout_loops *widest = &dropout_loops_generic;
#define TIER(bit, name)                                                                                                \
  if (isa & (bit)) widest = &dropout_loops_##name;
  BUILT_TIERS(TIER)
#undef TIER
  return widest;
}

/* The largest dim: each 32 columns use eight 32-bit counters. */
static const int64_t dim_max = INT64_C(1) << 34;

static bool is_probability(double q) {
  return q >= 0.0 && q <= 1.0 - 0x1p-32;
}

static bool is_valid(const posenc_dropout *d, int64_t dim, int64_t batch) {
  return d && d->size == sizeof *d && is_probability(d->first) && is_probability(d->last) && d->sequence >= 0 &&
         d->sequence <= INT64_C(1) << 32 && batch <= (INT64_C(1) << 32) - d->sequence && dim >= 1 && dim <= dim_max;
}

static double probability_of(const posenc_dropout *d, int64_t dim, int64_t column) {
  if (dim == 1 || d->first == d->last) return d->first;
  return d->first + (d->last - d->first) * ((double)column / (double)(dim - 1));
}

/* Constants of the columns: an element is dropped if its word is below the threshold, otherwise multiplied by the
   scale. */
typedef struct dropped_columns {
  uint32_t *threshold;
  float *scale;
} dropped_columns;

static bool make_columns(dropped_columns *c, const posenc_dropout *d, int64_t dim) {
  c->threshold = (uint32_t *)malloc((size_t)dim * (sizeof *c->threshold + sizeof *c->scale));
  c->scale = (float *)(void *)(c->threshold + dim);
  for (int64_t j = 0; c->threshold && j < dim; j++) {
    const double q = probability_of(d, dim, j);
    const double whole = floor(q * 0x1p32);
    c->threshold[j] = (uint32_t)(whole + (q * 0x1p32 - whole >= 0.5));
    c->scale[j] = (float)(1.0 / (1.0 - q));
  }
  return c->threshold;
}

/* The number of columns that are made at a time: their words stay in the L1 cache. */
enum { CHUNK = 1024, CHUNK_GROUPS = CHUNK / DROPOUT_GROUP };

static int64_t make_chunk(const dropout_loops *loops, const posenc_dropout *d, int64_t sequence, int64_t position,
                          int64_t from, int64_t dim, uint32_t *words) {
  const int64_t count = dim - from < CHUNK ? dim - from : CHUNK;
  loops->words(d->seed, (uint32_t)(d->sequence + sequence), position, (uint32_t)(from / DROPOUT_GROUP),
               (count + DROPOUT_GROUP - 1) / DROPOUT_GROUP, words);
  return count;
}

/* Works in steps of a fixed length, which gcc -O2 compiles to vector instructions. */
static void keep_bytes(int64_t count, const uint32_t *restrict words, const uint32_t *restrict threshold,
                       unsigned char *restrict keep) {
  enum { STEP = 16 };
  int64_t j = 0;
  for (; j + STEP <= count; j += STEP)
    for (int n = 0; n < STEP; n++) keep[j + n] = words[j + n] >= threshold[j + n];
  for (; j < count; j++) keep[j] = words[j] >= threshold[j];
}

posenc_status posenc_dropout_mask(const posenc_dropout *dropout, const posenc_slice *positions, int64_t dim,
                                  unsigned char *keep) {
  posenc_slice slice;
  dropped_columns by;
  if (!slice_resolve(&slice, positions, dim, POSENC_F32) || !is_valid(dropout, dim, slice.batch))
    return POSENC_BAD_ARGUMENT;
  if (slice.rows == 0 || slice.batch == 0) return POSENC_OK;
  if (!keep) return POSENC_BAD_ARGUMENT;
  if (!make_columns(&by, dropout, dim)) return POSENC_OUT_OF_MEMORY;
  const dropout_loops *loops = loops_here();
  uint32_t words[CHUNK];
  for (int64_t sequence = 0; sequence < slice.batch; sequence++)
    for (int64_t r = 0; r < slice.rows; r++, keep += dim)
      for (int64_t from = 0, count; from < dim; from += count) {
        count = make_chunk(loops, dropout, sequence, slice_row(&slice, r), from, dim, words);
        keep_bytes(count, words, by.threshold + from, keep + from);
      }
  free(by.threshold);
  return POSENC_OK;
}

/* ---- applied ------------------------------------------------------------------------------------ */

/* The size of the pieces in which rows are added before dropout is applied to them, while they are still in a cache.
   Fewer rows than a kernel's block would take longer, so that pieces of many sequences are larger; streaming stores,
   which posenc_apply would choose for these, would send to memory what is read next. */
enum { PIECE_BYTES = 1 << 17, PIECE_ROWS = 32 };

static int64_t rows_of_piece(const posenc_slice *slice, size_t row_bytes) {
  const int64_t fitting = (int64_t)(PIECE_BYTES / row_bytes) / slice->batch / PIECE_ROWS * PIECE_ROWS;
  return fitting > PIECE_ROWS ? fitting : PIECE_ROWS;
}

static void drop_rows(const dropout_loops *loops, const posenc_dropout *d, const dropped_columns *by,
                      const posenc_problem *problem, const posenc_slice *slice, char *out) {
  const int64_t dim = problem->dim, element = (int64_t)posenc_dtype_bytes(problem->dtype);
  uint32_t words[CHUNK];
  for (int64_t sequence = 0; sequence < slice->batch; sequence++)
    for (int64_t n = 0; n < slice->rows; n++) {
      char *row = out + (sequence * slice->stride + n * dim) * element;
      for (int64_t from = 0, count; from < dim; from += count) {
        const int64_t position = problem->first + slice_row(slice, n);
        count = make_chunk(loops, d, sequence, position, from, dim, words);
        loops->drop(problem->dtype, count, words, by->threshold + from, by->scale + from, row + from * element);
      }
    }
}

posenc_status posenc_apply_dropout(const posenc_plan *plan, const posenc_slice *given, const posenc_dropout *dropout,
                                   const void *x, void *out) {
  const posenc_problem *problem = posenc_plan_problem(plan);
  posenc_slice slice;
  dropped_columns by;
  if (!problem || problem->op != POSENC_ADD || !slice_resolve(&slice, given, problem->dim, problem->dtype) ||
      !slice_within(&slice, problem->rows) || !is_valid(dropout, problem->dim, slice.batch))
    return POSENC_BAD_ARGUMENT;
  if (slice.rows == 0 || slice.batch == 0) return POSENC_OK;
  if (!x || !out) return POSENC_BAD_ARGUMENT;
  if (!make_columns(&by, dropout, problem->dim)) return POSENC_OUT_OF_MEMORY;
  const dropout_loops *loops = loops_here();
  const int64_t element = (int64_t)posenc_dtype_bytes(problem->dtype);
  const int64_t most = rows_of_piece(&slice, (size_t)(problem->dim * element));
  posenc_status status = POSENC_OK;
  for (int64_t r = 0, rows; status == POSENC_OK && r < slice.rows; r += rows) {
    rows = slice.rows - r < most ? slice.rows - r : most;
    posenc_slice piece = slice;
    piece.rows = rows;
    if (piece.index)
      piece.index += r;
    else
      piece.row += r;
    const int64_t at = r * problem->dim * element;
    char *to = (char *)out + at;
    status = plan_apply(plan, &piece, POSENC_STORES_REGULAR, (const char *)x + at, to);
    if (status == POSENC_OK) drop_rows(loops, dropout, &by, problem, &piece, to);
  }
  free(by.threshold);
  return status;
}

const posenc_encoding encoding_dropout = {
    .name = "dropout",
    .summary = "add with dropout, uniform or ramped by dimension, the same in any slice and on any thread",
    .formula = "(x + PE) / (1 - q) where it is kept, 0 where it is not, with probability q",
    .call = "posenc_apply_dropout",
    .provenance = "Srivastava et al., \"Dropout\", 2014; Philox4x32-10: Salmon et al., 2011",
    .bound = {.ulp = 0.5 + 0x1p-17, .max_position = INT64_MAX, .derived = true},
    .basis = "of the product of what add gives and the f32 scale, which is within 2^-24 + 2^-52 of 1/(1-q): one "
             "rounding, of "
             "bf16 by way of f32. The mask is exact",
    .reproducible = true,
};
