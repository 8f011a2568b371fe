/* SPDX-License-Identifier: MIT */
/* The loops of attention factors, rows of another dtype, and rope caches. They are compiled once for each tier, with
   its header of lib/simd included before them (lib/tiers.am). */
#include "lib/api/rows.h"
#include "lib/api/store.h"
#include "lib/exact/round.h"

#include <string.h>

INLINE void scale_f64(posenc_dtype dtype, int64_t count, double factor, const double *x, void *out) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) round_to(dtype, out, i, factor * x[i]);
}

INLINE void scale_f32(posenc_dtype dtype, int64_t count, double factor, const float *x, void *out) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) round_to(dtype, out, i, factor * (double)x[i]);
}

TARGET static void scale(posenc_dtype from, posenc_dtype dtype, int64_t count, double factor, const void *x,
                         void *out) {
  if (from == POSENC_F32)
    ROUND_DISPATCH(dtype, scale_f32, count, factor, (const float *)x, out);
  else
    ROUND_DISPATCH(dtype, scale_f64, count, factor, (const double *)x, out);
}

TARGET static void stream_bytes(size_t bytes, const char *from, char *out) {
  const size_t ahead = -(uintptr_t)out % STORE_LINE;
  if (bytes < ahead + STORE_LINE) {
    memcpy(out, from, bytes);
    return;
  }
  const size_t end = ahead + (bytes - ahead) / STORE_LINE * STORE_LINE;
  memcpy(out, from, ahead);
  for (size_t at = ahead; at < end; at += sizeof(doubles)) stream_doubles(out + at, load_doubles(from + at));
  memcpy(out + end, from + end, bytes - end);
}

/* Defines a loop that writes each element twice, as one element of twice the size, to unaligned memory. */
/* Makes: doubled_uint16_t, doubled_uint32_t. */
#define DOUBLED(type, twice)                                                                                           \
  INLINE void doubled_##type(size_t bytes, const char *from, char *out) {                                              \
    typedef type single __attribute__((may_alias, aligned(1)));                                                        \
    typedef twice pair __attribute__((may_alias, aligned(1)));                                                         \
    const single *restrict x = (const single *)(const void *)from;                                                     \
    pair *restrict to = (pair *)(void *)out;                                                                           \
    _Pragma("omp simd") for (size_t i = 0; i < bytes / sizeof(type); i++) to[i] =                                      \
        x[i] | (twice)((twice)x[i] << 8 * sizeof(type));                                                               \
  }
DOUBLED(uint16_t, uint32_t)
DOUBLED(uint32_t, uint64_t)

/* Vectors have no elements of 128 bits. */
INLINE void doubled_uint64_t(size_t bytes, const char *restrict from, char *restrict out) {
  for (size_t i = 0; i < bytes; i += sizeof(uint64_t)) {
    uint64_t twice[2];
    memcpy(twice, from + i, sizeof *twice);
    twice[1] = twice[0];
    memcpy(out + 2 * i, twice, sizeof twice);
  }
}

TARGET static void spread(posenc_layout layout, posenc_dtype dtype, size_t bytes, const char *from, char *out) {
  if (layout != POSENC_INTERLEAVED) {
    memcpy(out, from, bytes);
    if (layout == POSENC_DUPLICATED) memcpy(out + bytes, from, bytes);
  } else if (dtype == POSENC_F64) {
    doubled_uint64_t(bytes, from, out);
  } else if (dtype == POSENC_F32) {
    doubled_uint32_t(bytes, from, out);
  } else {
    doubled_uint16_t(bytes, from, out);
  }
}

const rows_loops SIMD(rows_loops) = {scale, spread, stream_bytes};
