/* SPDX-License-Identifier: MIT */
/* The binary encoding: column j of a row is bit j of its position. */
#include "impls/encodings/encoding.h"

/* COLUMNS are made at a time. A position has 63 bits, so columns from BITS on are 0. */
enum { COLUMNS = 16, BITS = 64 };

typedef uint64_t longs __attribute__((vector_size(8 * COLUMNS), aligned(2), may_alias));
typedef uint32_t words __attribute__((vector_size(4 * COLUMNS), aligned(2), may_alias));
typedef uint16_t numbers __attribute__((vector_size(2 * COLUMNS), aligned(2), may_alias));

#define POWERS                                                                                                         \
  { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768 }

/* Writes the lowest bits of `position`, one per column. */
INLINE void write_lanes(posenc_dtype dtype, uint64_t position, char *out) {
  const uint16_t low = (uint16_t)position, one = dtype == POSENC_F16 ? 0x3c00 : 0x3f80;
  if (dtype == POSENC_F64)
    *(longs *)(void *)out = (longs)((low & (longs)POWERS) != 0) & UINT64_C(0x3ff0000000000000);
  else if (dtype == POSENC_F32)
    *(words *)(void *)out = (words)((low & (words)POWERS) != 0) & UINT32_C(0x3f800000);
  else
    *(numbers *)(void *)out = (numbers)((low & (numbers)POWERS) != 0) & one;
}

INLINE void write_row(posenc_dtype dtype, int64_t dim, int64_t position, char *out) {
  const size_t element = posenc_dtype_bytes(dtype);
  const int64_t columns = dim < BITS ? dim : BITS;
  uint64_t bits = (uint64_t)position;
  int64_t j = 0;
  for (; j + COLUMNS <= columns; j += COLUMNS, bits >>= COLUMNS) write_lanes(dtype, bits, out + (size_t)j * element);
  if (j < columns) {
    _Alignas(64) char last[COLUMNS * sizeof(double)];
    write_lanes(dtype, bits, last);
    memcpy(out + (size_t)j * element, last, (size_t)(columns - j) * element);
  }
  if (dim > BITS) memset(out + BITS * element, 0, (size_t)(dim - BITS) * element);
}

static bool has_negative(const posenc_slice *slice) {
  for (int64_t r = 0; r < (slice->index ? slice->rows : 1); r++)
    if (slice->rows && slice_row(slice, r) < 0) return true;
  return false;
}

posenc_status posenc_binary(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out) {
  posenc_slice slice;
  if (!slice_resolve(&slice, positions, dim, dtype) || slice.batch != 1 || (slice.rows && !out) || has_negative(&slice))
    return POSENC_BAD_ARGUMENT;
  encoding_rows(dtype, dim, &slice, write_row, (char *)out);
  return POSENC_OK;
}

const posenc_encoding encoding_binary = {
    .name = "binary",
    .summary = "the bits of the position, one a column, the least significant first",
    .formula = "PE[p, j] = floor(p / 2^j) mod 2, p >= 0",
    .call = "posenc_binary",
    .provenance = "Leibniz, 1703; as a step on the way to sines, many introductions",
    .bound = {.max_position = INT64_MAX, .derived = true},
    .basis = "0 and 1 are numbers of every dtype",
    .reproducible = true,
};
