/* SPDX-License-Identifier: MIT */
/* The integer encoding: every element of a row is its position. */
#include "impls/encodings/encoding.h"

typedef uint64_t pattern __attribute__((vector_size(64), aligned(2), may_alias));

/* Returns the position in the dtype, in as many copies as fit in 64 bits. */
INLINE uint64_t element_of(posenc_dtype dtype, int64_t position) {
  const uint64_t size = position < 0 ? -(uint64_t)position : (uint64_t)position;
  const double sign = position < 0 ? -1.0 : 1.0, high = (double)size, low = (double)(int64_t)(size - (uint64_t)high);
  union {
    uint64_t bits;
    uint32_t word;
    uint16_t number;
  } element = {0};
  encoding_store(dtype, &element, 0, sign * high, sign * low);
  if (dtype == POSENC_F64) return element.bits;
  return dtype == POSENC_F32 ? element.word * UINT64_C(0x100000001) : element.number * UINT64_C(0x1000100010001);
}

INLINE void write_row(posenc_dtype dtype, int64_t dim, int64_t position, char *out) {
  const size_t bytes = (size_t)dim * posenc_dtype_bytes(dtype);
  const uint64_t element = element_of(dtype, position);
  const pattern all = {element, element, element, element, element, element, element, element};
  size_t i = 0;
  for (; i + sizeof all <= bytes; i += sizeof all) *(pattern *)(void *)(out + i) = all;
  memcpy(out + i, &all, bytes - i);
}

posenc_status posenc_integer(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out) {
  posenc_slice slice;
  if (!slice_resolve(&slice, positions, dim, dtype) || slice.batch != 1 || (slice.rows && !out))
    return POSENC_BAD_ARGUMENT;
  encoding_rows(dtype, dim, &slice, write_row, (char *)out);
  return POSENC_OK;
}

const posenc_encoding encoding_integer = {
    .name = "integer",
    .summary = "the position itself, in every column",
    .formula = "PE[p, j] = p",
    .call = "posenc_integer",
    .provenance = "the first attempt of every introduction; unbounded, which is why no model has it",
    .bound = {.ulp = 0.5, .max_position = INT64_MAX, .derived = true},
    .basis =
        "a 64-bit integer rounded once, by way of a double rounded to odd; f16 ends at 65520, where it is infinite",
    .reproducible = true,
};
