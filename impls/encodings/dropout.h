/* SPDX-License-Identifier: MIT */
/* The inner loops of dropout for one instruction set. All instruction sets give the same bits. */
#ifndef POSENC_ENCODINGS_DROPOUT_H
#define POSENC_ENCODINGS_DROPOUT_H

#include "posenc.h"

/* The number of columns whose words come from the same eight counters. */
enum { DROPOUT_GROUP = 32 };

typedef struct dropout_loops {
  /* Computes the words of columns [32 group, 32 (group + groups)) of one row. */
  void (*words)(uint64_t seed, uint32_t sequence, int64_t position, uint32_t group, int64_t groups, uint32_t *words);
  /* Sets each of `count` elements to 0 if its word is below the threshold, otherwise multiplies it by the scale; in
     place. */
  void (*drop)(posenc_dtype dtype, int64_t count, const uint32_t *words, const uint32_t *threshold, const float *scale,
               void *out);
} dropout_loops;

/* dropout_loops_NAME exists for each tier that is built. */
#define TIER(bit, name, title, cpu) extern const dropout_loops dropout_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

#endif
