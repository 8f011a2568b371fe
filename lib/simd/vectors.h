/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the compiler's vector extension, whose operators work lane by lane. The header of an instruction set, of
 * the name that lib/simd/tiers.def has, defines
 *
 *     TARGET            the attribute of functions that use the instruction set
 *     LANES             doubles in a vector
 *     FUSED             1 if multiply_add and multiply_subtract round once, else 0
 *     CONVERTS          1 if an instruction converts 64-bit integers to doubles, else 0
 *     SIMD(name)        the name of an object that exists once per instruction set
 *
 * includes this file, and then defines the operations that have no operator or that the compiler compiles badly, the
 * same ones in each header:
 *
 *     multiply_add, multiply_subtract   a b + c and a b - c
 *     multiply_low      64-bit products of the low 32 bits of each lane
 *     larger            the larger of two signed integers
 *     zip_low, zip_high     the elements of a and b in turn: the first half of them, and the second half
 *     to_floats         the doubles of a and b, each rounded to nearest
 *     truncated_to_floats   the doubles of a and b, each rounded toward zero, or rounded to odd (neon.h)
 *     low_words         the low 32 bits of the lanes of a and b, in any order
 *     xor_and           (x ^ flip) & mask, for words
 *     to_f16            floats below 2^15 in size, rounded to nearest
 *     upper_halves      the upper 16 bits of each word
 *     stream, stream_doubles   streaming stores of half a vector and of a whole one, where the instruction set has them
 *     or_differing      so_far, with the bits set in which a and b differ
 *     any_bits          whether any bit of any lane is set
 *     flags, no_flags, flag_zeros, flag_small, has_zeros, has_small   see below
 *
 * `flags` records whether any of many words was zero or small. flag_zeros(flags, x) and has_zeros(flags) are for words
 * that are zero. flag_small(flags, x, limit) and has_small(flags, limit) are for words whose lower half is zero, or
 * whose upper half without its sign is below `limit`.
 */
#ifndef POSENC_LIB_SIMD_VECTORS_H
#define POSENC_LIB_SIMD_VECTORS_H

#include <stdint.h>

#define FLOATS (2 * LANES)

typedef double doubles __attribute__((vector_size(8 * LANES)));
typedef int64_t i64s __attribute__((vector_size(8 * LANES)));
typedef uint64_t u64s __attribute__((vector_size(8 * LANES)));
typedef float floats __attribute__((vector_size(4 * FLOATS)));
typedef int32_t i32s __attribute__((vector_size(4 * FLOATS)));
typedef uint32_t u32s __attribute__((vector_size(4 * FLOATS)));
/* Vectors of half as many bytes: one 32-bit element for each double, or one 16-bit element for each float. */
typedef float half_floats __attribute__((vector_size(4 * LANES)));
typedef uint32_t half_u32s __attribute__((vector_size(4 * LANES)));
typedef uint16_t u16s __attribute__((vector_size(2 * FLOATS)));

#define INLINE static inline __attribute__((always_inline)) TARGET

/* Unrolls the loop over vectors that follows. They stay in registers only in an unrolled loop, and gcc -O2 does not
   unroll. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLL(times)
#else
#define UNROLL(times) PRAGMA(GCC unroll times)
#endif

/* Indices for __builtin_shufflevector: f(0), f(2), … up to the number of floats, where f gives two indices each. */
#if FLOATS == 4
#define EACH(f) f(0), f(2)
#elif FLOATS == 8
#define EACH(f) f(0), f(2), f(4), f(6)
#else
#define EACH(f) f(0), f(2), f(4), f(6), f(8), f(10), f(12), f(14)
#endif

/* Loads from and stores to memory that is aligned for 16-bit elements at least. */
#define UNALIGNED(type, load, store)                                                                                   \
  INLINE type load(const void *from) {                                                                                 \
    typedef type unaligned __attribute__((aligned(2), may_alias));                                                     \
    return *(const unaligned *)from;                                                                                   \
  }                                                                                                                    \
  INLINE void store(void *to, type x) {                                                                                \
    typedef type unaligned __attribute__((aligned(2), may_alias));                                                     \
    *(unaligned *)to = x;                                                                                              \
  }
UNALIGNED(doubles, load_doubles, store_doubles)
UNALIGNED(u64s, load_u64s, store_u64s)
UNALIGNED(floats, load_floats, store_floats)
UNALIGNED(half_floats, load_half_floats, store_half_floats)
UNALIGNED(u32s, load_u32s, store_u32s)
UNALIGNED(half_u32s, load_half_u32s, store_half_u32s)
UNALIGNED(u16s, load_u16s, store_u16s)

INLINE doubles load_aligned(const double *from) {
  return *(const doubles *)(const void *)from;
}

INLINE void store_aligned(double *to, doubles x) {
  *(doubles *)(void *)to = x;
}

INLINE i64s lane_numbers(void) {
  static const uint64_t lanes[] = {0, 1, 2, 3, 4, 5, 6, 7};
  return (i64s)load_u64s(lanes);
}

/* Returns the elements of a and b in turn. */
#define ZIPPED(i) (i) / 2, LANES + (i) / 2
INLINE floats zip_floats(half_floats a, half_floats b) {
  return __builtin_shufflevector(a, b, EACH(ZIPPED));
}

/* Converts to the nearest doubles. Without an instruction for that, the compiler would convert lane by lane. Instead,
   the upper half of x + 2^63 is put into the low bits of 2^84 and the lower half into those of 2^52; the excess is
   subtracted exactly, and the sum is rounded once. */
INLINE doubles to_doubles(i64s x) {
  if (CONVERTS) return __builtin_convertvector(x, doubles);
  const u64s biased = (u64s)x ^ UINT64_C(1) << 63;
  const u64s high = biased >> 32 | UINT64_C(0x453) << 52, low = (biased & UINT32_MAX) | UINT64_C(0x433) << 52;
  return ((doubles)high - (0x1p84 + 0x1p63 + 0x1p52)) + (doubles)low;
}

/* Rounds |x| < grid / 3 to a multiple of grid / 1.5 / 2^52. */
INLINE doubles on_grid(doubles x, double grid) {
  return (x + grid) - grid;
}

#endif
