/* SPDX-License-Identifier: MIT */
/*
 * RoPE in GPU kernels that use CUDA's fast functions, by name or by -use_fast_math. NVIDIA documents error bounds of
 * these functions, not their bits. The recipes compute the documented parts, each rounded correctly:
 *
 *   __powf(x, y)      ex2.approx(y × lg2.approx(x)), with the product in f32
 *   __sinf, __cosf    of the angle in turns, x × f32(1/2π) in f32, without an earlier reduction
 *
 * The contracts' bounds hold for the hardware, and so for these recipes; doc/recipes.md derives them.
 */
#include "impls/recipes/recipe.h"

static const char basis[] =
    "derived in doc/recipes.md from the bounds that NVIDIA documents for lg2, ex2 and sin.approx, for bases of 1e4 and "
    "more and dims to 4096, below 2^20; what is computed is these functions, correctly rounded";

static double keep_power(float base, float exponent) {
  return (double)exp2f(exponent * log2f(base));
}

static posenc_stages product(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                             const posenc_stages *before) {
  (void)problem, (void)before;
  const float turns = (float)position * (float)kept[index] * 0x1.45f306p-3f; /* 1/2π, rounded to f32 */
  const double angle = 0x1.921fb54442d18p+2 * ((double)turns - rint((double)turns));
  return (posenc_stages){.frequency = recipe_number(kept[index]),
                         .phase.high = angle,
                         .sine.high = (double)(float)sin(angle),
                         .cosine.high = (double)(float)cos(angle)};
}

static double keep_flashinfer(const posenc_problem *problem, int64_t index) {
  return keep_power(1.0f / (float)problem->base, (float)(2 * index) / (float)problem->dim);
}

RECIPE_OF(flashinfer, keep_flashinfer, product, basis, .name = "recipe/flashinfer",
          .summary = "FlashInfer's RoPE in attention (halves or neighbours): __powf of 1/base, __sincosf",
          .algorithm = "w[i] = __powf(f32(1/base), 2i/d); __sincosf(p × w[i]).",
          .provenance = "flashinfer-ai/flashinfer, include/flashinfer/pos_enc.cuh, 2023; NVIDIA, PTX ISA, sin, lg2, "
                        "ex2; CUDA C++ Programming Guide, intrinsic functions",
          .can_do = recipe_of_paper, .bound = RECIPE_BOUND(0.5, 0x1p-20, 4.6e-7))

static double keep_ggml_cuda_fast(const posenc_problem *problem, int64_t index) {
  const float step = powf((float)problem->base, -2.0f / (float)problem->dim); /* computed on the host */
  return keep_power(step, (float)index);
}

RECIPE_OF(ggml_cuda_fast, keep_ggml_cuda_fast, product, basis, .name = "recipe/ggml-cuda-fast",
          .summary = "llama.cpp on GPUs as it is built, under -use_fast_math (interleaved-cs): __powf, __sinf, __cosf",
          .algorithm = "s = powf(base, -2/d) on the host; p × __powf(s, i); its __sinf and __cosf.",
          .provenance = "ggml-org/llama.cpp, ggml/src/ggml-cuda/rope.cu and CMakeLists.txt, 2023; NVIDIA, as above",
          .can_do = recipe_of_paper, .bound = RECIPE_BOUND(0.5, 0x1p-20, 2.4e-5))
