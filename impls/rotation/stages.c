/* SPDX-License-Identifier: MIT */
#include "impls/rotation/rotation.h"

/* The anchor and the step are 64-bit fractions of a turn, and so is their sum. The result is at most half a turn from
   0. */
posenc_sum rotation_phase(const angle_constants *angles, int64_t index, rotation_block at) {
  const uint64_t high = angles->turn_high[index], low = angles->turn_low[index];
  const uint64_t turn = angle_at(high, low, at.center) + (uint64_t)(int64_t)at.from * angle_at(high, low, 1);
  return angle_phase(turn, 0);
}

static posenc_stages stages_of(const angle_constants *angles, int64_t index, rotation_block at, posenc_dtype dtype) {
  const uint64_t high = angles->turn_high[index], low = angles->turn_low[index];
  const double step_sin = angles->step_sin[index], step_cos = angles->step_cos[index];
  posenc_stages stages = {.frequency = angle_radians(high, low), .phase = rotation_phase(angles, index, at)};
  double *sine = &stages.sine.high, *cosine = &stages.cosine.high;
  angle_sincos(angle_at(high, low, at.center), sine, cosine);
  for (int n = 0; n < at.from; n++) rotation_rotate(sine, cosine, step_sin, step_cos);
  for (int n = 0; n > at.from; n--) rotation_rotate(sine, cosine, -step_sin, step_cos);
  if (dtype == POSENC_F64) {
    *sine = rotation_within_one(*sine);
    *cosine = rotation_within_one(*cosine);
  }
  return stages;
}

bool rotation_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                     posenc_stages *stages) {
  for (int64_t r = 0; r < rows; r++) {
    const rotation_block at = rotation_block_at(problem->first + row + r, 1);
    for (int64_t i = 0; i < problem->dim / 2; i++)
      *stages++ = stages_of((const angle_constants *)constants, i, at, problem->dtype);
  }
  return true;
}
