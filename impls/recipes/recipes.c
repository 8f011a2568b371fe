/* SPDX-License-Identifier: MIT */
#include "impls/recipes/recipes.h"
#include "impls/recipes/recipe.h"

#include <float.h>

typedef struct plan {
  recipe_pair *pair;
  float attention; /* 1, unless the recipe attends */
  double kept[];
} plan;

posenc_status recipe_prepare(const posenc_problem *problem, recipe_keep *keep, recipe_pair *pair, void **constants) {
  const int64_t pairs = problem->dim / 2;
  size_t bytes;
  if (__builtin_mul_overflow(pairs, sizeof(double), &bytes) || __builtin_add_overflow(bytes, sizeof(plan), &bytes))
    return POSENC_OUT_OF_MEMORY;
  plan *made = malloc(bytes);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->pair = pair;
  made->attention = (float)posenc_attention(problem);
  for (int64_t i = 0; i < pairs; i++) made->kept[i] = keep(problem, i);
  *constants = made;
  return POSENC_OK;
}

void recipe_execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const plan *made = constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *table = out;
  for (int64_t r = 0; r < rows; r++, table += problem->dim) {
    posenc_stages pair = {.phase.high = 0.0};
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      pair = made->pair(problem, made->kept, i, problem->first + row + r, &pair);
      table[at.sin + i * at.step] = (float)pair.sine.high * made->attention;
      table[at.cos + i * at.step] = (float)pair.cosine.high * made->attention;
    }
  }
}

bool recipe_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                   posenc_stages *stages) {
  const plan *made = constants;
  for (int64_t r = 0; r < rows; r++) {
    posenc_stages pair = {.phase.high = 0.0};
    for (int64_t i = 0; i < problem->dim / 2; i++)
      *stages++ = pair = made->pair(problem, made->kept, i, problem->first + row + r, &pair);
  }
  return true;
}

const char *recipe_of_any_shift(const posenc_problem *problem) {
  return problem->base >= 1.0 && problem->base <= (double)FLT_MAX ? NULL : "it needs a base >= 1 that f32 can hold";
}

const char *recipe_of_paper(const posenc_problem *problem) {
  if (problem->shift < 0.0 || problem->shift > 0.0) return "it divides by dim/2: it needs shift = 0";
  return recipe_of_any_shift(problem);
}

const char *recipe_of_scalings(const posenc_problem *problem, unsigned kinds, const char *why) {
  const posenc_scaling *how = &problem->scaling;
  const bool has_ramp = how->kind == POSENC_SCALING_YARN || how->kind == POSENC_SCALING_LLAMA3;
  if (!(kinds >> how->kind & 1u)) return why;
  if (problem->scale < 1.0 || problem->scale > 1.0)
    return "it has scalings, but no scale, and no fractions of positions";
  /* A slope of f32 multiplies the errors of a steep ramp. */
  if (has_ramp && how->high < 2.0 * how->low) return "its figures are for ramps whose high is at least twice their low";
  return recipe_of_paper(problem);
}

const char *recipe_of_tensor2tensor(const posenc_problem *problem) {
  if (problem->shift < 1.0 || problem->shift > 1.0) return "it divides by dim/2 - 1: it needs shift = 1";
  return recipe_of_any_shift(problem);
}

#define ADDRESS(symbol) &recipe_##symbol,

const posenc_kernel *const *recipes_kernels(size_t *count) {
  static const posenc_kernel *const kernels[] = {RECIPES_SHIPPED(ADDRESS) RECIPES_OTHER(ADDRESS)};
  *count = sizeof kernels / sizeof *kernels;
  return kernels;
}

const posenc_kernel *const *recipes_shipped(size_t *count) {
  static const posenc_kernel *const kernels[] = {RECIPES_SHIPPED(ADDRESS)};
  *count = sizeof kernels / sizeof *kernels;
  return kernels;
}
