/* SPDX-License-Identifier: MIT */
/* Negative controls: recipe/hf-rope with one value narrower than f32, as can happen by mistake under mixed
   precision. */
#include "impls/recipes/recipe.h"

enum { BF16_BITS = 8, F16_BITS = 11, TF32_BITS = 11 };

/* Returns the distance of the numbers with `bits` significant bits around x. */
static double unit_of(double x, int bits) {
  int exponent;
  frexp(x, &exponent);
  return ldexp(1.0, exponent - bits);
}

/* Rounds to `bits` significant bits, ties to even, as conversions do. */
static double nearest(double x, int bits) {
  const double unit = unit_of(x, bits);
  return rint(x / unit) * unit;
}

/* Rounds to TF32, the input of tensor cores, ties away from zero, as PTX's cvt.rna does. */
static double nearest_tf32(double x) {
  const double unit = unit_of(x, TF32_BITS);
  return round(x / unit) * unit;
}

static double keep_bf16(const posenc_problem *problem, int64_t index) {
  return nearest(recipe_hf(problem, index), BF16_BITS);
}

static double keep_tf32(const posenc_problem *problem, int64_t index) {
  return nearest_tf32(recipe_hf(problem, index));
}

static posenc_stages product_of(double frequency, double position) {
  return recipe_f32(recipe_number(frequency), (float)position * (float)frequency);
}

static double f32_position(int64_t position) {
  return (double)(float)position;
}

static posenc_stages with_bf16_positions(const posenc_problem *problem, const double *kept, int64_t index,
                                         int64_t position, const posenc_stages *before) {
  (void)problem, (void)before;
  return product_of(kept[index], nearest(f32_position(position), BF16_BITS));
}

static posenc_stages with_f32_positions(const posenc_problem *problem, const double *kept, int64_t index,
                                        int64_t position, const posenc_stages *before) {
  (void)problem, (void)before;
  return product_of(kept[index], f32_position(position));
}

static posenc_stages with_f16_positions(const posenc_problem *problem, const double *kept, int64_t index,
                                        int64_t position, const posenc_stages *before) {
  (void)problem, (void)before;
  return product_of(kept[index], nearest(f32_position(position), F16_BITS));
}

static posenc_stages with_tf32_positions(const posenc_problem *problem, const double *kept, int64_t index,
                                         int64_t position, const posenc_stages *before) {
  (void)problem, (void)before;
  return product_of(kept[index], nearest_tf32(f32_position(position)));
}

static posenc_stages all_in_bf16(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                                 const posenc_stages *before) {
  (void)problem, (void)before;
  const double angle = nearest(nearest(f32_position(position), BF16_BITS) * kept[index], BF16_BITS);
  posenc_stages pair = recipe_f32(recipe_number(kept[index]), (float)angle);
  pair.sine.high = nearest(pair.sine.high, BF16_BITS);
  pair.cosine.high = nearest(pair.cosine.high, BF16_BITS);
  return pair;
}

static const char *can_do_f16_positions(const posenc_problem *problem) {
  const int64_t most = 65504, last = problem->first + problem->rows - 1;
  if (problem->rows && (problem->first < -most || last > most)) return "f16 has no positions beyond 65504";
  return recipe_of_hf(problem);
}

RECIPE_OF(bf16_positions, recipe_hf, with_bf16_positions, RECIPE_HF_BASIS, .name = "recipe/bf16-positions",
          .summary = "negative control: hf-rope with positions rounded to bf16",
          .algorithm = "As recipe/hf-rope; p is rounded to 8 bits.",
          .provenance = "what casting position ids to bfloat16 does", .can_do = recipe_of_hf, .scales = true,
          .attends = true, .bound = RECIPE_BOUND(2.0, 0.0, 7.3e-3))

RECIPE_OF(bf16_inv, keep_bf16, with_f32_positions, RECIPE_HF_BASIS, .name = "recipe/bf16-inv",
          .summary = "negative control: hf-rope with frequencies rounded to bf16",
          .algorithm = "As recipe/hf-rope; w[i] is rounded to 8 bits.",
          .provenance = "what model.to(bfloat16) does to a buffer inv_freq", .can_do = recipe_of_hf, .scales = true,
          .attends = true, .bound = RECIPE_BOUND(2.0, 0.0, 4.0e-3))

RECIPE_OF(f16_positions, recipe_hf, with_f16_positions, RECIPE_HF_BASIS, .name = "recipe/f16-positions",
          .summary = "negative control: hf-rope with positions rounded to f16, up to 65504",
          .algorithm = "As recipe/hf-rope; p is rounded to 11 bits.",
          .provenance = "what arange in half precision does to positions", .can_do = can_do_f16_positions,
          .scales = true, .attends = true, .bound = RECIPE_BOUND(2.0, 0.0, 5.1e-4))

RECIPE_OF(all_bf16, keep_bf16, all_in_bf16, RECIPE_HF_BASIS, .name = "recipe/all-bf16",
          .summary = "negative control: hf-rope with everything after the frequencies in bf16",
          .algorithm = "As recipe/hf-rope; w[i], p, their product, sine and cosine are each rounded to 8 bits.",
          .provenance = "what casting all of it to bfloat16 does", .can_do = recipe_of_hf, .scales = true,
          .attends = true, .bound = RECIPE_BOUND(2.0, 0x1p-8, 1.4e-2))

RECIPE_OF(
    tf32_product, keep_tf32, with_tf32_positions, RECIPE_HF_BASIS, .name = "recipe/tf32-product",
    .summary = "negative control: hf-rope with its product on tensor cores, as TF32",
    .algorithm = "As recipe/hf-rope; p and w[i] are rounded to 11 bits, and their product, which is exact, is f32.",
    .provenance = "what allow_tf32 does to a matrix product of positions and frequencies; NVIDIA, PTX ISA, cvt.rna",
    .can_do = recipe_of_hf, .scales = true, .attends = true, .bound = RECIPE_BOUND(2.0, 0.0, 7.5e-4))
