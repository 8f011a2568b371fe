/* SPDX-License-Identifier: MIT */
/*
 * x of add and rope: random numbers, each of which depends only on its row and its place in the row, so that it can be
 * computed again. Their size is about 1, except in every 17th row, which is not plain: there they are huge, tiny, zero
 * of either sign, or nearly cancel the table.
 */
#include "common/memory.h"
#include "common/number.h"
#include "common/process.h"
#include "common/shapes.h"
#include "reference/axes.h"
#include "reference/vectors.h"
#include "verify/checks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void operand_open(operand *o, const posenc_problem *problem, uint64_t seed, fast_oracle *reference) {
  *o = (operand){.problem = problem, .threads = threads_most(), .seed = seed};
  if (problem->axes) {
    o->places = memory_take((size_t)o->threads, sizeof(*o->places));
    for (int n = 0; n < o->threads; n++) o->places[n] = allocated(axes_reference_create(o->problem));
    return;
  }
  o->reference = reference ? reference : allocated(fast_create(problem, 0));
  o->borrowed = reference;
  o->lanes = allocated(aligned_alloc(64, (size_t)(o->threads * fast_groups(o->reference)) * sizeof *o->lanes));
}

void operand_close(operand *o) {
  for (int n = 0; o->places && n < o->threads; n++) axes_reference_destroy(o->places[n]);
  free(o->places);
  if (!o->borrowed) fast_destroy(o->reference);
  free(o->lanes);
}

int64_t operand_move(operand *o, int64_t position) {
  return o->places ? INT64_C(1) << 40 : fast_move(o->reference, position);
}

const fast_lanes *operand_pairs(const operand *o, int64_t position) {
  if (o->places) return axes_reference_lanes(o->places[threads_this()], position);
  fast_lanes *mine = o->lanes + threads_this() * fast_groups(o->reference);
  fast_lanes_of(o->reference, position, mine);
  return mine;
}

const fast_lanes *operand_apart(operand *o, int64_t position, int64_t from) {
  if (o->places) return axes_reference_apart(o->places[threads_this()], position, from);
  operand_move(o, position - from);
  return operand_pairs(o, position - from);
}

/* Fewer rows than this are drawn by one thread. */
enum { FEW_ROWS = 64 };

/* One row in 17 is hard, since no block or vector has that period. */
enum { PERIOD = 17 };

bool operand_is_plain(int64_t row) {
  return row % PERIOD != PERIOD - 1;
}

/* Returns the sum of two uniform numbers, with variance 1. */
INLINE float plain_x(uint32_t key, uint32_t column) {
  const uint32_t one = random_mix_32(key ^ (column * UINT32_C(0x9e3779b1))),
                 other = random_mix_32(one + UINT32_C(0x7f4a7c15));
  return ((float)(int32_t)one + (float)(int32_t)other) * 0x1.397p-31f;
}

/* Returns the number of the dtype that is `steps` numbers farther from zero than the one nearest to x. */
static float stepped(posenc_dtype dtype, double x, int steps) {
  const float nearest = (float)(dtype == POSENC_BF16 ? format_nearest(&format_bf16, x) : x);
  uint32_t bits;
  memcpy(&bits, &nearest, sizeof bits);
  bits += (uint32_t)(steps * (dtype == POSENC_BF16 ? 1 << 16 : 1));
  float result;
  memcpy(&result, &bits, sizeof result);
  return result;
}

/* Makes a pair that is hard in one of several ways. In the last ways the result cancels: x is -PE or a neighbour of it;
   in rope, x is rotated to (0, 1). */
static void hard_pair(const posenc_problem *problem, uint32_t key, double sine, double cosine, float *first,
                      float *second) {
  const float plain = plain_x(key, 1), other = plain_x(key, 2);
  const int steps = (int)(key >> 8) % 4;
  *first = plain;
  *second = other;
  switch (key % 8) {
  case 0:
    *first = plain * 1e20f;
    *second = other * 1e20f;
    break;
  case 1:
    *first = plain * 1e-20f;
    *second = other * 1e-20f;
    break;
  case 2:
    *first = 0.0f;
    break;
  case 3:
    *second = -0.0f;
    break;
  case 4:
    *first = plain * 1e20f;
    *second = other * 1e-20f;
    break;
  case 5:
    *first = plain * 0x1p-140f; /* subnormal */
    *second = other * 0x1p-140f;
    break;
  default:
    *first = stepped(problem->dtype, problem->op == POSENC_ADD ? -sine : sine, steps);
    *second = stepped(problem->dtype, problem->op == POSENC_ADD || problem->inverse ? -cosine : cosine,
                      problem->op == POSENC_ADD ? steps : 0);
  }
}

/* Truncates to bf16; any rounding would do. */
INLINE uint16_t to_bf16(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return (uint16_t)(bits >> 16);
}

void operand_store(posenc_dtype dtype, void *x, int64_t at, float value) {
  if (dtype == POSENC_F32)
    ((float *)x)[at] = value;
  else
    ((uint16_t *)x)[at] = to_bf16(value);
}

/* Draws a plain row. Products are rounded before they are added, and the rest is integers, so that all instruction sets
   draw the same numbers. */
INLINE void draw_plain(posenc_dtype dtype, int64_t width, uint32_t key, void *x) {
  if (dtype == POSENC_F32) {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) ((float *)x)[j] = plain_x(key, (uint32_t)j);
  } else {
#pragma omp simd
    for (int64_t j = 0; j < width; j++) ((uint16_t *)x)[j] = to_bf16(plain_x(key, (uint32_t)j));
  }
}

typedef void draw_row(posenc_dtype dtype, int64_t width, uint32_t key, void *x);
/* Makes: draw_plain_generic, draw_plain_avx2. */
#define DRAW(name, attributes, fused)                                                                                  \
  attributes static void draw_plain_##name(posenc_dtype dtype, int64_t width, uint32_t key, void *x) {                 \
    draw_plain(dtype, width, key, x);                                                                                  \
  }
EACH_TIER(DRAW)

#define DRAW_ENTRY(name, attributes, fused) [TIER_##name] = draw_plain_##name,
static draw_row *const draws[] = {EACH_TIER(DRAW_ENTRY)};

static void draw_hard_row(const posenc_problem *problem, uint32_t key, const fast_lanes *exact_pairs, void *x) {
  for (int64_t head = 0; head < problem->heads; head++)
    for (int64_t i = 0; i < problem->dim / 2; i++) {
      const pair_columns at = axes_pair(problem, i);
      const int64_t from = head * problem->dim, k = i % FAST_LANES;
      const fast_lanes *group = &exact_pairs[i / FAST_LANES];
      float first, second;
      hard_pair(problem, random_mix_32(key ^ (uint32_t)(from + least(at.first, at.second))), group->sin_high[k],
                group->cos_high[k], &first, &second);
      operand_store(problem->dtype, x, from + at.first, first);
      operand_store(problem->dtype, x, from + at.second, second);
    }
}

static uint32_t key_of(const operand *o, int64_t row, int64_t sequence) {
  uint64_t state = o->seed ^ (uint64_t)row ^ (uint64_t)sequence << 48;
  return (uint32_t)random_below(&state, UINT64_C(1) << 32);
}

/* Draws rows. Hard rows need exact pairs, so the reference moves with them. */
void operand_draw(operand *o, int64_t row, int64_t rows, int64_t sequence, unsigned char *x) {
  const posenc_problem *problem = o->problem;
  const size_t bytes = row_bytes(problem);
  const int64_t end = row + rows;
  draw_row *const draw = draws[tier_for(0)];
#pragma omp parallel for schedule(static) if (rows > FEW_ROWS)
  for (int64_t r = row; r < end; r++)
    if (operand_is_plain(r))
      draw(problem->dtype, row_width(problem), key_of(o, r, sequence), x + bytes * (size_t)(r - row));
  for (int64_t from = row + (PERIOD - 1 - row % PERIOD), to; from < end; from = to) {
    const int64_t reach = operand_move(o, problem->first + from);
    to = from + (reach - 1) / PERIOD * PERIOD + PERIOD;
#pragma omp parallel for schedule(static) num_threads(o->threads) if (rows > FEW_ROWS)
    for (int64_t r = from; r < least(to, end); r += PERIOD)
      draw_hard_row(problem, key_of(o, r, sequence), operand_pairs(o, problem->first + r),
                    x + bytes * (size_t)(r - row));
  }
}
