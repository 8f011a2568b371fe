/* SPDX-License-Identifier: MIT */
/* The common part of the rotation kernels of all instruction sets: the positions of anchors, which the bits and the
   bound depend on. */
#ifndef POSENC_IMPLS_ROTATION_ROTATION_H
#define POSENC_IMPLS_ROTATION_ROTATION_H

#include "lib/api/kernel.h"
#include "lib/exact/angle.h"

/*
 * Anchors are at the multiples of KERNEL_BLOCK, 32, as absolute positions, so a row has the same bits in every range
 * of rows; position 0 is an anchor and exact. A block is the 32 positions [anchor - 16, anchor + 16).
 *
 * Error bound, as a distance in the plane of (cos, sin), in units of 2^-53. The anchor and the step have errors of at
 * most 4 (angle.h). A rotation adds the step's error, 4 (1 + 2^-45), and the rounding errors of two products and a sum
 * per component: at most 2 in the component whose sum may exceed 1, and 1.5 in the other, |(2, 1.5)| = 2.5. After at
 * most 16 rotations the error is at most 4 + 16 × 6.5 = 108; E = 108 × 2^-53 < 2^-46.2. Rounding to the table's format
 * then adds half an ulp of the binade of the computed value. Where that binade is above the exact value's, the excess
 * is at most min(ulp, E) - ulp/2 <= E/2. In all: ulp/2 + 1.5 E < ulp/2 + 2^-45. The bound does not depend on the
 * position. It does not depend on the format either: there is one rounding, straight to the format, and below its
 * smallest normal number, where all binades have the same ulp, the error is ulp/2 + E.
 */
#define ROTATION_BOUND                                                                                                 \
  { .ulp = 0.5, .abs = 0x1p-45, .growth = 0.0, .max_position = ANGLE_MAX_POSITION, .derived = true }
#define ROTATION_BASIS                                                                                                 \
  "derived in impls/rotation/rotation.h: 16 rotations from an exact anchor are within 108 × 2^-53, then one rounding"

_Static_assert(KERNEL_BLOCK == 2 * 16, "the bound is that of 16 rotations");

/* Fields that the contracts of the family share; and the functions of a kernel, one of which is its own. */
#define ROTATION_CONTRACT .bound = ROTATION_BOUND, .basis = ROTATION_BASIS, .reproducible = true, .scales = true
#define ROTATION_FUNCTIONS(executes)                                                                                   \
  .can_do = angle_can_do, .prepare = angle_prepare, .execute = executes, .release = angle_release,                     \
  .stages = rotation_stages

typedef struct rotation_block {
  int64_t center; /* position of the anchor */
  int from, to;   /* rows, relative to the center: -16 <= from < to <= 16 */
} rotation_block;

/* Returns the block that contains `position`, limited to the rows [position, position + rows). */
static inline rotation_block rotation_block_at(int64_t position, int64_t rows) {
  enum { HALF = KERNEL_BLOCK / 2 };
  const int offset = (int)(((uint64_t)position + HALF) & (KERNEL_BLOCK - 1)) - HALF;
  const int64_t left = HALF - offset;
  return (rotation_block){(int64_t)((uint64_t)position - (uint64_t)(int64_t)offset), offset,
                          offset + (int)(rows < left ? rows : left)};
}

/* Rotates to the next position, or to the one before if step_sin is negated. */
static inline void rotation_rotate(double *sine, double *cosine, double step_sin, double step_cos) {
  const double next = *sine * step_cos + *cosine * step_sin;
  *cosine = *cosine * step_cos - *sine * step_sin;
  *sine = next;
}

/* Clamps to [-1, 1], for f64. Rounding to other dtypes gives at most 1 anyway. */
static inline double rotation_within_one(double x) {
  const double not_below = x < -1.0 ? -1.0 : x;
  return x > 1.0 ? 1.0 : not_below;
}

/* Returns the phase of a frequency at row at.from of a block, as the rotations compute it. */
posenc_sum rotation_phase(const angle_constants *angles, int64_t index, rotation_block at);

/* The `stages` function of all rotation kernels. constants: an angle_constants. */
bool rotation_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                     posenc_stages *stages);

#endif
