/* SPDX-License-Identifier: MIT */
#include "lib/exact/angle.h"
#include "lib/api/kernel.h"
#include "lib/exact/fixed.h"

#include <stdlib.h>

/* Returns the upper 106 bits of a number below 1. */
static posenc_sum sum_of(fixed a) {
  int exponent = 0;
  for (; !a.limb[3] && exponent > -192; exponent -= 64) {
    memmove(a.limb + 1, a.limb, (FIXED_FRACTION_LIMBS - 1) * sizeof *a.limb);
    a.limb[0] = 0;
  }
  if (!a.limb[3]) return (posenc_sum){0.0, 0.0};
  const int zeros = __builtin_clzll(a.limb[3]);
  a = fixed_times_integer(a, UINT64_C(1) << zeros);
  const uint64_t upper = a.limb[3] >> 11, lower = (a.limb[3] & 0x7ff) << 42 | a.limb[2] >> 22;
  return (posenc_sum){ldexp((double)upper, exponent - zeros - 53), ldexp((double)lower, exponent - zeros - 106)};
}

/* Returns a fraction of a turn in radians. */
static posenc_sum radians_of(fixed turn) {
  const posenc_sum eighth = sum_of(fixed_times_fraction(turn, fixed_quarter_pi));
  return (posenc_sum){8.0 * eighth.high, 8.0 * eighth.low};
}

posenc_sum angle_radians(uint64_t high, uint64_t low) {
  return radians_of((fixed){{0, 0, low, high, 0}});
}

posenc_sum angle_phase(uint64_t high, uint64_t low) {
  if (!(high >> 63)) return angle_radians(high, low);
  const posenc_sum size = angle_radians(~high + (low == 0), -low);
  return (posenc_sum){-size.high, -size.low};
}

/* Whether dim/2 - shift is exact in double, by Møller and Knuth's exact difference. */
static bool is_exact_denominator(const posenc_problem *problem) {
  const double half = (double)(problem->dim / 2), shift = problem->shift, difference = half - shift;
  const double took = half - difference, rest = (half - (difference + took)) + (took - shift);
  return (int64_t)half == problem->dim / 2 && rest == 0.0;
}

const char *angle_can_do(const posenc_problem *problem) {
  if (problem->base < 1.0) return "it needs base >= 1";
  if (problem->scale < 0x1p-128 || problem->scale > 0x1p20)
    return "it needs a scale, and positions as multiples of one, within 2^-128 and 2^20";
  if (problem->first < -ANGLE_MAX_POSITION || problem->first > ANGLE_MAX_POSITION ||
      problem->first - 1 > ANGLE_MAX_POSITION - problem->rows)
    return "it needs positions within ±2^62";
  if (!is_exact_denominator(problem)) return "it needs a dim/2 - shift that is exact in double";
  return NULL;
}

/* angle_turns is right to 192 bits after the point, ± 1; so small frequencies have fewer right bits than large ones. */
posenc_status posenc_frequencies(const posenc_problem *problem, double *frequencies) {
  if (!problem || problem->axes || problem->dim % 2 || !frequencies) return POSENC_BAD_ARGUMENT;
  if (posenc_problem_refusal(problem)) return POSENC_BAD_PROBLEM;
  posenc_problem one = *problem; /* the positions do not matter */
  one.first = 0;
  one.rows = 1;
  if (angle_can_do(&one)) return POSENC_CANNOT_RUN;
  const size_t pairs = (size_t)(problem->dim / 2);
  uint64_t *turns = (uint64_t *)calloc(pairs, 4 * sizeof *turns);
  if (!turns) return POSENC_OUT_OF_MEMORY;
  uint64_t *high = turns, *low = high + pairs, *rest = low + pairs, *last = rest + pairs;
  angle_turns(problem, high, low, rest, last);
  for (size_t i = 0; i < pairs; i++) {
    const posenc_sum frequency = radians_of((fixed){{0, rest[i], low[i], high[i], 0}});
    frequencies[i] = frequency.high + frequency.low;
  }
  free(turns);
  return POSENC_OK;
}

size_t angle_padded(const posenc_problem *problem) {
  return (size_t)(problem->dim / 2 + 2 * ANGLE_PADDING - 1) / ANGLE_PADDING * ANGLE_PADDING;
}

posenc_status angle_prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  const size_t pairs = (size_t)(problem->dim / 2), padded = angle_padded(problem);
  const size_t header = 64;
  size_t bytes;
  if (__builtin_mul_overflow(padded, 6 * sizeof(uint64_t), &bytes) || __builtin_add_overflow(bytes, header, &bytes))
    return POSENC_OUT_OF_MEMORY;
  char *memory = (char *)kernel_alloc(bytes);
  if (!memory) return POSENC_OUT_OF_MEMORY;
  memset(memory, 0, bytes);

  angle_constants *angles = (angle_constants *)(void *)memory;
  angles->turn_high = (uint64_t *)(void *)(memory + header);
  angles->turn_low = angles->turn_high + padded;
  angles->turn_rest = angles->turn_low + padded;
  angles->turn_last = angles->turn_rest + padded;
  angles->step_sin = (double *)(void *)(angles->turn_last + padded);
  angles->step_cos = angles->step_sin + padded;
  angles->stores = options ? options->stores : POSENC_STORES_AUTO;
  angle_turns(problem, angles->turn_high, angles->turn_low, angles->turn_rest, angles->turn_last);
  for (size_t i = 0; i < pairs; i++)
    angle_sincos(angle_at(angles->turn_high[i], angles->turn_low[i], 1), &angles->step_sin[i], &angles->step_cos[i]);
  *constants = angles;
  return POSENC_OK;
}

void angle_release(void *constants) {
  free(constants);
}
