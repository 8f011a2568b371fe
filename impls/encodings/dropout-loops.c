/* SPDX-License-Identifier: MIT */
/* The loops of dropout. They are compiled once for each tier, with its header of lib/simd included before them
   (lib/tiers.am). */
#include "impls/encodings/dropout.h"
#include "lib/exact/round.h"

#include <string.h>

enum { COUNTERS = 8, VECTORS = COUNTERS / LANES, WORDS = 4, ROUNDS = 10 };

/* 32-bit words in 64-bit lanes, whose upper halves are ignored. */
typedef struct block {
  u64s word[WORDS];
} block;

/* Philox4x32-10. The key, and so its steps, are the same in all lanes. */
INLINE void philox(block *b, int count, uint64_t seed) {
  const u64s zero = {0};
  const u64s first = zero + UINT64_C(0xd2511f53), second = zero + UINT64_C(0xcd9e8d57);
  uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
  UNROLL(10)
  for (int round = 0; round < ROUNDS; round++) {
    UNROLL(8)
    for (int n = 0; n < count; n++) {
      const u64s a = multiply_low(first, b[n].word[0]), c = multiply_low(second, b[n].word[2]);
      b[n].word[0] = c >> 32 ^ b[n].word[1] ^ low;
      b[n].word[1] = c;
      b[n].word[2] = a >> 32 ^ b[n].word[3] ^ high;
      b[n].word[3] = a;
    }
    low += UINT32_C(0x9e3779b9);
    high += UINT32_C(0xbb67ae85);
  }
}

/* The number of groups that are made together, so that their products overlap. */
enum { TOGETHER = VECTORS > 4 ? 1 : 4 / VECTORS };

INLINE void groups_of(int groups, uint64_t seed, uint32_t sequence, int64_t position, uint32_t group, uint32_t *words) {
  const u64s zero = {0};
  u64s counter[VECTORS];
  block blocks[TOGETHER * VECTORS];
  for (int v = 0; v < VECTORS; v++)
    for (int l = 0; l < LANES; l++) counter[v][l] = (uint64_t)(v * LANES + l);
  for (int g = 0; g < groups; g++)
    for (int v = 0; v < VECTORS; v++)
      blocks[g * VECTORS + v] = (block){{counter[v] + (uint64_t)(group + (uint32_t)g) * COUNTERS, zero + sequence,
                                         zero + (uint32_t)position, zero + (uint64_t)position / 0x100000000}};
  philox(blocks, groups * VECTORS, seed);
  for (int g = 0; g < groups; g++)
    for (int w = 0; w < WORDS; w++)
      for (int v = 0; v < VECTORS; v++)
        store_half_u32s(words + g * DROPOUT_GROUP + w * COUNTERS + v * LANES,
                        __builtin_convertvector(blocks[g * VECTORS + v].word[w], half_u32s));
}

TARGET static void make_words(uint64_t seed, uint32_t sequence, int64_t position, uint32_t group, int64_t groups,
                              uint32_t *words) {
  int64_t g = 0;
  for (; g + TOGETHER <= groups; g += TOGETHER)
    groups_of(TOGETHER, seed, sequence, position, group + (uint32_t)g, words + g * DROPOUT_GROUP);
  for (; g < groups; g++) groups_of(1, seed, sequence, position, group + (uint32_t)g, words + g * DROPOUT_GROUP);
}

/* ---- dropping ----------------------------------------------------------------------------------- */

/* Returns x times the scale, or 0. The result is NaN only if x is: quiet, and for bf16 with a lower half of zero. */
INLINE floats dropped(floats x, const uint32_t *words, const uint32_t *threshold, const float *scale) {
  return (floats)((u32s)(x * load_floats(scale)) & (u32s)(load_u32s(words) >= load_u32s(threshold)));
}

INLINE float dropped_one(float x, uint32_t word, uint32_t threshold, float scale) {
  return word >= threshold ? x * scale : 0.0f;
}

INLINE void drop_f32(int64_t count, const uint32_t *words, const uint32_t *threshold, const float *scale, float *out) {
  int64_t j = 0;
  for (; j + FLOATS <= count; j += FLOATS)
    store_floats(out + j, dropped(load_floats(out + j), words + j, threshold + j, scale + j));
  for (; j < count; j++) out[j] = dropped_one(out[j], words[j], threshold[j], scale[j]);
}

INLINE void drop_bf16(int64_t count, const uint32_t *words, const uint32_t *threshold, const float *scale,
                      uint16_t *out) {
  int64_t j = 0;
  for (; j + FLOATS <= count; j += FLOATS) {
    const u32s x = __builtin_convertvector(load_u16s(out + j), u32s) << 16;
    const u32s rounded = round_to_bf16(dropped((floats)x, words + j, threshold + j, scale + j));
    store_u16s(out + j, __builtin_convertvector(rounded >> 16, u16s));
  }
  for (; j < count; j++) {
    const float x = round_float_of((uint32_t)out[j] << 16);
    out[j] = round_to_bf16_bits(dropped_one(x, words[j], threshold[j], scale[j]));
  }
}

TARGET static void drop(posenc_dtype dtype, int64_t count, const uint32_t *words, const uint32_t *threshold,
                        const float *scale, void *out) {
  if (dtype == POSENC_F32)
    drop_f32(count, words, threshold, scale, (float *)out);
  else
    drop_bf16(count, words, threshold, scale, (uint16_t *)out);
}

const dropout_loops SIMD(dropout_loops) = {make_words, drop};
