/* SPDX-License-Identifier: MIT */
/* The final rounding, and streaming of rows, for the encodings that are not computed by kernels. */
#ifndef POSENC_ENCODINGS_ENCODING_H
#define POSENC_ENCODINGS_ENCODING_H

#include "lib/api/store.h"
#include "lib/apply/apply.h"
#include "lib/exact/round.h"
#include "lib/simd/generic.h"
#include "posenc.h"

#include <limits.h>
#include <string.h>

/* ---- the final rounding ------------------------------------------------------------------------- */

/* Writes high + low as element `at`, rounded once. high must be the sum rounded to nearest. */
INLINE void encoding_store(posenc_dtype dtype, void *out, int64_t at, double high, double low) {
  static const double f16_end = 65520.0, bf16_end = 0x1.ffp127; /* from here on infinity is nearer */
  double odd = high;
  if (dtype != POSENC_F64 && low != 0.0 && !(round_bits_of(high) & 1)) /* the neighbour on the side of low */
    odd = round_double_of(round_bits_of(high) + ((low > 0.0) == (high > 0.0) ? 1 : UINT64_MAX));
  /* Rounded to odd, the sum is on the same side of every midpoint of a format with two bits less (Boldo and Melquiond,
     2008). */
  if ((dtype == POSENC_F16 && fabs(odd) >= f16_end) || (dtype == POSENC_BF16 && fabs(odd) >= bf16_end))
    ((uint16_t *)out)[at] = (uint16_t)((signbit(odd) ? 0x8000 : 0) | (dtype == POSENC_F16 ? 0x7c00 : 0x7f80));
  else
    round_to(dtype, out, at, odd);
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* Whether `rows` rows of `row_bytes` bytes should be stored by streaming stores. */
static inline bool encoding_streams(int64_t rows, size_t row_bytes, posenc_dtype dtype, const void *out) {
#ifdef __SSE2__
  return store_pays(row_bytes, (size_t)rows, posenc_dtype_bytes(dtype), out);
#else
  (void)rows, (void)row_bytes, (void)dtype, (void)out;
  return false;
#endif
}

#ifdef __SSE2__
static inline void encoding_stream_part(char *out, const char *from) {
  _mm_stream_si128((__m128i *)(void *)out, _mm_loadu_si128((const __m128i *)(const void *)from));
}
#endif

/* Copies by streaming stores. store_fence() must follow the last one. */
static inline void encoding_stream(char *out, const char *from, size_t bytes) {
  size_t i = 0;
#ifdef __SSE2__
  const size_t before = -(uintptr_t)out & 63;
  if (bytes >= before + 64) {
    memcpy(out, from, before);
    for (i = before; i + 64 <= bytes; i += 64) { /* whole lines */
      encoding_stream_part(out + i, from + i);
      encoding_stream_part(out + i + 16, from + i + 16);
      encoding_stream_part(out + i + 32, from + i + 32);
      encoding_stream_part(out + i + 48, from + i + 48);
    }
  }
#endif
  memcpy(out + i, from + i, bytes - i);
}

/* The size of a buffer for rows that are streamed; it stays in the L1 cache. */
enum { ENCODING_BLOCK = 1 << 14 };

/* Writes the row of a position. */
typedef void encoding_row(posenc_dtype dtype, int64_t dim, int64_t position, char *out);

INLINE void encoding_rows_as(posenc_dtype dtype, int64_t dim, const posenc_slice *slice, encoding_row *write,
                             char *out) {
  const size_t row_bytes = (size_t)dim * posenc_dtype_bytes(dtype);
  const bool streams = row_bytes <= ENCODING_BLOCK && encoding_streams(slice->rows, row_bytes, dtype, out);
  _Alignas(64) char block[ENCODING_BLOCK];
  const int64_t most = streams ? (int64_t)(ENCODING_BLOCK / row_bytes) : slice->rows;
  for (int64_t r = 0, rows; r < slice->rows; r += rows, out += (size_t)rows * row_bytes) {
    rows = slice->rows - r < most ? slice->rows - r : most;
    char *to = streams ? block : out;
    for (int64_t n = 0; n < rows; n++) write(dtype, dim, slice_row(slice, r + n), to + (size_t)n * row_bytes);
    if (streams) encoding_stream(out, block, (size_t)rows * row_bytes);
  }
  if (streams) store_fence();
}

/* Writes all rows of a checked slice of one sequence, by an inline function, with one variant for each dtype. */
INLINE void encoding_rows(posenc_dtype dtype, int64_t dim, const posenc_slice *slice, encoding_row *write, char *out) {
  ROUND_DISPATCH(dtype, encoding_rows_as, dim, slice, write, out);
}

/* ---- contracts ---------------------------------------------------------------------------------- */

extern const posenc_encoding encoding_integer, encoding_binary, encoding_learned, encoding_alibi, encoding_dropout;

#endif
