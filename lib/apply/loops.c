/* SPDX-License-Identifier: MIT */
/* The loops of add and rope. They are compiled once for each tier, with its header of lib/simd included before them
   (lib/tiers.am). */
#include "config.h"

#include "lib/api/rows.h"
#include "lib/apply/apply.h"
#include "lib/exact/round.h"

/* The tier with the next narrower vectors, for columns that do not fill a step of this one's. A CPU with AVX-512 has
   AVX2 (lib/simd/tiers.def). */
#if LANES == 8 && defined HAVE_AVX2
#define NARROWER apply_loops_avx2
#elif LANES > 2
#define NARROWER apply_loops_generic
#endif

#define TWICE_EVEN(i) (i), (i)
#define TWICE_ODD(i) (i) + 1, (i) + 1
#define SWAPPED(i) (i) + 1, (i)
#define SIGN_EVEN(i) UINT32_C(0x80000000), UINT32_C(0)
#define EVEN(i) 2 * (i), 2 * (i) + 2
#define ODD(i) 2 * (i) + 1, 2 * (i) + 3

/* Consecutive numbers, those of even index apart from those of odd index. */
typedef struct even_odd {
  floats even, odd;
} even_odd;

INLINE even_odd load_even_odd(const float *at) {
  const floats lower = load_floats(at), upper = load_floats(at + FLOATS);
  return (even_odd){__builtin_shufflevector(lower, upper, EACH(EVEN)),
                    __builtin_shufflevector(lower, upper, EACH(ODD))};
}

/* ---- bf16: two elements in a 32-bit word; each is the upper half of its f32 ---------------------------------- */

#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOWER_FIRST 0
#else
#define LOWER_FIRST 1
#endif

INLINE even_odd load_bf16(const char *at) {
  const u32s both = load_u32s(at);
  const floats lower = (floats)(both << 16), upper = (floats)(both & UINT32_C(0xffff0000));
  return LOWER_FIRST ? (even_odd){lower, upper} : (even_odd){upper, lower};
}

INLINE void store_bf16(char *at, floats even, floats odd) {
  const u32s lower = round_to_bf16(LOWER_FIRST ? even : odd) >> 16,
             upper = round_to_bf16(LOWER_FIRST ? odd : even) & UINT32_C(0xffff0000);
  store_u32s(at, upper | lower);
}

/* ---- single elements, by the same operations ----------------------------------------------------------------- */

INLINE int64_t bytes_of(posenc_dtype dtype) {
  return dtype == POSENC_F32 ? 4 : 2;
}

INLINE float load_one(posenc_dtype dtype, const char *at) {
  uint16_t upper;
  float x;
  if (dtype == POSENC_F32) {
    memcpy(&x, at, sizeof x);
    return x;
  }
  memcpy(&upper, at, sizeof upper);
  return round_float_of((uint32_t)upper << 16);
}

INLINE void store_one(posenc_dtype dtype, char *at, float x) {
  const uint16_t upper = round_to_bf16_bits(x);
  memcpy(at, dtype == POSENC_F32 ? (const void *)&x : (const void *)&upper, (size_t)bytes_of(dtype));
}

/* ---- add ---------------------------------------------------------------------------------------------------- */

INLINE void add_as(posenc_dtype dtype, int64_t count, const float *table, const char *x, char *out) {
  const int64_t bytes = bytes_of(dtype);
  int64_t i = 0;
  if (dtype == POSENC_F32) {
    for (; i + FLOATS <= count; i += FLOATS)
      store_floats(out + i * bytes, load_floats(x + i * bytes) + load_floats(table + i));
  } else {
    for (; i + 2 * FLOATS <= count; i += 2 * FLOATS) {
      const even_odd a = load_bf16(x + i * bytes), pe = load_even_odd(table + i);
      store_bf16(out + i * bytes, a.even + pe.even, a.odd + pe.odd);
    }
  }
  for (; i < count; i++) store_one(dtype, out + i * bytes, load_one(dtype, x + i * bytes) + table[i]);
}

/* ---- rope: (a, b) becomes (a c - b s, b c + a s) ------------------------------------------------------------ */

/* Compile-time parameters of rope, which leave no branch in the loops. */
typedef struct rope_variant {
  posenc_dtype dtype;
  bool neighbours, fetch;
} rope_variant;

/* Steps whose cosines and sines are reordered at a time, for all heads. */
enum { CHUNK_STEPS = 8 };

/* Cosines and sines in the order in which the vectors of x need them: a vector of each for a step, or two for halves of
   bf16. The sign of the direction is part of `sine`. */
typedef struct rotations {
  floats cosine[2 * CHUNK_STEPS], sine[2 * CHUNK_STEPS];
} rotations;

INLINE floats with_sign(floats x, uint32_t sign) {
  return (floats)((u32s)x ^ sign);
}

/* A step: the columns that a loop iteration processes; a pair of halves counts as one column. */
INLINE int64_t step_of(rope_variant as) {
  return as.dtype == POSENC_F32 ? FLOATS : 2 * FLOATS;
}

/* Pairs of halves: reorders the cosines and sines, which are separate in the row. For bf16, the values of even index
   precede those of odd index in each step. */
INLINE void order_halves(rope_variant as, uint32_t sign, int steps, const float *cosines, const float *sines,
                         rotations *to) {
  UNROLL(8)
  for (int n = 0; n < steps; n++, cosines += step_of(as), sines += step_of(as)) {
    if (as.dtype == POSENC_F32) {
      to->cosine[n] = load_floats(cosines);
      to->sine[n] = with_sign(load_floats(sines), sign);
    } else {
      const even_odd c = load_even_odd(cosines), s = load_even_odd(sines);
      to->cosine[2 * n] = c.even;
      to->cosine[2 * n + 1] = c.odd;
      to->sine[2 * n] = with_sign(s.even, sign);
      to->sine[2 * n + 1] = with_sign(s.odd, sign);
    }
  }
}

/* Pairs of neighbours: reorders columns of the row, in which each cosine is next to its sine. For f32 each value is
   repeated, with alternating signs for the sines; for bf16 it is not, as one u32 holds a pair. */
INLINE void order_neighbours(rope_variant as, uint32_t sign, int steps, const float *row, rotations *to) {
  const u32s signs = (u32s){EACH(SIGN_EVEN)} ^ sign;
  UNROLL(8)
  for (int n = 0; n < steps; n++, row += step_of(as)) {
    if (as.dtype == POSENC_F32) {
      const floats both = load_floats(row);
      to->cosine[n] = __builtin_shufflevector(both, both, EACH(TWICE_EVEN));
      to->sine[n] = (floats)((u32s)__builtin_shufflevector(both, both, EACH(TWICE_ODD)) ^ signs);
    } else {
      const even_odd both = load_even_odd(row);
      to->cosine[n] = both.even;
      to->sine[n] = with_sign(both.odd, sign);
    }
  }
}

/* Prefetches x 8 KiB ahead into the second cache, so that it is loaded while rows of cosines and sines are made. */
INLINE void fetch_ahead(rope_variant as, const char *x) {
  enum { AHEAD = 8192 };
  if (as.fetch) __builtin_prefetch((const void *)((uintptr_t)x + AHEAD), 0, 2); /* may be past the end */
}

/* Rotates pairs (a, b); each b is `other` bytes after its a. */
INLINE void rotate_halves(rope_variant as, int steps, const rotations *by, const char *x, char *out, int64_t other) {
  const int64_t bytes = step_of(as) * bytes_of(as.dtype);
  UNROLL(8)
  for (int n = 0; n < steps; n++, x += bytes, out += bytes) {
    fetch_ahead(as, x + n * bytes); /* both halves in the order of their addresses */
    fetch_ahead(as, x + n * bytes + bytes);
    if (as.dtype == POSENC_F32) {
      const floats c = by->cosine[n], s = by->sine[n], a = load_floats(x), b = load_floats(x + other);
      store_floats(out, a * c - b * s);
      store_floats(out + other, b * c + a * s);
    } else {
      const floats c = by->cosine[2 * n], s = by->sine[2 * n];
      const floats c_odd = by->cosine[2 * n + 1], s_odd = by->sine[2 * n + 1];
      const even_odd a = load_bf16(x), b = load_bf16(x + other);
      store_bf16(out, a.even * c - b.even * s, a.odd * c_odd - b.odd * s_odd);
      store_bf16(out + other, b.even * c + a.even * s, b.odd * c_odd + a.odd * s_odd);
    }
  }
}

INLINE void rotate_neighbours(rope_variant as, int steps, const rotations *by, const char *x, char *out) {
  const int64_t bytes = step_of(as) * bytes_of(as.dtype);
  UNROLL(8)
  for (int n = 0; n < steps; n++, x += bytes, out += bytes) {
    const floats c = by->cosine[n], s = by->sine[n];
    fetch_ahead(as, x);
    if (as.dtype == POSENC_F32) {
      const floats pair = load_floats(x);
      store_floats(out, pair * c + __builtin_shufflevector(pair, pair, EACH(SWAPPED)) * s);
    } else {
      const even_odd pair = load_bf16(x);
      store_bf16(out, pair.even * c - pair.odd * s, pair.odd * c + pair.even * s);
    }
  }
}

/* Rotates some steps of all heads of some positions, from column `from` on. As the number of steps is a constant,
   cosines and sines stay in registers, as many as the tier has. */
INLINE void rope_steps(rope_variant as, int steps, const posenc_problem *problem, int64_t from, int64_t rows,
                       const float *row, const char *x, char *out) {
  const uint32_t sign = problem->inverse ? UINT32_C(0x80000000) : 0;
  const int64_t bytes = bytes_of(as.dtype), dim = problem->dim, half = dim / 2, heads = problem->heads;
  row += from;
  x += from * bytes;
  out += from * bytes;
  for (; rows > 0; rows--, row += dim) {
    rotations by;
    if (as.neighbours)
      order_neighbours(as, sign, steps, row, &by);
    else
      order_halves(as, sign, steps, row, row + half, &by);
    for (int64_t head = 0; head < heads; head++, x += dim * bytes, out += dim * bytes)
      if (as.neighbours)
        rotate_neighbours(as, steps, &by, x, out);
      else
        rotate_halves(as, steps, &by, x, out, half * bytes);
  }
}

/* rope_rest rotates the last columns [from, to): with the narrower vectors or, without such, one by one. */
#ifdef NARROWER
INLINE void rope_rest(rope_variant as, const posenc_problem *problem, int64_t from, int64_t to, const float *row,
                      const char *x, char *out) {
  (void)to;
  NARROWER.rope(problem, as.fetch, from, 1, row, x, out);
}
#else
INLINE void rotate_one(posenc_dtype dtype, uint32_t sign, float cosine, float sine, const char *x, char *out,
                       int64_t other) {
  const float a = load_one(dtype, x), b = load_one(dtype, x + other), s = sign ? -sine : sine;
  store_one(dtype, out, a * cosine - b * s);
  store_one(dtype, out + other, b * cosine + a * s);
}

INLINE void rope_rest(rope_variant as, const posenc_problem *problem, int64_t from, int64_t to, const float *row,
                      const char *x, char *out) {
  const uint32_t sign = problem->inverse ? UINT32_C(0x80000000) : 0;
  const int64_t bytes = bytes_of(as.dtype), half = problem->dim / 2, head_bytes = problem->dim * bytes;
  for (int64_t head = 0; head < problem->heads; head++, x += head_bytes, out += head_bytes)
    for (int64_t i = from; i < to; i += as.neighbours ? 2 : 1)
      rotate_one(as.dtype, sign, row[i], row[as.neighbours ? i + 1 : half + i], x + i * bytes, out + i * bytes,
                 as.neighbours ? bytes : half * bytes);
}
#endif

/* Rotates as many steps as there are, but at most CHUNK_STEPS; returns their columns. */
INLINE int64_t rope_chunk(rope_variant as, const posenc_problem *problem, int64_t from, int64_t to, int64_t rows,
                          const float *row, const char *x, char *out) {
  const int64_t left = (to - from) / step_of(as), steps = left < CHUNK_STEPS ? left : CHUNK_STEPS;
  switch (steps) {
#define STEPS(n)                                                                                                       \
  case n:                                                                                                              \
    rope_steps(as, n, problem, from, rows, row, x, out);                                                               \
    break
    STEPS(1);
    STEPS(2);
    STEPS(3);
    STEPS(4);
    STEPS(5);
    STEPS(6);
    STEPS(7);
    STEPS(8);
#undef STEPS
  }
  return steps * step_of(as);
}

/* Positions whose columns are one chunk are rotated in one loop, others one after the other: x is read in the order of
   its addresses. */
INLINE void rope_as(rope_variant as, const posenc_problem *problem, int64_t from, int64_t rows, const float *row,
                    const char *x, char *out) {
  const int64_t columns = as.neighbours ? problem->dim : problem->dim / 2, left = columns - from,
                some = left % step_of(as) == 0 && left <= CHUNK_STEPS * step_of(as) ? rows : 1,
                bytes = some * problem->heads * problem->dim * bytes_of(as.dtype);
  for (int64_t done = 0; done < rows; done += some, row += some * problem->dim, x += bytes, out += bytes) {
    int64_t at = from;
    while (columns - at >= step_of(as)) at += rope_chunk(as, problem, at, columns, some, row, x, out);
    if (at < columns) rope_rest(as, problem, at, columns, row, x, out);
  }
}

/* One variant for each dtype and kind of pairs. */
TARGET static void add(posenc_dtype dtype, int64_t count, const float *table, const void *x, void *out) {
  const char *from = (const char *)x;
  char *to = (char *)out;
  if (dtype == POSENC_F32)
    add_as(POSENC_F32, count, table, from, to);
  else
    add_as(POSENC_BF16, count, table, from, to);
}

INLINE void rope_by(bool fetch, const posenc_problem *problem, int64_t from, int64_t rows, const float *row,
                    const char *x, char *out) {
  const bool neighbours = problem->layout == POSENC_INTERLEAVED;
  if (problem->dtype == POSENC_F32 && neighbours)
    rope_as((rope_variant){POSENC_F32, true, fetch}, problem, from, rows, row, x, out);
  else if (problem->dtype == POSENC_F32)
    rope_as((rope_variant){POSENC_F32, false, fetch}, problem, from, rows, row, x, out);
  else if (neighbours)
    rope_as((rope_variant){POSENC_BF16, true, fetch}, problem, from, rows, row, x, out);
  else
    rope_as((rope_variant){POSENC_BF16, false, fetch}, problem, from, rows, row, x, out);
}

TARGET static void rope(const posenc_problem *problem, bool fetch, int64_t from, int64_t rows, const float *row,
                        const void *x, void *out) {
  if (fetch)
    rope_by(true, problem, from, rows, row, (const char *)x, (char *)out);
  else
    rope_by(false, problem, from, rows, row, (const char *)x, (char *)out);
}

const apply_loops SIMD(apply_loops) = {add, rope, &SIMD(rows_loops)};
