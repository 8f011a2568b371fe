/* SPDX-License-Identifier: MIT */
/*
 * The loops of add and rope, for any width of vectors. A file defines TARGET, the attribute of its functions, FLOATS, how many there are in
 * a vector, and LOOPS, the name of what it makes; then it includes this.
 */
#include "lib/apply/apply.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline)) TARGET

/* Before a loop whose steps are short; gcc -O2 does not unroll by itself. */
#ifdef __clang__
#define UNROLL
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

typedef float floats __attribute__((vector_size(4 * FLOATS)));
typedef uint32_t words __attribute__((vector_size(4 * FLOATS)));

/* As they lie in memory, aligned or not. */
typedef float floats_there __attribute__((vector_size(4 * FLOATS), aligned(4), may_alias));
typedef uint32_t words_there __attribute__((vector_size(4 * FLOATS), aligned(2), may_alias));

INLINE floats load(const void *at) {
  return *(const floats_there *)at;
}

INLINE void store(void *at, floats x) {
  *(floats_there *)at = x;
}

#define TWICE_EVEN(i) (i), (i)
#define TWICE_ODD(i) (i) + 1, (i) + 1
#define SWAPPED(i) (i) + 1, (i)
#define SIGN_EVEN(i) UINT32_C(0x80000000), UINT32_C(0)
#define EVEN(i) 2 * (i), 2 * (i) + 2
#define ODD(i) 2 * (i) + 1, 2 * (i) + 3
#if FLOATS == 4
#define EACH(f) f(0), f(2)
#elif FLOATS == 8
#define EACH(f) f(0), f(2), f(4), f(6)
#else
#define EACH(f) f(0), f(2), f(4), f(6), f(8), f(10), f(12), f(14)
#endif

/* 2 FLOATS numbers in succession, those of even and those of odd index. */
typedef struct twins {
  floats even, odd;
} twins;

INLINE twins load_twins(const float *at) {
  const floats lower = load(at), upper = load(at + FLOATS);
  return (twins){__builtin_shufflevector(lower, upper, EACH(EVEN)), __builtin_shufflevector(lower, upper, EACH(ODD))};
}

/* ---- bf16: two in a word, and each the upper half of its f32 ------------------------------------------------ */

/* To nearest, ties to even: the upper half is what is wanted. A NaN stays one: it comes from x or is the default, so that its lower half is
   zero, and nothing is carried. */
INLINE words rounded(floats x) {
  return (words)x + 0x7fff + ((words)x >> 16 & 1);
}

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOWER_FIRST 0
#else
#define LOWER_FIRST 1
#endif

INLINE twins load_bf16(const char *at) {
  const words both = *(const words_there *)(const void *)at;
  const floats lower = (floats)(both << 16), upper = (floats)(both & UINT32_C(0xffff0000));
  return LOWER_FIRST ? (twins){lower, upper} : (twins){upper, lower};
}

INLINE void store_bf16(char *at, floats even, floats odd) {
  const words lower = rounded(LOWER_FIRST ? even : odd) >> 16,
              upper = rounded(LOWER_FIRST ? odd : even) & UINT32_C(0xffff0000);
  *(words_there *)(void *)at = upper | lower;
}

/* ---- one element, in the same way -------------------------------------------------------------------------- */

INLINE int64_t bytes_of(posenc_dtype dtype) {
  return dtype == POSENC_F32 ? 4 : 2;
}

INLINE float load_one(posenc_dtype dtype, const char *at) {
  uint32_t bits;
  uint16_t upper;
  float x;
  if (dtype == POSENC_F32) {
    memcpy(&bits, at, sizeof bits);
  } else {
    memcpy(&upper, at, sizeof upper);
    bits = (uint32_t)upper << 16;
  }
  memcpy(&x, &bits, sizeof x);
  return x;
}

INLINE void store_one(posenc_dtype dtype, char *at, float x) {
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  const uint16_t upper = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
  memcpy(at, dtype == POSENC_F32 ? (const void *)&x : (const void *)&upper, (size_t)bytes_of(dtype));
}

/* ---- add ---------------------------------------------------------------------------------------------------- */

INLINE void add_as(posenc_dtype dtype, int64_t count, const float *table, const char *x, char *out) {
  const int64_t bytes = bytes_of(dtype);
  int64_t i = 0;
  if (dtype == POSENC_F32) {
    for (; i + FLOATS <= count; i += FLOATS) store(out + i * bytes, load(x + i * bytes) + load(table + i));
  } else {
    for (; i + 2 * FLOATS <= count; i += 2 * FLOATS) {
      const twins a = load_bf16(x + i * bytes), pe = load_twins(table + i);
      store_bf16(out + i * bytes, a.even + pe.even, a.odd + pe.odd);
    }
  }
  for (; i < count; i++) store_one(dtype, out + i * bytes, load_one(dtype, x + i * bytes) + table[i]);
}

/* ---- rope: (a, b) becomes (a c - b s, b c + a s) ------------------------------------------------------------ */

/* What a rope does not change from element to element: known where it is compiled. */
typedef struct form {
  posenc_dtype dtype;
  bool neighbours;
} form;

/* Columns whose cosines and sines are put in order for all heads at once; pairs of halves count half. */
enum { CHUNK = 256 };

/* In the order in which they are wanted; `sine` with the sign of the direction. */
typedef struct turns {
  _Alignas(64) float cosine[CHUNK], sine[CHUNK];
} turns;

INLINE floats with_sign(floats x, uint32_t sign) {
  return (floats)((words)x ^ sign);
}

/* Vectors at a time: the pairs of a step. */
INLINE int64_t step_of(form as) {
  return as.dtype == POSENC_F32 ? FLOATS : 2 * FLOATS;
}

/* Halves: cosines and sines of `count` pairs, apart as they lie in the row; of bf16 those of even index, then those of odd, in each step. */
INLINE void order_halves(form as, uint32_t sign, int64_t count, const float *cosines, const float *sines, turns *to) {
  for (int64_t i = 0; i < count; i += step_of(as)) {
    if (as.dtype == POSENC_F32) {
      store(to->cosine + i, load(cosines + i));
      store(to->sine + i, with_sign(load(sines + i), sign));
    } else {
      const twins c = load_twins(cosines + i), s = load_twins(sines + i);
      store(to->cosine + i, c.even);
      store(to->cosine + i + FLOATS, c.odd);
      store(to->sine + i, with_sign(s.even, sign));
      store(to->sine + i + FLOATS, with_sign(s.odd, sign));
    }
  }
}

/* Neighbours: in the row, too, a cosine and its sine are neighbours, of `count` columns. Of f32 each is wanted twice, the sines with
   alternate signs; of bf16 once, as its words hold pairs. */
INLINE void order_neighbours(form as, uint32_t sign, int64_t count, const float *row, turns *to) {
  const words signs = (words){EACH(SIGN_EVEN)} ^ sign;
  for (int64_t i = 0; i < count; i += step_of(as)) {
    if (as.dtype == POSENC_F32) {
      const floats both = load(row + i);
      store(to->cosine + i, __builtin_shufflevector(both, both, EACH(TWICE_EVEN)));
      store(to->sine + i, (floats)((words)__builtin_shufflevector(both, both, EACH(TWICE_ODD)) ^ signs));
    } else {
      const twins both = load_twins(row + i);
      store(to->cosine + i / 2, both.even);
      store(to->sine + i / 2, with_sign(both.odd, sign));
    }
  }
}

/* What of x comes later. Rows of cosines and sines are made now and then, and memory shall not rest meanwhile. */
INLINE void fetch(const char *x) {
  enum { AHEAD = 8192 };
  __builtin_prefetch((const void *)((uintptr_t)x + AHEAD), 0, 2); /* which may be past the end */
}

/* The b of `count` pairs are `other` bytes after the a. */
INLINE void turn_halves(form as, int64_t count, const turns *by, const char *x, char *out, int64_t other) {
  const int64_t bytes = bytes_of(as.dtype);
  UNROLL
  for (int64_t i = 0; i < count; i += step_of(as), x += step_of(as) * bytes, out += step_of(as) * bytes) {
    const floats c = load(by->cosine + i), s = load(by->sine + i);
    fetch(x);
    fetch(x + other);
    if (as.dtype == POSENC_F32) {
      const floats a = load(x), b = load(x + other);
      store(out, a * c - b * s);
      store(out + other, b * c + a * s);
    } else {
      const floats c_odd = load(by->cosine + i + FLOATS), s_odd = load(by->sine + i + FLOATS);
      const twins a = load_bf16(x), b = load_bf16(x + other);
      store_bf16(out, a.even * c - b.even * s, a.odd * c_odd - b.odd * s_odd);
      store_bf16(out + other, b.even * c + a.even * s, b.odd * c_odd + a.odd * s_odd);
    }
  }
}

INLINE void turn_neighbours(form as, int64_t count, const turns *by, const char *x, char *out) {
  const int64_t bytes = bytes_of(as.dtype);
  UNROLL
  for (int64_t i = 0; i < count; i += step_of(as), x += step_of(as) * bytes, out += step_of(as) * bytes) {
    fetch(x);
    if (as.dtype == POSENC_F32) {
      const floats pair = load(x);
      store(out, pair * load(by->cosine + i) + __builtin_shufflevector(pair, pair, EACH(SWAPPED)) * load(by->sine + i));
    } else {
      const floats c = load(by->cosine + i / 2), s = load(by->sine + i / 2);
      const twins pair = load_bf16(x);
      store_bf16(out, pair.even * c - pair.odd * s, pair.odd * c + pair.even * s);
    }
  }
}

INLINE void turn_one(posenc_dtype dtype, uint32_t sign, float cosine, float sine, const char *x, char *out,
                     int64_t other) {
  const float a = load_one(dtype, x), b = load_one(dtype, x + other), s = sign ? -sine : sine;
  store_one(dtype, out, a * cosine - b * s);
  store_one(dtype, out + other, b * cosine + a * s);
}

/* Columns [from, from + count) of all heads, whole steps; of halves, those of the first half and what belongs to them. */
INLINE void rope_columns(form as, const posenc_problem *problem, int64_t from, int64_t count, const float *row,
                         const char *x, char *out) {
  const uint32_t sign = problem->inverse ? UINT32_C(0x80000000) : 0;
  const int64_t bytes = bytes_of(as.dtype), half = problem->dim / 2, head_bytes = problem->dim * bytes;
  turns by;
  if (as.neighbours)
    order_neighbours(as, sign, count, row + from, &by);
  else
    order_halves(as, sign, count, row + from, row + half + from, &by);
  x += from * bytes;
  out += from * bytes;
  for (int64_t head = 0; head < problem->heads; head++, x += head_bytes, out += head_bytes)
    if (as.neighbours)
      turn_neighbours(as, count, &by, x, out);
    else
      turn_halves(as, count, &by, x, out, half * bytes);
}

/* The last columns, which are no whole step. */
INLINE void rope_rest(form as, const posenc_problem *problem, int64_t from, int64_t to, const float *row, const char *x,
                      char *out) {
  const uint32_t sign = problem->inverse ? UINT32_C(0x80000000) : 0;
  const int64_t bytes = bytes_of(as.dtype), half = problem->dim / 2, head_bytes = problem->dim * bytes;
  for (int64_t head = 0; head < problem->heads; head++, x += head_bytes, out += head_bytes)
    for (int64_t i = from; i < to; i += as.neighbours ? 2 : 1)
      turn_one(as.dtype, sign, row[i], row[as.neighbours ? i + 1 : half + i], x + i * bytes, out + i * bytes,
               as.neighbours ? bytes : half * bytes);
}

INLINE void rope_as(form as, const posenc_problem *problem, const float *row, const char *x, char *out) {
  const int64_t columns = as.neighbours ? problem->dim : problem->dim / 2, whole = columns - columns % step_of(as);
  for (int64_t from = 0; from < whole; from += CHUNK)
    rope_columns(as, problem, from, whole - from < CHUNK ? whole - from : CHUNK, row, x, out);
  if (whole < columns) rope_rest(as, problem, whole, columns, row, x, out);
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
    rope_as((form){POSENC_F32, true}, problem, row, x, out);
  else if (problem->dtype == POSENC_F32)
    rope_as((form){POSENC_F32, false}, problem, row, x, out);
  else if (neighbours)
    rope_as((form){POSENC_BF16, true}, problem, row, x, out);
  else
    rope_as((form){POSENC_BF16, false}, problem, row, x, out);
}

const apply_loops LOOPS = {add, rope};
