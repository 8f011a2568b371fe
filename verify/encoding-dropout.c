/* SPDX-License-Identifier: MIT */
#include "verify/encoding-exam.h"

#include "common/contract.h"
#include "common/shapes.h"
#include "common/work.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
  e->request->by->apply_dropout(d->plan, &half, &d->how, out, out);
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
      e->request->by->apply_dropout(d->plan, &one, &its, x + at, other + at);
      encoding_same(e, r % 2 ? EXTENSION : INDEX, out + at, other + at, row, d->problem.first + r);
    }
}

static void check_refusals(encoding_exam *e, const dropped *d, const unsigned char *x, unsigned char *out,
                           size_t bytes) {
  const encoders *by = e->request->by;
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
  const encoders *by = e->request->by;
  const size_t element = posenc_dtype_bytes(e->dtype);
  dropped d = {.problem = posenc_add(DROPPED_ROWS, dim), .how = how, .slice = posenc_rows(0, DROPPED_ROWS)};
  uint64_t random = how.seed;
  d.problem.first = first;
  d.problem.dtype = e->dtype;
  d.slice.batch = SEQUENCES;
  d.slice.stride = DROPPED_ROWS * dim + ENCODING_GAP;
  const int64_t elements = SEQUENCES * d.slice.stride;
  const size_t bytes = (size_t)elements * element, packed = (size_t)(DROPPED_ROWS * dim) * element;
  if (posenc_plan_create(&d.plan, &d.problem, NULL) != POSENC_OK) exit(EXIT_FAILURE);
  arena *a;
  unsigned char *out = encoding_arena(&a, elements, e->dtype, true), *x = encoding_room(bytes),
                *sums = encoding_room(bytes), *other = encoding_room(bytes),
                *mask = encoding_room((size_t)(SEQUENCES * DROPPED_ROWS * dim));
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
  check_refusals(e, &d, x, other, packed);
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
      encoding_note(e, KNOWN_ANSWERS, e->request->by->dropout_mask(&how, &first, 32, keep) == POSENC_OK, 0);
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
  unsigned char *mask = encoding_room(ALL), *other = encoding_room(ALL);
  slice.batch = 2;
  e->request->by->dropout_mask(&how, &slice, DIM, mask);
  how.seed++;
  e->request->by->dropout_mask(&how, &slice, DIM, other);
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
  const uint64_t seed = e->request->seed;
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
