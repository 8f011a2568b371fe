/* SPDX-License-Identifier: MIT */
/*
 * Frequencies in 256-bit fixed point, without libm: base^(-i/D) = r^i with r = exp(-ln(base)/D), changed by the scaling
 * and the scale.
 *
 * Error bound in units of 2^-256, for denominators D >= 1. A division truncates by less than 1, a multiplication by
 * less than 5. ln(base) has an error below 2^-244: up to 1024 times the error of ln 2, and 2 (6 / n + 1) for each of
 * the 51 terms of the series, 1300 in all. Each of the 23 terms of the series of exp has an error of 5 / n + 1,
 * together below 2^-250; each of the 16 squarings doubles the error and adds 5. So r has an error below 2^-232, and r^i
 * one below i × 2^-232. For smaller denominators, down to 2^-52, the error of ln(base) is scaled up, and the result is
 * within 2^-190. The kernels use 192 bits of the result, and all 256 only where 192 do not decide a rounding.
 *
 * A scaling multiplies each frequency by a number of at most 1 (2^8 for LongRoPE) that takes few such operations. The
 * largest errors are those of the ramps of two scalings. YaRN's g goes from 0 to 1 between two numbers that are d/2
 * ln(high/low) / ln(base) apart and known within d 2^-240, so the error of g is below 2^-240 × 2 × 710 / 2^-11; if they
 * are equal, 1/1000 apart, and d is at most 2^19, so it is below 2^-240 × 2^20 × 1000. Llama 3's ramp divides a
 * function of N w / 2π <= high, whose error is N times that of w, by high - low >= 2^-11 high. As w is at most
 * 2π high / N there, the error of the product with w is below i × 2^-232 × 2^14. A scale of 2^20 turns an error of
 * 2^-210 into 2^-190.
 */
#include "lib/api/kernel.h"
#include "lib/exact/angle.h"
#include "lib/exact/fixed.h"
#include "lib/exact/round.h"

static const fixed one = {{0, 0, 0, 0, 1}};
static const fixed ln_2 = {{0x8a0d175b8baafa2b, 0x40f343267298b62d, 0xc9e3b39803f2f6af, 0xb17217f7d1cf79ab, 0}};
static const fixed inverse_2_pi = {{0x7f9458eaf7aef158, 0x36d8a5664f10e410, 0x7f09d5f47d4d3770, 0x28be60db9391054a, 0}};

/* Returns 2 artanh z, for z < 1/5. */
static fixed twice_artanh(fixed z) {
  const fixed zz = fixed_times_fraction(z, z);
  fixed sum = z, power = z;
  for (uint64_t n = 3; !fixed_is_zero(power); n += 2) {
    power = fixed_times_fraction(power, zz);
    sum = fixed_add(sum, fixed_over_integer(power, n));
  }
  return fixed_times_integer(sum, 2);
}

/* Splits a normal x > 0 into a 53-bit mantissa and a power of two: x = mantissa × 2^exponent. Loading libm for frexp
   and ldexp would add 4 µs to the first plan of a process. */
static uint64_t mantissa_of(double x, int *exponent) {
  const uint64_t bits = round_bits_of(x), hidden = UINT64_C(1) << 52;
  *exponent = (int)(bits >> 52) - 1075;
  return (bits & (hidden - 1)) | hidden;
}

/* Returns ln(base) for base >= 1, as e ln 2 + 2 artanh((m-1)/(m+1)) with base = 2^e m and m within [√½, √2). */
static fixed logarithm(double base) {
  const uint64_t unit = UINT64_C(1) << 53;
  int exponent;
  uint64_t m = mantissa_of(base, &exponent);
  exponent += 53;
  if (m < UINT64_C(0x16a09e667f3bcd)) {
    m *= 2;
    exponent--;
  }
  const bool negative = m < unit;
  const fixed z = fixed_over_integer(fixed_of_integer(negative ? unit - m : m - unit), m + unit);
  const fixed part = twice_artanh(z), whole = fixed_times_integer(ln_2, (uint64_t)exponent);
  return negative ? fixed_subtract(whole, part) : fixed_add(whole, part);
}

/* Returns ln(x) of a fixed-point number 1 <= x < 2^61, like `logarithm`: m is within [1, 2), and is halved above √2. */
static fixed logarithm_of(fixed x) {
  const int exponent = 63 - __builtin_clzll(x.limb[FIXED_LIMBS - 1]);
  const fixed m = fixed_shifted_right(x, exponent);
  const bool upper = m.limb[FIXED_LIMBS - 2] > UINT64_C(0x6a09e667f3bcc908); /* √2, about */
  const fixed part =
      upper ? fixed_over(fixed_subtract(fixed_shifted_left(one, 1), m), fixed_add(fixed_shifted_left(one, 1), m))
            : fixed_over(fixed_subtract(m, one), fixed_add(m, one));
  const fixed whole = fixed_times_integer(ln_2, (uint64_t)exponent + upper);
  return upper ? fixed_subtract(whole, twice_artanh(part)) : fixed_add(whole, twice_artanh(part));
}

/* Returns exp(-x / 2^shift) for x >= 0, truncated to below 1. */
static fixed exponential(fixed x, int shift) {
  enum { SQUARINGS = 16 };
  fixed nothing = {{0}}, result;
  /* x / 2^shift >= 2^8 gives less than 2^-369. */
  const int bits = shift + SQUARINGS;
  if (bits < 0) {
    if (x.limb[FIXED_LIMBS - 1] >> (64 + bits) || bits <= -64) return nothing;
    x = fixed_times_integer(x, UINT64_C(1) << -bits);
  } else {
    x = fixed_shifted_right(x, bits);
  }
  if (x.limb[FIXED_LIMBS - 1] || x.limb[FIXED_LIMBS - 2] >> 56) return nothing;

  /* 1 - exp(-x) = x - x²/2! + x³/3! … */
  fixed term = x, sum = x;
  for (uint64_t n = 2; !fixed_is_zero(term); n++) {
    term = fixed_over_integer(fixed_times_fraction(term, x), n);
    sum = n % 2 ? fixed_add(sum, term) : fixed_subtract(sum, term);
  }
  result = fixed_subtract(nothing, sum);
  if (fixed_is_zero(sum)) result = fixed_subtract(nothing, (fixed){{1}});
  result.limb[FIXED_LIMBS - 1] = 0;
  for (int i = 0; i < SQUARINGS; i++) result = fixed_times_fraction(result, result);
  return result;
}

/* ---- scalings ---------------------------------------------------------------------------------- */

/* A value of cut(r) in YaRN's formula (posenc.h), which may be negative. */
typedef struct cut {
  fixed size;
  bool negative;
} cut;

/* Values that all frequencies of a plan share. */
typedef struct scaler {
  const posenc_problem *problem;
  fixed inverse_factor; /* 1 / s */
  fixed low, high;      /* of Llama 3; span is high - low */
  fixed span;
  cut from, to; /* of YaRN: g is 0 at `from` and 1 at `to` */
} scaler;

/* Returns dim ln(N / (2 π r)) / (2 ln base), for rotations r >= 2^-10. */
static cut cut_at(const posenc_problem *problem, double rotations) {
  const fixed ln_base = logarithm(problem->base);
  /* The logarithm of 8 / 2π is computed because `logarithm_of` needs a number above 1. */
  const fixed ln_2_pi = fixed_subtract(fixed_times_integer(ln_2, 3), logarithm_of(fixed_shifted_left(inverse_2_pi, 3)));
  const fixed above = fixed_add(logarithm((double)problem->scaling.original), fixed_times_integer(ln_2, 10));
  const fixed below = fixed_add(ln_2_pi, logarithm(rotations * 0x1p10));
  const bool negative = fixed_is_less(above, below);
  const fixed difference = negative ? fixed_subtract(below, above) : fixed_subtract(above, below);
  return (cut){fixed_over(fixed_times_integer(difference, (uint64_t)problem->dim), fixed_shifted_left(ln_base, 1)),
               negative};
}

static fixed without_fraction(fixed a) {
  return fixed_of_integer(a.limb[FIXED_LIMBS - 1]);
}

/* Rounds a cut down or up to an integer. No cut is an integer before it is rounded, so rounding up adds 1 to the
   integer part. */
static cut rounded(cut a, bool up) {
  const fixed down = without_fraction(a.size), size = up != a.negative ? fixed_add(down, one) : down;
  return (cut){size, a.negative && !fixed_is_zero(size)}; /* -0 is 0 */
}

static void find_cuts(scaler *made) {
  const posenc_problem *problem = made->problem;
  const posenc_scaling *how = &problem->scaling;
  cut from = cut_at(problem, how->high), to = cut_at(problem, how->low);
  if (how->truncate) {
    from = rounded(from, false);
    to = rounded(to, true);
  }
  if (from.negative) from = (cut){{{0}}, false};
  const fixed last = fixed_of_integer((uint64_t)problem->dim - 1);
  if (!to.negative && fixed_is_less(last, to.size)) to.size = last;
  made->from = from;
  made->to = to;
}

static scaler scaler_of(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  scaler made = {.problem = problem};
  if (how->kind == POSENC_SCALING_NONE) return made;
  made.inverse_factor = fixed_over(one, fixed_of(how->factor));
  if (how->kind == POSENC_SCALING_YARN) find_cuts(&made);
  if (how->kind == POSENC_SCALING_LLAMA3) {
    made.low = fixed_of(how->low);
    made.high = fixed_of(how->high);
    made.span = fixed_subtract(made.high, made.low);
  }
  return made;
}

/* Returns g of YaRN for frequency index i. The cuts a and b may have any order and place. Where they are equal and
   integers, the denominator has no effect, as i - a is an integer, too. */
static fixed yarn_ramp(const scaler *by, int64_t index) {
  const fixed i = fixed_of_integer((uint64_t)index), from = by->from.size;
  const bool is_step = !by->to.negative && !fixed_is_less(by->to.size, from) && !fixed_is_less(from, by->to.size);
  const fixed to = is_step ? fixed_add(from, fixed_over_integer(one, 1000)) : by->to.size;
  const bool after_from = fixed_is_less(from, i);
  if (!by->to.negative && !fixed_is_less(to, from)) { /* a <= b */
    if (!after_from) return (fixed){{0}};
    return fixed_is_less(i, to) ? fixed_over(fixed_subtract(i, from), fixed_subtract(to, from)) : one;
  }
  if (!fixed_is_less(i, from)) return (fixed){{0}};
  const fixed span = by->to.negative ? fixed_add(from, to) : fixed_subtract(from, to), part = fixed_subtract(from, i);
  return fixed_is_less(part, span) ? fixed_over(part, span) : one;
}

/* Returns 1 - g of Llama 3, for the number of turns in N positions, which is transcendental and so neither end. */
static fixed llama3_ramp(const scaler *by, fixed turns) {
  if (fixed_is_less(by->high, turns)) return (fixed){{0}};
  if (fixed_is_zero(by->span) || fixed_is_less(turns, by->low)) return one;
  return fixed_over(fixed_subtract(by->high, turns), by->span);
}

/* Returns a (1 - g) + a / s g. */
static fixed between(const scaler *by, fixed a, fixed g) {
  if (fixed_is_zero(g)) return a;
  if (!fixed_is_less(g, one))
    return by->inverse_factor.limb[FIXED_LIMBS - 1] ? a : fixed_times_fraction(a, by->inverse_factor);
  if (by->inverse_factor.limb[FIXED_LIMBS - 1]) return a; /* s is 1 */
  const fixed less = fixed_subtract(one, by->inverse_factor);
  return fixed_times_fraction(a, fixed_subtract(one, fixed_times_fraction(g, less)));
}

/* Returns frequency i, in turns per position, from that of the plain problem; the result may be above one turn. */
static fixed scaled(const scaler *by, int64_t index, fixed turn) {
  const posenc_problem *problem = by->problem;
  const posenc_scaling *how = &problem->scaling;
  switch (how->kind) {
  case POSENC_SCALING_NONE:
  case POSENC_SCALING_DYNAMIC: /* part of the base */
    break;
  case POSENC_SCALING_LINEAR:
    turn = between(by, turn, one);
    break;
  case POSENC_SCALING_YARN:
    turn = between(by, turn, yarn_ramp(by, index));
    break;
  case POSENC_SCALING_LLAMA3:
    turn = between(by, turn, llama3_ramp(by, fixed_times_integer(turn, (uint64_t)how->original)));
    break;
  case POSENC_SCALING_LONGROPE:
    turn = isinf(how->factors[index]) ? (fixed){{0}} : fixed_over(turn, fixed_of(how->factors[index]));
    break;
  }
  if (problem->scale == 1.0) return turn;
  int exponent;
  turn = fixed_times_integer(turn, mantissa_of(problem->scale, &exponent));
  return exponent < 0 ? fixed_shifted_right(turn, -exponent) : fixed_shifted_left(turn, exponent);
}

/* Returns ln of the base whose powers are the frequencies. */
static fixed logarithm_of_base(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  const fixed plain = logarithm(problem->base);
  if (how->kind != POSENC_SCALING_DYNAMIC || how->length <= (double)how->original) return plain;
  /* s n/N - (s - 1) = (N + s (n - N)) / N */
  int exponent;
  const uint64_t factor = mantissa_of(how->factor, &exponent);
  const fixed beyond = fixed_shifted_right(fixed_of(how->length - (double)how->original), -exponent),
              more = fixed_times_integer(beyond, factor);
  const fixed grown = fixed_subtract(logarithm_of(fixed_add(more, fixed_of_integer((uint64_t)how->original))),
                                     logarithm((double)how->original));
  const uint64_t dim = (uint64_t)problem->dim;
  return fixed_add(plain, fixed_over_integer(fixed_times_integer(grown, dim), dim - 2));
}

void angle_turns(const posenc_problem *problem, uint64_t *high, uint64_t *low, uint64_t *rest, uint64_t *last) {
  /* The denominator is mantissa × 2^exponent. Powers of two are moved to the exponent, as dividing by a small mantissa
     is faster. */
  int exponent;
  uint64_t mantissa = mantissa_of(kernel_denominator(problem), &exponent);
  const int zeros = __builtin_ctzll(mantissa);
  mantissa >>= zeros;
  exponent += zeros;
  const fixed ratio = exponential(fixed_over_integer(logarithm_of_base(problem), mantissa), exponent);
  const bool plain = kernel_is_plain(problem);
  const scaler by = scaler_of(problem);

  fixed turn = inverse_2_pi;
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const fixed made = plain ? turn : scaled(&by, i, turn);
    high[i] = made.limb[3];
    low[i] = made.limb[2];
    rest[i] = made.limb[1];
    last[i] = made.limb[0];
    turn = fixed_times_fraction(turn, ratio);
  }
}

/* ---- attention ----------------------------------------------------------------------------------- */

/* Returns the square root of 1 <= a <= 2^10: 50 correct bits, doubled by each of two of Newton's steps. */
static fixed square_root(fixed a) {
  fixed root = fixed_of(sqrt(fixed_double(a)));
  for (int n = 0; n < 2; n++) root = fixed_shifted_right(fixed_add(root, fixed_over(a, root)), 1);
  return root;
}

/* Returns the attention factor of a problem with a valid scaling, with a relative error below 2^-190. */
static fixed attention_of(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  if (!problem_attends(problem)) return one;
  if (how->attention > 0.0) return fixed_of(how->attention);
  if (how->kind == POSENC_SCALING_YARN) return fixed_add(one, fixed_over_integer(logarithm(how->factor), 10));
  return square_root(fixed_add(one, fixed_over(logarithm(how->factor), logarithm((double)how->original))));
}

angle_factor angle_attention(const posenc_problem *problem) {
  const fixed factor = attention_of(problem);
  const uint64_t whole = factor.limb[FIXED_LIMBS - 1], part = factor.limb[FIXED_LIMBS - 2];
  const int exponent = whole ? 64 - __builtin_clzll(whole) : -__builtin_clzll(part);
  return (angle_factor){exponent > 0 ? fixed_shifted_right(factor, exponent) : fixed_shifted_left(factor, -exponent),
                        exponent};
}

double posenc_attention(const posenc_problem *problem) {
  if (!problem || problem_scaling_refusal(problem)) return NAN;
  return fixed_double(attention_of(problem));
}
