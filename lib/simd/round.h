/* SPDX-License-Identifier: MIT */
/* lib/exact/round.h for a vector of elements. The header of an instruction set includes this when it has defined its
   operations. */
#ifndef POSENC_LIB_SIMD_ROUND_H
#define POSENC_LIB_SIMD_ROUND_H

#include "lib/exact/round.h"

/* round_to_16_bits, operation by operation: the encodings, one in each lane. */
INLINE u64s round_to_16s(doubles x, int precision, uint64_t least) {
  const u64s bits = (u64s)x, lowest = least - (u64s){0};
  const u64s exponent = (u64s)larger((i64s)(bits >> 52 & 0x7ff), (i64s)lowest);
  const doubles unit = (doubles)((exponent + (uint64_t)(53 - precision)) << 52), size = (doubles)(bits & INT64_MAX);
  const u64s n = (u64s)(size + unit), binades = exponent - lowest;
  return (bits >> 63 << 15) | (((binades << (precision - 1)) + n) & 0x7fff);
}

/* An f32 as bf16, to nearest, ties to even: the upper halves of the words. A NaN stays one if its lower half is
   zero, as in the default NaN and in those that stem from bf16: then nothing is carried. */
INLINE u32s round_to_bf16(floats x) {
  return (u32s)x + 0x7fff + ((u32s)x >> 16 & 1);
}

#endif
