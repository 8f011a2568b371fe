/* SPDX-License-Identifier: MIT */
/*
 * The bias -m |i - j|. It depends on the distance only, so the rows of a head are windows of one sequence, which is
 * made once and copied: a matrix takes the time of filling its memory.
 *
 * The slope m = 2^(-a/b), with b a power of two, is a product of a power of two and of some of 2^(-1/2), 2^(-1/4) …,
 * each the square root of the one before: at most 18, as there are at most 2^20 heads. In sums of two doubles, without
 * fused operations, the relative error of a root is 2^-104 and half the error of its argument, so below 2^-103, and a
 * product adds at most 2^-103. 18 of both stay within 2^-97. The product with the distance, which a double holds
 * exactly, is still within 2^-97 + 2^-105: for f64, 2^-43 ulp.
 */
#include "impls/encodings/encoding.h"

#include <math.h>

enum { HEADS_MAX = 1 << 20 };
static const int64_t distance_max = INT64_C(1) << 53;

/* ---- sums of two doubles ------------------------------------------------------------------------ */

/* Returns a + b exactly, for |a| >= |b| or a = 0. */
static inline posenc_sum sum_of(double a, double b) {
  const double high = a + b;
  return (posenc_sum){high, b - (high - a)};
}

/* Returns a b exactly (Dekker, 1971). */
static inline posenc_sum product_of(double a, double b) {
  static const double splitter = 0x1p27 + 1.0;
  const double a_far = a * splitter, b_far = b * splitter;
  const double a_high = a_far - (a_far - a), a_low = a - a_high, b_high = b_far - (b_far - b), b_low = b - b_high;
  const double high = a * b;
  return (posenc_sum){high, ((a_high * b_high - high) + a_high * b_low + a_low * b_high) + a_low * b_low};
}

static posenc_sum times(posenc_sum a, posenc_sum b) {
  const posenc_sum p = product_of(a.high, b.high);
  return sum_of(p.high, p.low + (a.high * b.low + a.low * b.high));
}

/* Returns the square root of x, by one of Newton's steps from the root of x.high. */
static posenc_sum root_of(posenc_sum x) {
  const double root = sqrt(x.high);
  const posenc_sum square = product_of(root, root);
  return sum_of(root, ((x.high - square.high) - square.low + x.low) / (2.0 * root));
}

posenc_sum posenc_alibi_slope(int64_t heads, int64_t head) {
  if (heads < 1 || heads > HEADS_MAX || head < 0 || head >= heads) return (posenc_sum){NAN, NAN};
  int64_t n = 1;
  while (2 * n <= heads) n *= 2;
  /* 2^(-eighths / n); after the slopes of n, every other slope of 2n. */
  int64_t eighths = 8 * (head + 1);
  if (head >= n) {
    eighths = 8 * (2 * (head - n) + 1);
    n *= 2;
  }
  posenc_sum slope = {1.0, 0.0}, root = {0.5, 0.0};
  for (int64_t bit = n / 2; bit && eighths % n; bit /= 2) {
    root = root_of(root);
    if (eighths & bit) slope = times(slope, root);
  }
  const double power = ldexp(1.0, -(int)(eighths / n));
  return (posenc_sum){slope.high * power, slope.low * power};
}

/* ---- the sequence ------------------------------------------------------------------------------- */

INLINE void write_one(posenc_dtype dtype, posenc_sum slope, double distance, void *out, int64_t at) {
  const posenc_sum p = product_of(-slope.high, distance), sum = sum_of(p.high, p.low - slope.low * distance);
  encoding_store(dtype, out, at, distance > 0.0 ? sum.high : 0.0, sum.low);
}

/* The number of elements that are made at a time. The product of the slope's upper part decides nearly all roundings:
   it is within 3/2 units in the last place of a double of the exact value. If a midpoint is as near as that, the block
   is made again. */
enum { BLOCK = 16 };

INLINE bool write_block(posenc_dtype dtype, double slope, double first, void *out) {
  const int narrow = dtype == POSENC_F16 ? ROUND_F16_PRECISION : ROUND_BF16_PRECISION,
            below = 53 - (dtype == POSENC_F32 ? 24 : narrow);
  uint64_t uncertain = 0;
  for (int n = 0; n < BLOCK; n++) {
    const double product = slope * fabs(first + n);
    const uint64_t from_midpoint =
        (round_bits_of(product) + 4 - (UINT64_C(1) << (below - 1))) & ((UINT64_C(1) << below) - 1);
    uncertain |= from_midpoint - 9; /* its top bit is set if a midpoint is within 4 units */
    encoding_store(dtype, out, n, 0.0 - product, 0.0);
  }
  return !(uncertain >> 63);
}

/* Writes the bias at the distances |from|, |from + 1| … */
INLINE void write_as(posenc_dtype dtype, posenc_sum slope, int64_t from, int64_t count, char *out) {
  const size_t element = posenc_dtype_bytes(dtype);
  int exponent;
  const bool power = slope.low == 0.0 && frexp(slope.high, &exponent) == 0.5; /* products are exact then */
  for (int64_t n = 0, end; n < count; n = end) {
    end = count - n < BLOCK ? count : n + BLOCK;
    if (dtype != POSENC_F64 && end - n == BLOCK &&
        (write_block(dtype, slope.high, (double)(from + n), out + (size_t)n * element) || power))
      continue;
    for (int64_t k = n; k < end; k++) write_one(dtype, slope, fabs((double)(from + k)), out, k);
  }
}

static void write_sequence(posenc_dtype dtype, posenc_sum slope, int64_t from, int64_t count, char *out) {
  ROUND_DISPATCH(dtype, write_as, slope, from, count, out);
}

/* ---- the matrix --------------------------------------------------------------------------------- */

static bool is_valid(const posenc_alibi *b, int64_t *elements) {
  int64_t query_end, key_end, bytes;
  if (!b || b->size != sizeof *b || b->heads < 1 || b->heads > HEADS_MAX || b->head < 0 || b->count < 0 ||
      b->head > b->heads || b->count > b->heads - b->head || b->queries < 0 || b->keys < 0 ||
      !posenc_dtype_bytes(b->dtype))
    return false;
  if (__builtin_add_overflow(b->query, b->queries, &query_end) || __builtin_add_overflow(b->key, b->keys, &key_end) ||
      __builtin_mul_overflow(b->queries, b->keys, elements) || __builtin_mul_overflow(*elements, b->count, elements) ||
      __builtin_mul_overflow(*elements, (int64_t)posenc_dtype_bytes(b->dtype), &bytes))
    return false;
  if (*elements == 0) return true;
  int64_t farthest, other;
  return !__builtin_sub_overflow(query_end - 1, b->key, &farthest) && farthest <= distance_max &&
         !__builtin_sub_overflow(key_end - 1, b->query, &other) && other <= distance_max;
}

posenc_status posenc_alibi_bias(const posenc_alibi *bias, void *out) {
  int64_t elements;
  if (!is_valid(bias, &elements)) return POSENC_BAD_ARGUMENT;
  if (elements == 0) return POSENC_OK;
  if (!out) return POSENC_BAD_ARGUMENT;
  const posenc_alibi *b = bias;
  const size_t element = posenc_dtype_bytes(b->dtype), row_bytes = (size_t)b->keys * element;
  /* The distances from the last query's first key to the first query's last key. */
  const int64_t from = b->key - (b->query + b->queries - 1), count = b->queries - 1 + b->keys;
  char *to = (char *)out, *sequence = b->queries > 1 ? (char *)posenc_alloc((size_t)count * element) : NULL;
  if (b->queries > 1 && !sequence) return POSENC_OUT_OF_MEMORY;
  const bool streams = sequence && encoding_streams(elements / b->keys, row_bytes, b->dtype, out);
  for (int64_t head = b->head; head < b->head + b->count; head++) {
    const posenc_sum slope = posenc_alibi_slope(b->heads, head);
    write_sequence(b->dtype, slope, from, count, sequence ? sequence : to);
    for (int64_t r = 0; sequence && r < b->queries; r++) {
      const char *window = sequence + (size_t)(b->queries - 1 - r) * element;
      if (streams)
        encoding_stream(to + (size_t)r * row_bytes, window, row_bytes);
      else
        memcpy(to + (size_t)r * row_bytes, window, row_bytes);
    }
    to += (size_t)b->queries * row_bytes;
  }
  if (streams) store_fence();
  posenc_free(sequence);
  return POSENC_OK;
}

const posenc_encoding encoding_alibi = {
    .name = "alibi",
    .summary = "a bias of attention scores that falls with the distance, by a slope of each head",
    .formula = "bias[h, i, j] = -m_h |i - j|, m_h = 2^(-8h/H), h = 1 .. H, for H a power of two",
    .call = "posenc_alibi_bias",
    .provenance = "Press, Smith and Lewis, \"Train Short, Test Long\", 2021; other H as in the authors' code",
    .bound = {.ulp = 0.5 + 0x1p-43, .max_position = INT64_C(1) << 53, .derived = true},
    .basis =
        "slopes within 2^-97 in sums of two doubles, times the distance, rounded once; f16 ends at 65520, where it is "
        "infinite",
    .reproducible = true,
};
