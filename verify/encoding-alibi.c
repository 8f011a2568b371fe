/* SPDX-License-Identifier: MIT */
#include "verify/encoding-exam.h"

#include "common/contract.h"
#include "common/random.h"
#include "common/shapes.h"
#include "common/work.h"

#include <stdlib.h>
#include <string.h>

/* Computes the exact biases of a head at distances from .. from + count - 1. */
static void true_biases(encoding_exam *e, int64_t heads, int64_t head, int64_t from, int64_t count, exact *biases) {
  mpfr_t slope;
  mpfr_init2(slope, ENCODINGS_PRECISION);
  encodings_slope(heads, head, slope);
  for (int64_t n = 0; n < count; n++) biases[n] = encodings_alibi(slope, from + n, e->dtype);
  mpfr_clear(slope);
}

/* Checks every element of the matrices of all heads. */
static void check_matrices(encoding_exam *e, int64_t heads) {
  enum { LENGTH = 33, HALF = 11 };
  const int64_t elements = heads * LENGTH * LENGTH;
  const size_t element = posenc_dtype_bytes(e->dtype);
  posenc_alibi bias = posenc_alibi_of(heads, LENGTH);
  exact biases[LENGTH];
  arena *a;
  unsigned char *out = encoding_arena(&a, elements, e->dtype, heads % 2),
                *other = encoding_room((size_t)elements * element);
  bias.dtype = e->dtype;
  encoding_note(e, EXTENSION, e->request->by->alibi_bias(&bias, out) == POSENC_OK, heads);
  encoding_check_written(e, a, out, elements);
  encoding_digest(e, out, elements);
  for (int64_t head = 0; head < heads; head++) {
    true_biases(e, heads, head, 0, LENGTH, biases);
    for (int64_t i = 0; i < LENGTH; i++)
      for (int64_t j = 0; j < LENGTH; j++)
        encoding_compare(e, &biases[i > j ? i - j : j - i], out, (head * LENGTH + i) * LENGTH + j, i, j);
    /* The head is also computed alone, and its queries in two parts. */
    const size_t at = (size_t)(head * LENGTH * LENGTH) * element, row = LENGTH * element;
    bias.head = head;
    bias.count = 1;
    bias.query = HALF;
    bias.queries = LENGTH - HALF;
    e->request->by->alibi_bias(&bias, other + at + HALF * row);
    bias.query = 0;
    bias.queries = HALF;
    e->request->by->alibi_bias(&bias, other + at);
    encoding_same(e, EXTENSION, out + at, other + at, LENGTH * row, head);
  }
  free(other);
  arena_destroy(a);
}

/* Checks decoding, at near and far positions. */
static void check_far(encoding_exam *e, int64_t heads, int64_t head, int64_t query) {
  enum { KEYS = 57, QUERIES = 2 };
  posenc_alibi bias = posenc_alibi_of(heads, KEYS);
  exact biases[KEYS + QUERIES];
  arena *a;
  unsigned char *out = encoding_arena(&a, QUERIES * KEYS, e->dtype, true);
  bias.head = head;
  bias.count = 1;
  bias.query = query;
  bias.queries = QUERIES;
  bias.dtype = e->dtype;
  encoding_note(e, EXTENSION, e->request->by->alibi_bias(&bias, out) == POSENC_OK, query);
  encoding_check_written(e, a, out, QUERIES * KEYS);
  true_biases(e, heads, head, query - (KEYS - 1), KEYS + QUERIES - 1, biases);
  for (int64_t i = 0; i < QUERIES; i++)
    for (int64_t j = 0; j < KEYS; j++) encoding_compare(e, &biases[i - j + KEYS - 1], out, i * KEYS + j, query + i, j);
  arena_destroy(a);
}

/* Checks a result that is large enough for streaming stores. */
static void check_large_bias(encoding_exam *e) {
  enum { HEADS = 5, LENGTH = 1001 };
  const size_t row = LENGTH * posenc_dtype_bytes(e->dtype);
  posenc_alibi bias = posenc_alibi_of(HEADS, LENGTH);
  bias.dtype = e->dtype;
  unsigned char *out = encoding_room(HEADS * LENGTH * row), *other = encoding_room(row);
  encoding_note(e, EXTENSION, e->request->by->alibi_bias(&bias, out) == POSENC_OK, 0);
  for (int64_t head = 0; head < HEADS; head++)
    for (int64_t i = 0; i < LENGTH; i += 1 + i % 7) {
      bias.head = head;
      bias.count = bias.queries = 1;
      bias.query = i;
      e->request->by->alibi_bias(&bias, other);
      encoding_same(e, EXTENSION, out + (size_t)(head * LENGTH + i) * row, other, row, i);
    }
  free(other);
  free(out);
}

static void check_alibi_refusals(encoding_exam *e) {
  unsigned char out[64];
  posenc_alibi bias = posenc_alibi_of(0, 2);
  REFUSED(e, out, sizeof out, e->request->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(INT64_C(1) << 21, 1);
  bias.count = 1;
  REFUSED(e, out, sizeof out, e->request->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(2, 2);
  bias.head = 1;
  REFUSED(e, out, sizeof out, e->request->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(2, 2);
  bias.query = (INT64_C(1) << 53) + 1;
  REFUSED(e, out, sizeof out, e->request->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(2, INT64_C(1) << 62);
  REFUSED(e, out, sizeof out, e->request->by->alibi_bias(&bias, out));
}

void encoding_examine_alibi(encoding_exam *e) {
  static const int64_t heads[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 71, 96, 112, 128};
  uint64_t random = e->request->seed;
  for (int dtype = 0; dtype < DTYPES; dtype++) {
    encoding_begin(e, (posenc_dtype)dtype);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) check_matrices(e, heads[i]);
    for (int n = 0; n < 300; n++) {
      const int64_t count = 1 + (int64_t)(random_below(&random, 1 << 20) >> random_below(&random, 20));
      const int64_t query = 64 + (int64_t)(random_below(&random, UINT64_C(1) << 52) >> random_below(&random, 50));
      check_far(e, count, (int64_t)random_below(&random, (uint64_t)count), query);
    }
    check_large_bias(e);
    check_alibi_refusals(e);
    isolate_say(dtype_name(e->dtype), (double)dtype / DTYPES);
    encoding_end(e, dtype_name(e->dtype));
  }
}
