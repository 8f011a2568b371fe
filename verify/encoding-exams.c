/* SPDX-License-Identifier: MIT */
#include "common/contract.h"
#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "common/work.h"
#include "verify/encodings.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- integer and binary ---------------------------------------------------------------------------------------- */

typedef posenc_status (*table_call)(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);
typedef exact (*table_value)(int64_t position, int64_t column, posenc_dtype dtype);

static void check_rows(encoding_exam *e, table_call call, table_value value_of, int64_t first, int64_t rows,
                       int64_t dim) {
  enum { MOST = 4096 };
  const int64_t elements = rows * dim;
  const size_t row_bytes = (size_t)dim * posenc_dtype_bytes(e->dtype);
  const posenc_slice slice = posenc_rows(first, rows);
  int64_t backwards[MOST];
  arena *a;
  unsigned char *out = encoding_arena(&a, elements, e->dtype, first % 2 == 0),
                *other = memory_grow(NULL, row_bytes * (size_t)rows, 1);
  encoding_note(e, EXTENSION, call(&slice, dim, e->dtype, out) == POSENC_OK, first);
  encoding_check_written(e, a, out, elements);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < dim; j++) {
      const exact value = value_of(first + r, j, e->dtype);
      encoding_compare(e, &value, out, r * dim + j, first + r, j);
    }
  encoding_digest(e, out, elements);
  /* The rows are also computed in pieces, the last one first, and row by row from a list of single positions. */
  posenc_slice part = posenc_rows(first + rows / 3, rows - rows / 3);
  call(&part, dim, e->dtype, other + row_bytes * (size_t)(rows / 3));
  part = posenc_rows(first, rows / 3);
  call(&part, dim, e->dtype, other);
  encoding_same(e, EXTENSION, out, other, row_bytes * (size_t)rows, first);
  for (int64_t r = 0; r < rows; r++) backwards[r] = first + rows - 1 - r;
  part.index = backwards;
  part.rows = rows;
  call(&part, dim, e->dtype, other);
  for (int64_t r = 0; r < rows; r++)
    encoding_same(e, INDEX, out + row_bytes * (size_t)r, other + row_bytes * (size_t)(rows - 1 - r), row_bytes,
                  first + r);
  free(other);
  arena_destroy(a);
}

/* Checks that a result that is large enough for streaming stores has the bits of pieces. */
static void check_large(encoding_exam *e, table_call call) {
  enum { DIM = 60, PIECE = 97 };
  const size_t row_bytes = DIM * posenc_dtype_bytes(e->dtype);
  const int64_t rows = ((17 << 20) / (int64_t)row_bytes);
  unsigned char *out = memory_grow(NULL, row_bytes * (size_t)rows, 1), *part = memory_grow(NULL, row_bytes * PIECE, 1);
  posenc_slice slice = posenc_rows(7, rows);
  encoding_note(e, EXTENSION, call(&slice, DIM, e->dtype, out) == POSENC_OK, 7);
  for (int64_t row = 0; row < rows; row += PIECE) {
    slice = posenc_rows(7 + row, least(PIECE, rows - row));
    call(&slice, DIM, e->dtype, part);
    encoding_same(e, EXTENSION, out + row_bytes * (size_t)row, part, row_bytes * (size_t)slice.rows, 7 + row);
  }
  free(part);
  free(out);
}

static void check_refusals(encoding_exam *e, table_call call, bool negative) {
  unsigned char out[64];
  posenc_slice slice = posenc_rows(0, 2);
  REFUSED(e, out, sizeof out, call(&slice, 0, e->dtype, out));
  REFUSED(e, out, sizeof out, call(&slice, 4, (posenc_dtype)99, out));
  REFUSED(e, out, sizeof out, call(&slice, INT64_MAX / 2, e->dtype, out));
  slice.row = INT64_MAX;
  REFUSED(e, out, sizeof out, call(&slice, 4, e->dtype, out));
  slice = posenc_rows(0, 2);
  slice.batch = 2;
  REFUSED(e, out, sizeof out, call(&slice, 4, e->dtype, out));
  slice = posenc_rows(-1, 2);
  if (!negative) REFUSED(e, out, sizeof out, call(&slice, 4, e->dtype, out));
  slice.size--;
  REFUSED(e, out, sizeof out, call(&slice, 4, e->dtype, out));
}

static void examine_rows(encoding_exam *e, table_call call, table_value value_of, bool negative, int64_t dim) {
  static const int64_t places[] = {0, 2040, 65490, (1 << 24) - 20, (INT64_C(1) << 53) - 20, INT64_MAX - 40};
  uint64_t random = e->seed;
  for (int dtype = 0; dtype < DTYPES; dtype++) {
    encoding_begin(e, (posenc_dtype)dtype);
    check_rows(e, call, value_of, 0, 1000, dim);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
      check_rows(e, call, value_of, places[i], 40, dim);
      if (negative) check_rows(e, call, value_of, -places[i] - 40, 40, dim);
    }
    for (int n = 0; n < 200; n++) { /* positions of all sizes */
      const int64_t position = (int64_t)(random_below(&random, INT64_MAX) >> random_below(&random, 63));
      check_rows(e, call, value_of, negative && n % 2 ? -position - 1 : position, 1, 1 + (int64_t)(n % 2) * dim);
    }
    check_large(e, call);
    check_refusals(e, call, negative);
    isolate_say(dtype_name(e->dtype), (double)dtype / DTYPES);
    encoding_end(e, dtype_name(e->dtype));
  }
}

/* 5 and 67 columns are not whole vectors, and 67 are more than the bits of a position. */
void encoding_examine_integer(encoding_exam *e) {
  examine_rows(e, e->by->integer, encodings_integer, true, 5);
}

void encoding_examine_binary(encoding_exam *e) {
  examine_rows(e, e->by->binary, encodings_binary, false, 67);
}

/* ---- learned --------------------------------------------------------------------------------------------------- */

enum { TABLE_ROWS = 61, TABLE_DIM = 37, TAKEN = 50, TWICE = 2, STRIDE = TAKEN * TABLE_DIM + ENCODING_GAP };

typedef struct trained {
  posenc_learned_table table;
  int64_t taken[TAKEN];
  posenc_slice slice;
} trained;

static void check_sums(encoding_exam *e, const trained *t, const void *x, const void *out) {
  for (int64_t b = 0; b < TWICE; b++)
    for (int64_t r = 0; r < TAKEN; r++)
      for (int64_t j = 0; j < TABLE_DIM; j++) {
        const int64_t at = b * STRIDE + r * TABLE_DIM + j;
        const double element = format_element(t->table.dtype, t->table.rows, t->taken[r] * TABLE_DIM + j);
        const exact value = encodings_sum(element, x ? format_element(e->dtype, x, at) : 0.0, e->dtype);
        encoding_compare(e, &value, out, at, t->taken[r], j);
      }
}

/* Checks that NaN and infinities in x are in the result at the same places, and nowhere else. */
static void check_special(encoding_exam *e, posenc_dtype of, bool added) {
  enum { DIM = 3 * 17, KINDS = 3 };
  static const uint64_t none[DTYPES][KINDS] = {
      [POSENC_F32] = {0x7fc00000, 0x7fffffff, 0x7f800000},
      [POSENC_F64] = {0x7ff8000000000000, 0x7fffffffffffffff, 0x7ff0000000000000},
      [POSENC_F16] = {0x7e00, 0x7fff, 0x7c00},
      [POSENC_BF16] = {0x7fc0, 0x7fff, 0x7f80},
  };
  union {
    uint64_t bits[DIM];
    uint32_t words[DIM];
    uint16_t halves[DIM];
  } rows = {{0}};
  double x[DIM] = {0}, out[DIM];
  for (int j = 0; j < DIM; j += 3) {
    const uint64_t encoding = none[of][j / 3 % KINDS];
    if (of == POSENC_F64)
      rows.bits[j] = encoding;
    else if (of == POSENC_F32)
      rows.words[j] = (uint32_t)encoding;
    else
      rows.halves[j] = (uint16_t)encoding;
  }
  posenc_learned_table table = posenc_learned_rows(&rows, 1, DIM);
  const posenc_slice slice = posenc_rows(0, 1);
  table.dtype = of;
  encoding_note(e, SPECIAL, e->by->learned(&table, &slice, e->dtype, added ? x : NULL, out) == POSENC_OK, 0);
  for (int64_t j = 0; j < DIM; j++) {
    const double want = format_element(of, &rows, j), got = format_element(e->dtype, out, j);
    encoding_note(e, SPECIAL, isnan(want) ? isnan(got) : got == want, 0);
  }
}

static void check_learned(encoding_exam *e, posenc_dtype of, bool added) {
  uint64_t random = e->seed;
  const size_t bytes = TWICE * STRIDE * posenc_dtype_bytes(e->dtype);
  double rows[TABLE_ROWS * TABLE_DIM];
  trained t = {.table = posenc_learned_rows(rows, TABLE_ROWS, TABLE_DIM), .slice = posenc_rows(0, TAKEN)};
  unsigned char *x = memory_grow(NULL, bytes, 1), *other = memory_grow(NULL, bytes, 1);
  arena *a;
  unsigned char *out = encoding_arena(&a, TWICE * STRIDE, e->dtype, true);
  t.table.dtype = of;
  for (int64_t i = 0; i < TABLE_ROWS * TABLE_DIM; i++)
    encoding_set_element(of, rows, i, encoding_draw(&random, of != POSENC_F16));
  for (int64_t r = 0; r < TAKEN; r++) t.taken[r] = (int64_t)random_below(&random, TABLE_ROWS);
  t.slice.index = t.taken;
  t.slice.batch = TWICE;
  t.slice.stride = STRIDE;
  for (int64_t i = 0; i < TWICE * STRIDE; i++) { /* one in 16 nearly cancels */
    const int64_t within = i % STRIDE, row = within / TABLE_DIM < TAKEN ? t.taken[within / TABLE_DIM] : 0;
    const double cancels = -format_element(of, rows, row * TABLE_DIM + within % TABLE_DIM);
    encoding_set_element(e->dtype, x, i, random_below(&random, 16) ? encoding_draw(&random, true) : cancels);
  }
  const void *given = added ? x : NULL;
  const size_t element = posenc_dtype_bytes(e->dtype), gap = STRIDE * element - ENCODING_GAP * element;
  encoding_note(e, EXTENSION, e->by->learned(&t.table, &t.slice, e->dtype, given, out) == POSENC_OK, 0);
  encoding_note(e, MEMORY, arena_spills(a) == 0, 0);
  for (size_t i = 0; i < ENCODING_GAP * element; i++) encoding_note(e, MEMORY, out[gap + i] == ARENA_POISON, 0);
  check_sums(e, &t, given, out);
  encoding_digest(e, out, TAKEN * TABLE_DIM);
  memcpy(other, added ? x : out, bytes);
  if (added) e->by->learned(&t.table, &t.slice, e->dtype, other, other);
  for (int64_t b = 0; added && b < TWICE; b++)
    encoding_same(e, IN_PLACE, out + (size_t)b * STRIDE * element, other + (size_t)b * STRIDE * element, gap, b);
  for (int64_t r = 0; r < TAKEN; r++) { /* each row is also computed alone */
    posenc_slice one = posenc_rows(t.taken[r], 1);
    const size_t at = (size_t)(r * TABLE_DIM) * element;
    e->by->learned(&t.table, &one, e->dtype, added ? x + at : NULL, other + at);
    encoding_same(e, EXTENSION, out + at, other + at, TABLE_DIM * element, t.taken[r]);
  }
  check_special(e, of, added);
  t.taken[TAKEN - 1] = TABLE_ROWS;
  REFUSED(e, other, bytes, e->by->learned(&t.table, &t.slice, e->dtype, given, other));
  t.taken[TAKEN - 1] = -1;
  REFUSED(e, other, bytes, e->by->learned(&t.table, &t.slice, e->dtype, given, other));
  t.taken[TAKEN - 1] = 0;
  t.slice.stride = TAKEN * TABLE_DIM - 1;
  REFUSED(e, other, bytes, e->by->learned(&t.table, &t.slice, e->dtype, given, other));
  arena_destroy(a);
  free(other);
  free(x);
}

void encoding_examine_learned(encoding_exam *e) {
  char called[32];
  for (int of = 0; of < DTYPES; of++)
    for (int to = 0; to < DTYPES; to++)
      for (int added = 0; added < 2; added++) {
        if (added && to != POSENC_F32 && to != POSENC_BF16) continue;
        encoding_begin(e, (posenc_dtype)to);
        check_learned(e, (posenc_dtype)of, added);
        snprintf(called, sizeof called, "%s-%s-%s", added ? "add" : "gather", dtype_name((posenc_dtype)of),
                 dtype_name((posenc_dtype)to));
        isolate_say(called, (double)of / DTYPES);
        encoding_end(e, called);
      }
}

/* ---- ALiBi ----------------------------------------------------------------------------------------------------- */

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
                *other = memory_grow(NULL, (size_t)elements * element, 1);
  bias.dtype = e->dtype;
  encoding_note(e, EXTENSION, e->by->alibi_bias(&bias, out) == POSENC_OK, heads);
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
    e->by->alibi_bias(&bias, other + at + HALF * row);
    bias.query = 0;
    bias.queries = HALF;
    e->by->alibi_bias(&bias, other + at);
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
  encoding_note(e, EXTENSION, e->by->alibi_bias(&bias, out) == POSENC_OK, query);
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
  unsigned char *out = memory_grow(NULL, HEADS * LENGTH * row, 1), *other = memory_grow(NULL, row, 1);
  encoding_note(e, EXTENSION, e->by->alibi_bias(&bias, out) == POSENC_OK, 0);
  for (int64_t head = 0; head < HEADS; head++)
    for (int64_t i = 0; i < LENGTH; i += 1 + i % 7) {
      bias.head = head;
      bias.count = bias.queries = 1;
      bias.query = i;
      e->by->alibi_bias(&bias, other);
      encoding_same(e, EXTENSION, out + (size_t)(head * LENGTH + i) * row, other, row, i);
    }
  free(other);
  free(out);
}

static void check_alibi_refusals(encoding_exam *e) {
  unsigned char out[64];
  posenc_alibi bias = posenc_alibi_of(0, 2);
  REFUSED(e, out, sizeof out, e->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(INT64_C(1) << 21, 1);
  bias.count = 1;
  REFUSED(e, out, sizeof out, e->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(2, 2);
  bias.head = 1;
  REFUSED(e, out, sizeof out, e->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(2, 2);
  bias.query = (INT64_C(1) << 53) + 1;
  REFUSED(e, out, sizeof out, e->by->alibi_bias(&bias, out));
  bias = posenc_alibi_of(2, INT64_C(1) << 62);
  REFUSED(e, out, sizeof out, e->by->alibi_bias(&bias, out));
}

void encoding_examine_alibi(encoding_exam *e) {
  static const int64_t heads[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 71, 96, 112, 128};
  uint64_t random = e->seed;
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

/* ---- dropout --------------------------------------------------------------------------------------------------- */

enum { DROPPED_ROWS = 12, SEQUENCES = 3 };

typedef struct dropped {
  posenc_problem problem;
  posenc_plan *plan;
  posenc_dropout how;
  posenc_slice slice;
} dropped;

/* Drops half of the rows, in one of two threads. */
static void *drop_half(void *argument) {
  const dropped *d = ((void **)argument)[0];
  const encoding_exam *e = ((void **)argument)[1];
  unsigned char *out = ((void **)argument)[2];
  posenc_slice half = d->slice;
  half.rows = d->slice.rows / 2;
  half.row = ((void **)argument)[3] ? half.rows : 0;
  out += (size_t)(half.row * d->problem.dim) * posenc_dtype_bytes(d->problem.dtype);
  e->by->apply_dropout(d->plan, &half, &d->how, out, out);
  return NULL;
}

static bool drop_by_threads(const encoding_exam *e, const dropped *d, unsigned char *out) {
  void *of_one[] = {(void *)(uintptr_t)d, (void *)(uintptr_t)e, out, NULL},
       *of_other[] = {(void *)(uintptr_t)d, (void *)(uintptr_t)e, out, out};
  pthread_t other;
  if (pthread_create(&other, NULL, drop_half, of_other) != 0) return false;
  drop_half(of_one);
  pthread_join(other, NULL);
  return true;
}

static void check_fates(encoding_exam *e, const dropped *d, const unsigned char *sums, const unsigned char *out,
                        const unsigned char *mask) {
  const int64_t dim = d->problem.dim, packed = DROPPED_ROWS * dim;
  for (int64_t b = 0; b < SEQUENCES; b++)
    for (int64_t i = 0; i < packed; i++) {
      const int64_t position = d->problem.first + i / dim, column = i % dim, at = b * d->slice.stride + i;
      const encodings_fate fate = encodings_dropout(&d->how, b, position, column, dim);
      const double sum = format_element(e->dtype, sums, at), got = format_element(e->dtype, out, at);
      const exact value = fate.kept ? encodings_product(sum, fate.scale, e->dtype) : (exact){0.0, 0.0, 0.0};
      encoding_note(e, MASK, mask[b * packed + i] == fate.kept, position);
      if (!fate.kept) encoding_note(e, MASK, got == 0.0 && !signbit(got), position);
      encoding_compare(e, &value, out, at, position, column);
    }
}

/* Compares the sequences of both results, without the gaps between them. */
static void compare_sequences(encoding_exam *e, property p, const dropped *d, const unsigned char *a,
                              const unsigned char *b) {
  const size_t element = posenc_dtype_bytes(e->dtype), stride = (size_t)d->slice.stride * element;
  for (int64_t n = 0; n < SEQUENCES; n++)
    encoding_same(e, p, a + (size_t)n * stride, b + (size_t)n * stride, stride - ENCODING_GAP * element,
                  d->problem.first);
}

/* Checks each row of each sequence alone, by its number or in a list, the last one first. */
static void check_alone(encoding_exam *e, const dropped *d, const unsigned char *x, const unsigned char *out,
                        unsigned char *other) {
  const size_t element = posenc_dtype_bytes(e->dtype), row = (size_t)d->problem.dim * element;
  for (int64_t b = 0; b < SEQUENCES; b++)
    for (int64_t r = DROPPED_ROWS - 1; r >= 0; r--) {
      posenc_slice one = posenc_rows(r % 2 ? r : 0, 1);
      posenc_dropout its = d->how;
      const size_t at = (size_t)(b * d->slice.stride + r * d->problem.dim) * element;
      if (r % 2 == 0) one.index = &r;
      its.sequence = d->how.sequence + b;
      e->by->apply_dropout(d->plan, &one, &its, x + at, other + at);
      encoding_same(e, r % 2 ? EXTENSION : INDEX, out + at, other + at, row, d->problem.first + r);
    }
}

static void check_dropout_refusals(encoding_exam *e, const dropped *d, const unsigned char *x, unsigned char *out,
                                   size_t bytes) {
  const encoders *by = e->by;
  posenc_slice beyond = posenc_rows(1, DROPPED_ROWS);
  REFUSED(e, out, bytes, by->apply_dropout(d->plan, &beyond, &d->how, x, out));
  posenc_dropout wrong = d->how;
  wrong.last = 1.0;
  beyond.row = 0;
  REFUSED(e, out, bytes, by->apply_dropout(d->plan, &beyond, &wrong, x, out));
  wrong.last = NAN;
  REFUSED(e, out, bytes, by->apply_dropout(d->plan, &beyond, &wrong, x, out));
  wrong = d->how;
  wrong.sequence = INT64_C(1) << 32;
  REFUSED(e, out, bytes, by->apply_dropout(d->plan, &beyond, &wrong, x, out));
}

static void check_dropped(encoding_exam *e, int64_t dim, int64_t first, posenc_dropout how) {
  const encoders *by = e->by;
  const size_t element = posenc_dtype_bytes(e->dtype);
  dropped d = {.problem = posenc_add(DROPPED_ROWS, dim), .how = how, .slice = posenc_rows(0, DROPPED_ROWS)};
  uint64_t random = how.seed;
  d.problem.first = first;
  d.problem.dtype = e->dtype;
  d.slice.batch = SEQUENCES;
  d.slice.stride = DROPPED_ROWS * dim + ENCODING_GAP;
  const int64_t elements = SEQUENCES * d.slice.stride;
  const size_t bytes = (size_t)elements * element, packed = (size_t)(DROPPED_ROWS * dim) * element;
  if (posenc_plan_create(&d.plan, &d.problem, NULL) != POSENC_OK) memory_end();
  arena *a;
  unsigned char *out = encoding_arena(&a, elements, e->dtype, true), *x = memory_grow(NULL, bytes, 1),
                *sums = memory_grow(NULL, bytes, 1), *other = memory_grow(NULL, bytes, 1),
                *mask = memory_grow(NULL, (size_t)(SEQUENCES * DROPPED_ROWS * dim), 1);
  const posenc_slice positions = {.size = sizeof positions, .row = first, .rows = DROPPED_ROWS, .batch = SEQUENCES};
  for (int64_t i = 0; i < elements; i++) encoding_set_element(e->dtype, x, i, encoding_draw(&random, true));
  posenc_apply(d.plan, &d.slice, x, sums);
  encoding_note(e, EXTENSION, by->apply_dropout(d.plan, &d.slice, &how, x, out) == POSENC_OK, first);
  encoding_note(e, EXTENSION, by->dropout_mask(&how, &positions, dim, mask) == POSENC_OK, first);
  encoding_note(e, MEMORY, arena_spills(a) == 0, first);
  for (size_t i = 0; i < ENCODING_GAP * element; i++) encoding_note(e, MEMORY, out[packed + i] == ARENA_POISON, first);
  check_fates(e, &d, sums, out, mask);
  encoding_digest(e, out, DROPPED_ROWS * dim);

  memcpy(other, x, bytes);
  by->apply_dropout(d.plan, &d.slice, &how, other, other);
  compare_sequences(e, IN_PLACE, &d, out, other);
  memcpy(other, x, bytes);
  if (drop_by_threads(e, &d, other)) compare_sequences(e, THREADS, &d, out, other);
  check_alone(e, &d, x, out, other);
  check_dropout_refusals(e, &d, x, other, packed);
  free(mask);
  free(other);
  free(sums);
  free(x);
  arena_destroy(a);
  posenc_plan_destroy(d.plan);
}

/* Checks Random123's kat_vectors, philox4x32 10, for counter and key 0. A probability just below and one just above a
   word determine the word. */
static void check_known_answers(encoding_exam *e) {
  static const uint32_t words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const posenc_slice first = posenc_rows(0, 1);
  unsigned char keep[32];
  for (int w = 0; w < 4; w++)
    for (int above = 0; above < 2; above++) {
      const posenc_dropout how = posenc_dropout_of(((double)words[w] + above) * 0x1p-32, 0);
      encoding_note(e, KNOWN_ANSWERS, e->by->dropout_mask(&how, &first, 32, keep) == POSENC_OK, 0);
      encoding_note(e, KNOWN_ANSWERS, keep[8 * w] == !above, 0);
    }
}

/* Checks the sum of n independent terms of mean 0 and variance v: it is within 6 sqrt(n v), except once in 5e8. */
static void note_sum(encoding_exam *e, double sum, double n, double variance) {
  check_note(&e->checks[STATISTICS], fabs(sum), 6.0 * sqrt(n * variance), 0, -1);
}

/* Checks the mean, and the correlation of neighbours in columns, rows and sequences, and of two seeds. */
static void check_statistics(encoding_exam *e, double q, uint64_t seed) {
  enum { ROWS = 256, DIM = 512, ONE = ROWS * DIM, ALL = 2 * ONE };
  posenc_dropout how = posenc_dropout_of(q, seed);
  posenc_slice slice = posenc_rows(0, ROWS);
  unsigned char *mask = memory_grow(NULL, ALL, 1), *other = memory_grow(NULL, ALL, 1);
  slice.batch = 2;
  e->by->dropout_mask(&how, &slice, DIM, mask);
  how.seed++;
  e->by->dropout_mask(&how, &slice, DIM, other);
  double sum = 0.0, columns = 0.0, rows = 0.0, sequences = 0.0, seeds = 0.0;
  const double mean = 1.0 - q, variance = q * (1.0 - q);
#define OFF(m, i) ((double)(m)[i] - mean)
  for (int i = 0; i < ALL; i++) {
    sum += OFF(mask, i);
    seeds += OFF(mask, i) * OFF(other, i);
    if (i + 1 < ALL) columns += OFF(mask, i) * OFF(mask, i + 1);
    if (i + DIM < ALL) rows += OFF(mask, i) * OFF(mask, i + DIM);
    if (i < ONE) sequences += OFF(mask, i) * OFF(mask, i + ONE);
  }
#undef OFF
  note_sum(e, sum, ALL, variance);
  note_sum(e, columns, ALL - 1, variance * variance);
  note_sum(e, rows, ALL - DIM, variance * variance);
  note_sum(e, sequences, ONE, variance * variance);
  note_sum(e, seeds, ALL, variance * variance);
  free(other);
  free(mask);
}

void encoding_examine_dropout(encoding_exam *e) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_BF16};
  const uint64_t seed = e->seed;
  for (int n = 0; n < 2; n++) {
    encoding_begin(e, dtypes[n]);
    posenc_dropout ramp = posenc_dropout_of(0.0, seed), far = posenc_dropout_of(0.3, ~seed);
    ramp.last = 0.5;
    far.sequence = (INT64_C(1) << 32) - SEQUENCES;
    check_dropped(e, 2, 0, posenc_dropout_of(0.5, seed));
    check_dropped(e, 70, 100, posenc_dropout_of(0.1, seed));
    check_dropped(e, 70, 100, posenc_dropout_of(0.0, seed));
    check_dropped(e, 70, 100, posenc_dropout_of(1.0 - 0x1p-32, seed));
    check_dropped(e, 30, -5, ramp);
    check_dropped(e, 1100, (INT64_C(1) << 40) - 6, ramp);
    check_dropped(e, 46, (INT64_C(1) << 32) - 6, far);
    check_known_answers(e);
    for (uint64_t s = 0; s < 3; s++) check_statistics(e, s ? 0.1 : 0.5, seed + s * UINT64_C(0x100000000));
    isolate_say(dtype_name(e->dtype), 0.5 * n);
    encoding_end(e, dtype_name(e->dtype));
  }
}
