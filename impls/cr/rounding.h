/* SPDX-License-Identifier: MIT */
/* Stores of columns by the correctly rounded kernels, with the rounding test (cr.h), for any instruction set, whose
   header must be included first. */
#ifndef POSENC_IMPLS_CR_ROUNDING_H
#define POSENC_IMPLS_CR_ROUNDING_H

#include "impls/cr/cr.h"
#include "lib/simd/exact.h"

INLINE void store_half_vector(bool streamed, void *to, u16s half) {
  if (streamed)
    stream(to, half);
  else
    store_u16s(to, half);
}

/* Returns 2 LANES columns in a 16-bit format, each rounded once from its double. The doubles are first rounded toward
   zero to f32, which gives a midpoint only if the double is at least that large. For f16, whose conversion rounds ties
   to even, the lowest bit is then set. Only a double that equals a midpoint is rounded away from zero; if that is
   wrong, a certificate lists the element. */
INLINE u16s certain_u16s(posenc_dtype dtype, doubles a, doubles b) {
  const u32s x = (u32s)truncated_to_floats(a, b);
  return dtype == POSENC_F16 ? to_f16((floats)(x | 1)) : upper_halves(x + 0x8000);
}

/* Stores 2 LANES columns that are between `least` and `most`. Returns bits that are set where the two round to
   different numbers. Where they do not, everything between them rounds to the same number. */
INLINE u64s store_between(posenc_dtype dtype, void *to, const doubles *least, const doubles *most) {
  if (dtype == POSENC_F32) {
    const floats low = to_floats(least[0], least[1]), high = to_floats(most[0], most[1]);
    store_floats(to, high);
    return (u64s)((u32s)low ^ (u32s)high);
  }
  const u16s low = certain_u16s(dtype, least[0], least[1]), high = certain_u16s(dtype, most[0], most[1]);
  store_u16s(to, high);
  return (u64s) __builtin_convertvector(low ^ high, u32s);
}

/* store_pair for 16-bit formats, by way of f32 unless the columns are certified. `tested`: its lower half is zero where
   the f32 is a midpoint, and its upper half shows small numbers (cr_least_f32). */
INLINE flags store_u16_pair(posenc_dtype dtype, bool streamed, bool certified, void *to, doubles a, doubles b,
                            flags uncertain) {
  if (certified) {
    store_half_vector(streamed, to, certain_u16s(dtype, a, b));
    return uncertain;
  }
  const floats x = to_floats(a, b);
  const uint32_t midpoint = cr_midpoint_in_f32(dtype);
  u32s tested;
  if (dtype == POSENC_F16) {
    tested = xor_and((u32s)x, midpoint, ~(0xffff ^ (2 * midpoint - 1)));
    store_half_vector(streamed, to, to_f16(x));
  } else {
    tested = (u32s)x + midpoint;
    store_half_vector(streamed, to, upper_halves(tested));
  }
  return flag_small(uncertain, tested, cr_least_f32(dtype) >> 16);
}

/* Stores 2 LANES columns, each rounded once from its double. Flags those whose rounding is uncertain, which in f32 the
   low words show, unless the columns are certified. */
INLINE flags store_pair(posenc_dtype dtype, bool streamed, bool certified, void *to, doubles a, doubles b,
                        flags uncertain) {
  if (dtype != POSENC_F32) return store_u16_pair(dtype, streamed, certified, to, a, b, uncertain);
  if (streamed) { /* whole vectors need half as many entries of the store queue */
    stream_doubles(to, (doubles)to_floats(a, b));
  } else if (LANES == 2) { /* halves of 8 bytes would need twice as many stores */
    store_floats(to, to_floats(a, b));
  } else { /* saves the instruction that would join the halves */
    store_half_floats(to, __builtin_convertvector(a, half_floats));
    store_half_floats((float *)to + LANES, __builtin_convertvector(b, half_floats));
  }
  if (certified) return uncertain;
  const u32s low = low_words(on_grid(a, CR_GRID), on_grid(b, CR_GRID));
  return flag_zeros(uncertain, low & (uint32_t)cr_midpoint_bits(POSENC_F32));
}

INLINE bool is_uncertain(posenc_dtype dtype, flags found) {
  return dtype == POSENC_F32 ? has_zeros(found) : has_small(found, cr_least_f32(dtype) >> 16);
}

/* The ends of the interval in which the exact value is, each rounded to double. */
typedef struct interval {
  doubles low, high;
} interval;

/* Returns the interval of t + r. `above` is its upper end. With an attention factor, both ends are computed from the
   products of the factor with t and r. */
INLINE interval interval_of(bool scaled, posenc_sum factor, doubles t, doubles r, doubles above, doubles error) {
  if (!scaled) return (interval){t + (r - error), above};
  const doubles high = factor.high - (doubles){0}, low = factor.low - (doubles){0}, product = t * high;
  const doubles rest = multiply_add(r, high, multiply_add(t, low, product_rest(t, high, product)));
  return (interval){product + (rest - error), product + (rest + error)};
}

INLINE void store_sum(bool streamed, double *to, interval x) {
  if (streamed)
    stream_doubles(to, x.high);
  else
    store_doubles(to, x.high);
}

#endif
