/* SPDX-License-Identifier: MIT */
/*
 * Frequencies from first principles, without libm: base^(-i/D) = r^i, r = exp(-ln(base)/D), in 256-bit fixed point.
 *
 * For denominators of 1 and more; a smaller one, down to 2^-52, scales the error of ln(base) up, and 2^-190 remains.
 * Unit 2^-256. A division truncates by less than 1, a multiplication by less than 5. ln(base) is wrong by less than 2^-244: ln 2
 * up to 1024 times, and of 51 terms of the series each 2 (6 / n + 1), 1300 in all. Of the series of exp each of 23 terms
 * is wrong by 5 / n + 1, together by less than 2^-250, and the 16 squarings double that, and their own 5, 16 times: r is wrong by
 * less than 2^-232, r^i by less than i × 2^-232. Only the upper 192 bits are kept, so the error that remains, for any dim
 * that fits in memory, is the truncation at 2^-192.
 */
#include "impls/core/angle.h"
#include "impls/core/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Unsigned integer of 320 bits, least significant limb first; as a number, `limb` / 2^256. */
enum { LIMBS = 5, FRACTION_LIMBS = 4 };
typedef struct fixed {
  uint64_t limb[LIMBS];
} fixed;

static const fixed ln_2 = {{0x8a0d175b8baafa2b, 0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab, 0}};
static const fixed inverse_2_pi = {{0x7f9458eaf7aef158, 0x36d8a5664f10e410, 0x7f09d5f47d4d3770, 0x28be60db9391054a, 0}};
static const fixed quarter_pi = {{0x020bbea63b139b22, 0x29024e088a67cc74, 0xc4c6628b80dc1cd1, 0xc90fdaa22168c234, 0}};

static fixed add(fixed a, fixed b) {
  angle_u128 carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    carry += (angle_u128)a.limb[i] + b.limb[i];
    a.limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  return a;
}

static fixed subtract(fixed a, fixed b) {
  uint64_t borrow = 0;
  for (int i = 0; i < LIMBS; i++) {
    const angle_u128 difference = (angle_u128)a.limb[i] - b.limb[i] - borrow;
    a.limb[i] = (uint64_t)difference;
    borrow = (uint64_t)(difference >> 64) & 1;
  }
  return a;
}

static fixed times_integer(fixed a, uint64_t factor) {
  angle_u128 carry = 0;
  for (int i = 0; i < LIMBS; i++) {
    carry += (angle_u128)a.limb[i] * factor;
    a.limb[i] = (uint64_t)carry;
    carry >>= 64;
  }
  return a;
}

static fixed over_integer(fixed a, uint64_t divisor) {
  uint64_t remainder = 0;
  for (int i = LIMBS - 1; i >= 0; i--) {
    const angle_u128 part = (angle_u128)remainder << 64 | a.limb[i];
    a.limb[i] = (uint64_t)(part / divisor);
    remainder = (uint64_t)part - a.limb[i] * divisor;
  }
  return a;
}

/* Both below 1. Of the partial products those below the upper five limbs, less than 4 × 2^-256 together, are left out. */
static inline __attribute__((always_inline)) fixed times_fraction(fixed a, fixed b) {
  uint64_t product[2 * FRACTION_LIMBS] = {0};
#pragma GCC unroll 4
  for (int i = 0; i < FRACTION_LIMBS; i++) {
    uint64_t carry = 0;
#pragma GCC unroll 4
    for (int j = FRACTION_LIMBS - 1 - i; j < FRACTION_LIMBS; j++) {
      const angle_u128 sum = (angle_u128)a.limb[i] * b.limb[j] + product[i + j] + carry;
      product[i + j] = (uint64_t)sum;
      carry = (uint64_t)(sum >> 64);
    }
    product[i + FRACTION_LIMBS] = carry;
  }
  return (fixed){{product[4], product[5], product[6], product[7], 0}};
}

static fixed shifted_right(fixed a, int bits) {
  for (; bits >= 64; bits -= 64) {
    memmove(a.limb, a.limb + 1, (LIMBS - 1) * sizeof *a.limb);
    a.limb[LIMBS - 1] = 0;
  }
  for (int i = 0; bits && i < LIMBS; i++)
    a.limb[i] = a.limb[i] >> bits | (i + 1 < LIMBS ? a.limb[i + 1] << (64 - bits) : 0);
  return a;
}

static bool is_zero(fixed a) {
  return !(a.limb[0] | a.limb[1] | a.limb[2] | a.limb[3] | a.limb[4]);
}

/* ln(base) for base >= 1: e ln 2 + 2 artanh((m-1)/(m+1)), m within [√½, √2). */
static fixed logarithm(double base) {
  int exponent;
  double mantissa = frexp(base, &exponent);
  if (mantissa < 0x1.6a09e667f3bcdp-1) {
    mantissa *= 2.0;
    exponent--;
  }
  const uint64_t m = (uint64_t)ldexp(mantissa, 53), one = UINT64_C(1) << 53;
  const bool negative = m < one;
  fixed z = {{0}};
  z.limb[FRACTION_LIMBS] = negative ? one - m : m - one;
  z = over_integer(z, m + one);

  const fixed zz = times_fraction(z, z);
  fixed sum = z, power = z;
  for (uint64_t n = 3; !is_zero(power); n += 2) {
    power = times_fraction(power, zz);
    sum = add(sum, over_integer(power, n));
  }
  sum = times_integer(sum, 2);
  const fixed whole = times_integer(ln_2, (uint64_t)exponent);
  return negative ? subtract(whole, sum) : add(whole, sum);
}

/* exp(-x / 2^shift), x >= 0, truncated to below 1. */
static fixed exponential(fixed x, int shift) {
  enum { SQUARINGS = 16 };
  fixed nothing = {{0}}, result;
  /* x / 2^shift >= 2^8 gives less than 2^-369. */
  const int bits = shift + SQUARINGS;
  if (bits < 0) {
    if (x.limb[LIMBS - 1] >> (64 + bits) || bits <= -64) return nothing;
    x = times_integer(x, UINT64_C(1) << -bits);
  } else {
    x = shifted_right(x, bits);
  }
  if (x.limb[LIMBS - 1] || x.limb[LIMBS - 2] >> 56) return nothing;

  /* 1 - exp(-x) = x - x²/2! + x³/3! … */
  fixed term = x, sum = x;
  for (uint64_t n = 2; !is_zero(term); n++) {
    term = over_integer(times_fraction(term, x), n);
    sum = n % 2 ? add(sum, term) : subtract(sum, term);
  }
  result = subtract(nothing, sum);
  if (is_zero(sum)) result = subtract(nothing, (fixed){{1}});
  result.limb[LIMBS - 1] = 0;
  for (int i = 0; i < SQUARINGS; i++) result = times_fraction(result, result);
  return result;
}

void angle_turns(const posenc_problem *problem, uint64_t *high, uint64_t *low, uint64_t *rest) {
  /* The denominator is mantissa × 2^exponent; an even mantissa costs nothing to divide by, a small one less. */
  int exponent;
  uint64_t mantissa = (uint64_t)ldexp(frexp(kernel_denominator(problem), &exponent), 53);
  const int zeros = __builtin_ctzll(mantissa);
  mantissa >>= zeros;
  exponent += zeros - 53;
  const fixed ratio = exponential(over_integer(logarithm(problem->base), mantissa), exponent);

  fixed turn = inverse_2_pi;
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    high[i] = turn.limb[3];
    low[i] = turn.limb[2];
    rest[i] = turn.limb[1];
    turn = times_fraction(turn, ratio);
  }
}

/* The upper 106 bits of what is below 1. */
static posenc_sum sum_of(fixed a) {
  int exponent = 0;
  for (; !a.limb[3] && exponent > -192; exponent -= 64) {
    memmove(a.limb + 1, a.limb, (FRACTION_LIMBS - 1) * sizeof *a.limb);
    a.limb[0] = 0;
  }
  if (!a.limb[3]) return (posenc_sum){0.0, 0.0};
  const int zeros = __builtin_clzll(a.limb[3]);
  a = times_integer(a, UINT64_C(1) << zeros);
  const uint64_t upper = a.limb[3] >> 11, lower = (a.limb[3] & 0x7ff) << 42 | a.limb[2] >> 22;
  return (posenc_sum){ldexp((double)upper, exponent - zeros - 53), ldexp((double)lower, exponent - zeros - 106)};
}

posenc_sum angle_radians(uint64_t high, uint64_t low) {
  const posenc_sum eighth = sum_of(times_fraction((fixed){{0, 0, low, high, 0}}, quarter_pi));
  return (posenc_sum){8.0 * eighth.high, 8.0 * eighth.low};
}

posenc_sum angle_phase(uint64_t high, uint64_t low) {
  if (!(high >> 63)) return angle_radians(high, low);
  const posenc_sum size = angle_radians(~high + (low == 0), -low);
  return (posenc_sum){-size.high, -size.low};
}

/* Is dim/2 - shift the denominator itself, and not a rounded one? (Møller and Knuth's exact difference.) */
static bool is_exact_denominator(const posenc_problem *problem) {
  const double half = (double)(problem->dim / 2), shift = problem->shift, difference = half - shift;
  const double took = half - difference, rest = (half - (difference + took)) + (took - shift);
  return (int64_t)half == problem->dim / 2 && rest == 0.0;
}

const char *angle_can_do(const posenc_problem *problem) {
  if (problem->base < 1.0) return "it needs base >= 1";
  if (problem->first < -ANGLE_MAX_POSITION || problem->first > ANGLE_MAX_POSITION - problem->rows)
    return "it needs positions within ±2^62";
  if (!is_exact_denominator(problem)) return "it needs a dim/2 - shift that is exact in double";
  return NULL;
}

posenc_status angle_prepare(const posenc_problem *problem, const posenc_options *options, void **table) {
  const size_t pairs = (size_t)(problem->dim / 2), padded = (pairs + ANGLE_PADDING - 1) / ANGLE_PADDING * ANGLE_PADDING;
  const size_t header = 64;
  size_t bytes;
  if (__builtin_mul_overflow(padded, 5 * sizeof(uint64_t), &bytes) || __builtin_add_overflow(bytes, header, &bytes))
    return POSENC_OUT_OF_MEMORY;
  char *memory = aligned_alloc(64, bytes);
  if (!memory) return POSENC_OUT_OF_MEMORY;
  memset(memory, 0, bytes);

  angle_table *angles = (angle_table *)(void *)memory;
  angles->turn_high = (uint64_t *)(void *)(memory + header);
  angles->turn_low = angles->turn_high + padded;
  angles->turn_rest = angles->turn_low + padded;
  angles->step_sin = (double *)(void *)(angles->turn_rest + padded);
  angles->step_cos = angles->step_sin + padded;
  angles->stores = options ? options->stores : POSENC_STORES_AUTO;
  angle_turns(problem, angles->turn_high, angles->turn_low, angles->turn_rest);
  for (size_t i = 0; i < pairs; i++)
    angle_sincos(angle_at(angles->turn_high[i], angles->turn_low[i], 1), &angles->step_sin[i], &angles->step_cos[i]);
  *table = angles;
  return POSENC_OK;
}

void angle_release(void *table) {
  free(table);
}
