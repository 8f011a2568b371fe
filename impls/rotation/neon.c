/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "impls/rotation/rotation.h"
#include "lib/api/kernel.h"

#ifdef HAVE_NEON
#include "lib/simd/neon.h"

#include <string.h>

/* VECTORS of two pairs are computed together: their state and steps take 16 of the 32 registers. */
enum { VECTORS = 4, TILE = LANES * VECTORS };
_Static_assert(ANGLE_PADDING % TILE == 0, "tiles load whole vectors of constants");

/* The components of pairs, the one with the lower column first. */
typedef struct state {
  doubles first[VECTORS], second[VECTORS];
} state;

/* The output of a tile: the first row at column 0, the columns of the two components, and the number of pairs left. */
typedef struct target {
  char *out;
  int64_t row_bytes, first, second, pairs;
} target;

/* Rotates to the next position, for pairs whose first component is the sine; `sine` is that of the step. A negated
   `sine` rotates back, or forward if the cosine is the first component. It negates products only, so the bits are those
   of rotation_rotate. */
INLINE void rotate(state *at, const doubles *sine, const doubles *cosine) {
  UNROLL(8)
  for (int v = 0; v < VECTORS; v++) {
    const doubles first = at->first[v] * cosine[v] + at->second[v] * sine[v];
    at->second[v] = at->second[v] * cosine[v] - at->first[v] * sine[v];
    at->first[v] = first;
  }
}

INLINE doubles within_one(doubles x) {
  return (doubles)vmaxq_f64(vminq_f64((float64x2_t)x, vdupq_n_f64(1.0)), vdupq_n_f64(-1.0));
}

/* Stores FLOATS columns, each rounded once. */
INLINE void store_columns(posenc_dtype dtype, void *out, int64_t column, doubles a, doubles b) {
  if (dtype == POSENC_F64) {
    store_doubles((double *)out + column, within_one(a));
    store_doubles((double *)out + column + LANES, within_one(b));
  } else if (dtype == POSENC_F32) {
    store_floats((float *)out + column, to_floats(a, b));
  } else {
    const floats x = odd_to_floats(a, b);
    store_u16s((uint16_t *)out + column, dtype == POSENC_F16 ? to_f16(x) : upper_halves(round_to_bf16(x)));
  }
}

INLINE void store_tile(posenc_dtype dtype, bool interleaved, void *row, int64_t first, int64_t second,
                       const state *at) {
  const doubles *a = at->first, *b = at->second;
  UNROLL(8)
  for (int v = 0; v < VECTORS; v += 2) {
    if (interleaved) {
      store_columns(dtype, row, first + 2 * v * LANES, zip_low(a[v], b[v]), zip_high(a[v], b[v]));
      store_columns(dtype, row, first + 2 * (v + 1) * LANES, zip_low(a[v + 1], b[v + 1]), zip_high(a[v + 1], b[v + 1]));
    } else {
      store_columns(dtype, row, first + v * LANES, a[v], a[v + 1]);
      store_columns(dtype, row, second + v * LANES, b[v], b[v + 1]);
    }
  }
}

/* Stores a row of a tile, by way of a buffer if fewer columns than a tile are left. */
INLINE void store_row(posenc_dtype dtype, bool interleaved, const target *to, int64_t row, const state *at) {
  char *const out = to->out + row * to->row_bytes;
  if (to->pairs >= TILE) {
    store_tile(dtype, interleaved, out, to->first, to->second, at);
    return;
  }
  const size_t element = posenc_dtype_bytes(dtype), bytes = (size_t)to->pairs * element;
  double whole[2 * TILE];
  char *const part = (char *)whole;
  store_tile(dtype, interleaved, part, 0, TILE, at);
  memcpy(out + (size_t)to->first * element, part, interleaved ? 2 * bytes : bytes);
  if (!interleaved) memcpy(out + (size_t)to->second * element, part + TILE * element, bytes);
}

/* Computes the rows of a block, for the pairs from `pair` on. */
INLINE void tile(posenc_dtype dtype, bool interleaved, bool cosine_first, const angle_constants *angles,
                 const target *to, int64_t pair, rotation_block at) {
  state forward, backward;
  doubles cosine[VECTORS], on[VECTORS], back[VECTORS];
  UNROLL(8)
  for (int v = 0; v < VECTORS; v++) {
    const doubles step = load_doubles(angles->step_sin + pair + v * LANES);
    doubles x, y;
    sincos_of(turns_at(angles, pair + v * LANES, at.center), false, &x, &y);
    cosine[v] = load_doubles(angles->step_cos + pair + v * LANES);
    on[v] = cosine_first ? -step : step;
    back[v] = cosine_first ? step : -step;
    forward.first[v] = backward.first[v] = cosine_first ? y : x;
    forward.second[v] = backward.second[v] = cosine_first ? x : y;
  }
  for (int row = 0; row < at.to; row++) {
    if (row) rotate(&forward, on, cosine);
    if (row >= at.from) store_row(dtype, interleaved, to, row - at.from, &forward);
  }
  for (int row = -1; row >= at.from; row--) {
    rotate(&backward, back, cosine);
    if (row < at.to) store_row(dtype, interleaved, to, row - at.from, &backward);
  }
}

INLINE void execute_as(posenc_dtype dtype, bool interleaved, const angle_constants *angles,
                       const posenc_problem *problem, int64_t row, int64_t rows, char *out) {
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  const bool cosine_first = columns.cos < columns.sin;
  const int64_t pairs = problem->dim / 2, second = cosine_first ? columns.sin : columns.cos;
  target to = {.out = out, .row_bytes = (int64_t)kernel_row_bytes(problem)};
  for (int64_t done = 0; done < rows;) {
    const rotation_block at = rotation_block_at(problem->first + row + done, rows - done);
    for (int64_t pair = 0; pair < pairs; pair += TILE) {
      to.first = columns.step * pair; /* the first component starts in column 0 */
      to.second = second + columns.step * pair;
      to.pairs = pairs - pair;
      tile(dtype, interleaved, cosine_first, angles, &to, pair, at);
    }
    done += at.to - at.from;
    to.out += (at.to - at.from) * to.row_bytes;
  }
}

/* One variant for each dtype and kind of layout, so that no branch is left in the loops. */
static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const angle_constants *angles = (const angle_constants *)constants;
  char *to = (char *)out;
  if (posenc_layout_columns(problem->layout, problem->dim).step == 2)
    ROUND_DISPATCH(problem->dtype, execute_as, true, angles, problem, row, rows, to);
  else
    ROUND_DISPATCH(problem->dtype, execute_as, false, angles, problem, row, rows, to);
}
#endif

const posenc_kernel posenc_kernel_rotation_neon = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_NEON,
    .name = "rotation-neon",
    .summary = "rotation-portable with NEON intrinsics: the same bits",
    .algorithm = "As rotation-portable, anchors included: 8 pairs are rotated from row to row in registers, unfused so "
                 "that each operation is the portable kernel's; converted, zipped and stored as whole vectors.",
    .provenance = "posenc, 2026",
    ROTATION_CONTRACT,
#ifdef HAVE_NEON
    ROTATION_FUNCTIONS(execute),
#else
    .absent = KERNEL_LEFT_OUT,
#endif
};
