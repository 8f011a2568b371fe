/* SPDX-License-Identifier: MIT */
/* Recipes of tables that rotate queries and keys. */
#include "impls/recipes/recipe.h"

#include <float.h>

/* Returns f32(base) to the power 2i/d, in f32. */
static float power(const posenc_problem *problem, int64_t index) {
  return powf((float)problem->base, (float)(2 * index) / (float)problem->dim);
}

static posenc_stages product(const double *kept, int64_t index, int64_t position, const posenc_stages *before) {
  (void)before;
  return recipe_f32(recipe_number(kept[index]), (float)position * (float)kept[index]);
}

/* ---- f32 ------------------------------------------------------------------------------------------- */

/* Yarn's cut of a number of turns, in double. */
static double cut_at(const posenc_problem *problem, double turns) {
  const double two_pi = 0x1.921fb54442d18p+2;
  return (double)problem->dim * log((double)problem->scaling.original / (turns * two_pi)) / (2.0 * log(problem->base));
}

/* Returns yarn's frequency, from the plain one's reciprocal. The ramp is f32, its ends are double. */
static float yarn_of(const posenc_problem *problem, float period, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  double from = cut_at(problem, how->high), to = cut_at(problem, how->low);
  if (how->truncate) {
    from = floor(from);
    to = ceil(to);
  }
  from = fmax(from, 0.0);
  to = fmin(to, (double)problem->dim - 1.0);
  if (from >= to && from <= to) to += 0.001;
  const float linear = ((float)index - (float)from) / (float)(to - from), ramp = fminf(fmaxf(linear, 0.0f), 1.0f),
              kept = 1.0f - ramp;
  return 1.0f / ((float)how->factor * period) * (1.0f - kept) + 1.0f / period * kept;
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

/* Returns the base, which a dynamic scaling raises. */
static double base_of(const posenc_problem *problem) {
  const posenc_scaling *how = &problem->scaling;
  if (how->kind != POSENC_SCALING_DYNAMIC || how->length <= how->original) return problem->base;
  return problem->base * pow(how->factor * (double)how->length / (double)how->original - (how->factor - 1.0),
                             (double)problem->dim / (double)(problem->dim - 2));
}

/* As transformers' modeling_rope_utils.py has it: arrays are f32, and what does not depend on the index is double. */
double recipe_hf(const posenc_problem *problem, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  posenc_problem based = *problem;
  based.base = base_of(problem);
  const float period = power(&based, index), plain = 1.0f / period;
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
  const posenc_scaling *how = &problem->scaling;
  const bool has_ramp = how->kind == POSENC_SCALING_YARN || how->kind == POSENC_SCALING_LLAMA3;
  if (problem->scale < 1.0 || problem->scale > 1.0)
    return "it has scalings, but no scale, and no fractions of positions";
  /* A slope of f32 multiplies the errors of a steep ramp. */
  if (has_ramp && how->high < 2.0 * how->low) return "its figures are for ramps whose high is at least twice their low";
  if (base_of(problem) > (double)FLT_MAX) return "it needs a base that f32 can hold after the scaling has raised it";
  return recipe_of_paper(problem);
}

RECIPE_OF(
    hf_rope, recipe_hf, product, RECIPE_HF_BASIS, .name = "recipe/hf-rope",
    .summary = "transformers' Llama (duplicated halves), Meta's, vLLM (split-cs), FlashAttention, GPT-NeoX, xPos: f32 "
               "reciprocal of a power, all scalings",
    .algorithm = "w[i] = 1 / powf(base, 2i/d), scaled in f32; sinf(p × w[i]), cosf(p × w[i]), times an f32 attention "
                 "factor.",
    .provenance = "huggingface/transformers, src/transformers/models/llama/modeling_llama.py, 2023, and "
                  "modeling_rope_utils.py, 2024; "
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

static double keep_mlx(const posenc_problem *problem, int64_t index) {
  const float slope = logf((float)problem->base) / (float)(problem->dim / 2);
  return (double)expf(-(float)index * slope);
}

RECIPE(mlx, keep_mlx, product, .name = "recipe/mlx",
       .summary = "MLX's RoPE (halves or neighbours): f32 exp of an f32 slope",
       .algorithm = "w[i] = expf(-i × (logf(base) / (d/2))); sinf(p × w[i]), cosf(p × w[i]).",
       .provenance = "ml-explore/mlx, mlx/fast.cpp, 2024", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

static double keep_power(const posenc_problem *problem, int64_t index) {
  return (double)power(problem, index);
}

static posenc_stages quotient(const double *kept, int64_t index, int64_t position, const posenc_stages *before) {
  (void)before;
  return recipe_f32(recipe_reciprocal(kept[index]), (float)position / (float)kept[index]);
}

RECIPE(maxtext, keep_power, quotient, .name = "recipe/maxtext",
       .summary = "MaxText and Pax (split): f32 quotient by a power",
       .algorithm = "sinf(p / powf(base, 2i/d)), cosf of the same.",
       .provenance = "AI-Hypercomputer/maxtext, MaxText/layers/embeddings.py, 2023", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(2.0, 0.0, 2.2e-7))

static double keep_tensorrt_llm(const posenc_problem *problem, int64_t index) {
  const float divisor = (float)pow(problem->base, (double)(2 * index) / (double)problem->dim);
  return (double)(1.0f / divisor);
}

RECIPE(tensorrt_llm, keep_tensorrt_llm, product, .name = "recipe/tensorrt-llm",
       .summary = "TensorRT-LLM's table (interleaved-cs): f32 reciprocal of a power in double",
       .algorithm = "w[i] = 1 / f32(pow(base, 2i/d)), the quotient in f32; sinf(p × w[i]), cosf(p × w[i]).",
       .provenance = "NVIDIA/TensorRT-LLM, tensorrt_llm/functional.py, RopeEmbeddingUtils, 2024",
       .can_do = recipe_of_paper, .bound = RECIPE_BOUND(2.0, 0.0, 2.2e-7))

/* ---- partly or all in double ----------------------------------------------------------------------- */

static double keep_deepspeed(const posenc_problem *problem, int64_t index) {
  return 1.0 / (double)power(problem, index);
}

static posenc_stages product_deepspeed(const double *kept, int64_t index, int64_t position,
                                       const posenc_stages *before) {
  (void)before;
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

static posenc_stages product_flux(const double *kept, int64_t index, int64_t position, const posenc_stages *before) {
  (void)before;
  return recipe_f64(recipe_number(kept[index]), (double)position * kept[index]);
}

RECIPE(flux, keep_flux, product_flux, .name = "recipe/flux",
       .summary = "FLUX (interleaved): all in double, cast to f32 at the end",
       .algorithm = "w[i] = 1 / pow(base, 2i/d); sin(p × w[i]), cos(p × w[i]), all in double; then f32.",
       .provenance = "black-forest-labs/flux, src/flux/math.py, 2024", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(1.0, 0.0, 1.4e-16))

/* ---- ggml: powers of one frequency ----------------------------------------------------------------- */

static float step_of(const posenc_problem *problem) {
  return powf((float)problem->base, -2.0f / (float)problem->dim);
}

/* Returns the frequency of an index as a power of the step. kept[1] is the step itself, as a power of 1 is exact. */
static double keep_ggml_rope(const posenc_problem *problem, int64_t index) {
  return pow((double)step_of(problem), (double)index);
}

static posenc_stages recur(const double *kept, int64_t index, int64_t position, const posenc_stages *before) {
  const float angle = index ? (float)before->phase.high * (float)kept[1] : (float)position;
  return recipe_f32(recipe_number(kept[index]), angle);
}

RECIPE(ggml_rope, keep_ggml_rope, recur, .name = "recipe/ggml-rope",
       .summary = "llama.cpp on CPUs (interleaved-cs): each pair's f32 angle is that of the pair before, times a step",
       .algorithm = "s = powf(base, -2/d); angle = p, then × s from pair to pair; its sinf and cosf.",
       .provenance = "ggml-org/llama.cpp, ggml/src/ggml-cpu/ops.cpp, 2023", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(2.0, 0.0, 3.7e-6))

static double keep_ggml_cuda_rope(const posenc_problem *problem, int64_t index) {
  return (double)powf(step_of(problem), (float)index);
}

RECIPE(ggml_cuda_rope, keep_ggml_cuda_rope, product, .name = "recipe/ggml-cuda-rope",
       .summary = "llama.cpp on GPUs (interleaved-cs): f32 powers of an f32 step",
       .algorithm = "s = powf(base, -2/d); p × powf(s, i); its sinf and cosf.",
       .provenance = "ggml-org/llama.cpp, ggml/src/ggml-cuda/rope.cu, 2023", .can_do = recipe_of_paper,
       .bound = RECIPE_BOUND(2.0, 0.0, 3.0e-6))
