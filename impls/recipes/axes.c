/* SPDX-License-Identifier: MIT */
/* Recipes for pictures whose positions are divided. A table has one axis; its divisor is the factor of a linear
   scaling. */
#include "impls/recipes/recipe.h"

/* axis_keep returns the frequency or period of an index; axis_pair computes the pair of a position from it. */
typedef double axis_keep(const posenc_problem *problem, int64_t index);
typedef posenc_stages axis_pair(const posenc_problem *problem, double kept, int64_t position);

static double divisor_of(const posenc_problem *problem) {
  return problem->scaling.kind == POSENC_SCALING_LINEAR ? problem->scaling.factor : 1.0;
}

static const char *divided_refusal(const posenc_problem *problem, double scale) {
  if (problem->scaling.kind != POSENC_SCALING_NONE && problem->scaling.kind != POSENC_SCALING_LINEAR)
    return "it has no scaling but a divisor";
  if (problem->scale < scale || problem->scale > scale)
    return scale > 1.0 ? "it needs the scale 6.283185307179586" : "it has no scale, and no fractions of positions";
  return recipe_of_paper(problem);
}

static void execute_axis(axis_keep *keep, axis_pair *pair, const posenc_problem *problem, int64_t row, int64_t rows,
                         float *table) {
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t i = 0; i < problem->dim / 2; i++) {
    const double kept = keep(problem, i);
    for (int64_t r = 0; r < rows; r++) {
      const posenc_stages made = pair(problem, kept, problem->first + row + r);
      table[r * problem->dim + at.sin + i * at.step] = (float)made.sine.high;
      table[r * problem->dim + at.cos + i * at.step] = (float)made.cosine.high;
    }
  }
}

/* Makes: execute_diffusers_2d, execute_dinov3, stages_diffusers_2d, stages_dinov3, recipe_diffusers_2d,
   recipe_dinov3. */
#define AXIS_RECIPE(symbol, keep, pair, ...)                                                                           \
  static void execute_##symbol(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,        \
                               void *out) {                                                                            \
    (void)constants;                                                                                                   \
    execute_axis(keep, pair, problem, row, rows, out);                                                                 \
  }                                                                                                                    \
  static bool stages_##symbol(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,         \
                              posenc_stages *stages) {                                                                 \
    (void)constants;                                                                                                   \
    const int64_t pairs = problem->dim / 2;                                                                            \
    for (int64_t n = 0; n < rows * pairs; n++)                                                                         \
      stages[n] = pair(problem, keep(problem, n % pairs), problem->first + row + n / pairs);                           \
    return true;                                                                                                       \
  }                                                                                                                    \
  const posenc_kernel recipe_##symbol = {                                                                              \
      .abi = POSENC_KERNEL_ABI,                                                                                        \
      .isa = POSENC_ISA_GENERIC,                                                                                       \
      .basis = "twice what was measured on grids of 14 to 64 cells and positions below 2^20; the recipe has "          \
               "no bound",                                                                                             \
      .reproducible = false,                                                                                           \
      .scales = true,                                                                                                  \
      .f32_only = true,                                                                                                \
      .execute = execute_##symbol,                                                                                     \
      .stages = stages_##symbol,                                                                                       \
      __VA_ARGS__,                                                                                                     \
  };

/* ---- diffusers ------------------------------------------------------------------------------------- */

static double keep_diffusers_2d(const posenc_problem *problem, int64_t index) {
  return 1.0 / pow(problem->base, (double)index / ((double)problem->dim / 2.0));
}

static posenc_stages pair_diffusers_2d(const posenc_problem *problem, double kept, int64_t position) {
  const float divided = (float)position / (float)divisor_of(problem);
  return recipe_f64(recipe_number(kept / divisor_of(problem)), (double)divided * kept);
}

static const char *of_diffusers_2d(const posenc_problem *problem) {
  if (problem->scaling.kind == POSENC_SCALING_NONE) return "it divides positions; recipe/flux does the same without";
  return divided_refusal(problem, 1.0);
}

AXIS_RECIPE(diffusers_2d, keep_diffusers_2d, pair_diffusers_2d, .name = "recipe/diffusers-2d",
            .summary = "an axis of diffusers' pictures (grouped, width first, split): f32 quotient of positions by "
                       "size/base_size, the rest in double",
            .algorithm = "f32(r) / f32(size / base_size); w[i] = 1 / pow(base, i/(d/2)), product and sines in double; "
                         "then f32.",
            .provenance = "huggingface/diffusers, src/diffusers/models/embeddings.py, 2024", .can_do = of_diffusers_2d,
            .bound = RECIPE_BOUND(1.0, 0.0, 1.2e-7))

/* ---- DINOv3 ---------------------------------------------------------------------------------------- */

/* Returns the period of an index, in turns. */
static double keep_dinov3(const posenc_problem *problem, int64_t index) {
  return (double)powf((float)problem->base, (float)(2 * index) / (float)problem->dim);
}

/* The centre of cell r of N has the coordinate (2r + 1 - N) / N. */
static posenc_stages pair_dinov3(const posenc_problem *problem, double kept, int64_t position) {
  const double size = divisor_of(problem), turn = problem->scale;
  const float centre = (float)(((double)position + size) / 2.0) / (float)size, coordinate = 2.0f * centre - 1.0f;
  const posenc_sum inverse = recipe_reciprocal(kept * size / turn);
  return recipe_f32(inverse, (float)turn * coordinate / (float)kept);
}

static const char *of_dinov3(const posenc_problem *problem) {
  return divided_refusal(problem, 0x1.921fb54442d18p+2);
}

AXIS_RECIPE(dinov3, keep_dinov3, pair_dinov3, .name = "recipe/dinov3",
            .summary = "an axis of DINOv3's rope (height first, duplicated halves): f32 centres of cells from -1 to 1, "
                       "f32 quotient by periods",
            .algorithm = "c = 2 (f32(r + 0.5) / f32(N)) - 1; f32(2 pi) × c / powf(base, 2i/d) in f32; its sinf and "
                         "cosf.",
            .provenance = "facebookresearch/dinov3, dinov3/layers/rope_position_encoding.py, 2025", .can_do = of_dinov3,
            .bound = RECIPE_BOUND(2.0, 1.3e-6, 1.3e-7))
