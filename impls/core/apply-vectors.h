/* SPDX-License-Identifier: MIT */
/*
 * The loops of add and rope, for any width of vectors. A file defines TARGET, the attribute of its functions, FLOATS, how many there are in
 * a vector, and LOOPS, the name of what it makes; then it includes this.
 */
#include "impls/core/apply.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline)) TARGET

typedef float floats __attribute__((vector_size(4 * FLOATS)));
typedef uint32_t words __attribute__((vector_size(4 * FLOATS)));
typedef uint16_t halves __attribute__((vector_size(2 * FLOATS)));

/* As they lie in memory, aligned or not. */
typedef float floats_there __attribute__((vector_size(4 * FLOATS), aligned(4), may_alias));
typedef uint16_t halves_there __attribute__((vector_size(2 * FLOATS), aligned(2), may_alias));

INLINE floats load_table(const float *at) {
  return *(const floats_there *)at;
}

INLINE floats load(posenc_dtype dtype, const char *at) {
  if (dtype == POSENC_F32) return *(const floats_there *)(const void *)at;
  return (floats)(__builtin_convertvector(*(const halves_there *)(const void *)at, words) << 16);
}

/* Of bf16, to nearest, ties to even; a NaN stays one. */
INLINE void store(posenc_dtype dtype, char *at, floats x) {
  if (dtype == POSENC_F32) {
    *(floats_there *)(void *)at = x;
    return;
  }
  const words bits = (words)x, nan = (words)(x != x);
  const words rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
  *(halves_there *)(void *)at = __builtin_convertvector((rounded & ~nan) | (quiet & nan), halves);
}

/* One element, in the same way. */
INLINE float load_one(posenc_dtype dtype, const char *at) {
  float x;
  if (dtype == POSENC_F32) {
    memcpy(&x, at, sizeof x);
    return x;
  }
  uint16_t half;
  memcpy(&half, at, sizeof half);
  const uint32_t bits = (uint32_t)half << 16;
  memcpy(&x, &bits, sizeof x);
  return x;
}

INLINE void store_one(posenc_dtype dtype, char *at, float x) {
  if (dtype == POSENC_F32) {
    memcpy(at, &x, sizeof x);
    return;
  }
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint16_t half = (uint16_t)(x != x ? bits >> 16 | 0x40 : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  memcpy(at, &half, sizeof half);
}

INLINE int64_t bytes_of(posenc_dtype dtype) {
  return dtype == POSENC_F32 ? 4 : 2;
}

INLINE void add_as(posenc_dtype dtype, int64_t count, const float *table, const char *x, char *out) {
  const int64_t bytes = bytes_of(dtype);
  int64_t i = 0;
  for (; i + FLOATS <= count; i += FLOATS)
    store(dtype, out + i * bytes, load(dtype, x + i * bytes) + load_table(table + i));
  for (; i < count; i++) store_one(dtype, out + i * bytes, load_one(dtype, x + i * bytes) + table[i]);
}

/* (a, b) turned: a c - b s, and b c + a s. */
INLINE void turn_one(posenc_dtype dtype, float cosine, float sine, const char *x, char *out, int64_t other) {
  const float a = load_one(dtype, x), b = load_one(dtype, x + other);
  store_one(dtype, out, a * cosine - b * sine);
  store_one(dtype, out + other, b * cosine + a * sine);
}

INLINE void turn_halves(posenc_dtype dtype, uint32_t sign, int64_t half, const float *row, const char *x, char *out) {
  const int64_t bytes = bytes_of(dtype), other = half * bytes;
  int64_t i = 0;
  for (; i + FLOATS <= half; i += FLOATS) {
    const floats cosine = load_table(row + i), sine = (floats)((words)load_table(row + half + i) ^ sign);
    const floats a = load(dtype, x + i * bytes), b = load(dtype, x + i * bytes + other);
    store(dtype, out + i * bytes, a * cosine - b * sine);
    store(dtype, out + i * bytes + other, b * cosine + a * sine);
  }
  for (; i < half; i++)
    turn_one(dtype, row[i], sign ? -row[half + i] : row[half + i], x + i * bytes, out + i * bytes, other);
}

#define EVEN(i) (i), (i)
#define ODD(i) (i) + 1, (i) + 1
#define SWAP(i) (i) + 1, (i)
#if FLOATS == 4
#define EACH(f) f(0), f(2)
#elif FLOATS == 8
#define EACH(f) f(0), f(2), f(4), f(6)
#else
#define EACH(f) f(0), f(2), f(4), f(6), f(8), f(10), f(12), f(14)
#endif
#define SIGNS(i) UINT32_C(0x80000000), UINT32_C(0)

INLINE void turn_neighbours(posenc_dtype dtype, uint32_t sign, int64_t dim, const float *row, const char *x,
                            char *out) {
  const int64_t bytes = bytes_of(dtype);
  const words signs = (words){EACH(SIGNS)} ^ sign;
  int64_t i = 0;
  for (; i + FLOATS <= dim; i += FLOATS) {
    const floats both = load_table(row + i), pair = load(dtype, x + i * bytes);
    const floats cosine = __builtin_shufflevector(both, both, EACH(EVEN));
    const floats sine = (floats)((words)__builtin_shufflevector(both, both, EACH(ODD)) ^ signs);
    store(dtype, out + i * bytes, pair * cosine + __builtin_shufflevector(pair, pair, EACH(SWAP)) * sine);
  }
  for (; i < dim; i += 2)
    turn_one(dtype, row[i], sign ? -row[i + 1] : row[i + 1], x + i * bytes, out + i * bytes, bytes);
}

INLINE void rope_as(posenc_dtype dtype, bool neighbours, const posenc_problem *problem, const float *row, const char *x,
                    char *out) {
  const uint32_t sign = problem->inverse ? UINT32_C(0x80000000) : 0;
  const int64_t head_bytes = problem->dim * bytes_of(dtype);
  for (int64_t head = 0; head < problem->heads; head++, x += head_bytes, out += head_bytes)
    if (neighbours)
      turn_neighbours(dtype, sign, problem->dim, row, x, out);
    else
      turn_halves(dtype, sign, problem->dim / 2, row, x, out);
}

/* One instance for each dtype and kind of pairs. */
TARGET static void add(posenc_dtype dtype, int64_t count, const float *table, const void *x, void *out) {
  if (dtype == POSENC_F32)
    add_as(POSENC_F32, count, table, x, out);
  else
    add_as(POSENC_BF16, count, table, x, out);
}

TARGET static void rope(const posenc_problem *problem, const float *row, const void *x, void *out) {
  const bool neighbours = problem->layout == POSENC_INTERLEAVED;
  if (problem->dtype == POSENC_F32 && neighbours)
    rope_as(POSENC_F32, true, problem, row, x, out);
  else if (problem->dtype == POSENC_F32)
    rope_as(POSENC_F32, false, problem, row, x, out);
  else if (neighbours)
    rope_as(POSENC_BF16, true, problem, row, x, out);
  else
    rope_as(POSENC_BF16, false, problem, row, x, out);
}

const apply_loops LOOPS = {add, rope};
