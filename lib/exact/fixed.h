/* SPDX-License-Identifier: MIT */
/* 256-bit fixed-point arithmetic for the constants of plans: unsigned, truncating, without overflow checks. */
#ifndef POSENC_LIB_EXACT_FIXED_H
#define POSENC_LIB_EXACT_FIXED_H

#include "lib/exact/u128.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

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
