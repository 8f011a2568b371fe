/* SPDX-License-Identifier: MIT */
/* The last step of rows with an attention factor, and of rope caches, compiled once for each tier, with its header of
   lib/simd before it (lib/tiers.am). */
#include "lib/api/rows.h"
#include "lib/exact/round.h"

#include <string.h>

INLINE void scale_as(posenc_dtype dtype, int64_t count, double factor, const double *x, void *out) {
#pragma omp simd
  for (int64_t i = 0; i < count; i++) round_to(dtype, out, i, factor * x[i]);
}

TARGET static void scale(posenc_dtype dtype, int64_t count, double factor, const double *x, void *out) {
  ROUND_DISPATCH(dtype, scale_as, count, factor, x, out);
}

INLINE void copy(bool streamed, size_t bytes, const char *from, char *out) {
  if (!streamed) {
    memcpy(out, from, bytes);
    return;
  }
  for (size_t at = 0; at < bytes; at += sizeof(doubles)) stream_doubles(out + at, load_doubles(from + at));
}

/* Each element twice. */
#define DOUBLED(type)                                                                                                  \
  INLINE void doubled_##type(size_t bytes, const char *from, char *out) {                                              \
    const type *x = (const void *)from;                                                                                \
    type *to = (void *)out;                                                                                            \
    for (size_t i = 0; i < bytes / sizeof *x; i++) to[2 * i] = to[2 * i + 1] = x[i];                                   \
  }
DOUBLED(uint16_t)
DOUBLED(uint32_t)
DOUBLED(uint64_t)

TARGET static void spread(posenc_layout layout, posenc_dtype dtype, bool streamed, size_t bytes, const char *from,
                          char *out) {
  enum { SOME = 1024 };
  _Alignas(64) char twice[2 * SOME];
  if (layout != POSENC_INTERLEAVED) {
    copy(streamed, bytes, from, out);
    if (layout == POSENC_DUPLICATED) copy(streamed, bytes, from, out + bytes);
    return;
  }
  for (size_t done = 0, some; done < bytes; done += some) {
    some = bytes - done < SOME ? bytes - done : SOME;
    if (dtype == POSENC_F64)
      doubled_uint64_t(some, from + done, twice);
    else if (dtype == POSENC_F32)
      doubled_uint32_t(some, from + done, twice);
    else
      doubled_uint16_t(some, from + done, twice);
    copy(streamed, 2 * some, twice, out + 2 * done);
  }
}

const rows_loops SIMD(rows_loops) = {scale, spread};
