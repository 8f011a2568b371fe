/* SPDX-License-Identifier: MIT */
/*
 * The loops of dropout, for any width of vectors. A file defines TARGET, the attribute of its functions, LANES, counters in a vector, MULTIPLY,
 * the 64-bit products of the lower halves of lanes, and LOOPS, the name of what it makes; then it includes this.
 */
#include "encodings/dropout.h"

#include <string.h>

#define INLINE static inline __attribute__((always_inline)) TARGET

/* Words of 32 bits in lanes of 64; what the upper halves hold does not matter. */
typedef uint64_t lanes __attribute__((vector_size(8 * LANES)));
typedef uint32_t lane_words __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

enum { COUNTERS = 8, VECTORS = COUNTERS / LANES, WORDS = 4, ROUNDS = 10 };

typedef struct block {
  lanes word[WORDS];
} block;

/* Philox4x32-10. The key is the same for all lanes, and so are its steps. */
INLINE void philox(block *b, int count, uint64_t seed) {
  const lanes zero = {0};
  const lanes first = zero + UINT64_C(0xd2511f53), second = zero + UINT64_C(0xcd9e8d57);
  uint32_t low = (uint32_t)seed, high = (uint32_t)(seed >> 32);
  _Pragma("GCC unroll 10") for (int round = 0; round < ROUNDS; round++) {
    _Pragma("GCC unroll 8") for (int n = 0; n < count; n++) {
      const lanes a = MULTIPLY(first, b[n].word[0]), c = MULTIPLY(second, b[n].word[2]);
      b[n].word[0] = c >> 32 ^ b[n].word[1] ^ low;
      b[n].word[1] = c;
      b[n].word[2] = a >> 32 ^ b[n].word[3] ^ high;
      b[n].word[3] = a;
    }
    low += UINT32_C(0x9e3779b9);
    high += UINT32_C(0xbb67ae85);
  }
}

/* Groups that are made together, so that one waits for its products while another goes on. */
enum { TOGETHER = VECTORS > 4 ? 1 : 4 / VECTORS };

INLINE void groups_of(int groups, uint64_t seed, uint32_t sequence, int64_t position, uint32_t group, uint32_t *words) {
  const lanes zero = {0};
  lanes counter[VECTORS];
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
        *(lane_words *)(words + g * DROPOUT_GROUP + w * COUNTERS + v * LANES) =
            __builtin_convertvector(blocks[g * VECTORS + v].word[w], lane_words);
}

TARGET static void make_words(uint64_t seed, uint32_t sequence, int64_t position, uint32_t group, int64_t groups,
                              uint32_t *words) {
  int64_t g = 0;
  for (; g + TOGETHER <= groups; g += TOGETHER)
    groups_of(TOGETHER, seed, sequence, position, group + (uint32_t)g, words + g * DROPOUT_GROUP);
  for (; g < groups; g++) groups_of(1, seed, sequence, position, group + (uint32_t)g, words + g * DROPOUT_GROUP);
}

/* ---- dropping ----------------------------------------------------------------------------------- */

enum { FLOATS = 2 * LANES };
typedef float floats __attribute__((vector_size(4 * FLOATS), aligned(4), may_alias));
typedef uint32_t ints __attribute__((vector_size(4 * FLOATS), aligned(4), may_alias));
typedef uint16_t halves __attribute__((vector_size(2 * FLOATS), aligned(2), may_alias));

#define THERE(type, at) (*(type *)(void *)(at))
#define GIVEN(type, at) (*(const type *)(const void *)(at))

INLINE ints dropped(ints x, const uint32_t *words, const uint32_t *threshold, const float *scale) {
  return (ints)((floats)x * GIVEN(floats, scale)) & (ints)(GIVEN(ints, words) >= GIVEN(ints, threshold));
}

/* To bf16, ties to even. The lower half of a NaN is taken off, so that nothing is carried into its sign. */
INLINE ints rounded(ints x) {
  const ints nan = (ints)((x & 0x7fffffff) > 0x7f800000);
  return ((x & ~(nan & 0xffff)) + (0x7fff & ~nan) + (x >> 16 & 1 & ~nan)) >> 16;
}

INLINE float dropped_one(float x, uint32_t word, uint32_t threshold, float scale) {
  return word >= threshold ? x * scale : 0.0f;
}

INLINE void drop_f32(int64_t count, const uint32_t *words, const uint32_t *threshold, const float *scale, float *out) {
  int64_t j = 0;
  for (; j + FLOATS <= count; j += FLOATS)
    THERE(ints, out + j) = dropped(GIVEN(ints, out + j), words + j, threshold + j, scale + j);
  for (; j < count; j++) out[j] = dropped_one(out[j], words[j], threshold[j], scale[j]);
}

INLINE void drop_bf16(int64_t count, const uint32_t *words, const uint32_t *threshold, const float *scale,
                      uint16_t *out) {
  int64_t j = 0;
  for (; j + FLOATS <= count; j += FLOATS) {
    const ints x = __builtin_convertvector(GIVEN(halves, out + j), ints) << 16;
    THERE(halves, out + j) = __builtin_convertvector(rounded(dropped(x, words + j, threshold + j, scale + j)), halves);
  }
  for (; j < count; j++) {
    const uint32_t bits = (uint32_t)out[j] << 16;
    ints one = {0};
    float x;
    memcpy(&x, &bits, sizeof x);
    x = dropped_one(x, words[j], threshold[j], scale[j]);
    memcpy(&one, &x, sizeof x);
    out[j] = (uint16_t)rounded(one)[0];
  }
}

TARGET static void drop(posenc_dtype dtype, int64_t count, const uint32_t *words, const uint32_t *threshold,
                        const float *scale, void *out) {
  if (dtype == POSENC_F32)
    drop_f32(count, words, threshold, scale, out);
  else
    drop_bf16(count, words, threshold, scale, out);
}

const dropout_loops LOOPS = {make_words, drop};
