/* SPDX-License-Identifier: MIT */
/* How the correctly rounded kernels store columns, and the rounding test (cr.h), for any instruction set: its header
   is included before this. */
#ifndef POSENC_IMPLS_CR_STORE_H
#define POSENC_IMPLS_CR_STORE_H

#include "impls/cr/cr.h"

INLINE void store_half(bool streamed, void *to, u16s half) {
  if (streamed)
    stream(to, half);
  else
    store_u16s(to, half);
}

INLINE void store_f32(bool streamed, float *to, doubles a, doubles b) {
  if (LANES == 2) { /* halves of 8 bytes would be twice as many stores */
    store_floats(to, to_floats(a, b));
  } else {
    store_half(streamed, to, (u16s) __builtin_convertvector(a, half_floats));
    store_half(streamed, to + LANES, (u16s) __builtin_convertvector(b, half_floats));
  }
}

/* Stores 2 LANES columns, each double rounded once. A format of 16 bits is made from f32 that were rounded toward zero:
   they are a middle only where the double is at least that; f16 by a conversion that takes ties to even, so that the
   lowest bit is set first. Only a double that is the middle itself is rounded away from zero; a certificate lists it if
   that is wrong. */
INLINE void store_certain(posenc_dtype dtype, bool streamed, void *to, doubles a, doubles b) {
  if (dtype == POSENC_F32) {
    store_f32(streamed, to, a, b);
  } else {
    const u32s x = (u32s)truncated_to_floats(a, b);
    store_half(streamed, to, dtype == POSENC_F16 ? to_f16((floats)(x | 1)) : upper_halves(x + 0x8000));
  }
}

/* Stores 2 LANES columns in f32, and flags those whose rounding is uncertain: the low words alone tell. */
INLINE flags store_pair_f32(bool streamed, float *to, doubles a, doubles b, flags uncertain) {
  store_f32(streamed, to, a, b);
  const u32s low = low_words(on_grid(a, CR_GRID), on_grid(b, CR_GRID));
  return flag_zeros(uncertain, low & (uint32_t)cr_midpoint_bits(POSENC_F32));
}

/* The same in a format of 16 bits, by way of f32: `tested` is zero in its lower half for a midpoint, and its upper
   half is that of the f32, or nearly so. */
INLINE flags store_pair(posenc_dtype dtype, bool streamed, void *to, doubles a, doubles b, flags uncertain) {
  if (dtype == POSENC_F32) return store_pair_f32(streamed, to, a, b, uncertain);
  const floats x = to_floats(a, b);
  const uint32_t middle = cr_midpoint_in_f32(dtype);
  u32s tested;
  if (dtype == POSENC_F16) {
    tested = xor_and((u32s)x, middle, ~(0xffff ^ (2 * middle - 1)));
    store_half(streamed, to, to_f16(x));
  } else {
    tested = (u32s)x + middle;
    store_half(streamed, to, upper_halves(tested));
  }
  return flag_small(uncertain, tested, cr_least_f32(dtype) >> 16);
}

INLINE bool is_uncertain(posenc_dtype dtype, flags found) {
  return dtype == POSENC_F32 ? has_zeros(found) : has_small(found, cr_least_f32(dtype) >> 16);
}

#endif
