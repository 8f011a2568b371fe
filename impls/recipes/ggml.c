/* SPDX-License-Identifier: MIT */
/* ggml's rope: powers of one f32 step; rope_yarn of each angle, with freq_scale, ext_factor and attn_factor; and
   factors that a model's file has (rope_freqs.weight), which llama.cpp's converter computes of Llama 3's scaling. */
#include "impls/recipes/recipe.h"

#include <stdlib.h>

typedef struct plan {
  bool is_recurred; /* the angle is made from that of the pair before, else by a power */
  float step, scale, attention;
  float *powers, *factors, *mixes; /* the step's powers, divisors of angles, and the parts of yarn's plain angle */
  float numbers[];
} plan;

static float step_of(const posenc_problem *problem) {
  return powf((float)problem->base, -2.0f / (float)problem->dim);
}

/* ---- scalings -------------------------------------------------------------------------------------- */

static float cut_at(const posenc_problem *problem, double turns) {
  const float two_pi = 2.0f * (float)0x1.921fb54442d18p+1, dim = (float)problem->dim;
  return dim * logf((float)problem->scaling.original / ((float)turns * two_pi)) / (2.0f * logf((float)problem->base));
}

/* rope_yarn_ramp: the part of an index that is not interpolated. */
static float mix_of(const posenc_problem *problem, int64_t index) {
  const float from = fmaxf(0.0f, floorf(cut_at(problem, problem->scaling.high))),
              to = fminf((float)(problem->dim - 1), ceilf(cut_at(problem, problem->scaling.low))),
              part = ((float)index - from) / fmaxf(0.001f, to - from);
  return 1.0f - fminf(1.0f, fmaxf(0.0f, part));
}

/* As convert_hf_to_gguf.py makes it, in f32 tensors. */
static float llama3_factor(const posenc_problem *problem, int64_t index) {
  const posenc_scaling *how = &problem->scaling;
  const double original = (double)how->original;
  const float frequency = 1.0f / recipe_power(problem, index), wave = (float)0x1.921fb54442d18p+2 / frequency;
  if (wave < (float)(original / how->high)) return 1.0f;
  if (wave > (float)(original / how->low)) return (float)how->factor;
  const float smooth = ((float)original / wave - (float)how->low) / (float)(how->high - how->low);
  return 1.0f / ((1.0f - smooth) / (float)how->factor + smooth);
}

static const char *of_ggml(const posenc_problem *problem) {
  const bool is_yarn = problem->scaling.kind == POSENC_SCALING_YARN;
  if (is_yarn && !problem->scaling.truncate) return "ggml rounds the ends of yarn's ramp: it needs truncate=yes";
  return recipe_of_scalings(problem, ~(1u << POSENC_SCALING_DYNAMIC), "llama.cpp has no dynamic scaling");
}

/* ---- plans ------------------------------------------------------------------------------------------ */

static posenc_status prepare(const posenc_problem *problem, bool is_recurred, void **constants) {
  const posenc_scaling *how = &problem->scaling;
  const size_t pairs = (size_t)(problem->dim / 2);
  size_t bytes;
  if (__builtin_mul_overflow(pairs, 3 * sizeof(float), &bytes) || __builtin_add_overflow(bytes, sizeof(plan), &bytes))
    return POSENC_OUT_OF_MEMORY;
  plan *made = malloc(bytes);
  if (!made) return POSENC_OUT_OF_MEMORY;
  const bool is_yarn = how->kind == POSENC_SCALING_YARN, is_scaled = how->kind == POSENC_SCALING_LINEAR || is_yarn;
  const float scale = is_scaled ? 1.0f / (float)how->factor : 1.0f;
  *made = (plan){.is_recurred = is_recurred,
                 .step = step_of(problem),
                 .scale = scale,
                 .attention = is_yarn && !(how->attention > 0.0) ? 1.0f + 0.1f * logf(1.0f / scale)
                                                                 : (float)posenc_attention(problem),
                 .powers = made->numbers,
                 .factors = made->numbers + pairs,
                 .mixes = made->numbers + 2 * pairs};
  for (size_t i = 0; i < pairs; i++) {
    made->powers[i] = powf(made->step, (float)i);
    made->factors[i] = 1.0f;
    if (how->kind == POSENC_SCALING_LLAMA3) made->factors[i] = llama3_factor(problem, (int64_t)i);
    if (how->kind == POSENC_SCALING_LONGROPE) made->factors[i] = (float)how->factors[i];
    made->mixes[i] = is_yarn ? mix_of(problem, (int64_t)i) : 0.0f;
  }
  *constants = made;
  return POSENC_OK;
}

/* Returns the pair of an index. *plain: the angle before scaling, of the index before, then of this one. */
static posenc_stages pair_of(const plan *made, int64_t index, int64_t position, float *plain) {
  if (made->is_recurred)
    *plain = index ? *plain * made->step : (float)position;
  else
    *plain = (float)position * made->powers[index];
  const float extrapolated = *plain / made->factors[index], interpolated = made->scale * extrapolated,
              mix = made->mixes[index];
  const float angle = mix > 0.0f ? interpolated * (1.0f - mix) + extrapolated * mix : interpolated;
  const double frequency = (made->is_recurred ? pow((double)made->step, (double)index) : (double)made->powers[index]) /
                           (double)made->factors[index] * ((double)made->scale * (1.0 - (double)mix) + (double)mix);
  return recipe_f32(recipe_number(frequency), angle);
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const plan *made = constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  float *table = out;
  for (int64_t r = 0; r < rows; r++, table += problem->dim) {
    float plain = 0.0f;
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const posenc_stages pair = pair_of(made, i, problem->first + row + r, &plain);
      table[at.sin + i * at.step] = (float)pair.sine.high * made->attention;
      table[at.cos + i * at.step] = (float)pair.cosine.high * made->attention;
    }
  }
}

static bool stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                   posenc_stages *pairs) {
  for (int64_t r = 0; r < rows; r++) {
    float plain = 0.0f;
    for (int64_t i = 0; i < problem->dim / 2; i++) *pairs++ = pair_of(constants, i, problem->first + row + r, &plain);
  }
  return true;
}

/* Makes: prepare_ggml_rope, prepare_ggml_cuda_rope, recipe_ggml_rope, recipe_ggml_cuda_rope. */
#define GGML(symbol, recurred, ...)                                                                                    \
  static posenc_status prepare_##symbol(const posenc_problem *problem, const posenc_options *options,                  \
                                        void **constants) {                                                            \
    (void)options;                                                                                                     \
    return prepare(problem, recurred, constants);                                                                      \
  }                                                                                                                    \
  const posenc_kernel recipe_##symbol = {                                                                              \
      .abi = POSENC_KERNEL_ABI,                                                                                        \
      .isa = POSENC_ISA_GENERIC,                                                                                       \
      .basis = RECIPE_HF_BASIS,                                                                                        \
      .reproducible = false,                                                                                           \
      .f32_only = true,                                                                                                \
      .scales = true,                                                                                                  \
      .attends = true,                                                                                                 \
      .can_do = of_ggml,                                                                                               \
      .prepare = prepare_##symbol,                                                                                     \
      .execute = execute,                                                                                              \
      .release = free,                                                                                                 \
      .stages = stages,                                                                                                \
      __VA_ARGS__,                                                                                                     \
  };

GGML(ggml_rope, true, .name = "recipe/ggml-rope",
     .summary = "llama.cpp on CPUs (interleaved-cs): each pair's f32 angle is that of the pair before, times a step; "
                "linear, yarn, llama3, longrope",
     .algorithm =
         "s = powf(base, -2/d); angle = p, then × s from pair to pair; divided by factors, times a scale, mixed "
         "by yarn's ramp; its sinf and cosf, times an f32 attention factor.",
     .provenance = "ggml-org/llama.cpp, ggml/src/ggml-cpu/ops.cpp, 2023, and convert_hf_to_gguf.py, 2024",
     .bound = RECIPE_BOUND(2.0, 0.0, 3.7e-6))

GGML(ggml_cuda_rope, false, .name = "recipe/ggml-cuda-rope",
     .summary = "llama.cpp on GPUs (interleaved-cs): f32 powers of an f32 step; linear, yarn, llama3, longrope",
     .algorithm = "s = powf(base, -2/d); p × powf(s, i), divided by factors, times a scale, mixed by yarn's ramp; its "
                  "sinf and cosf, times an f32 attention factor.",
     .provenance = "ggml-org/llama.cpp, ggml/src/ggml-cuda/rope.cu, 2023, and convert_hf_to_gguf.py, 2024",
     .bound = RECIPE_BOUND(2.0, 0.0, 3.0e-6))
