/* SPDX-License-Identifier: MIT */
/*
 * Vectors of the reference, which share no code with those of the kernels: loops over LANES doubles, compiled once for
 * each instruction set. The compiled functions are leaves, so no call is made while vector registers are in use.
 */
#ifndef POSENC_REFERENCE_VECTORS_H
#define POSENC_REFERENCE_VECTORS_H

#include "posenc.h"
#include "reference/double-word.h"
#include "reference/fast.h"

#include <stdlib.h>

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

enum { LANES = FAST_LANES, BIAS = 1023 };

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
