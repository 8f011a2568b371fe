/* SPDX-License-Identifier: MIT */
#include "impls/core/kernel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* Pairs that walk down the rows together. */
enum { TILE = 64 };

typedef struct steps {
  float *sine, *cosine; /* of one position; padded to whole tiles */
} steps;

static void release(void *constants) {
  steps *made = constants;
  free(made->sine);
  free(made->cosine);
  free(made);
}

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)options;
  const int64_t pairs = problem->dim / 2;
  const size_t padded = ((size_t)pairs + TILE - 1) / TILE * TILE;
  const float base = (float)problem->base, denominator = (float)kernel_denominator(problem);
  steps *made = calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->sine = calloc(padded, sizeof *made->sine);
  made->cosine = calloc(padded, sizeof *made->cosine);
  if (!made->sine || !made->cosine) {
    release(made);
    return POSENC_OUT_OF_MEMORY;
  }
  for (int64_t i = 0; i < pairs; i++) {
    const float frequency = 1.0f / powf(base, (float)i / denominator);
    made->sine[i] = sinf(frequency);
    made->cosine[i] = cosf(frequency);
  }
  *constants = made;
  return POSENC_OK;
}

/* Every row comes from the one before, so a range that starts late walks there from position 0. */
static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const steps *step = constants;
  const posenc_columns at = posenc_layout_columns(problem->layout, problem->dim);
  const int64_t first = problem->first + row;
  for (int64_t pair = 0; pair < problem->dim / 2; pair += TILE) {
    const int64_t left = problem->dim / 2 - pair, pairs = left < TILE ? left : TILE;
    const float *step_sin = step->sine + pair, *step_cos = step->cosine + pair;
    float sine[TILE] = {0}, cosine[TILE];
    for (int i = 0; i < TILE; i++) cosine[i] = 1.0f;
    for (int64_t p = 0; p < first + rows; p++) {
      if (p >= first) {
        float *table = (float *)out + (p - first) * problem->dim + pair * at.step;
        for (int64_t i = 0; i < pairs; i++) {
          table[at.sin + i * at.step] = sine[i];
          table[at.cos + i * at.step] = cosine[i];
        }
      }
      for (int i = 0; i < TILE; i++) {
        const float next = sine[i] * step_cos[i] + cosine[i] * step_sin[i];
        cosine[i] = cosine[i] * step_cos[i] - sine[i] * step_sin[i];
        sine[i] = next;
      }
    }
  }
}

static const char *can_do(const posenc_problem *problem) {
  if (problem->first < 0 || problem->first + problem->rows > INT64_C(1) << 24)
    return "it walks from position 0 and goes no further than 2^24";
  if (problem->base > (double)FLT_MAX) return "it needs a base that f32 can hold";
  return kernel_f32_only(problem);
}

const posenc_kernel posenc_kernel_recurrence = {
    .abi = POSENC_KERNEL_ABI,
    .isa = POSENC_ISA_GENERIC,
    .name = "recurrence",
    .summary = "incremental rotation in f32, never re-anchored: shows the drift",
    .algorithm = "sin and cos of one position once per plan; every row is the row before, rotated by them in f32.",
    .provenance =
        "angle addition, as in every sine oscillator; the cautionary tale of Singleton's FFT recurrences (1967)",
    .bound = {.ulp = 2.0, .abs = 0.0, .growth = 1.9e-7, .max_position = 1 << 20, .derived = false},
    .basis = "twice what was measured, 9.5e-8 per position, over bases 1e4 to 1e7 and dims 64 to 1024; roundings add "
             "up without limit",
    .reproducible = false,
    .can_do = can_do,
    .prepare = prepare,
    .execute = execute,
    .release = release,
};
