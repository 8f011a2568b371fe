/* SPDX-License-Identifier: MIT */
#include "impls/rotation/rotation.h"
#include "lib/api/kernel.h"
#include "lib/exact/angle.h"
#include "lib/simd/generic.h"

/* The pairs that are computed together. Their state stays in registers or the L1 cache. */
enum { TILE = 16 };

typedef struct state {
  double sine[TILE], cosine[TILE];
} state;

static void anchor(state *at, const angle_constants *angles, int64_t pair, int64_t position) {
  for (int i = 0; i < TILE; i++)
    angle_sincos(angle_at(angles->turn_high[pair + i], angles->turn_low[pair + i], position), &at->sine[i],
                 &at->cosine[i]);
}

/* Rotates to the next position, or to the one before if step_sin is negated. */
static void rotate(state *at, const double *step_sin, const double *step_cos) {
  for (int i = 0; i < TILE; i++) rotation_rotate(&at->sine[i], &at->cosine[i], step_sin[i], step_cos[i]);
}

/* Stores pairs. Only f64 needs clamping, since rounding to other dtypes gives at most 1. */
INLINE void store_as(posenc_dtype dtype, void *out, posenc_columns to, const state *at, int64_t pairs) {
  for (int64_t i = 0; i < pairs; i++) {
    round_to(dtype, out, to.sin + i * to.step, dtype == POSENC_F64 ? rotation_within_one(at->sine[i]) : at->sine[i]);
    round_to(dtype, out, to.cos + i * to.step,
             dtype == POSENC_F64 ? rotation_within_one(at->cosine[i]) : at->cosine[i]);
  }
}

/* Stores pairs, with the dtype as a compile-time parameter, which leaves no branch in the loop. */
INLINE void store(posenc_dtype dtype, void *out, posenc_columns to, const state *at, int64_t pairs) {
  ROUND_DISPATCH(dtype, store_as, out, to, at, pairs);
}

typedef struct target {
  char *out; /* the start of the row `from` */
  posenc_dtype dtype;
  int64_t row_bytes;
  posenc_columns columns;
} target;

static void store_row(const target *to, int64_t row, const state *at, int64_t pair, int64_t pairs) {
  void *out = to->out + row * to->row_bytes;
  const int64_t step = to->columns.step, sine = to->columns.sin + pair * step, cosine = to->columns.cos + pair * step;
  /* The compiler vectorizes full tiles, as their step and count are constant. */
  if (pairs == TILE && step == 1)
    store(to->dtype, out, (posenc_columns){sine, cosine, 1}, at, TILE);
  else if (pairs == TILE)
    store(to->dtype, out, (posenc_columns){sine, cosine, 2}, at, TILE);
  else
    store(to->dtype, out, (posenc_columns){sine, cosine, step}, at, pairs);
}

/* Computes rows [from, to) of the block around `center`, as offsets from the center. */
static void block(const angle_constants *angles, const target *out, int64_t pair, int64_t pairs, int64_t center,
                  int from, int to) {
  const double *step_sin = angles->step_sin + pair, *step_cos = angles->step_cos + pair;
  double back_sin[TILE];
  state forward, backward;
  anchor(&forward, angles, pair, center);
  backward = forward;
  for (int i = 0; i < TILE; i++) back_sin[i] = -step_sin[i];

  for (int row = 0; row < to; row++) {
    if (row) rotate(&forward, step_sin, step_cos);
    if (row >= from) store_row(out, row - from, &forward, pair, pairs);
  }
  for (int row = -1; row >= from; row--) {
    rotate(&backward, back_sin, step_cos);
    if (row < to) store_row(out, row - from, &backward, pair, pairs);
  }
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const int64_t pairs = problem->dim / 2;
  target to = {(char *)out, problem->dtype, (int64_t)kernel_row_bytes(problem),
               posenc_layout_columns(problem->layout, problem->dim)};
  for (int64_t done = 0; done < rows;) {
    const rotation_block at = rotation_block_at(problem->first + row + done, rows - done);
    to.out = (char *)out + done * to.row_bytes;
    for (int64_t pair = 0; pair < pairs; pair += TILE)
      block((const angle_constants *)constants, &to, pair, pairs - pair < TILE ? pairs - pair : TILE, at.center,
            at.from, at.to);
    done += at.to - at.from;
  }
}

const posenc_kernel posenc_kernel_rotation_portable = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "rotation-portable",
    .summary = "incremental rotation in double, re-anchored every 32 positions; portable C",
    .algorithm = "Each frequency is a 128-bit fraction of a turn, so anchors are exact at any position; from each "
                 "anchor the pair (cos, sin) is "
                 "rotated position by position in double, 15 forward and 16 back, and rounded once.",
    .provenance = "angle addition: Ptolemy's theorem; re-anchored fixed-point phase as in direct digital synthesis "
                  "(Tierney, Rader, Gold, 1971); this combination: posenc, 2026",
    ROTATION_CONTRACT,
    ROTATION_FUNCTIONS(execute),
};
