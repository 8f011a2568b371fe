/* SPDX-License-Identifier: MIT */
#include "lib/exact/wide.h"

static const fixed one = {{0, 0, 0, 0, 1}}, nothing = {{0}};

static fixed without_turns(fixed a) {
  a.limb[FIXED_LIMBS - 1] = 0;
  return a;
}

fixed wider_turn(const angle_table *angles, int64_t index, int64_t position) {
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
