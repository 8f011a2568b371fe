/* SPDX-License-Identifier: MIT */
#include "lib/exact/angle.h"

#include <string.h>

/* ---- 128 bits -------------------------------------------------------------------------------------------- */

enum { TERMS = 16 };

/* floor(2^128 / n!), the last term of the series first. The first terms left out are x^33/33! < 2^-134 and x^34/34! <
   2^-139 for x <= π/4. */
static const u128 odd_terms[TERMS - 1] = {U128(0x0000000000000000, 0x000000000000a1a6) /* 1/31! */,
                                          U128(0x0000000000000000, 0x00000000024b3f31) /* 1/29! */,
                                          U128(0x0000000000000000, 0x0000000746ac70b7) /* 1/27! */,
                                          U128(0x0000000000000000, 0x000013f3ccdd165f) /* 1/25! */,
                                          U128(0x0000000000000000, 0x002ec368262c7033) /* 1/23! */,
                                          U128(0x0000000000000000, 0x5c6e3bdb73d5c62f) /* 1/21! */,
                                          U128(0x0000000000000097, 0xa4da340a0ab92650) /* 1/19! */,
                                          U128(0x000000000000ca96, 0x3b81856a53593028) /* 1/17! */,
                                          U128(0x0000000000d73f9f, 0x399dc0f88ec32b58) /* 1/15! */,
                                          U128(0x00000000b092309d, 0x43684be51c198e91) /* 1/13! */,
                                          U128(0x0000006b99159fd5, 0x138e3f9d1f92e0df) /* 1/11! */,
                                          U128(0x00002e3bc74aad8e, 0x671f5583911ca002) /* 1/9! */,
                                          U128(0x000d00d00d00d00d, 0x00d00d00d00d00d0) /* 1/7! */,
                                          U128(0x0222222222222222, 0x2222222222222222) /* 1/5! */,
                                          U128(0x2aaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa) /* 1/3! */};
static const u128 even_terms[TERMS] = {
    U128(0x0000000000000000, 0x000000000000050d) /* 1/32! */, U128(0x0000000000000000, 0x000000000013932c) /* 1/30! */,
    U128(0x0000000000000000, 0x0000000042862898) /* 1/28! */, U128(0x0000000000000000, 0x000000c4742fe352) /* 1/26! */,
    U128(0x0000000000000000, 0x0001f2cf01972f57) /* 1/24! */, U128(0x0000000000000000, 0x04338e5b6dfe14a5) /* 1/22! */,
    U128(0x0000000000000007, 0x950ae900808941ea) /* 1/20! */, U128(0x0000000000000b41, 0x3c31dcbecbbdd802) /* 1/18! */,
    U128(0x00000000000d73f9, 0xf399dc0f88ec32b5) /* 1/16! */, U128(0x000000000c9cba54, 0x603e4e905d6f8a2e) /* 1/14! */,
    U128(0x00000008f76c77fc, 0x6c4bdaa26d4c3d67) /* 1/12! */, U128(0x0000049f93edde27, 0xd71cbbc05b4fa999) /* 1/10! */,
    U128(0x0001a01a01a01a01, 0xa01a01a01a01a01a) /* 1/8! */,  U128(0x005b05b05b05b05b, 0x05b05b05b05b05b0) /* 1/6! */,
    U128(0x0aaaaaaaaaaaaaaa, 0xaaaaaaaaaaaaaaaa) /* 1/4! */,  U128(0x8000000000000000, 0x0000000000000000) /* 1/2! */};
static const u128 quarter_pi = U128(0xc90fdaa22168c234, 0xc4c6628b80dc1cd1);

static u128 upper(u128 a) {
  return u128_of(0, u128_high(a));
}

static u128 lower(u128 a) {
  return u128_of(0, u128_low(a));
}

/* Returns floor(a b / 2^128). */
static u128 product(u128 a, u128 b) {
  const uint64_t a1 = u128_high(a), a0 = u128_low(a), b1 = u128_high(b), b0 = u128_low(b);
  const u128 cross_a = u128_product(a1, b0), cross_b = u128_product(a0, b1);
  const u128 middle = u128_add(u128_add(upper(u128_product(a0, b0)), lower(cross_a)), lower(cross_b));
  return u128_add(u128_add(u128_product(a1, b1), upper(middle)), u128_add(upper(cross_a), upper(cross_b)));
}

/*
 * Error bound in units of 2^-128 turns. The 192 bits that are kept of a frequency are too small by less than 2^-64
 * units; for any dim that fits in memory, the error of the 256-bit arithmetic before that is smaller (frequency.c).
 * 2^62 positions multiply both to at most half a unit. Truncation adds one unit.
 */
u128 wide_turn(const angle_constants *angles, int64_t index, int64_t position) {
  const uint64_t distance = position < 0 ? -(uint64_t)position : (uint64_t)position;
  const u128 turn = u128_of(angles->turn_high[index], angles->turn_low[index]);
  const u128 carried = upper(u128_product(angles->turn_rest[index], distance));
  const u128 turned = u128_add(u128_times(turn, distance), carried);
  return position < 0 ? u128_negative(turned) : turned;
}

/*
 * Error bound in units of 2^-128, for x <= π/4 and z = x² <= 0.62. The turn's error of 1.5 units is 9.5 units of x. x
 * is truncated twice; z is truncated once and has 2 x times the error of x. A step of Horner's rule has z (0.62) times
 * the error of the step before, the truncations of a product and a constant, and at most 1/2 times the error of z:
 * together below 4 where the terms are added up. The total is below 20 units, and halving the result makes it less than
 * 2^-123.
 */
wide wide_sine(u128 turn) {
  const u128 eighth = u128_of(UINT64_C(1) << 61, 0);
  const unsigned quarter = (unsigned)(u128_high(u128_add(turn, eighth)) >> 62);
  const u128 rest = u128_subtract(turn, u128_of((uint64_t)quarter << 62, 0));
  const bool below = u128_high(rest) >> 63;
  const u128 off = below ? u128_negative(rest) : rest;
  /* Eight times an eighth of a turn is 1, which does not fit. */
  const u128 x = product(u128_is_less(off, eighth) ? u128_left(off, 3) : u128_of(UINT64_MAX, UINT64_MAX), quarter_pi);
  const u128 z = product(x, x);
  const u128 one = u128_of(UINT64_C(1) << 63, 0);
  wide result;
  if (quarter & 1) {
    u128 sum = even_terms[0];
    for (int n = 1; n < TERMS; n++) sum = u128_subtract(even_terms[n], product(z, sum));
    result.magnitude = u128_subtract(one, u128_right(product(z, sum), 1));
  } else {
    u128 sum = odd_terms[0];
    for (int n = 1; n < TERMS - 1; n++) sum = u128_subtract(odd_terms[n], product(z, sum));
    result.magnitude = u128_right(u128_subtract(x, product(x, product(z, sum))), 1);
  }
  result.negative = ((quarter & 2) != 0) != (below && !(quarter & 1));
  return result;
}

wide wide_cosine(u128 turn) {
  return wide_sine(u128_add(turn, u128_of(UINT64_C(1) << 62, 0)));
}

wide wide_times(wide x, u128 mantissa) {
  return (wide){product(x.magnitude, mantissa), x.negative};
}

static int length_of(u128 x) {
  const uint64_t high = u128_high(x), low = u128_low(x);
  if (high) return 128 - __builtin_clzll(high);
  return low ? 64 - __builtin_clzll(low) : 0;
}

/* Returns 2^exponent, for the exponent of a normal double. */
static double power_of_two(int exponent) {
  const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
  double power;
  memcpy(&power, &bits, sizeof power);
  return power;
}

static u128 without_lowest(u128 x, int bits) {
  return u128_left(u128_right(x, bits), bits);
}

posenc_sum wide_sum(wide x) {
  const double size = x.negative ? -0x1p-127 : 0x1p-127;
  const int length = length_of(x.magnitude), below = length > 53 ? length - 53 : 0, rest = below > 53 ? below - 53 : 0;
  const u128 high = without_lowest(x.magnitude, below), low = without_lowest(u128_subtract(x.magnitude, high), rest);
  return (posenc_sum){size * u128_double(high), size * u128_double(low)};
}

/* Returns the number of low bits of the magnitude that rounding drops. */
static int dropped_of(wide x, int bits, int least) {
  const int by_bits = length_of(x.magnitude) - bits, by_least = least + 127;
  return by_bits > by_least ? by_bits : by_least;
}

static u128 power(int exponent) {
  return u128_left(u128_of(0, 1), exponent);
}

bool wide_decides(wide x, int bits, int least) {
  enum { ERROR = 64 };
  const int dropped = dropped_of(x, bits, least);
  if (dropped <= 8) return false;
  const u128 rest = u128_subtract(x.magnitude, without_lowest(x.magnitude, dropped));
  const u128 half = power(dropped - 1);
  const u128 distance = u128_is_less(half, rest) ? u128_subtract(rest, half) : u128_subtract(half, rest);
  return u128_is_less(u128_of(0, ERROR), distance);
}

double wide_round(wide x, int bits, int least) {
  const int dropped = dropped_of(x, bits, least);
  u128 kept = x.magnitude;
  if (dropped > 0) {
    const u128 odd = u128_of(0, u128_low(u128_right(kept, dropped)) & 1);
    const u128 below_half = u128_subtract(power(dropped - 1), u128_of(0, 1));
    kept = u128_right(u128_add(u128_add(kept, below_half), odd), dropped);
  }
  const double size = (double)u128_low(kept) * power_of_two((dropped > 0 ? dropped : 0) - 127);
  return x.negative ? -size : size;
}

static uint64_t upper_product(uint64_t a, uint64_t b) {
  return u128_high(u128_product(a, b));
}

/*
 * 2 cos w is computed in 64 bits first. Error bound in units of 2^-64, for w <= 1: four times the turn, π/4 and their
 * product are truncated by less than 1 each, so x is below w by less than 5, and z = x² below w² by less than 11. The
 * first term left out is w^22/22! < 2^-69. A step of Horner's rule has z (at most 1) times the error of the step
 * before, 1 for a constant and a product, whose truncations have opposite signs, and 11 times the sum before. Where the
 * terms are added up, this is 10 and 11/24, and the error of 1 - cos w is below 11 + 11/2 + 1. An uncertain result is
 * recomputed by wide_cosine.
 */
double wide_twice_cosine(const angle_constants *angles, int64_t index) {
  enum { FIRST = TERMS - 10, ERROR = 18, DROPPED = 11 };
  const uint64_t half = UINT64_C(1) << (DROPPED - 1), below = 2 * half - 1;
  const uint64_t quarters = angles->turn_high[index] << 2 | angles->turn_low[index] >> 62;
  const uint64_t x = upper_product(quarters, u128_high(quarter_pi)) << 1, z = upper_product(x, x);
  uint64_t sum = u128_high(even_terms[FIRST]);
  for (int n = FIRST + 1; n < TERMS; n++) sum = u128_high(even_terms[n]) - upper_product(z, sum);
  const uint64_t missing = upper_product(z, sum); /* 1 - cos w; 2 cos w in [1, 2] is a multiple of 2^-52 */
  if (((missing + ERROR - half) & below) <= 2 * ERROR)
    return 2.0 * wide_round(wide_cosine(wide_turn(angles, index, 1)), 53, -1074);
  return 2.0 - (double)((missing + half) >> DROPPED) * 0x1p-52;
}

/* ---- 256 bits -------------------------------------------------------------------------------------------- */

static const fixed one = {{0, 0, 0, 0, 1}}, nothing = {{0}};

static fixed without_turns(fixed a) {
  a.limb[FIXED_LIMBS - 1] = 0;
  return a;
}

fixed wider_turn(const angle_constants *angles, int64_t index, int64_t position) {
  const uint64_t distance = position < 0 ? -(uint64_t)position : (uint64_t)position;
  const fixed turn = {
      {angles->turn_last[index], angles->turn_rest[index], angles->turn_low[index], angles->turn_high[index], 0}};
  const fixed turned = without_turns(fixed_times_integer(turn, distance));
  return position < 0 ? without_turns(fixed_subtract(nothing, turned)) : turned;
}

/* Returns x - x³/3! + x⁵/5! … or 1 - x²/2! + …, for x <= π/4. Each of less than 30 terms is truncated by less than 8
   units. */
static fixed series(fixed x, bool cosine) {
  const fixed z = fixed_times_fraction(x, x);
  fixed term = cosine ? one : x, sum = term;
  for (uint64_t n = cosine ? 1 : 2, count = 1; !fixed_is_zero(term); n += 2, count++) {
    term = fixed_over_integer(cosine && count == 1 ? z : fixed_times_fraction(term, z), n * (n + 1));
    sum = count % 2 ? fixed_subtract(sum, term) : fixed_add(sum, term);
  }
  return sum;
}

wider wider_sine(fixed turn) {
  const unsigned quarter = (unsigned)((turn.limb[3] + (UINT64_C(1) << 61)) >> 62);
  fixed rest = turn;
  rest.limb[3] -= (uint64_t)quarter << 62;
  const bool below = rest.limb[3] >> 63;
  if (below) rest = without_turns(fixed_subtract(nothing, rest));
  fixed eighths = fixed_shifted_left(rest, 3); /* at most 1 */
  const fixed x = eighths.limb[FIXED_LIMBS - 1] ? fixed_quarter_pi : fixed_times_fraction(eighths, fixed_quarter_pi);
  return (wider){series(x, quarter & 1), ((quarter & 2) != 0) != (below && !(quarter & 1))};
}

wider wider_cosine(fixed turn) {
  turn.limb[3] += UINT64_C(1) << 62;
  return wider_sine(turn);
}

wider wider_times(wider x, fixed factor) {
  x.magnitude = x.magnitude.limb[FIXED_LIMBS - 1] ? factor : fixed_times_fraction(x.magnitude, factor);
  return x;
}

/* Returns the number of zeros before the first 1 bit of the fraction. */
static int zeros_of(fixed a) {
  int zeros = 0;
  for (int limb = FIXED_FRACTION_LIMBS - 1; limb >= 0; limb--, zeros += 64)
    if (a.limb[limb]) return zeros + __builtin_clzll(a.limb[limb]);
  return zeros;
}

double wider_round(wider x, int bits, int least) {
  if (x.magnitude.limb[FIXED_LIMBS - 1]) return x.negative ? -1.0 : 1.0;
  const int last = -zeros_of(x.magnitude) - bits, exponent = last > least ? last : least;
  fixed kept = x.magnitude; /* in units of the last bit that is kept */
  for (int by = -exponent, step; by > 0; by -= step) {
    step = by < 63 ? by : 63;
    kept = fixed_shifted_left(kept, step);
  }
  const uint64_t whole = kept.limb[4], half = UINT64_C(1) << 63;
  const bool beyond = kept.limb[3] > half || (kept.limb[3] == half && (kept.limb[2] | kept.limb[1] | kept.limb[0]));
  const bool up = beyond || (kept.limb[3] == half && (whole & 1));
  const double size = ldexp((double)(whole + up), exponent);
  return x.negative ? -size : size;
}
