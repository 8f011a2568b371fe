/* SPDX-License-Identifier: MIT */
/* The common part of the recipes. */
#ifndef POSENC_IMPLS_RECIPES_RECIPE_H
#define POSENC_IMPLS_RECIPES_RECIPE_H

#include "posenc.h"

#include <math.h>
#include <stdlib.h>

/* Returns the constant of a frequency index, which is the same for all positions. A double can hold every type that
   recipes use. */
typedef double recipe_keep(const posenc_problem *problem, int64_t index);
/* Returns the pair of a position and a frequency index. `kept` has the constants of all indices; `before` is the pair
   of the index before, all zeros for index 0. The table gets sine and cosine rounded to f32. */
typedef posenc_stages recipe_pair(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                                  const posenc_stages *before);

posenc_status recipe_prepare(const posenc_problem *problem, recipe_keep *keep, recipe_pair *pair, void **constants);
void recipe_execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out);
bool recipe_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                   posenc_stages *stages);

/* transformers' frequencies of RoPE, of every kind of scaling: the constants of recipe/hf-rope and of its negative
   controls. recipe_of_hf: can_do. */
double recipe_hf(const posenc_problem *problem, int64_t index);
const char *recipe_of_hf(const posenc_problem *problem);

/* Returns the f32 power 2i/d of the base. */
float recipe_power(const posenc_problem *problem, int64_t index);

/* can_do of frameworks with some scalings: null, or `why` if that of the problem is not in the set, of bits 1 << kind,
   or it has a scale. */
const char *recipe_of_scalings(const posenc_problem *problem, unsigned kinds, const char *why);

/* can_do by the denominator of the exponent: only dim/2; only dim/2 − 1; any. */
const char *recipe_of_paper(const posenc_problem *problem);
const char *recipe_of_tensor2tensor(const posenc_problem *problem);
const char *recipe_of_any_shift(const posenc_problem *problem);

/* Return the pair of an f32 angle by f32 functions, and of an f64 angle by f64 functions. */
static inline posenc_stages recipe_f32(posenc_sum frequency, float angle) {
  return (posenc_stages){.frequency = frequency,
                         .phase.high = (double)angle,
                         .sine.high = (double)sinf(angle),
                         .cosine.high = (double)cosf(angle)};
}

static inline posenc_stages recipe_f64(posenc_sum frequency, double angle) {
  return (posenc_stages){
      .frequency = frequency, .phase.high = angle, .sine.high = sin(angle), .cosine.high = cos(angle)};
}

static inline posenc_sum recipe_number(double x) {
  return (posenc_sum){.high = x};
}

/* Returns 1/x, the frequency of a recipe that divides by x, as a sum of two doubles. */
static inline posenc_sum recipe_reciprocal(double x) {
  const double high = 1.0 / x;
  return (posenc_sum){high, fma(-high, x, 1.0) / x};
}

/* The bound of a recipe, with twice the measured growth per position. */
#define RECIPE_BOUND(at_most_ulp, at_most_abs, per_position)                                                           \
  { .ulp = (at_most_ulp), .abs = (at_most_abs), .growth = (per_position), .max_position = 1 << 20, .derived = false }

/* Defines the kernel recipe_SYMBOL. Further arguments are fields of its contract. */
#define RECIPE(symbol, keep, pair, ...)                                                                                \
  RECIPE_OF(symbol, keep, pair,                                                                                        \
            "twice what was measured below 2^20, over bases 1e4 to 1e7 and dims 64 to 4096; the recipe has "           \
            "no bound",                                                                                                \
            __VA_ARGS__)

/* The basis of recipes with scalings. */
#define RECIPE_HF_BASIS                                                                                                \
  "at least twice what was measured below 2^20: plain, over bases 1e4 to 1e7 and dims 64 to 4096, and with scalings "  \
  "and attention factors, dim 64; the recipe has no bound"

/* RECIPE for a bound with another basis. */
#define RECIPE_OF(symbol, keep, pair, basis_text, ...)                                                                 \
  static posenc_status prepare_##symbol(const posenc_problem *problem, const posenc_options *options,                  \
                                        void **constants) {                                                            \
    (void)options;                                                                                                     \
    return recipe_prepare(problem, keep, pair, constants);                                                             \
  }                                                                                                                    \
  const posenc_kernel recipe_##symbol = {                                                                              \
      .abi = POSENC_KERNEL_ABI,                                                                                        \
      .isa = POSENC_ISA_GENERIC,                                                                                       \
      .basis = (basis_text),                                                                                           \
      .reproducible = false,                                                                                           \
      .f32_only = true,                                                                                                \
      .prepare = prepare_##symbol,                                                                                     \
      .execute = recipe_execute,                                                                                       \
      .release = free,                                                                                                 \
      .stages = recipe_stages,                                                                                         \
      __VA_ARGS__,                                                                                                     \
  };

/* Recipes in the order of recipes_kernels: those of recipes_shipped; then two for pictures and the other negative
   controls. */
#define RECIPES_SHIPPED(row)                                                                                           \
  row(annotated) row(tensor2tensor) row(fairseq) row(whisper) row(ddpm_timestep) row(xlm) row(hf_rope) row(gemma_cpp)  \
      row(maxtext) row(mlx) row(deepspeed) row(flux) row(ggml_rope) row(ggml_cuda_rope) row(tensorrt_llm)              \
          row(flashinfer) row(ggml_cuda_fast) row(bf16_positions)
#define RECIPES_OTHER(row)                                                                                             \
  row(diffusers_2d) row(dinov3) row(bf16_inv) row(f16_positions) row(all_bf16) row(tf32_product)

#define RECIPE_DECLARED(symbol) extern const posenc_kernel recipe_##symbol;
RECIPES_SHIPPED(RECIPE_DECLARED) RECIPES_OTHER(RECIPE_DECLARED)

#endif
