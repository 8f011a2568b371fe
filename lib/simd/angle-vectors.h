/* SPDX-License-Identifier: MIT */
/* angle.h for LANES frequencies at once. The target has said what multiply_add is. */
#ifndef POSENC_LIB_SIMD_ANGLE_VECTORS_H
#define POSENC_LIB_SIMD_ANGLE_VECTORS_H

#include "lib/exact/angle.h"
#include "lib/simd/vectors.h"

/* A step of Horner's rule. */
INLINE vector angle_horner(bool fused, vector sum, vector xx, double coefficient) {
  const vector term = coefficient - (vector){0};
  if (fused) return multiply_add(sum, xx, term);
  return sum * xx + term;
}

/* angle_sincos, operation by operation, for the same bits; or fused, which rounds less. */
INLINE void sincos_of(words turn, bool fused, vector *sine, vector *cosine) {
  const words quarter = (turn + (UINT64_C(1) << 61)) >> 62;
  const vector x = to_doubles((integers)(turn - (quarter << 62))) * ANGLE_TURN, xx = x * x;
  vector s = ANGLE_S17 - (vector){0}, c = ANGLE_C18 - (vector){0};
  s = angle_horner(fused, s, xx, ANGLE_S15);
  s = angle_horner(fused, s, xx, ANGLE_S13);
  s = angle_horner(fused, s, xx, ANGLE_S11);
  s = angle_horner(fused, s, xx, ANGLE_S9);
  s = angle_horner(fused, s, xx, ANGLE_S7);
  s = angle_horner(fused, s, xx, ANGLE_S5);
  s = angle_horner(fused, s, xx, ANGLE_S3);
  s = x + (x * xx) * s;
  c = angle_horner(fused, c, xx, ANGLE_C16);
  c = angle_horner(fused, c, xx, ANGLE_C14);
  c = angle_horner(fused, c, xx, ANGLE_C12);
  c = angle_horner(fused, c, xx, ANGLE_C10);
  c = angle_horner(fused, c, xx, ANGLE_C8);
  c = angle_horner(fused, c, xx, ANGLE_C6);
  c = angle_horner(fused, c, xx, ANGLE_C4);
  c = angle_horner(fused, c, xx, ANGLE_C2);
  c = 1.0 + xx * c;
  const words swap = -(quarter & 1), differ = ((words)s ^ (words)c) & swap;
  *sine = (vector)((words)s ^ differ ^ (quarter >> 1 << 63));
  *cosine = (vector)((words)c ^ differ ^ ((quarter + 1) >> 1 << 63));
}

#endif
