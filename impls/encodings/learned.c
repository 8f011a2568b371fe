/* SPDX-License-Identifier: MIT */
/* The learned encoding: rows of a trained table, gathered or added to x. */
#include "impls/encodings/encoding.h"
#include "lib/apply/apply.h"

#include <math.h>

/* Returns the number with these 16 bits; f32 holds it exactly. */
static inline float value_of_u16(posenc_dtype dtype, uint16_t encoding) {
  if (dtype == POSENC_BF16) return round_float_of((uint32_t)encoding << 16);
  const uint32_t sign = (uint32_t)(encoding & 0x8000) << 16;
  const int32_t magnitude = encoding & 0x7fff;
  /* Subnormal numbers are n 2^-24. For others the exponent is moved, that of infinity to f32's own. */
  const uint32_t small = round_float_bits_of((float)magnitude * 0x1p-24f);
  const uint32_t normal = ((uint32_t)magnitude << 13) + (magnitude < 0x7c00 ? 112u << 23 : 224u << 23);
  return round_float_of(sign | (magnitude < 0x400 ? small : normal));
}

static inline double value_at(posenc_dtype dtype, const void *row, int64_t at) {
  if (dtype == POSENC_F64) return ((const double *)row)[at];
  return dtype == POSENC_F32 ? (double)((const float *)row)[at]
                             : (double)value_of_u16(dtype, ((const uint16_t *)row)[at]);
}

/* CHUNK columns are converted together. Loops over STEP of them have a fixed length, so that gcc -O2 vectorizes
   them. */
enum { CHUNK = 1024, STEP = 16 };

/* Runs `body` for `count` elements j in steps, whole steps first. */
#define FOR_STEPS(j, count, body)                                                                                      \
  do {                                                                                                                 \
    int64_t begin_ = 0;                                                                                                \
    for (; begin_ + STEP <= (count); begin_ += STEP)                                                                   \
      for (int n_ = 0; n_ < STEP; n_++) {                                                                              \
        const int64_t j = begin_ + n_;                                                                                 \
        body;                                                                                                          \
      }                                                                                                                \
    for (int64_t j = begin_; j < (count); j++) body;                                                                   \
  } while (0)

/* Converts elements of a narrow table, from column `from` on, to f32, which holds them exactly. */
static void widen(posenc_dtype dtype, const void *row, int64_t from, int64_t count, float *restrict values) {
  const uint16_t *restrict numbers = (const uint16_t *)row + from;
  if (dtype == POSENC_F32)
    memcpy(values, (const float *)row + from, (size_t)count * sizeof *values);
  else if (dtype == POSENC_BF16)
    FOR_STEPS(j, count, values[j] = value_of_u16(POSENC_BF16, numbers[j]));
  else
    FOR_STEPS(j, count, values[j] = value_of_u16(POSENC_F16, numbers[j]));
}

/* ---- gathered ----------------------------------------------------------------------------------- */

static void convert_row(posenc_dtype from, posenc_dtype to, int64_t dim, const void *row, char *out) {
  if (from == POSENC_F64 || to == POSENC_F64 || to == POSENC_F16) {
    for (int64_t j = 0; j < dim; j++) encoding_store(to, out, j, value_at(from, row, j), 0.0);
    return;
  }
  if (to == POSENC_F32) {
    widen(from, row, 0, dim, (float *)(void *)out);
    return;
  }
  float values[CHUNK];
  for (int64_t column = 0, count; column < dim; column += count) {
    count = dim - column < CHUNK ? dim - column : CHUNK;
    uint16_t *restrict numbers = (uint16_t *)(void *)out + column;
    widen(from, row, column, count, values);
    FOR_STEPS(j, count, numbers[j] = round_to_bf16_bits(values[j]));
  }
}

/* ---- added -------------------------------------------------------------------------------------- */

/* Adds x + t in f64, with the error of the sum, and rounds once (Knuth's sum of two). */
static void add_f64(posenc_dtype dtype, int64_t dim, const double *row, const void *x, void *out) {
  for (int64_t j = 0; j < dim; j++) {
    const double a = value_at(dtype, x, j), b = row[j], sum = a + b, other = sum - a;
    const double rest = (a - (sum - other)) + (b - other);
    encoding_store(dtype, out, j, sum, isfinite(sum) ? rest : 0.0);
  }
}

/* Adds a row in f32. NaNs are those of the loops of add. */
static void add_narrow(const apply_loops *loops, const posenc_learned_table *table, posenc_dtype dtype, const char *row,
                       const char *x, char *out) {
  const int64_t element = (int64_t)posenc_dtype_bytes(dtype);
  float values[CHUNK];
  const float none = NAN;
  for (int64_t from = 0, count; from < table->dim; from += count) {
    count = table->dim - from < CHUNK ? table->dim - from : CHUNK;
    widen(table->dtype, row, from, count, values);
    FOR_STEPS(j, count, values[j] = values[j] != values[j] ? none : values[j]);
    loops->add(dtype, count, values, x + from * element, out + from * element);
  }
}

static void add_row(const apply_loops *loops, const posenc_learned_table *table, posenc_dtype dtype, const void *row,
                    const void *x, void *out) {
  if (table->dtype == POSENC_F64)
    add_f64(dtype, table->dim, (const double *)row, x, out);
  else if (table->dtype == POSENC_F32 && dtype == POSENC_F32)
    loops->add(dtype, table->dim, (const float *)row, x, out);
  else
    add_narrow(loops, table, dtype, (const char *)row, (const char *)x, (char *)out);
}

/* ---- the public function ------------------------------------------------------------------------ */

static bool is_valid(const posenc_learned_table *t) {
  int64_t elements, bytes;
  return t && t->size == sizeof *t && t->count >= 0 && t->dim >= 1 && posenc_dtype_bytes(t->dtype) &&
         !__builtin_mul_overflow(t->count, t->dim, &elements) &&
         !__builtin_mul_overflow(elements, (int64_t)posenc_dtype_bytes(t->dtype), &bytes) && (elements == 0 || t->rows);
}

posenc_status posenc_learned(const posenc_learned_table *table, const posenc_slice *positions, posenc_dtype dtype,
                             const void *x, void *out) {
  posenc_slice slice;
  if (!is_valid(table) || !slice_resolve(&slice, positions, table->dim, dtype) || !slice_within(&slice, table->count) ||
      (x && dtype != POSENC_F32 && dtype != POSENC_BF16))
    return POSENC_BAD_ARGUMENT;
  if (slice.rows == 0 || slice.batch == 0) return POSENC_OK;
  if (!out) return POSENC_BAD_ARGUMENT;
  const apply_loops *loops = apply_loops_for(NULL);
  const size_t row_bytes = (size_t)table->dim * posenc_dtype_bytes(table->dtype), element = posenc_dtype_bytes(dtype);
  const bool streams = !x && dtype == table->dtype && encoding_streams(slice.batch * slice.rows, row_bytes, dtype, out);
  for (int64_t sequence = 0; sequence < slice.batch; sequence++)
    for (int64_t r = 0; r < slice.rows; r++) {
      const char *row = (const char *)table->rows + (size_t)slice_row(&slice, r) * row_bytes;
      const size_t at = (size_t)(sequence * slice.stride + r * table->dim) * element;
      char *to = (char *)out + at;
      if (x)
        add_row(loops, table, dtype, row, (const char *)x + at, to);
      else if (streams)
        encoding_stream(to, row, row_bytes);
      else if (dtype == table->dtype)
        memcpy(to, row, row_bytes);
      else
        convert_row(table->dtype, dtype, table->dim, row, to);
    }
  if (streams) store_fence();
  return POSENC_OK;
}

const posenc_encoding encoding_learned = {
    .name = "learned",
    .summary = "rows of a given table, gathered by position, or added to x",
    .formula = "PE[p, j] = table[p, j], or x + that",
    .call = "posenc_learned",
    .provenance = "Gehring et al., \"Convolutional Sequence to Sequence Learning\", 2017; BERT, GPT-2",
    .bound = {.ulp = 0.5 + 0x1p-17, .max_position = INT64_MAX, .derived = true},
    .basis = "what is gathered is rounded once; sums too, but those of bf16, from tables that are not f64, go by way "
             "of f32: "
             "half a unit of that is 2^-17 of one of bf16",
    .reproducible = true,
};
