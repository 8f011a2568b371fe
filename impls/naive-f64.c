/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"
#include "lib/exact/round.h"

#include <math.h>

/* Returns the divisor of the position in the formula. */
static inline double divisor_of(double base, int64_t index, double denominator) {
  return pow(base, (double)index / denominator);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  (void)constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const double denominator = kernel_denominator(problem);
  for (int64_t r = 0; r < rows; r++) {
    const double p = (double)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const int64_t column = r * problem->dim + i * at.step;
      round_to(problem->dtype, out, column + at.sin, sin(p / divisor_of(problem->base, i, denominator)));
      round_to(problem->dtype, out, column + at.cos, cos(p / divisor_of(problem->base, i, denominator)));
    }
  }
}

static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  (void)constants;
  const double denominator = kernel_denominator(problem);
  for (int64_t r = 0; r < rows; r++) {
    const double p = (double)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const double divisor = divisor_of(problem->base, i, denominator), angle = p / divisor;
      *stages++ = (posenc_stages){.frequency = kernel_reciprocal(divisor),
                                  .phase = {angle, 0.0},
                                  .sine = {sin(angle), 0.0},
                                  .cosine = {cos(angle), 0.0}};
    }
  }
  return true;
}

/*
 * Error bound in units u = 2^-53; errors are relative unless said otherwise. The exponent has two roundings, at most
 * 0.74 u of w absolute (see naive.c). pow: 1 ulp <= 2 u. The rounded position (beyond 2^53) and the division: 1 u each.
 * In all, the error of the angle is below 4.8 u × |p|. sin and cos add 1 ulp <= u absolute. The final rounding is half
 * an ulp of the computed value's binade, which may be above the exact value's: as in impls/rotation/rotation.h, the
 * result is ulp/2 + 1.5 E with E = (4.8 |p| + 1) u.
 */
const posenc_kernel posenc_kernel_naive_f64 = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "naive-f64",
    .summary = "the formula, literally, in f64, rounded at the end",
    .algorithm = "One pow, one division and one sin or cos per element in double; nothing is kept.",
    .provenance = "Vaswani et al., Attention Is All You Need, 2017, section 3.5",
    .bound = {.ulp = 0.5, .abs = 0x1p-52, .growth = 0x1p-50, .max_position = INT64_MAX, .derived = true},
    .basis = "derived in impls/naive-f64.c, given pow, sin and cos within 1 ulp",
    .reproducible = false,
    .execute = execute,
    .stages = tell_stages,
};
