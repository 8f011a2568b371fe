/* SPDX-License-Identifier: MIT */
/* Makes tables with scaled frequencies: each kind of scaling in one call, and drawn ones. */
#ifndef POSENC_TESTS_SCALINGS_H
#define POSENC_TESTS_SCALINGS_H

#include "posenc.h"
#include "tests/numbers.h"

static inline posenc_problem with_base(int64_t rows, int64_t dim, double base) {
  posenc_problem problem = posenc_table(rows, dim);
  problem.base = base;
  return problem;
}

static inline posenc_problem with_scale(posenc_problem problem, double scale) {
  problem.scale = scale;
  return problem;
}

static inline posenc_problem with_attention(posenc_problem problem, double attention) {
  problem.scaling.attention = attention;
  return problem;
}

static inline posenc_problem with_scaling(posenc_problem problem, posenc_scaling scaling) {
  problem.scaling = scaling;
  return problem;
}

static inline posenc_problem linear(posenc_problem problem, double factor) {
  return with_scaling(problem, posenc_scaling_linear(factor));
}

static inline posenc_problem dynamic(posenc_problem problem, double factor, int64_t original, int64_t length) {
  return with_scaling(problem, posenc_scaling_dynamic(factor, original, length));
}

static inline posenc_problem llama3(posenc_problem problem, double factor, int64_t original, double low, double high) {
  const posenc_scaling scaling = {
      .kind = POSENC_SCALING_LLAMA3, .factor = factor, .original = original, .low = low, .high = high};
  return with_scaling(problem, scaling);
}

/* Returns a problem with yarn. low and high are the defaults, 1 and 32. */
static inline posenc_problem yarn(posenc_problem problem, double factor, int64_t original, bool truncate) {
  problem.scaling = posenc_scaling_yarn(factor, original);
  problem.scaling.truncate = truncate;
  return problem;
}

static inline posenc_problem longrope(posenc_problem problem, double factor, int64_t original, const double *factors) {
  return with_scaling(problem, posenc_scaling_longrope(factor, original, factors));
}

enum { SCALING_KINDS = POSENC_SCALING_LONGROPE + 1, MOST_DIM = 160 };

/* Returns a number between the two, with every power equally likely. */
static inline double random_between(double least, double most) {
  return fmin(most, fmax(least, least * pow(most / least, random_fraction())));
}

/* Draws parameters from the whole allowed range and slightly beyond: some draws are refused. */
static inline posenc_problem draw_scaled(posenc_scaling_kind kind, double factors[MOST_DIM / 2]) {
  const int64_t dim = 4 + 2 * (int64_t)(random_bits() % (MOST_DIM / 2 - 2));
  posenc_problem problem = with_base(16, dim, random_between(2.0, 1e8));
  posenc_scaling *how = &problem.scaling;
  problem.scale = random_bits() % 2 ? 1.0 : random_between(0x1p-60, 0x1p20);
  how->kind = kind;
  how->factor = random_bits() % 8 ? random_between(1.0, 0x1p20) : 1.0;
  how->original = (int64_t)random_between(2.0, 0x1p40);
  how->length = random_between(1.0, 0x1p40);
  how->low = random_between(0x1p-10, 0x1p10);
  how->high = how->low * (random_bits() % 8 ? random_between(1.0 + 0x1p-9, 0x1p10) : 1.0);
  how->truncate = random_bits() % 2;
  how->factors = factors;
  for (int i = 0; i < MOST_DIM / 2; i++) factors[i] = random_bits() % 16 ? random_between(0x1p-8, 0x1p20) : INFINITY;
  return problem;
}

#endif
