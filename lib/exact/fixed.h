/* SPDX-License-Identifier: MIT */
/* Integers of 128 bits, and fixed-point arithmetic with 256 bits for the constants of plans. */
#ifndef POSENC_LIB_EXACT_FIXED_H
#define POSENC_LIB_EXACT_FIXED_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ---- 128 bits -------------------------------------------------------------------------------------------- */

/*
 * Unsigned integers of 128 bits, which wrap. They are the compiler's own where it has them, and two words of 64 bits
 * elsewhere, such as on processors of 32 bits. Code uses the functions alone, as C has no operators for structs.
 * POSENC_U128_WORDS chooses the two words everywhere: tests/u128.c compares them with the compiler's integers.
 */

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

/* ---- 256 bits -------------------------------------------------------------------------------------------- */

/* A 320-bit integer, least significant limb first, divided by 2^256. */
enum { FIXED_LIMBS = 5, FIXED_FRACTION_LIMBS = 4 };
typedef struct fixed {
  uint64_t limb[FIXED_LIMBS];
} fixed;

static const fixed fixed_quarter_pi = {
    {0x020bbea63b139b22, 0x29024e088a67cc74, 0xc4c6628b80dc1cd1, 0xc90fdaa22168c234, 0}};

static inline fixed fixed_add(fixed a, fixed b) {
  uint64_t carry = 0;
  for (int i = 0; i < FIXED_LIMBS; i++) {
    const u128 sum = u128_add(u128_add(u128_of(0, a.limb[i]), u128_of(0, b.limb[i])), u128_of(0, carry));
    a.limb[i] = u128_low(sum);
    carry = u128_high(sum);
  }
  return a;
}

static inline fixed fixed_subtract(fixed a, fixed b) {
  uint64_t borrow = 0;
  for (int i = 0; i < FIXED_LIMBS; i++) {
    const u128 difference =
        u128_subtract(u128_subtract(u128_of(0, a.limb[i]), u128_of(0, b.limb[i])), u128_of(0, borrow));
    a.limb[i] = u128_low(difference);
    borrow = u128_high(difference) & 1;
  }
  return a;
}

static inline fixed fixed_times_integer(fixed a, uint64_t factor) {
  uint64_t carry = 0;
  for (int i = 0; i < FIXED_LIMBS; i++) {
    const u128 sum = u128_add(u128_product(a.limb[i], factor), u128_of(0, carry));
    a.limb[i] = u128_low(sum);
    carry = u128_high(sum);
  }
  return a;
}

static inline fixed fixed_over_integer(fixed a, uint64_t divisor) {
  uint64_t remainder = 0;
  for (int i = FIXED_LIMBS - 1; i >= 0; i--) {
    const uint64_t part = a.limb[i];
    a.limb[i] = u128_over(u128_of(remainder, part), divisor);
    remainder = part - a.limb[i] * divisor;
  }
  return a;
}

/* Returns a b for a, b < 1. Partial products below the upper five limbs are left out: together less than 4 × 2^-256. */
static inline __attribute__((always_inline)) fixed fixed_times_fraction(fixed a, fixed b) {
  uint64_t product[2 * FIXED_FRACTION_LIMBS] = {0};
#pragma GCC unroll 4
  for (int i = 0; i < FIXED_FRACTION_LIMBS; i++) {
    uint64_t carry = 0;
#pragma GCC unroll 4
    for (int j = FIXED_FRACTION_LIMBS - 1 - i; j < FIXED_FRACTION_LIMBS; j++) {
      const u128 sum =
          u128_add(u128_add(u128_product(a.limb[i], b.limb[j]), u128_of(0, product[i + j])), u128_of(0, carry));
      product[i + j] = u128_low(sum);
      carry = u128_high(sum);
    }
    product[i + FIXED_FRACTION_LIMBS] = carry;
  }
  return (fixed){{product[4], product[5], product[6], product[7], 0}};
}

static inline fixed fixed_shifted_right(fixed a, int bits) {
  for (; bits >= 64; bits -= 64) {
    memmove(a.limb, a.limb + 1, (FIXED_LIMBS - 1) * sizeof *a.limb);
    a.limb[FIXED_LIMBS - 1] = 0;
  }
  for (int i = 0; bits && i < FIXED_LIMBS; i++)
    a.limb[i] = a.limb[i] >> bits | (i + 1 < FIXED_LIMBS ? a.limb[i + 1] << (64 - bits) : 0);
  return a;
}

static inline bool fixed_is_zero(fixed a) {
  return !(a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3] | a.limb[4]);
}

static inline fixed fixed_of_integer(uint64_t x) {
  return (fixed){{0, 0, 0, 0, x}};
}

static inline bool fixed_is_less(fixed a, fixed b) {
  for (int i = FIXED_LIMBS - 1; i > 0; i--)
    if (a.limb[i] != b.limb[i]) return a.limb[i] < b.limb[i];
  return a.limb[0] < b.limb[0];
}

/* Returns a × 2^by, for 0 <= by < 64. */
static inline fixed fixed_shifted_left(fixed a, int by) {
  return fixed_times_integer(a, UINT64_C(1) << by);
}

/* Converts 0 <= x < 2^64, truncated by less than 2^-203. */
static inline fixed fixed_of(double x) {
  int exponent;
  const uint64_t mantissa = (uint64_t)ldexp(frexp(x, &exponent), 53);
  exponent -= 53;
  if (exponent < -256) return (fixed){{0}};
  const fixed whole = fixed_of_integer(mantissa);
  return exponent < 0 ? fixed_shifted_right(whole, -exponent) : fixed_shifted_left(whole, exponent);
}

static inline double fixed_double(fixed a) {
  double x = 0.0;
  for (int i = 0; i < FIXED_LIMBS; i++) x = x * 0x1p-64 + (double)a.limb[i];
  return x;
}

/* Returns floor(rest / b) of n limbs of b, whose uppermost bit is set, and n + 1 limbs of rest < 2^64 b, which becomes
   the remainder. The quotient of the upper limbs is at most 2 larger (Knuth, TAOCP 2, 4.3.1, theorem B). */
static inline uint64_t fixed_digit(uint64_t *rest, const uint64_t *b, int n) {
  uint64_t digit = rest[n] < b[n - 1] ? u128_over(u128_of(rest[n], rest[n - 1]), b[n - 1]) : UINT64_MAX, taken = 0;
  for (int i = 0; i < n; i++) {
    const u128 product = u128_add(u128_product(digit, b[i]), u128_of(0, taken));
    taken = u128_high(product) + (rest[i] < u128_low(product));
    rest[i] -= u128_low(product);
  }
  bool negative = rest[n] < taken;
  for (rest[n] -= taken; negative; digit--) {
    uint64_t carry = 0;
    for (int i = 0; i <= n; i++) {
      const u128 sum = u128_add(u128_add(u128_of(0, rest[i]), u128_of(0, i < n ? b[i] : 0)), u128_of(0, carry));
      rest[i] = u128_low(sum);
      carry = u128_high(sum);
    }
    negative = !carry;
  }
  return digit;
}

/* Returns a / b, for b > 0 and a quotient below 2^64, truncated. */
static inline fixed fixed_over(fixed a, fixed b) {
  uint64_t rest[2 * FIXED_LIMBS] = {0}; /* a × 2^256, shifted like b */
  fixed quotient = {{0}};
  int n = FIXED_LIMBS;
  while (!b.limb[n - 1]) n--;
  const int zeros = __builtin_clzll(b.limb[n - 1]);
  b = fixed_shifted_left(b, zeros);
  for (int i = 0; i < FIXED_LIMBS; i++) {
    rest[FIXED_FRACTION_LIMBS + i] |= a.limb[i] << zeros;
    rest[FIXED_FRACTION_LIMBS + i + 1] = zeros ? a.limb[i] >> (64 - zeros) : 0;
  }
  for (int i = FIXED_LIMBS - 1; i >= 0; i--) quotient.limb[i] = fixed_digit(rest + i, b.limb, n);
  return quotient;
}

#endif
