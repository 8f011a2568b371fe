/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"

#include <float.h>
#include <math.h>

/* Returns the divisor of the position in the formula. */
static inline float divisor_of(float base, int64_t index, float denominator) {
  return powf(base, (float)index / denominator);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const float base = (float)problem->base, denominator = (float)kernel_denominator(problem);
  float *table = (float *)out;
  for (int64_t r = 0; r < rows; r++, table += problem->dim) {
    const float p = (float)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      table[at.sin + i * at.step] = sinf(p / divisor_of(base, i, denominator));
      table[at.cos + i * at.step] = cosf(p / divisor_of(base, i, denominator));
    }
  }
}

static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  (void)constants;
  const float base = (float)problem->base, denominator = (float)kernel_denominator(problem);
  for (int64_t r = 0; r < rows; r++) {
    const float p = (float)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const float divisor = divisor_of(base, i, denominator), angle = p / divisor;
      *stages++ = (posenc_stages){.frequency = kernel_reciprocal((double)divisor),
                                  .phase = {(double)angle, 0.0},
                                  .sine = {(double)sinf(angle), 0.0},
                                  .cosine = {(double)cosf(angle), 0.0}};
    }
  }
  return true;
}

static const char *can_do(const posenc_problem *problem) {
  if (problem->base > (double)FLT_MAX) return "it needs a base that f32 can hold";
  if (problem->shift > 1.0) return "it needs shift <= 1";
  return NULL;
}

/*
 * Error bound in units u = 2^-24; errors are relative unless said otherwise. The exponent i/denominator has two
 * roundings, which change w by 2 |ln w| w <= 2/e = 0.74 u absolute (base >= 1, so w <= 1). The rounded base: 1 u (shift
 * <= 1, so the exponent is at most 1). powf: 1 ulp <= 2 u. The rounded position and the division: 1 u each. In all, the
 * error of the angle is below 5.8 u × |p|. sinf and cosf add 1 ulp of their result, at most 2 ulp of the exact value
 * (an ulp is at most 2^-23 of a number, and at least 2^-24 of it).
 */
const posenc_kernel posenc_kernel_naive = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "naive",
    .summary = "the formula, literally, in f32: sinf(p / powf(base, 2i/d)) for every element",
    .algorithm = "One powf, one division and one sinf or cosf per element; nothing is kept.",
    .provenance = "Vaswani et al., Attention Is All You Need, 2017, section 3.5",
    .bound = {.ulp = 2.0, .abs = 0.0, .growth = 6 * 0x1p-24, .max_position = INT64_MAX, .derived = true},
    .basis = "derived in impls/naive.c, given powf, sinf and cosf within 1 ulp",
    .reproducible = false,
    .f32_only = true,
    .can_do = can_do,
    .execute = execute,
    .stages = tell_stages,
};
