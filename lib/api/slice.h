/* SPDX-License-Identifier: MIT */
/* Checks of a caller's slice. */
#ifndef POSENC_LIB_API_SLICE_H
#define POSENC_LIB_API_SLICE_H

#include "posenc.h"

/* Copies the slice and sets its stride, for `width` elements at each position. Returns false if a field is invalid or a
   size overflows. */
static inline bool slice_resolve(posenc_slice *slice, const posenc_slice *given, int64_t width, posenc_dtype dtype) {
  int64_t packed, last, all, end;
  if (!given || given->size != sizeof *given || given->rows < 0 || given->batch < 0 || width < 1 ||
      !posenc_dtype_bytes(dtype))
    return false;
  *slice = *given;
  if (__builtin_mul_overflow(slice->rows, width, &packed)) return false;
  if (slice->stride == 0 || slice->batch <= 1) slice->stride = packed;
  return slice->stride >= packed && !__builtin_mul_overflow(slice->batch, slice->stride, &last) &&
         !__builtin_mul_overflow(last, (int64_t)posenc_dtype_bytes(dtype), &all) &&
         (slice->index || !__builtin_add_overflow(slice->row, slice->rows, &end));
}

static inline int64_t slice_row(const posenc_slice *slice, int64_t r) {
  return slice->index ? slice->index[r] : slice->row + r;
}

/* Whether all rows of the slice are among 0 .. count - 1. */
static inline bool slice_within(const posenc_slice *slice, int64_t count) {
  if (!slice->index) return slice->rows == 0 || (slice->row >= 0 && slice->row + slice->rows <= count);
  for (int64_t r = 0; r < slice->rows; r++)
    if (slice->index[r] < 0 || slice->index[r] >= count) return false;
  return true;
}

#endif
