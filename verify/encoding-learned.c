/* SPDX-License-Identifier: MIT */
#include "verify/encoding-exam.h"

#include "common/contract.h"
#include "common/random.h"
#include "common/shapes.h"
#include "common/work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
  encoding_note(e, SPECIAL, e->request->by->learned(&table, &slice, e->dtype, added ? x : NULL, out) == POSENC_OK, 0);
  for (int64_t j = 0; j < DIM; j++) {
    const double want = format_element(of, &rows, j), got = format_element(e->dtype, out, j);
    encoding_note(e, SPECIAL, isnan(want) ? isnan(got) : got == want, 0);
  }
}

static void check_learned(encoding_exam *e, posenc_dtype of, bool added) {
  uint64_t random = e->request->seed;
  const size_t bytes = TWICE * STRIDE * posenc_dtype_bytes(e->dtype);
  double rows[TABLE_ROWS * TABLE_DIM];
  trained t = {.table = posenc_learned_rows(rows, TABLE_ROWS, TABLE_DIM), .slice = posenc_rows(0, TAKEN)};
  unsigned char *x = encoding_room(bytes), *other = encoding_room(bytes);
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
  encoding_note(e, EXTENSION, e->request->by->learned(&t.table, &t.slice, e->dtype, given, out) == POSENC_OK, 0);
  encoding_note(e, MEMORY, arena_spills(a) == 0, 0);
  for (size_t i = 0; i < ENCODING_GAP * element; i++) encoding_note(e, MEMORY, out[gap + i] == ARENA_POISON, 0);
  check_sums(e, &t, given, out);
  encoding_digest(e, out, TAKEN * TABLE_DIM);
  memcpy(other, added ? x : out, bytes);
  if (added) e->request->by->learned(&t.table, &t.slice, e->dtype, other, other);
  for (int64_t b = 0; added && b < TWICE; b++)
    encoding_same(e, IN_PLACE, out + (size_t)b * STRIDE * element, other + (size_t)b * STRIDE * element, gap, b);
  for (int64_t r = 0; r < TAKEN; r++) { /* each row is also computed alone */
    posenc_slice one = posenc_rows(t.taken[r], 1);
    const size_t at = (size_t)(r * TABLE_DIM) * element;
    e->request->by->learned(&t.table, &one, e->dtype, added ? x + at : NULL, other + at);
    encoding_same(e, EXTENSION, out + at, other + at, TABLE_DIM * element, t.taken[r]);
  }
  check_special(e, of, added);
  t.taken[TAKEN - 1] = TABLE_ROWS;
  REFUSED(e, other, bytes, e->request->by->learned(&t.table, &t.slice, e->dtype, given, other));
  t.taken[TAKEN - 1] = -1;
  REFUSED(e, other, bytes, e->request->by->learned(&t.table, &t.slice, e->dtype, given, other));
  t.taken[TAKEN - 1] = 0;
  t.slice.stride = TAKEN * TABLE_DIM - 1;
  REFUSED(e, other, bytes, e->request->by->learned(&t.table, &t.slice, e->dtype, given, other));
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
