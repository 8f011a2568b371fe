/* SPDX-License-Identifier: MIT */
#include "lib/api/kernel.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* TILE: pairs that are computed together, row by row. PART: pairs of an unrolled loop. KEPT: about as many rows are
   kept, but no two that are nearer to each other than APART_LEAST. */
enum { TILE = 64, PART = 16, KEPT = 1024, APART_LEAST = 64 };

typedef struct state {
  float sine[TILE], cosine[TILE];
} state;

/* Every row comes from the one before, so a call would begin at position 0. It begins at a row that the plan has kept:
   calls of few rows, as those of add and rope are, would else take a time that grows with the square of the rows. */
typedef struct steps {
  float *sine, *cosine; /* sines and cosines of one position, padded to whole tiles */
  int64_t apart, count; /* rows between two that are kept; how many are kept of a tile */
  state *kept;          /* of the first tile, of the second, … */
} steps;

static void release(void *constants) {
  steps *made = (steps *)constants;
  free(made->kept);
  free(made->sine);
  free(made->cosine);
  free(made);
}

static float frequency_of(const posenc_problem *problem, int64_t index) {
  const float base = (float)problem->base, denominator = (float)kernel_denominator(problem);
  return 1.0f / powf(base, (float)index / denominator);
}

/* Rotates to the next position. Inlined, as the compiler must otherwise assume that the steps may alias the state. */
static inline __attribute__((always_inline)) void rotate(state *at, const float *step_sin, const float *step_cos,
                                                         int64_t pairs) {
  for (int64_t part = 0; part < pairs; part += PART) {
#pragma GCC unroll 16
    for (int64_t i = part; i < part + PART; i++) {
      const float next = at->sine[i] * step_cos[i] + at->cosine[i] * step_sin[i];
      at->cosine[i] = at->cosine[i] * step_cos[i] - at->sine[i] * step_sin[i];
      at->sine[i] = next;
    }
  }
}

/* Returns the number of pairs of the tile that begins with `pair`. */
static int64_t pairs_from(const posenc_problem *problem, int64_t pair) {
  const int64_t left = problem->dim / 2 - pair;
  return left < TILE ? left : TILE;
}

/* Computes the rows that are kept, from position 0 on. */
static void keep_rows(steps *step, const posenc_problem *problem) {
  state *kept = step->kept;
  for (int64_t pair = 0; pair < problem->dim / 2; pair += TILE) {
    const int64_t pairs = pairs_from(problem, pair);
    state at = {.sine = {0}};
    for (int i = 0; i < TILE; i++) at.cosine[i] = 1.0f;
    for (int64_t p = 0; p < problem->first; p++) rotate(&at, step->sine + pair, step->cosine + pair, pairs);
    for (int64_t n = 0; n < step->count; n++) {
      for (int64_t r = 0; n > 0 && r < step->apart; r++) rotate(&at, step->sine + pair, step->cosine + pair, pairs);
      *kept++ = at;
    }
  }
}

static posenc_status prepare(const posenc_problem *problem, const posenc_options *options, void **constants) {
  (void)options;
  const int64_t pairs = problem->dim / 2;
  const size_t tiles = ((size_t)pairs + TILE - 1) / TILE, padded = tiles * TILE;
  steps *made = (steps *)calloc(1, sizeof *made);
  if (!made) return POSENC_OUT_OF_MEMORY;
  made->sine = (float *)calloc(padded, sizeof *made->sine);
  made->cosine = (float *)calloc(padded, sizeof *made->cosine);
  made->apart = problem->rows / KEPT > APART_LEAST ? problem->rows / KEPT : APART_LEAST;
  made->count = problem->rows / made->apart + 1;
  made->kept = (state *)calloc(tiles, (size_t)made->count * sizeof *made->kept);
  if (!made->sine || !made->cosine || !made->kept) {
    release(made);
    return POSENC_OUT_OF_MEMORY;
  }
  for (int64_t i = 0; i < pairs; i++) {
    const float frequency = frequency_of(problem, i);
    made->sine[i] = sinf(frequency);
    made->cosine[i] = cosf(frequency);
  }
  keep_rows(made, problem);
  *constants = made;
  return POSENC_OK;
}

/* Returns a row's state, of the tile that begins with `pair`. The row of a list may be beyond the problem's rows. */
static state state_at(const steps *step, int64_t pair, int64_t pairs, int64_t row) {
  const int64_t before = row / step->apart, last = step->count - 1, from = before < last ? before : last;
  state at = step->kept[pair / TILE * step->count + from];
  for (int64_t r = from * step->apart; r < row; r++) rotate(&at, step->sine + pair, step->cosine + pair, pairs);
  return at;
}

static void execute(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows, void *out) {
  const steps *step = (const steps *)constants;
  const posenc_columns columns = posenc_layout_columns(problem->layout, problem->dim);
  for (int64_t pair = 0; pair < problem->dim / 2; pair += TILE) {
    const int64_t pairs = pairs_from(problem, pair);
    float *table = (float *)out + pair * columns.step;
    state at = state_at(step, pair, pairs, row);
    for (int64_t r = 0; r < rows; r++, table += problem->dim) {
      for (int64_t i = 0; i < pairs; i++) {
        table[columns.sin + i * columns.step] = at.sine[i];
        table[columns.cos + i * columns.step] = at.cosine[i];
      }
      rotate(&at, step->sine + pair, step->cosine + pair, pairs);
    }
  }
}

/* The kernel computes no phase, so the exact product, of at most 48 bits, is returned. All errors of the recurrence are
   those of sine and cosine. */
static bool tell_stages(const void *constants, const posenc_problem *problem, int64_t row, int64_t rows,
                        posenc_stages *stages) {
  const steps *step = (const steps *)constants;
  for (int64_t pair = 0; pair < problem->dim / 2; pair += TILE) {
    const int64_t pairs = pairs_from(problem, pair);
    state at = state_at(step, pair, pairs, row);
    for (int64_t r = 0; r < rows; r++) {
      for (int64_t i = 0; i < pairs; i++) {
        const double frequency = (double)frequency_of(problem, pair + i);
        stages[r * (problem->dim / 2) + pair + i] =
            (posenc_stages){.frequency = {frequency, 0.0},
                            .phase = {(double)(problem->first + row + r) * frequency, 0.0},
                            .sine = {(double)at.sine[i], 0.0},
                            .cosine = {(double)at.cosine[i], 0.0}};
      }
      rotate(&at, step->sine + pair, step->cosine + pair, pairs);
    }
  }
  return true;
}

static const char *can_do(const posenc_problem *problem) {
  if (problem->first < 0 || problem->first + problem->rows > INT64_C(1) << 24)
    return "its recurrence begins at position 0 and goes no further than 2^24";
  if (problem->base > (double)FLT_MAX) return "it needs a base that f32 can hold";
  return NULL;
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
    .f32_only = true,
    .can_do = can_do,
    .prepare = prepare,
    .execute = execute,
    .release = release,
    .stages = tell_stages,
};
