/* SPDX-License-Identifier: MIT */
/* Recipes of tables that are added to embeddings. */
#include "impls/recipes/recipe.h"

/* ---- the frequency by expf, in f32 ----------------------------------------------------------------- */

static posenc_stages product(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                             const posenc_stages *before) {
  (void)problem, (void)before;
  return recipe_f32(recipe_number(kept[index]), (float)position * (float)kept[index]);
}

static double keep_annotated(const posenc_problem *problem, int64_t index) {
  const float slope = (float)(-log(problem->base) / (double)problem->dim);
  return (double)expf((float)(2 * index) * slope);
}

RECIPE(annotated, keep_annotated, product, .name = "recipe/annotated",
       .summary = "The Annotated Transformer and PyTorch's tutorial (interleaved): f32 exp of a log, f32 product",
       .algorithm = "w[i] = expf(2i × f32(-ln(base) / d)); sinf(p × w[i]), cosf(p × w[i]).",
       .provenance = "harvardnlp/annotated-transformer, the_annotated_transformer.py, 2018; pytorch/examples, "
                     "word_language_model/model.py",
       .can_do = recipe_of_paper, .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

/* The slope is a quotient of f32 numbers. */
static double keep_tensor2tensor(const posenc_problem *problem, int64_t index) {
  const float slope = (float)log(problem->base) / (float)(problem->dim / 2 - 1);
  return (double)expf((float)index * -slope);
}

RECIPE(tensor2tensor, keep_tensor2tensor, product, .name = "recipe/tensor2tensor",
       .summary = "Tensor2Tensor (split): f32 exp of an f32 slope, by dim/2 - 1",
       .algorithm = "L = f32(ln(base)) / f32(d/2 - 1) in f32; w[i] = expf(i × -L); sinf(p × w[i]), cosf(p × w[i]).",
       .provenance = "tensorflow/tensor2tensor, tensor2tensor/layers/common_attention.py, 2017",
       .can_do = recipe_of_tensor2tensor, .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

/* The slope is a quotient of doubles. */
static double keep_fairseq(const posenc_problem *problem, int64_t index) {
  const float slope = (float)(log(problem->base) / (double)(problem->dim / 2 - 1));
  return (double)expf((float)index * -slope);
}

#define FAIRSEQ_ALGORITHM                                                                                              \
  "L = f32(ln(base) / (d/2 - 1)) in double; w[i] = expf(i × -L); sinf(p × w[i]), cosf(p × w[i])."

RECIPE(fairseq, keep_fairseq, product, .name = "recipe/fairseq",
       .summary = "fairseq (split, with a padding row, positions from the one after it): f32 exp of a slope made in "
                  "double, by dim/2 - 1",
       .algorithm = FAIRSEQ_ALGORITHM,
       .provenance = "facebookresearch/fairseq, fairseq/modules/sinusoidal_positional_embedding.py, 2017",
       .can_do = recipe_of_tensor2tensor, .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

RECIPE(whisper, keep_fairseq, product, .name = "recipe/whisper",
       .summary = "Whisper's encoder (split): f32 exp of a slope made in double, by dim/2 - 1",
       .algorithm = FAIRSEQ_ALGORITHM, .provenance = "openai/whisper, whisper/model.py, 2022",
       .can_do = recipe_of_tensor2tensor, .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

static double keep_ddpm_timestep(const posenc_problem *problem, int64_t index) {
  const float exponent = (float)-log(problem->base) * (float)index;
  return (double)expf(exponent / (float)((double)(problem->dim / 2) - problem->shift));
}

RECIPE(ddpm_timestep, keep_ddpm_timestep, product, .name = "recipe/ddpm-timestep",
       .summary = "diffusers' timesteps (split, or split-cs when flipped), any shift: f32 exp of a quotient",
       .algorithm = "w[i] = expf(f32(-ln(base)) × i / f32(d/2 - shift)); sinf(p × w[i]), cosf(p × w[i]); scale 1.",
       .provenance = "huggingface/diffusers, src/diffusers/models/embeddings.py, 2022; hojonathanho/diffusion, 2020",
       .can_do = recipe_of_any_shift, .bound = RECIPE_BOUND(2.0, 0.0, 1.7e-7))

/* ---- in double ------------------------------------------------------------------------------------- */

static double keep_xlm(const posenc_problem *problem, int64_t index) {
  return pow(problem->base, (double)(2 * index) / (double)problem->dim);
}

static posenc_stages quotient_xlm(const posenc_problem *problem, const double *kept, int64_t index, int64_t position,
                                  const posenc_stages *before) {
  (void)problem, (void)before;
  return recipe_f64(recipe_reciprocal(kept[index]), (double)position / kept[index]);
}

RECIPE(xlm, keep_xlm, quotient_xlm, .name = "recipe/xlm",
       .summary = "XLM (interleaved), and Marian in transformers (split): NumPy in double, cast to f32 at the end",
       .algorithm = "sin(p / pow(base, 2i/d)), cos of the same, all in double; then f32.",
       .provenance = "facebookresearch/XLM, xlm/model/transformer.py, 2019; huggingface/transformers, "
                     "src/transformers/models/marian/modeling_marian.py",
       .can_do = recipe_of_paper, .bound = RECIPE_BOUND(1.0, 0.0, 1.4e-16))
