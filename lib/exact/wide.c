/* SPDX-License-Identifier: MIT */
#include "lib/exact/wide.h"

#include <string.h>

#define WIDE(high, low) ((u128)UINT64_C(high) << 64 | UINT64_C(low))

enum { TERMS = 16 };

/* floor(2^128 / n!), the last term of the series first. The first terms left out are x^33/33! < 2^-134 and x^34/34! <
   2^-139 for x <= π/4. */
static const u128 odd_terms[TERMS - 1] = {WIDE(0x0000000000000000, 0x000000000000a1a6) /* 1/31! */,
                                          WIDE(0x0000000000000000, 0x00000000024b3f31) /* 1/29! */,
                                          WIDE(0x0000000000000000, 0x0000000746ac70b7) /* 1/27! */,
                                          WIDE(0x0000000000000000, 0x000013f3ccdd165f) /* 1/25! */,
                                          WIDE(0x0000000000000000, 0x002ec368262c7033) /* 1/23! */,
                                          WIDE(0x0000000000000000, 0x5c6e3bdb73d5c62f) /* 1/21! */,
                                          WIDE(0x0000000000000097, 0xa4da340a0ab92650) /* 1/19! */,
                                          WIDE(0x000000000000ca96, 0x3b81856a53593028) /* 1/17! */,
                                          WIDE(0x0000000000d73f9f, 0x399dc0f88ec32b58) /* 1/15! */,
                                          WIDE(0x00000000b092309d, 0x43684be51c198e91) /* 1/13! */,
                                          WIDE(0x0000006b99159fd5, 0x138e3f9d1f92e0df) /* 1/11! */,
                                          WIDE(0x00002e3bc74aad8e, 0x671f5583911ca002) /* 1/9! */,
                                          WIDE(0x000d00d00d00d00d, 0x00d00d00d00d00d0) /* 1/7! */,
                                          WIDE(0x0222222222222222, 0x2222222222222222) /* 1/5! */,
                                          WIDE(0x2aaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa) /* 1/3! */};
static const u128 even_terms[TERMS] = {
    WIDE(0x0000000000000000, 0x000000000000050d) /* 1/32! */, WIDE(0x0000000000000000, 0x000000000013932c) /* 1/30! */,
    WIDE(0x0000000000000000, 0x0000000042862898) /* 1/28! */, WIDE(0x0000000000000000, 0x000000c4742fe352) /* 1/26! */,
    WIDE(0x0000000000000000, 0x0001f2cf01972f57) /* 1/24! */, WIDE(0x0000000000000000, 0x04338e5b6dfe14a5) /* 1/22! */,
    WIDE(0x0000000000000007, 0x950ae900808941ea) /* 1/20! */, WIDE(0x0000000000000b41, 0x3c31dcbecbbdd802) /* 1/18! */,
    WIDE(0x00000000000d73f9, 0xf399dc0f88ec32b5) /* 1/16! */, WIDE(0x000000000c9cba54, 0x603e4e905d6f8a2e) /* 1/14! */,
    WIDE(0x00000008f76c77fc, 0x6c4bdaa26d4c3d67) /* 1/12! */, WIDE(0x0000049f93edde27, 0xd71cbbc05b4fa999) /* 1/10! */,
    WIDE(0x0001a01a01a01a01, 0xa01a01a01a01a01a) /* 1/8! */,  WIDE(0x005b05b05b05b05b, 0x05b05b05b05b05b0) /* 1/6! */,
    WIDE(0x0aaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa) /* 1/4! */,  WIDE(0x8000000000000000, 0x0000000000000000) /* 1/2! */};
static const u128 quarter_pi = WIDE(0xc90fdaa22168c234, 0xc4c6628b80dc1cd1);

/* Returns floor(a b / 2^128). */
static u128 product(u128 a, u128 b) {
  const uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
  const u128 low = (u128)a0 * b0, cross_a = (u128)a1 * b0, cross_b = (u128)a0 * b1;
  const u128 middle = (low >> 64) + (uint64_t)cross_a + (uint64_t)cross_b;
  return (u128)a1 * b1 + (cross_a >> 64) + (cross_b >> 64) + (middle >> 64);
}

/*
 * Error bound in units of 2^-128 turns. The 192 bits that are kept of a frequency are too small by less than 2^-64
 * units; for any dim that fits in memory, the error of the 256-bit arithmetic before that is smaller (frequency.c).
 * 2^62 positions multiply both to at most half a unit. Truncation adds one unit.
 */
u128 wide_turn(const angle_table *angles, int64_t index, int64_t position) {
  const uint64_t distance = position < 0 ? -(uint64_t)position : (uint64_t)position;
  const u128 turn = (u128)angles->turn_high[index] << 64 | angles->turn_low[index];
  const u128 carried = (u128)angles->turn_rest[index] * distance >> 64;
  const u128 turned = turn * distance + carried;
  return position < 0 ? -turned : turned;
}

/*
 * Error bound in units of 2^-128, for x <= π/4 and z = x² <= 0.62. The turn's error of 1.5 units is 9.5 units of x. x
 * is truncated twice; z is truncated once and has 2 x times the error of x. A step of Horner's rule has z (0.62) times
 * the error of the step before, the truncations of a product and a constant, and at most 1/2 times the error of z:
 * together below 4 where the terms are added up. The total is below 20 units, and halving the result makes it less than
 * 2^-123.
 */
wide wide_sine(u128 turn) {
  const u128 eighth = (u128)1 << 125;
  const unsigned quarter = (unsigned)((turn + eighth) >> 126);
  const u128 rest = turn - ((u128)quarter << 126);
  const bool below = rest >> 127;
  const u128 off = below ? -rest : rest;
  /* Eight times an eighth of a turn is 1, which does not fit. */
  const u128 x = product(off == eighth ? ~(u128)0 : off << 3, quarter_pi), z = product(x, x);
  wide result;
  if (quarter & 1) {
    u128 sum = even_terms[0];
    for (int n = 1; n < TERMS; n++) sum = even_terms[n] - product(z, sum);
    result.magnitude = ((u128)1 << 127) - (product(z, sum) >> 1);
  } else {
    u128 sum = odd_terms[0];
    for (int n = 1; n < TERMS - 1; n++) sum = odd_terms[n] - product(z, sum);
    result.magnitude = (x - product(x, product(z, sum))) >> 1;
  }
  result.negative = ((quarter & 2) != 0) != (below && !(quarter & 1));
  return result;
}

wide wide_cosine(u128 turn) {
  return wide_sine(turn + ((u128)1 << 126));
}

wide wide_times(wide x, u128 mantissa) {
  return (wide){product(x.magnitude, mantissa), x.negative};
}

static int length_of(u128 x) {
  const uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
  return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

/* Returns 2^exponent, for the exponent of a normal double. */
static double power_of_two(int exponent) {
  const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

posenc_sum wide_sum(wide x) {
  const double size = x.negative ? -0x1p-127 : 0x1p-127;
  const int length = length_of(x.magnitude), lower = length > 53 ? length - 53 : 0, rest = lower > 53 ? lower - 53 : 0;
  const u128 upper = x.magnitude >> lower << lower, low = (x.magnitude - upper) >> rest << rest;
  return (posenc_sum){size * (double)upper, size * (double)low};
}

/* Returns the number of low bits of the magnitude that rounding drops. */
static int dropped_of(wide x, int bits, int least) {
  const int by_bits = length_of(x.magnitude) - bits, by_least = least + 127;
  return by_bits > by_least ? by_bits : by_least;
}

bool wide_decides(wide x, int bits, int least) {
  enum { ERROR = 64 };
  const int dropped = dropped_of(x, bits, least);
  if (dropped <= 8) return false;
  const u128 rest = x.magnitude & (((u128)1 << dropped) - 1), half = (u128)1 << (dropped - 1);
  return (rest > half ? rest - half : half - rest) > ERROR;
}

double wide_round(wide x, int bits, int least) {
  const int dropped = dropped_of(x, bits, least);
  u128 kept = x.magnitude;
  if (dropped > 0) kept = (kept + ((u128)1 << (dropped - 1)) - 1 + (kept >> dropped & 1)) >> dropped;
  const double size = (double)(uint64_t)kept * power_of_two((dropped > 0 ? dropped : 0) - 127);
  return x.negative ? -size : size;
}

static uint64_t upper_product(uint64_t a, uint64_t b) {
  return (uint64_t)((u128)a * b >> 64);
}

/*
 * 2 cos w is computed in 64 bits first. Error bound in units of 2^-64, for w <= 1: four times the turn, π/4 and their
 * product are truncated by less than 1 each, so x is below w by less than 5, and z = x² below w² by less than 11. The
 * first term left out is w^22/22! < 2^-69. A step of Horner's rule has z (at most 1) times the error of the step
 * before, 1 for a constant and a product, whose truncations have opposite signs, and 11 times the sum before. Where the
 * terms are added up, this is 10 and 11/24, and the error of 1 - cos w is below 11 + 11/2 + 1. An uncertain result is
 * recomputed by wide_cosine.
 */
double wide_twice_cosine(const angle_table *angles, int64_t index) {
  enum { FIRST = TERMS - 10, ERROR = 18, DROPPED = 11 };
  const uint64_t half = UINT64_C(1) << (DROPPED - 1), below = 2 * half - 1;
  const uint64_t quarters = angles->turn_high[index] << 2 | angles->turn_low[index] >> 62;
  const uint64_t x = upper_product(quarters, (uint64_t)(quarter_pi >> 64)) << 1, z = upper_product(x, x);
  uint64_t sum = (uint64_t)(even_terms[FIRST] >> 64);
  for (int n = FIRST + 1; n < TERMS; n++) sum = (uint64_t)(even_terms[n] >> 64) - upper_product(z, sum);
  const uint64_t missing = upper_product(z, sum); /* 1 - cos w; 2 cos w in [1, 2] is a multiple of 2^-52 */
  if (((missing + ERROR - half) & below) <= 2 * ERROR)
    return 2.0 * wide_round(wide_cosine(wide_turn(angles, index, 1)), 53, -1074);
  return 2.0 - (double)((missing + half) >> DROPPED) * 0x1p-52;
}
