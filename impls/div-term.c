/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"
#include "lib/exact/angle.h"

#include <math.h>
#include <stdlib.h>

/* With a scale or a scaling, the frequencies are given, as configurations give them to models. */
static posenc_status give_frequencies(const posenc_problem *problem, float *div_term) {
  double *given = (double *)calloc((size_t)(problem->dim / 2), sizeof *given);
  const posenc_status status = given ? posenc_frequencies(problem, given) : POSENC_OUT_OF_MEMORY;
  for (int64_t i = 0; status == POSENC_OK && i < problem->dim / 2; i++) div_term[i] = (float)given[i];
  free(given);
  return status;
}

static const char *can_do(const posenc_problem *problem) {
  if (kernel_is_plain(problem)) return NULL;
  if (problem->scale < 0x1p-96)
    return "it needs a scale, and positions as multiples of one, of 2^-96 and more, for f32";
  return angle_can_do(problem);
}

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)options;
  const int64_t pairs = problem->dim / 2;
  const float slope = (float)(-log(problem->base) / (2.0 * kernel_denominator(problem)));
  float *div_term = (float *)calloc((size_t)pairs, sizeof *div_term);
  if (!div_term) return POSENC_OUT_OF_MEMORY;
  const bool plain = kernel_is_plain(problem);
  for (int64_t i = 0; plain && i < pairs; i++) div_term[i] = expf((float)(2 * i) * slope);
  const posenc_status status = plain ? POSENC_OK : give_frequencies(problem, div_term);
  if (status == POSENC_OK)
    *constants = div_term;
  else
    free(div_term);
  return status;
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const float *div_term = (const float *)constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *table = (float *)out;
  for (int64_t r = 0; r < rows; r++, table += problem->dim) {
    const float p = (float)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      table[at.sin + i * at.step] = sinf(p * div_term[i]);
      table[at.cos + i * at.step] = cosf(p * div_term[i]);
    }
  }
}

static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  const float *div_term = (const float *)constants;
  for (int64_t r = 0; r < rows; r++) {
    const float p = (float)(problem->first + row + r);
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const float angle = p * div_term[i];
      *stages++ = (posenc_stages){.frequency = {(double)div_term[i], 0.0},
                                  .phase = {(double)angle, 0.0},
                                  .sine = {(double)sinf(angle), 0.0},
                                  .cosine = {(double)cosf(angle), 0.0}};
    }
  }
  return true;
}

/*
 * Error bound in units u = 2^-24; errors are relative unless said otherwise. The exponent 2i × slope has two roundings
 * (those in double are negligible), which change w by 2 |ln w| w <= 2/e = 0.74 u absolute (base >= 1, so w <= 1). expf:
 * 1 ulp <= 2 u. The rounded position and the product: 1 u each. In all, the error of the angle is below 4.8 u × |p|.
 * sinf and cosf add 1 ulp of their result, at most 2 ulp of the exact value. Given frequencies, at most 1 in units of
 * the scale, have one rounding instead, and below the smallest normal number one of 2^-150, as the product has: 3.1 u ×
 * |p|.
 */
const posenc_kernel posenc_kernel_div_term = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "div-term",
    .summary = "frequencies by exp of a log, once per plan, then sinf and cosf of a product, in f32",
    .algorithm =
        "div_term[i] = expf(2i × f32(-ln(base) / d)), or the scaled frequency; sinf(p × div_term[i]), cosf(p × "
        "div_term[i]).",
    .provenance = "PyTorch's tutorial on sequence modelling with transformers; The Annotated Transformer (Rush, 2018)",
    .bound = {.ulp = 2.0, .abs = 0.0, .growth = 5 * 0x1p-24, .max_position = INT64_MAX, .derived = true},
    .basis = "derived in impls/div-term.c, given expf, sinf and cosf within 1 ulp",
    .reproducible = false,
    .scales = true,
    .f32_only = true,
    .can_do = can_do,
    .prepare = prepare,
    .execute = execute,
    .release = free,
    .stages = tell_stages,
};
