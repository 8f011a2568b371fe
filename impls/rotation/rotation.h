/* SPDX-License-Identifier: MIT */
/* The common part of the rotations of all instruction sets: the grid of anchors, and so the bits and the bound. */
#ifndef POSENC_IMPLS_ROTATION_ROTATION_H
#define POSENC_IMPLS_ROTATION_ROTATION_H

#include "lib/exact/angle.h"

/*
 * Anchors stand at the multiples of 32, absolute positions, so that a row has the same bits whatever range it is asked
 * for in; position 0 is an anchor and exact. A block is the 32 positions [anchor - 16, anchor + 16).
 *
 * Error, as a distance in the plane of (cos, sin), unit 2^-53: the anchor and the step are wrong by at most 4 each
 * (angle.h); a rotation adds the step's error, 4 (1 + 2^-45), and the rounding of two products and a sum per component,
 * at most 2 where the sum may exceed 1 and 1.5 in the other: |(2, 1.5)| = 2.5. After at most 16 rotations: 4 + 16 × 6.5
 * = 108, E = 108 × 2^-53 < 2^-46.2. Rounding to the table's format then adds half an ulp of the binade of the computed
 * value; where that binade is above the exact value's, the excess is at most min(ulp, E) - ulp/2 <= E/2. In all: ulp/2
 * + 1.5 E < ulp/2 + 2^-45. Nothing in it depends on the position, nor on the format: there is one rounding, straight to
 * it, and below its smallest normal number, where binades no longer matter, the error is ulp/2 + E.
 */
#define ROTATION_BOUND                                                                                                 \
  { .ulp = 0.5, .abs = 0x1p-45, .growth = 0.0, .max_position = ANGLE_MAX_POSITION, .derived = true }
#define ROTATION_BASIS                                                                                                 \
  "derived in impls/rotation/rotation.h: 16 rotations from an exact anchor are within 108 × 2^-53, then one rounding"

/* Fields that all contracts of the family share, the threaded kernel's included. */
#define ROTATION_PROMISE                                                                                               \
  .abi = POSENC_KERNEL_ABI, .bound = ROTATION_BOUND, .reproducible = true, .scales = true, .can_do = angle_can_do
#define ROTATION_CONTRACT ROTATION_PROMISE, .basis = ROTATION_BASIS, .prepare = angle_prepare, .release = angle_release

typedef struct rotation_block {
  int64_t center; /* position of the anchor */
  int from, to;   /* rows wanted, relative to the center: -16 <= from < to <= 16 */
} rotation_block;

/* The block that holds `position`, cut to [position, position + rows). */
static inline rotation_block rotation_block_at(int64_t position, int64_t rows) {
  const int offset = (int)(((uint64_t)position + 16) & 31) - 16;
  const int64_t left = 16 - offset;
  return (rotation_block){(int64_t)((uint64_t)position - (uint64_t)(int64_t)offset), offset,
                          offset + (int)(rows < left ? rows : left)};
}

/* One position on, or back with the sine of the step negated. */
static inline void rotation_rotate(double *sine, double *cosine, double step_sin, double step_cos) {
  const double next = *sine * step_cos + *cosine * step_sin;
  *cosine = *cosine * step_cos - *sine * step_sin;
  *sine = next;
}

/* Clamps to [-1, 1] for f64, where no rounding does. */
static inline double rotation_within_one(double x) {
  return x > 1.0 ? 1.0 : x < -1.0 ? -1.0 : x;
}

/* The phase that the rotated anchor of a frequency stands for. */
posenc_sum rotation_phase(const angle_table *angles, int64_t index, rotation_block at);

/* The stages of all of these kernels; constants: an angle_table. */
bool rotation_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                     posenc_stages *stages);

#endif
