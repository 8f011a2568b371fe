/* SPDX-License-Identifier: MIT */
/*
 * Unsigned integers of 128 bits, which wrap. They are the compiler's own where it has them, and two words of 64 bits
 * elsewhere, such as on processors of 32 bits. Code uses the functions alone, as C has no operators for structs.
 * POSENC_U128_WORDS chooses the two words everywhere: tests/u128.c compares them with the compiler's integers.
 */
#ifndef POSENC_LIB_EXACT_U128_H
#define POSENC_LIB_EXACT_U128_H

#include <stdbool.h>
#include <stdint.h>

#if defined __SIZEOF_INT128__ && !defined POSENC_U128_WORDS

__extension__ typedef unsigned __int128 u128;

/* An initializer, of two constants. */
#define U128(high, low) ((u128)UINT64_C(high) << 64 | UINT64_C(low))

static inline u128 u128_of(uint64_t high, uint64_t low) {
  return (u128)high << 64 | low;
}

static inline uint64_t u128_high(u128 a) {
  return (uint64_t)(a >> 64);
}

static inline uint64_t u128_low(u128 a) {
  return (uint64_t)a;
}

static inline u128 u128_add(u128 a, u128 b) {
  return a + b;
}

static inline u128 u128_subtract(u128 a, u128 b) {
  return a - b;
}

/* Returns a b, whole. */
static inline u128 u128_product(uint64_t a, uint64_t b) {
  return (u128)a * b;
}

/* Shift by 0 <= bits < 128. */
static inline u128 u128_left(u128 a, int bits) {
  return a << bits;
}

static inline u128 u128_right(u128 a, int bits) {
  return a >> bits;
}

static inline bool u128_is_less(u128 a, u128 b) {
  return a < b;
}

/* Returns floor(a / divisor), for a quotient below 2^64. */
static inline uint64_t u128_over(u128 a, uint64_t divisor) {
  return (uint64_t)(a / divisor);
}

#else

typedef struct u128 {
  uint64_t high, low;
} u128;

#define U128(high, low)                                                                                                \
  { UINT64_C(high), UINT64_C(low) }

static inline u128 u128_of(uint64_t high, uint64_t low) {
  return (u128){high, low};
}

static inline uint64_t u128_high(u128 a) {
  return a.high;
}

static inline uint64_t u128_low(u128 a) {
  return a.low;
}

static inline u128 u128_add(u128 a, u128 b) {
  const uint64_t low = a.low + b.low;
  return (u128){a.high + b.high + (low < a.low), low};
}

static inline u128 u128_subtract(u128 a, u128 b) {
  return (u128){a.high - b.high - (a.low < b.low), a.low - b.low};
}

static inline u128 u128_product(uint64_t a, uint64_t b) {
  const uint64_t half = UINT32_MAX, a1 = a >> 32, a0 = a & half, b1 = b >> 32, b0 = b & half;
  const uint64_t low = a0 * b0, cross = a1 * b0 + (low >> 32), other = a0 * b1 + (cross & half); /* none overflows */
  return (u128){a1 * b1 + (cross >> 32) + (other >> 32), other << 32 | (low & half)};
}

static inline u128 u128_left(u128 a, int bits) {
  if (bits >= 64) return (u128){a.low << (bits - 64), 0};
  return bits ? (u128){a.high << bits | a.low >> (64 - bits), a.low << bits} : a;
}

static inline u128 u128_right(u128 a, int bits) {
  if (bits >= 64) return (u128){0, a.high >> (bits - 64)};
  return bits ? (u128){a.high >> bits, a.high << (64 - bits) | a.low >> bits} : a;
}

static inline bool u128_is_less(u128 a, u128 b) {
  return a.high < b.high || (a.high == b.high && a.low < b.low);
}

static inline uint64_t u128_over(u128 a, uint64_t divisor) {
  uint64_t quotient = 0, rest = a.high; /* below divisor */
  for (int bit = 63; bit >= 0; bit--) {
    const bool carried = rest >> 63;
    rest = rest << 1 | (a.low >> bit & 1);
    if (carried || rest >= divisor) {
      rest -= divisor;
      quotient |= UINT64_C(1) << bit;
    }
  }
  return quotient;
}

#endif

/* Returns the lower 128 bits of a b. */
static inline u128 u128_times(u128 a, uint64_t b) {
  return u128_add(u128_product(u128_low(a), b), u128_of(u128_high(a) * b, 0));
}

static inline u128 u128_negative(u128 a) {
  return u128_subtract(u128_of(0, 0), a);
}

/* Converts a number with at most 53 significant bits. */
static inline double u128_double(u128 a) {
  return (double)u128_high(a) * 0x1p64 + (double)u128_low(a);
}

#endif
