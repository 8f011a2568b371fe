/* SPDX-License-Identifier: MIT */
/* Recipes of tables that rotate queries and keys. */
#include "impls/recipes/recipe.h"

#include <float.h>

float recipe_power(const posenc_problem *problem, int64_t index) {
  return powf((float)problem->base, (float)(2 * index) / (float)problem->dim);
}

static posenc_stages product(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                             const posenc_stages *before) {
  (void)problem, (void)before;
  return recipe_f32(recipe_number(kept[index]), (float)position * (float)kept[index]);
}

/* ---- f32 ------------------------------------------------------------------------------------------- */

/* Yarn's cut of a number of turns, in double. */
static double cut_at(const posenc_problem *problem, double turns) {
  const double two_pi = 0x1.921fb54442d18p+2;
  return (double)problem->dim * log((double)problem->scaling.original / (turns * two_pi)) / (2.0 * log(problem->base));
}

/* Returns yarn's ramp at an index. It is f32, its ends are double. */
static float ramp_of(const posenc_problem *problem, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  double from = cut_at(problem, how->high), to = cut_at(problem, how->low);
  if (how->truncate) {
    from = floor(from);
    to = ceil(to);
  }
  from = fmax(from, 0.0);
  to = fmin(to, (double)problem->dim - 1.0);
  if (from >= to && from <= to) to += 0.001;
  return fminf(fmaxf(((float)index - (float)from) / (float)(to - from), 0.0f), 1.0f);
}

/* Returns yarn's frequency, from the plain one's reciprocal. */
static float yarn_of(const posenc_problem *problem, float period, int64_t index) {
  const float kept = 1.0f - ramp_of(problem, index);
  return 1.0f / ((float)problem->scaling.factor * period) * (1.0f - kept) + 1.0f / period * kept;
}

/* Returns Llama 3's frequency, from the plain one. */
static float llama3_of(const posenc_problem *problem, float plain) {
  const posenc_scaling *how = &problem->scaling;
  const double original = (double)how->original;
  const float wave = (float)0x1.921fb54442d18p+2 / plain, longest = (float)(original / how->low),
              shortest = (float)(original / how->high), factor = (float)how->factor;
  if (wave > longest) return plain / factor;
  if (wave < shortest) return plain;
  const float smooth = ((float)original / wave - (float)how->low) / (float)(how->high - how->low);
  return (1.0f - smooth) * plain / factor + smooth * plain;
}

/* Returns the base, which a dynamic scaling raises: in f32, as the length is an element of a tensor. */
static double base_of(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  if (how->kind != POSENC_SCALING_DYNAMIC || how->length <= (double)how->original) return problem->base;
  const float stretched = (float)how->factor * (float)how->length / (float)how->original;
  const double exponent = (double)problem->dim / (double)(problem->dim - 2);
  return (double)((float)problem->base * powf(stretched - (float)(how->factor - 1.0), (float)exponent));
}

/* As transformers' modeling_rope_utils.py has it: arrays are f32, and what does not depend on the index is double. */
double recipe_hf(const posenc_problem *problem, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  posenc_problem based = *problem;
  based.base = base_of(problem);
  const float period = recipe_power(&based, index), plain = 1.0f / period;
  switch (how->kind) {
  case POSENC_SCALING_LINEAR:
    return (double)(plain / (float)how->factor);
  case POSENC_SCALING_YARN:
    return (double)yarn_of(problem, period, index);
  case POSENC_SCALING_LLAMA3:
    return (double)llama3_of(problem, plain);
  case POSENC_SCALING_LONGROPE:
    return (double)(1.0f / ((float)how->factors[index] * period));
  case POSENC_SCALING_NONE:
  case POSENC_SCALING_DYNAMIC:
    break;
  }
  return (double)plain;
}

const char *recipe_of_hf(const posenc_problem *problem) {
  if (base_of(problem) > (double)FLT_MAX) return "it needs a base that f32 can hold after the scaling has raised it";
  return recipe_of_scalings(problem, ~0u, NULL);
}

RECIPE_OF(
    hf_rope, recipe_hf, product, RECIPE_HF_BASIS, .name = "recipe/hf-rope",
    .summary = "transformers' Llama (duplicated halves), Meta's, vLLM (split-cs), FlashAttention, GPT-NeoX, xPos: f32 "
               "reciprocal of a power, all scalings",
    .algorithm = "w[i] = 1 / powf(base, 2i/d), scaled in f32; sinf(p × w[i]), cosf(p × w[i]), times an f32 attention "
                 "factor.",
    .provenance = "huggingface/transformers, src/transformers/models/llama/modeling_llama.py, 2023, and "
                  "modeling_rope_utils.py, 2024, its dynamic base as since the length is a tensor, so in 5.24; "
                  "meta-llama/llama, llama/model.py",
    .can_do = recipe_of_hf, .scales = true, .attends = true, .bound = RECIPE_BOUND(2.0, 0.0, 2.6e-7))

static double keep_gemma_cpp(const posenc_problem *problem, int64_t index) {
  return (double)(float)(1.0 / pow(problem->base, (double)(2 * index) / (double)problem->dim));
}

RECIPE(gemma_cpp, keep_gemma_cpp, product, .name = "recipe/gemma-cpp",
       .summary = "gemma.cpp (duplicated halves): frequencies in double, rounded to f32; f32 product",
       .algorithm = "w[i] = f32(1 / pow(base, 2i/d)) in double; sinf(p × w[i]), cosf(p × w[i]).",
       .provenance = "google/gemma.cpp, gemma/activations.h, 2024", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

/* Returns the period that mlx-lm's classes of scalings give to MLX, which takes its reciprocal. */
static float mlx_period(const posenc_problem *problem, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  const float period = recipe_power(problem, index), factor = (float)how->factor;
  if (how->kind == POSENC_SCALING_LONGROPE) return (float)how->factors[index] * period;
  if (how->kind == POSENC_SCALING_YARN) {
    const float spread = factor * period, kept = 1.0f - ramp_of(problem, index);
    return spread * period / (spread * kept + period * (1.0f - kept));
  }
  const double original = (double)how->original;
  const float wave = (float)0x1.921fb54442d18p+2 * period;
  if (wave > (float)(original / how->low)) return period * factor;
  if (!(wave > (float)(original / how->high))) return period;
  const float smooth = ((float)original / wave - (float)how->low) / (float)(how->high - how->low);
  return period / ((1.0f - smooth) / factor + smooth);
}

static double keep_mlx(const posenc_problem *problem, int64_t index) {
  const posenc_scaling_kind kind = problem->scaling.kind;
  const float slope = logf((float)problem->base) / (float)(problem->dim / 2);
  if (kind != POSENC_SCALING_NONE && kind != POSENC_SCALING_LINEAR) return (double)(1.0f / mlx_period(problem, index));
  return (double)expf(-(float)index * slope);
}

/* A linear scaling multiplies positions. */
static posenc_stages product_mlx(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                                 const posenc_stages *before) {
  (void)before;
  const bool is_linear = problem->scaling.kind == POSENC_SCALING_LINEAR;
  const float scale = is_linear ? (float)(1.0 / problem->scaling.factor) : 1.0f;
  return recipe_f32(recipe_number((double)scale * kept[index]), (float)position * scale * (float)kept[index]);
}

static const char *of_mlx(const posenc_problem *problem) {
  const bool is_yarn = problem->scaling.kind == POSENC_SCALING_YARN;
  if (is_yarn && !problem->scaling.truncate) return "mlx-lm rounds the ends of yarn's ramp: it needs truncate=yes";
  return recipe_of_scalings(problem, ~(1u << POSENC_SCALING_DYNAMIC), "mlx-lm has no dynamic scaling");
}

RECIPE_OF(mlx, keep_mlx, product_mlx, RECIPE_HF_BASIS, .name = "recipe/mlx",
          .summary = "MLX's RoPE (halves or neighbours): f32 exp of an f32 slope; scalings of mlx-lm: linear, yarn, "
                     "llama3, longrope",
          .algorithm =
              "w[i] = expf(-i × (logf(base) / (d/2))), positions times an f32 scale; or 1 / (scaled powf(base, "
              "2i/d)); sinf(p × w[i]), cosf(p × w[i]).",
          .provenance = "ml-explore/mlx, mlx/fast.cpp, 2024; ml-explore/mlx-lm, mlx_lm/models/rope_utils.py, 2025",
          .can_do = of_mlx, .scales = true, .bound = RECIPE_BOUND(2.0, 0.0, 2.6e-7))

static double keep_power(const posenc_problem *problem, int64_t index) {
  return (double)recipe_power(problem, index);
}

static posenc_stages quotient(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                              const posenc_stages *before) {
  (void)problem, (void)before;
  return recipe_f32(recipe_reciprocal(kept[index]), (float)position / (float)kept[index]);
}

/* Its classes for Llama 3.1 and yarn compute in steps of their own, which are not written down here. */
static const char *of_maxtext(const posenc_problem *problem) {
  return recipe_of_scalings(problem, 1u << POSENC_SCALING_NONE,
                            "MaxText's scalings have steps of their own, which this recipe does not have");
}

RECIPE(maxtext, keep_power, quotient, .name = "recipe/maxtext",
       .summary = "MaxText and Pax (split): f32 quotient by a power",
       .algorithm = "sinf(p / powf(base, 2i/d)), cosf of the same.",
       .provenance = "AI-Hypercomputer/maxtext, MaxText/layers/embeddings.py, 2023", .can_do = of_maxtext,
       .scales = true, .bound = RECIPE_BOUND(2.0, 0.0, 2.2e-7))

/* A linear scaling is the numerator. */
static double keep_tensorrt_llm(const posenc_problem *problem, int64_t index) {
  const bool is_linear = problem->scaling.kind == POSENC_SCALING_LINEAR;
  const float divisor = (float)pow(problem->base, (double)(2 * index) / (double)problem->dim);
  return (double)((is_linear ? (float)(1.0 / problem->scaling.factor) : 1.0f) / divisor);
}

/* The bits of its llama3, in NumPy's scalars, depend on NumPy's version; yarn and longrope have functions of their own,
   and its dynamic scaling has another formula. */
static const char *of_tensorrt_llm(const posenc_problem *problem) {
  return recipe_of_scalings(problem, 1u << POSENC_SCALING_NONE | 1u << POSENC_SCALING_LINEAR,
                            "of TensorRT-LLM's scalings, this recipe has the linear one");
}

RECIPE(tensorrt_llm, keep_tensorrt_llm, product, .name = "recipe/tensorrt-llm",
       .summary = "TensorRT-LLM's table (interleaved-cs): f32 reciprocal of a power in double; linear scaling",
       .algorithm = "w[i] = 1 / f32(pow(base, 2i/d)), or f32(1 / factor) instead of 1, the quotient in f32; sinf(p × "
                    "w[i]), cosf(p × w[i]).",
       .provenance = "NVIDIA/TensorRT-LLM, tensorrt_llm/functional.py, RopeEmbeddingUtils, 2024",
       .can_do = of_tensorrt_llm, .scales = true, .bound = RECIPE_BOUND(2.0, 0.0, 2.2e-7))

/* ---- partly or all in double ----------------------------------------------------------------------- */

static double keep_deepspeed(const posenc_problem *problem, int64_t index) {
  return 1.0 / (double)recipe_power(problem, index);
}

static posenc_stages product_deepspeed(const posenc_problem *problem, const double *kept, int64_t index,
                                       int64_t position, const posenc_stages *before) {
  (void)problem, (void)before;
  return recipe_f32(recipe_number(kept[index]), (float)(kept[index] * (double)(float)position));
}

RECIPE(deepspeed, keep_deepspeed, product_deepspeed, .name = "recipe/deepspeed",
       .summary = "DeepSpeed's inference (duplicated halves): f32 power, quotient and product in double, f32 angle",
       .algorithm = "f32(1.0 / powf(base, 2i/d) × p), quotient and product in double; its sinf and cosf.",
       .provenance = "microsoft/DeepSpeed, csrc/transformer/inference/csrc/apply_rotary_pos_emb.cu, 2022",
       .can_do = recipe_of_paper, .bound = RECIPE_BOUND(2.0, 0.0, 2.2e-7))

static double keep_flux(const posenc_problem *problem, int64_t index) {
  return 1.0 / pow(problem->base, (double)(2 * index) / (double)problem->dim);
}

static posenc_stages product_flux(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                                  const posenc_stages *before) {
  (void)problem, (void)before;
  return recipe_f64(recipe_number(kept[index]), (double)position * kept[index]);
}

RECIPE(flux, keep_flux, product_flux, .name = "recipe/flux",
       .summary = "FLUX (interleaved): all in double, cast to f32 at the end",
       .algorithm = "w[i] = 1 / pow(base, 2i/d); sin(p × w[i]), cos(p × w[i]), all in double; then f32.",
       .provenance = "black-forest-labs/flux, src/flux/math.py, 2024", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(1.0, 0.0, 1.4e-16))
