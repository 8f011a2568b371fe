/* SPDX-License-Identifier: MIT */
/* The inner loops of dropout, of one instruction set. All give the same bits. */
#ifndef POSENC_ENCODINGS_DROPOUT_H
#define POSENC_ENCODINGS_DROPOUT_H

#include "posenc.h"

/* Columns whose words come from the same eight counters. */
enum { DROPOUT_GROUP = 32 };

typedef struct dropout_loops {
  /* The words of columns [32 group, 32 (group + groups)) of one row. */
  void (*words)(uint64_t seed, uint32_t sequence, int64_t position, uint32_t group, int64_t groups, uint32_t *words);
  /* Sets each of `count` elements to 0 if its word is below the threshold, else multiplies it by the scale; in
     place. */
  void (*drop)(posenc_dtype dtype, int64_t count, const uint32_t *words, const uint32_t *threshold, const float *scale,
               void *out);
} dropout_loops;

/* Defined for the tiers that are built. */
#define TIER(bit, name, title, cpu) extern const dropout_loops dropout_loops_##name;
#include "lib/simd/tiers.def"
#undef TIER

#endif
