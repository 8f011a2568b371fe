/* SPDX-License-Identifier: MIT */
/* The loops of add and rope. They are compiled once for each tier, with its header of lib/simd included before them
   (lib/tiers.am). */
#include "lib/apply/apply.h"
#include "lib/exact/round.h"

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
typedef struct variant {
  posenc_dtype dtype;
  bool neighbours;
} variant;

/* The number of columns whose cosines and sines are reordered at a time, for all heads; a pair of halves counts as one
   column. */
enum { CHUNK = 256 };

/* Cosines and sines in the order in which the vectors of x need them. The sign of the direction is part of `sine`. */
typedef struct turns {
  _Alignas(64) float cosine[CHUNK], sine[CHUNK];
} turns;

INLINE floats with_sign(floats x, uint32_t sign) {
  return (floats)((u32s)x ^ sign);
}

/* The number of columns that a loop iteration processes. */
INLINE int64_t step_of(variant as) {
  return as.dtype == POSENC_F32 ? FLOATS : 2 * FLOATS;
}

/* Pairs of halves: reorders the cosines and sines of `count` pairs, which are separate in the row. For bf16, the values
   of even index precede those of odd index in each step. */
INLINE void order_halves(variant as, uint32_t sign, int64_t count, const float *cosines, const float *sines,
                         turns *to) {
  for (int64_t i = 0; i < count; i += step_of(as)) {
    if (as.dtype == POSENC_F32) {
      store_floats(to->cosine + i, load_floats(cosines + i));
      store_floats(to->sine + i, with_sign(load_floats(sines + i), sign));
    } else {
      const even_odd c = load_even_odd(cosines + i), s = load_even_odd(sines + i);
      store_floats(to->cosine + i, c.even);
      store_floats(to->cosine + i + FLOATS, c.odd);
      store_floats(to->sine + i, with_sign(s.even, sign));
      store_floats(to->sine + i + FLOATS, with_sign(s.odd, sign));
    }
  }
}

/* Pairs of neighbours: reorders `count` columns of the row, in which each cosine is next to its sine. For f32 each
   value is repeated, with alternating signs for the sines; for bf16 it is not, as one u32 holds a pair. */
INLINE void order_neighbours(variant as, uint32_t sign, int64_t count, const float *row, turns *to) {
  const u32s signs = (u32s){EACH(SIGN_EVEN)} ^ sign;
  for (int64_t i = 0; i < count; i += step_of(as)) {
    if (as.dtype == POSENC_F32) {
      const floats both = load_floats(row + i);
      store_floats(to->cosine + i, __builtin_shufflevector(both, both, EACH(TWICE_EVEN)));
      store_floats(to->sine + i, (floats)((u32s)__builtin_shufflevector(both, both, EACH(TWICE_ODD)) ^ signs));
    } else {
      const even_odd both = load_even_odd(row + i);
      store_floats(to->cosine + i / 2, both.even);
      store_floats(to->sine + i / 2, with_sign(both.odd, sign));
    }
  }
}

/* Prefetches x 8 KiB ahead, so that it is loaded while rows of cosines and sines are made. */
INLINE void fetch(const char *x) {
  enum { AHEAD = 8192 };
  __builtin_prefetch((const void *)((uintptr_t)x + AHEAD), 0, 2); /* may be past the end */
}

/* Rotates `count` pairs (a, b); each b is `other` bytes after its a. */
INLINE void turn_halves(variant as, int64_t count, const turns *by, const char *x, char *out, int64_t other) {
  const int64_t bytes = bytes_of(as.dtype);
  UNROLL(4)
  for (int64_t i = 0; i < count; i += step_of(as), x += step_of(as) * bytes, out += step_of(as) * bytes) {
    const floats c = load_floats(by->cosine + i), s = load_floats(by->sine + i);
    fetch(x + i * bytes); /* both halves in the order of their addresses */
    fetch(x + i * bytes + step_of(as) * bytes);
    if (as.dtype == POSENC_F32) {
      const floats a = load_floats(x), b = load_floats(x + other);
      store_floats(out, a * c - b * s);
      store_floats(out + other, b * c + a * s);
    } else {
      const floats c_odd = load_floats(by->cosine + i + FLOATS), s_odd = load_floats(by->sine + i + FLOATS);
      const even_odd a = load_bf16(x), b = load_bf16(x + other);
      store_bf16(out, a.even * c - b.even * s, a.odd * c_odd - b.odd * s_odd);
      store_bf16(out + other, b.even * c + a.even * s, b.odd * c_odd + a.odd * s_odd);
    }
  }
}

INLINE void turn_neighbours(variant as, int64_t count, const turns *by, const char *x, char *out) {
  const int64_t bytes = bytes_of(as.dtype);
  UNROLL(4)
  for (int64_t i = 0; i < count; i += step_of(as), x += step_of(as) * bytes, out += step_of(as) * bytes) {
    fetch(x);
    if (as.dtype == POSENC_F32) {
      const floats pair = load_floats(x);
      store_floats(out, pair * load_floats(by->cosine + i) +
                            __builtin_shufflevector(pair, pair, EACH(SWAPPED)) * load_floats(by->sine + i));
    } else {
      const floats c = load_floats(by->cosine + i / 2), s = load_floats(by->sine + i / 2);
      const even_odd pair = load_bf16(x);
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

/* Rotates columns [from, from + count) of all heads, whole steps only. For pairs of halves, the columns are those of
   the first half, with their partners. */
INLINE void rope_columns(variant as, const posenc_problem *problem, int64_t from, int64_t count, const float *row,
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

/* Rotates the last columns [from, to), which do not fill a step. */
INLINE void rope_rest(variant as, const posenc_problem *problem, int64_t from, int64_t to, const float *row,
                      const char *x, char *out) {
  const uint32_t sign = problem->inverse ? UINT32_C(0x80000000) : 0;
  const int64_t bytes = bytes_of(as.dtype), half = problem->dim / 2, head_bytes = problem->dim * bytes;
  for (int64_t head = 0; head < problem->heads; head++, x += head_bytes, out += head_bytes)
    for (int64_t i = from; i < to; i += as.neighbours ? 2 : 1)
      turn_one(as.dtype, sign, row[i], row[as.neighbours ? i + 1 : half + i], x + i * bytes, out + i * bytes,
               as.neighbours ? bytes : half * bytes);
}

INLINE void rope_as(variant as, const posenc_problem *problem, const float *row, const char *x, char *out) {
  const int64_t columns = as.neighbours ? problem->dim : problem->dim / 2, whole = columns - columns % step_of(as);
  for (int64_t from = 0; from < whole; from += CHUNK)
    rope_columns(as, problem, from, whole - from < CHUNK ? whole - from : CHUNK, row, x, out);
  if (whole < columns) rope_rest(as, problem, whole, columns, row, x, out);
}

/* One instance for each dtype and kind of pairs. */
TARGET static void add(posenc_dtype dtype, int64_t count, const float *table, const void *x, void *out) {
  const char *from = (const char *)x;
  char *to = (char *)out;
  if (dtype == POSENC_F32)
    add_as(POSENC_F32, count, table, from, to);
  else
    add_as(POSENC_BF16, count, table, from, to);
}

TARGET static void rope(const posenc_problem *problem, const float *row, const void *x, void *out) {
  const bool neighbours = problem->layout == POSENC_INTERLEAVED;
  const char *from = (const char *)x;
  char *to = (char *)out;
  if (problem->dtype == POSENC_F32 && neighbours)
    rope_as((variant){POSENC_F32, true}, problem, row, from, to);
  else if (problem->dtype == POSENC_F32)
    rope_as((variant){POSENC_F32, false}, problem, row, from, to);
  else if (neighbours)
    rope_as((variant){POSENC_BF16, true}, problem, row, from, to);
  else
    rope_as((variant){POSENC_BF16, false}, problem, row, from, to);
}

const apply_loops SIMD(apply_loops) = {add, rope};
