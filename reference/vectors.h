/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the reference, which share no code with those of the kernels: loops over LANES doubles, compiled once for
 * each instruction set. The compiled functions are leaves, so no call is made while vector registers are in use.
 */
#ifndef POSENC_REFERENCE_VECTORS_H
#define POSENC_REFERENCE_VECTORS_H

#include "posenc.h"
#include "reference/fast.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums and products of doubles with their errors, in operations that compilers vectorize ------ */

#define INLINE static inline __attribute__((always_inline))

#ifdef FP_FAST_FMA
enum { FUSED = 1 };
#else
enum { FUSED = 0 };
#endif

INLINE uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

INLINE double double_of(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* Returns a + b exactly (Knuth, 1969). */
INLINE fast_value two_sum(double a, double b) {
  const double sum = a + b, rest = sum - a;
  return (fast_value){sum, (a - (sum - rest)) + (b - rest)};
}

/* Returns the nearest number of 26 bits. The rest of x, with its sign, has 26 bits too. */
INLINE double upper_half(double x) {
  return double_of((bits_of(x) + (UINT64_C(1) << 26)) & ~((UINT64_C(1) << 27) - 1));
}

/* Returns a b exactly, by FMA or after Dekker (1971). */
INLINE fast_value two_product(double a, double b, bool fused) {
  const double product = a * b;
  if (fused) return (fast_value){product, __builtin_fma(a, b, -product)};
  const double a1 = upper_half(a), a2 = a - a1, b1 = upper_half(b), b2 = b - b1;
  return (fast_value){product, a2 * b2 - (((product - a1 * b1) - a2 * b1) - a1 * b2)};
}

/* Returns x1 y1 + x2 y2 within 7 u² (fast-oracle.c), for sizes of at most 1. */
INLINE fast_value sum_of_products(fast_value x1, fast_value y1, fast_value x2, fast_value y2, bool fused) {
  const fast_value p = two_product(x1.high, y1.high, fused), q = two_product(x2.high, y2.high, fused),
                   t = two_sum(p.high, q.high);
  const double k = (x1.low * y1.high + x1.high * y1.low) + (x2.low * y2.high + x2.high * y2.low);
  return two_sum(t.high, ((p.low + q.low) + t.low) + k);
}

INLINE fast_value negative(fast_value x) {
  return (fast_value){-x.high, -x.low};
}

/* Returns the pair of the sum of two angles. */
INLINE fast_pair rotated(fast_pair a, fast_pair b, bool fused) {
  return (fast_pair){sum_of_products(a.sine, b.cosine, a.cosine, b.sine, fused),
                     sum_of_products(a.cosine, b.cosine, negative(a.sine), b.sine, fused)};
}

/* Returns the largest power of two that is at most |x|. */
#define EXPONENT UINT64_C(0x7ff0000000000000)
#define MANTISSA UINT64_C(0x000fffffffffffff)
INLINE double binade(double x) {
  return double_of(bits_of(x) & EXPONENT);
}

#define SIGN UINT64_C(0x8000000000000000)

/* ---- instruction sets -------------------------------------------------------------------------- */

/* EACH_TIER(DEFINE) expands to DEFINE(name, attributes, fused) for each instruction set that the compiler supports.
   `fused`: whether it has a fused multiply-add. */
#ifdef __x86_64__
#define AVX2_TIER(DEFINE) DEFINE(avx2, __attribute__((target("avx2,fma"))), true)
#else
#define AVX2_TIER(DEFINE)
#endif
#ifdef HAVE_AVX512
#define AVX512_TIER(DEFINE) DEFINE(avx512, __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,fma"))), true)
#else
#define AVX512_TIER(DEFINE)
#endif
#define EACH_TIER(DEFINE) DEFINE(generic, , FUSED) AVX2_TIER(DEFINE) AVX512_TIER(DEFINE)

#define TIER_INDEX(name, attributes, fused) TIER_##name,
typedef enum tier { EACH_TIER(TIER_INDEX) } tier;

/* Returns the best tier of this CPU among those of `isa`, 0 for all. */
static inline tier tier_for(unsigned isa) {
  const unsigned usable = posenc_isa_detect() & (isa ? isa : POSENC_ISA_ALL);
#ifdef HAVE_AVX512
  if (usable & POSENC_ISA_AVX512) return TIER_avx512;
#endif
#ifdef __x86_64__
  if (usable & POSENC_ISA_AVX2) return TIER_avx2;
#endif
  (void)usable;
  return TIER_generic;
}

/* ---- lanes ------------------------------------------------------------------------------------- */

enum { LANES = FAST_LANES, LANES_STEP = 8, BIAS = 1023 };

/* Returns the lanes that loops take where `count` are in use: whole vectors. */
static inline int lanes_for(int count) {
  return (count + LANES_STEP - 1) / LANES_STEP * LANES_STEP;
}

/* Returns a result of lanes_for, so that the compiler sees that it is of whole vectors. */
INLINE int in_steps(int lanes) {
  return lanes & -LANES_STEP;
}

INLINE fast_pair lane(const fast_lanes *l, int64_t k) {
  return (fast_pair){{l->sin_high[k], l->sin_low[k]}, {l->cos_high[k], l->cos_low[k]}};
}

INLINE void set_lane(fast_lanes *l, int64_t k, fast_pair pair) {
  l->sin_high[k] = pair.sine.high;
  l->sin_low[k] = pair.sine.low;
  l->cos_high[k] = pair.cosine.high;
  l->cos_low[k] = pair.cosine.low;
}

INLINE void load_pairs_as(posenc_dtype dtype, posenc_columns at, const void *elements, int64_t origin, int count,
                          double *sines, double *cosines) {
  const bool sine_first = at.sin < at.cos;
  const int64_t from = origin + (sine_first ? at.sin : at.cos), apart = llabs(at.sin - at.cos);
  double *first = sine_first ? sines : cosines, *second = sine_first ? cosines : sines;
  if (at.step == 1) {
#pragma omp simd
    for (int k = 0; k < count; k++) {
      first[k] = format_element(dtype, elements, from + k);
      second[k] = format_element(dtype, elements, from + k + apart);
    }
  } else {
#pragma omp simd
    for (int k = 0; k < count; k++) {
      first[k] = format_element(dtype, elements, from + 2 * k);
      second[k] = format_element(dtype, elements, from + 2 * k + 1);
    }
  }
}

/* Loads the elements of `count` pairs from the columns of sines and of cosines, from element `origin` on. The dtype is
   a compile-time parameter, which leaves no branch in the loops. */
INLINE void load_pairs(posenc_dtype dtype, posenc_columns at, const void *elements, int64_t origin, int count,
                       double *sines, double *cosines) {
  switch (dtype) {
  case POSENC_F32:
    load_pairs_as(POSENC_F32, at, elements, origin, count, sines, cosines);
    break;
  case POSENC_F64:
    load_pairs_as(POSENC_F64, at, elements, origin, count, sines, cosines);
    break;
  case POSENC_F16:
    load_pairs_as(POSENC_F16, at, elements, origin, count, sines, cosines);
    break;
  case POSENC_BF16:
    load_pairs_as(POSENC_BF16, at, elements, origin, count, sines, cosines);
    break;
  }
}

/* Returns the sum of the lanes, the same on all tiers. Overwrites the lanes. */
static inline double sum_of(double *lanes) {
  for (int half = LANES / 2; half; half /= 2)
    for (int k = 0; k < half; k++) lanes[k] += lanes[k + half];
  return lanes[0];
}

static inline double larger(double a, double b) {
  return a > b ? a : b;
}

#endif
