/* SPDX-License-Identifier: MIT */
/* lib/exact/round.h for vectors. The header of an instruction set includes this file after it has defined its
   operations. */
#ifndef POSENC_LIB_SIMD_ROUND_H
#define POSENC_LIB_SIMD_ROUND_H

#include "lib/exact/round.h"

/* round_to_16_bits by the same operations; each lane of the result holds one encoding. */
INLINE u64s round_to_16s(doubles x, int precision, uint64_t least) {
  const u64s bits = (u64s)x, lowest = least - (u64s){0};
  const u64s exponent = (u64s)larger((i64s)(bits >> 52 & 0x7ff), (i64s)lowest);
  const doubles unit = (doubles)((exponent + (uint64_t)(53 - precision)) << 52), size = (doubles)(bits & INT64_MAX);
  const u64s n = (u64s)(size + unit), binades = exponent - lowest;
  return (bits >> 63 << 15) | (((binades << (precision - 1)) + n) & 0x7fff);
}

/* Rounds f32 to bf16, to nearest, ties to even; the results are the upper halves of the words. A NaN whose lower half
   is zero stays a NaN, as nothing is carried: so do the default NaN and those converted from bf16. */
INLINE u32s round_to_bf16(floats x) {
  return (u32s)x + 0x7fff + ((u32s)x >> 16 & 1);
}

#endif
