/* SPDX-License-Identifier: MIT */
#include "verify/encodings.h"

#include "common/contract.h"
#include "common/environment.h"
#include "common/field.h"
#include "common/isolate.h"
#include "common/shapes.h"
#include "common/work.h"
#include "reference/encodings.h"
#include "verify/checks.h"
#include "verify/record.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

const encoders encoders_library = {
    .integer = posenc_integer,
    .binary = posenc_binary,
    .learned = posenc_learned,
    .alibi_bias = posenc_alibi_bias,
    .apply_dropout = posenc_apply_dropout,
    .dropout_mask = posenc_dropout_mask,
};

enum {
  OF_ACCURACY,
  OF_MEMORY,
  OF_EXTENSION,
  OF_INDEX,
  OF_IN_PLACE,
  OF_THREADS,
  OF_SPECIAL,
  OF_REFUSAL,
  OF_MASK,
  OF_KNOWN_ANSWERS,
  OF_STATISTICS,
  CHECKS
};
static const char *const names[CHECKS] = {"accuracy", "memory",  "extension", "index",         "in-place",  "threads",
                                          "special",  "refusal", "mask",      "known-answers", "statistics"};

enum { DTYPES = POSENC_BF16 + 1 };

/* One encoding in one shape. */
typedef struct exam {
  const encodings_request *request;
  const posenc_encoding *encoding;
  posenc_dtype dtype; /* of what is written */
  accuracy found;
  check checks[CHECKS];
  uint64_t digest;
  json_t *records;
} exam;

static void note(exam *e, int number, bool ok, int64_t position) {
  check_note(&e->checks[number], ok ? 0.0 : 1.0, 0.0, position, -1);
}

static void compare(exam *e, const exact *truth, const void *out, int64_t at, int64_t position, int64_t column) {
  const double got = format_element(e->dtype, out, at);
  if (isinf(truth->rounded)) { /* beyond the dtype there is one right answer, and no ulp */
    const witness here = {INFINITY, INFINITY, position, column, false, truth->high, truth->low, got};
    if (got != truth->rounded) accuracy_note(&e->found, &here, true);
    if (got != truth->rounded) accuracy_hold(&e->found, &here, -1.0);
    return;
  }
  accuracy_add(&e->found, format_of(e->dtype), &e->encoding->bound, truth, got, position, column, false);
}

/* Room for so many elements; whoever wrote them leaves the rest alone. Ends the process where there is none, which is a failure. */
static unsigned char *given_room(arena **a, int64_t elements, posenc_dtype dtype, bool flush) {
  const size_t bytes = (size_t)elements * posenc_dtype_bytes(dtype);
  *a = arena_create(bytes);
  if (!*a) exit(EXIT_FAILURE);
  return arena_place(*a, bytes, flush);
}

static void *room(size_t bytes) {
  void *memory = malloc(bytes ? bytes : 1);
  if (!memory) exit(EXIT_FAILURE);
  return memory;
}

static void check_written(exam *e, const arena *a, const unsigned char *out, int64_t elements) {
  size_t first;
  const size_t element = posenc_dtype_bytes(e->dtype);
  note(e, OF_MEMORY, arena_spills(a) == 0, 0);
  note(e, OF_MEMORY, arena_untouched(out, (size_t)elements * element, element, &first) == 0, 0);
}

static void digest(exam *e, const void *out, int64_t elements) {
  e->digest = digest_of(e->digest, out, (size_t)elements * posenc_dtype_bytes(e->dtype));
}

static void note_refusal(exam *e, posenc_status status, const void *out, size_t bytes) {
  size_t untouched = 0;
  while (untouched < bytes && ((const unsigned char *)out)[untouched] == 0x5a) untouched++;
  note(e, OF_REFUSAL, status != POSENC_OK && untouched == bytes, 0);
}

/* A call that must be refused, with nothing written. */
#define REFUSED(e, out, bytes, call) (memset(out, 0x5a, bytes), note_refusal(e, call, out, bytes))

/* ---- the record --------------------------------------------------------------------------------- */

static json_t *replay_of(const exam *e) {
  return json_sprintf("posenc verify --encoding %s --seed %" PRIu64, e->encoding->name, e->request->seed);
}

static json_t *witness_of(const exam *e, const witness *w) {
  json_t *shown = record_witness(w, replay_of(e));
  json_object_set_new(shown, "function", json_string(e->encoding->name));
  return shown;
}

static void begin(exam *e, posenc_dtype dtype) {
  memset(&e->found, 0, sizeof e->found);
  memset(e->checks, 0, sizeof e->checks);
  e->digest = DIGEST_START;
  e->dtype = dtype;
}

/* Adds the record of the shape of that name. */
static void end(exam *e, const char *called) {
  const accuracy *a = &e->found;
  const double counted = a->elements ? (double)a->elements : 1.0;
  json_t *checks = json_array();
  char digest[17];
  check_bound(&e->checks[OF_ACCURACY], a);
  for (int n = 0; n < CHECKS; n++) {
    check *c = &e->checks[n];
    if (c->compared && c->broken && !*c->note && n != OF_ACCURACY)
      snprintf(c->note, sizeof c->note, "%" PRId64 " of %" PRId64 " wrong; the first of the worst at p = %" PRId64,
               c->broken, c->compared, c->position);
    if (c->compared) json_array_append_new(checks, record_check(names[n], c));
  }
  snprintf(digest, sizeof digest, "%016" PRIx64, e->digest);
  json_array_append_new(
      e->records,
      json_pack("{s:s, s:{s:s}, s:n, s:o, s:s, s:s, s:I, s:o, s:o, s:o, s:o, s:o, s:I, s:o, s:o}", "kernel",
                e->encoding->name, "shape", "name", called, "refusal", "replay", replay_of(e), "digest", digest, "mode",
                "sampled", "elements", (json_int_t)a->elements, "max_ulp", witness_of(e, &a->max_ulp), "max_abs",
                witness_of(e, &a->max_abs), "worst", witness_of(e, &a->worst), "mean_ulp",
                field_real(a->sum_ulp / counted), "mean_abs", field_real(a->sum_abs / counted), "misrounded",
                (json_int_t)a->misrounded, "histogram", record_histogram(a), "checks", checks));
}

/* ---- integer and binary ------------------------------------------------------------------------- */

typedef posenc_status (*table_call)(const posenc_slice *positions, int64_t dim, posenc_dtype dtype, void *out);
typedef exact (*table_truth)(int64_t position, int64_t column, posenc_dtype dtype);

static void check_rows(exam *e, table_call call, table_truth truth, int64_t first, int64_t rows, int64_t dim) {
  enum { MOST = 4096 };
  const int64_t elements = rows * dim;
  const size_t row_bytes = (size_t)dim * posenc_dtype_bytes(e->dtype);
  const posenc_slice slice = posenc_rows(first, rows);
  int64_t backwards[MOST];
  arena *a;
  unsigned char *out = given_room(&a, elements, e->dtype, first % 2 == 0), *other = room(row_bytes * (size_t)rows);
  note(e, OF_EXTENSION, call(&slice, dim, e->dtype, out) == POSENC_OK, first);
  check_written(e, a, out, elements);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < dim; j++) {
      const exact value = truth(first + r, j, e->dtype);
      compare(e, &value, out, r * dim + j, first + r, j);
    }
  digest(e, out, elements);
  /* In pieces, the last first; and row by row, told one by one. */
  posenc_slice piece = posenc_rows(first + rows / 3, rows - rows / 3);
  call(&piece, dim, e->dtype, other + row_bytes * (size_t)(rows / 3));
  piece = posenc_rows(first, rows / 3);
  call(&piece, dim, e->dtype, other);
  note(e, OF_EXTENSION, memcmp(out, other, row_bytes * (size_t)rows) == 0, first);
  for (int64_t r = 0; r < rows; r++) backwards[r] = first + rows - 1 - r;
  piece.index = backwards;
  piece.rows = rows;
  call(&piece, dim, e->dtype, other);
  for (int64_t r = 0; r < rows; r++)
    note(e, OF_INDEX, memcmp(out + row_bytes * (size_t)r, other + row_bytes * (size_t)(rows - 1 - r), row_bytes) == 0,
         first + r);
  free(other);
  arena_destroy(a);
}

/* So many bytes that they are stored past the caches: the same as in pieces. */
static void check_large(exam *e, table_call call) {
  enum { DIM = 60, PIECE = 97 };
  const size_t row_bytes = DIM * posenc_dtype_bytes(e->dtype);
  const int64_t rows = ((17 << 20) / (int64_t)row_bytes);
  unsigned char *out = room(row_bytes * (size_t)rows), *piece = room(row_bytes * PIECE);
  posenc_slice slice = posenc_rows(7, rows);
  note(e, OF_EXTENSION, call(&slice, DIM, e->dtype, out) == POSENC_OK, 7);
  for (int64_t row = 0; row < rows; row += PIECE) {
    slice = posenc_rows(7 + row, least(PIECE, rows - row));
    call(&slice, DIM, e->dtype, piece);
    note(e, OF_EXTENSION, memcmp(out + row_bytes * (size_t)row, piece, row_bytes * (size_t)slice.rows) == 0, 7 + row);
  }
  free(piece);
  free(out);
}

static void check_refusals(exam *e, table_call call, bool negative) {
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

static void examine_table(exam *e, table_call call, table_truth truth, bool negative, int64_t dim) {
  static const int64_t places[] = {0, 2040, 65490, (1 << 24) - 20, (INT64_C(1) << 53) - 20, INT64_MAX - 40};
  uint64_t random = e->request->seed;
  for (int dtype = 0; dtype < DTYPES; dtype++) {
    begin(e, (posenc_dtype)dtype);
    check_rows(e, call, truth, 0, 1000, dim);
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
      check_rows(e, call, truth, places[i], 40, dim);
      if (negative) check_rows(e, call, truth, -places[i] - 40, 40, dim);
    }
    for (int n = 0; n < 200; n++) { /* of all sizes */
      const int64_t position = (int64_t)(random_below(&random, INT64_MAX) >> random_below(&random, 63));
      check_rows(e, call, truth, negative && n % 2 ? -position - 1 : position, 1, 1 + (int64_t)(n % 2) * dim);
    }
    check_large(e, call);
    check_refusals(e, call, negative);
    isolate_say(dtype_name(e->dtype), (double)dtype / DTYPES);
    end(e, dtype_name(e->dtype));
  }
}

/* ---- learned ------------------------------------------------------------------------------------ */

static void set_element(posenc_dtype dtype, void *table, int64_t at, double x) {
  const double rounded = dtype == POSENC_F64 ? x : format_nearest(format_of(dtype), x);
  if (dtype == POSENC_F64) {
    ((double *)table)[at] = x;
  } else if (dtype == POSENC_F32) {
    ((float *)table)[at] = (float)rounded;
  } else { /* the encoding that is read as this number */
    uint32_t bits;
    const float value = (float)rounded;
    memcpy(&bits, &value, sizeof bits);
    uint16_t encoding = (uint16_t)(bits >> 16);
    if (dtype == POSENC_F16) {
      const float shifted = value * 0x1p-112f; /* exponents of f16 are smaller by 112, subnormals included */
      memcpy(&bits, &shifted, sizeof bits);
      encoding = (uint16_t)((bits >> 16 & 0x8000) | (bits >> 13 & 0x7fff));
    }
    ((uint16_t *)table)[at] = encoding;
  }
}

/* Of a size about 1; now and then of another. */
static double draw(uint64_t *random, bool wide) {
  const double x = ldexp((double)random_below(random, UINT64_C(1) << 60), -59) - 1.0;
  return random_below(random, 8) ? x : ldexp(x, (int)random_below(random, wide ? 100 : 20) - (wide ? 50 : 10));
}

enum { TABLE_ROWS = 61, TABLE_DIM = 37, TAKEN = 50, TWICE = 2, GAP = 5, STRIDE = TAKEN * TABLE_DIM + GAP };

typedef struct trained {
  posenc_learned_table table;
  int64_t taken[TAKEN];
  posenc_slice slice;
} trained;

static void check_sums(exam *e, const trained *t, const void *x, const void *out) {
  for (int64_t b = 0; b < TWICE; b++)
    for (int64_t r = 0; r < TAKEN; r++)
      for (int64_t j = 0; j < TABLE_DIM; j++) {
        const int64_t at = b * STRIDE + r * TABLE_DIM + j;
        const double element = format_element(t->table.dtype, t->table.rows, t->taken[r] * TABLE_DIM + j);
        const exact value = encodings_sum(element, x ? format_element(e->dtype, x, at) : 0.0, e->dtype);
        compare(e, &value, out, at, t->taken[r], j);
      }
}

/* Numbers that are none stay so, and no neighbour becomes one. */
static void check_special(exam *e, posenc_dtype of, bool added) {
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
  note(e, OF_SPECIAL, e->request->by->learned(&table, &slice, e->dtype, added ? x : NULL, out) == POSENC_OK, 0);
  for (int64_t j = 0; j < DIM; j++) {
    const double want = format_element(of, &rows, j), got = format_element(e->dtype, out, j);
    note(e, OF_SPECIAL, isnan(want) ? isnan(got) : got == want, 0);
  }
}

static void check_learned(exam *e, posenc_dtype of, bool added) {
  uint64_t random = e->request->seed;
  const size_t bytes = TWICE * STRIDE * posenc_dtype_bytes(e->dtype);
  double rows[TABLE_ROWS * TABLE_DIM];
  trained t = {.table = posenc_learned_rows(rows, TABLE_ROWS, TABLE_DIM), .slice = posenc_rows(0, TAKEN)};
  unsigned char *x = room(bytes), *other = room(bytes);
  arena *a;
  unsigned char *out = given_room(&a, TWICE * STRIDE, e->dtype, true);
  t.table.dtype = of;
  for (int64_t i = 0; i < TABLE_ROWS * TABLE_DIM; i++) set_element(of, rows, i, draw(&random, of != POSENC_F16));
  for (int64_t r = 0; r < TAKEN; r++) t.taken[r] = (int64_t)random_below(&random, TABLE_ROWS);
  t.slice.index = t.taken;
  t.slice.batch = TWICE;
  t.slice.stride = STRIDE;
  for (int64_t i = 0; i < TWICE * STRIDE; i++) { /* one in 16 cancels, nearly */
    const int64_t within = i % STRIDE, row = within / TABLE_DIM < TAKEN ? t.taken[within / TABLE_DIM] : 0;
    const double cancels = -format_element(of, rows, row * TABLE_DIM + within % TABLE_DIM);
    set_element(e->dtype, x, i, random_below(&random, 16) ? draw(&random, true) : cancels);
  }
  const void *given = added ? x : NULL;
  const size_t element = posenc_dtype_bytes(e->dtype), gap = STRIDE * element - GAP * element;
  note(e, OF_EXTENSION, e->request->by->learned(&t.table, &t.slice, e->dtype, given, out) == POSENC_OK, 0);
  note(e, OF_MEMORY, arena_spills(a) == 0, 0);
  for (size_t i = 0; i < GAP * element; i++) note(e, OF_MEMORY, out[gap + i] == ARENA_POISON, 0);
  check_sums(e, &t, given, out);
  digest(e, out, TAKEN * TABLE_DIM);
  memcpy(other, added ? x : out, bytes);
  if (added) e->request->by->learned(&t.table, &t.slice, e->dtype, other, other);
  for (int64_t b = 0; added && b < TWICE; b++)
    note(e, OF_IN_PLACE, memcmp(out + (size_t)b * STRIDE * element, other + (size_t)b * STRIDE * element, gap) == 0, b);
  for (int64_t r = 0; r < TAKEN; r++) { /* each row alone */
    posenc_slice one = posenc_rows(t.taken[r], 1);
    const size_t at = (size_t)(r * TABLE_DIM) * element;
    e->request->by->learned(&t.table, &one, e->dtype, added ? x + at : NULL, other + at);
    note(e, OF_EXTENSION, memcmp(out + at, other + at, TABLE_DIM * element) == 0, t.taken[r]);
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

static void examine_learned(exam *e) {
  char called[32];
  for (int of = 0; of < DTYPES; of++)
    for (int to = 0; to < DTYPES; to++)
      for (int added = 0; added < 2; added++) {
        if (added && to != POSENC_F32 && to != POSENC_BF16) continue;
        begin(e, (posenc_dtype)to);
        check_learned(e, (posenc_dtype)of, added);
        snprintf(called, sizeof called, "%s-%s-%s", added ? "add" : "gather", dtype_name((posenc_dtype)of),
                 dtype_name((posenc_dtype)to));
        isolate_say(called, (double)of / DTYPES);
        end(e, called);
      }
}

/* ---- alibi -------------------------------------------------------------------------------------- */

/* Exact biases of one head at distances from .. from + count - 1. */
static void true_biases(exam *e, int64_t heads, int64_t head, int64_t from, int64_t count, exact *biases) {
  mpfr_t slope;
  mpfr_init2(slope, ENCODINGS_PRECISION);
  encodings_slope(heads, head, slope);
  for (int64_t n = 0; n < count; n++) biases[n] = encodings_alibi(slope, from + n, e->dtype);
  mpfr_clear(slope);
}

/* Every element of the matrices of all heads. */
static void check_matrices(exam *e, int64_t heads) {
  enum { LENGTH = 33, HALF = 11 };
  const int64_t elements = heads * LENGTH * LENGTH;
  const size_t element = posenc_dtype_bytes(e->dtype);
  posenc_alibi bias = posenc_alibi_of(heads, LENGTH);
  exact biases[LENGTH];
  arena *a;
  unsigned char *out = given_room(&a, elements, e->dtype, heads % 2), *other = room((size_t)elements * element);
  bias.dtype = e->dtype;
  note(e, OF_EXTENSION, e->request->by->alibi_bias(&bias, out) == POSENC_OK, heads);
  check_written(e, a, out, elements);
  digest(e, out, elements);
  for (int64_t head = 0; head < heads; head++) {
    true_biases(e, heads, head, 0, LENGTH, biases);
    for (int64_t i = 0; i < LENGTH; i++)
      for (int64_t j = 0; j < LENGTH; j++)
        compare(e, &biases[i > j ? i - j : j - i], out, (head * LENGTH + i) * LENGTH + j, i, j);
    /* The same head by itself, and its queries in two parts. */
    const size_t at = (size_t)(head * LENGTH * LENGTH) * element, row = LENGTH * element;
    bias.head = head;
    bias.count = 1;
    bias.query = HALF;
    bias.queries = LENGTH - HALF;
    e->request->by->alibi_bias(&bias, other + at + HALF * row);
    bias.query = 0;
    bias.queries = HALF;
    e->request->by->alibi_bias(&bias, other + at);
    note(e, OF_EXTENSION, memcmp(out + at, other + at, LENGTH * row) == 0, head);
  }
  free(other);
  arena_destroy(a);
}

/* Decoding, near and far. */
static void check_far(exam *e, int64_t heads, int64_t head, int64_t query) {
  enum { KEYS = 57, QUERIES = 2 };
  posenc_alibi bias = posenc_alibi_of(heads, KEYS);
  exact biases[KEYS + QUERIES];
  arena *a;
  unsigned char *out = given_room(&a, QUERIES * KEYS, e->dtype, true);
  bias.head = head;
  bias.count = 1;
  bias.query = query;
  bias.queries = QUERIES;
  bias.dtype = e->dtype;
  note(e, OF_EXTENSION, e->request->by->alibi_bias(&bias, out) == POSENC_OK, query);
  check_written(e, a, out, QUERIES * KEYS);
  true_biases(e, heads, head, query - (KEYS - 1), KEYS + QUERIES - 1, biases);
  for (int64_t i = 0; i < QUERIES; i++)
    for (int64_t j = 0; j < KEYS; j++) compare(e, &biases[i - j + KEYS - 1], out, i * KEYS + j, query + i, j);
  arena_destroy(a);
}

/* So many bytes that they are stored past the caches. */
static void check_large_bias(exam *e) {
  enum { HEADS = 5, LENGTH = 1001 };
  const size_t row = LENGTH * posenc_dtype_bytes(e->dtype);
  posenc_alibi bias = posenc_alibi_of(HEADS, LENGTH);
  bias.dtype = e->dtype;
  unsigned char *out = room(HEADS * LENGTH * row), *other = room(row);
  note(e, OF_EXTENSION, e->request->by->alibi_bias(&bias, out) == POSENC_OK, 0);
  for (int64_t head = 0; head < HEADS; head++)
    for (int64_t i = 0; i < LENGTH; i += 1 + i % 7) {
      bias.head = head;
      bias.count = bias.queries = 1;
      bias.query = i;
      e->request->by->alibi_bias(&bias, other);
      note(e, OF_EXTENSION, memcmp(out + (size_t)(head * LENGTH + i) * row, other, row) == 0, i);
    }
  free(other);
  free(out);
}

static void check_alibi_refusals(exam *e) {
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

static void examine_alibi(exam *e) {
  static const int64_t heads[] = {1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 20, 24, 32, 40, 48, 64, 71, 96, 112, 128};
  uint64_t random = e->request->seed;
  for (int dtype = 0; dtype < DTYPES; dtype++) {
    begin(e, (posenc_dtype)dtype);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) check_matrices(e, heads[i]);
    for (int n = 0; n < 300; n++) {
      const int64_t count = 1 + (int64_t)(random_below(&random, 1 << 20) >> random_below(&random, 20));
      const int64_t query = 64 + (int64_t)(random_below(&random, UINT64_C(1) << 52) >> random_below(&random, 50));
      check_far(e, count, (int64_t)random_below(&random, (uint64_t)count), query);
    }
    check_large_bias(e);
    check_alibi_refusals(e);
    isolate_say(dtype_name(e->dtype), (double)dtype / DTYPES);
    end(e, dtype_name(e->dtype));
  }
}

/* ---- dropout ------------------------------------------------------------------------------------ */

enum { DROPPED_ROWS = 12, SEQUENCES = 3 };

typedef struct dropped {
  posenc_problem problem;
  posenc_plan *plan;
  posenc_dropout how;
  posenc_slice slice;
} dropped;

/* Two threads, each with half of the rows. */
static void *drop_half(void *argument) {
  const dropped *d = ((void **)argument)[0];
  const exam *e = ((void **)argument)[1];
  unsigned char *out = ((void **)argument)[2];
  posenc_slice half = d->slice;
  half.rows = d->slice.rows / 2;
  half.row = ((void **)argument)[3] ? half.rows : 0;
  out += (size_t)(half.row * d->problem.dim) * posenc_dtype_bytes(d->problem.dtype);
  e->request->by->apply_dropout(d->plan, &half, &d->how, out, out);
  return NULL;
}

static bool drop_by_threads(const exam *e, const dropped *d, unsigned char *out) {
  void *of_one[] = {(void *)(uintptr_t)d, (void *)(uintptr_t)e, out, NULL},
       *of_other[] = {(void *)(uintptr_t)d, (void *)(uintptr_t)e, out, out};
  pthread_t other;
  if (pthread_create(&other, NULL, drop_half, of_other) != 0) return false;
  drop_half(of_one);
  pthread_join(other, NULL);
  return true;
}

static void check_fates(exam *e, const dropped *d, const unsigned char *sums, const unsigned char *out,
                        const unsigned char *mask) {
  const int64_t dim = d->problem.dim, packed = DROPPED_ROWS * dim;
  for (int64_t b = 0; b < SEQUENCES; b++)
    for (int64_t i = 0; i < packed; i++) {
      const int64_t position = d->problem.first + i / dim, column = i % dim, at = b * d->slice.stride + i;
      const encodings_fate fate = encodings_dropout(&d->how, b, position, column, dim);
      const double sum = format_element(e->dtype, sums, at), got = format_element(e->dtype, out, at);
      const exact value = fate.kept ? encodings_product(sum, fate.scale, e->dtype) : (exact){0.0, 0.0, 0.0};
      note(e, OF_MASK, mask[b * packed + i] == fate.kept, position);
      if (!fate.kept) note(e, OF_MASK, got == 0.0 && !signbit(got), position);
      compare(e, &value, out, at, position, column);
    }
}

static void check_dropped(exam *e, int64_t dim, int64_t first, posenc_dropout how) {
  const encoders *by = e->request->by;
  const size_t element = posenc_dtype_bytes(e->dtype);
  dropped d = {.problem = posenc_add(DROPPED_ROWS, dim), .how = how, .slice = posenc_rows(0, DROPPED_ROWS)};
  uint64_t random = how.seed;
  d.problem.first = first;
  d.problem.dtype = e->dtype;
  d.slice.batch = SEQUENCES;
  d.slice.stride = DROPPED_ROWS * dim + GAP;
  const int64_t elements = SEQUENCES * d.slice.stride;
  const size_t bytes = (size_t)elements * element, row = (size_t)dim * element, packed = DROPPED_ROWS * row;
  if (posenc_plan_create(&d.plan, &d.problem, NULL) != POSENC_OK) exit(EXIT_FAILURE);
  arena *a;
  unsigned char *out = given_room(&a, elements, e->dtype, true), *x = room(bytes), *sums = room(bytes),
                *other = room(bytes), *mask = room((size_t)(SEQUENCES * DROPPED_ROWS * dim));
  const posenc_slice positions = {.size = sizeof positions, .row = first, .rows = DROPPED_ROWS, .batch = SEQUENCES};
  for (int64_t i = 0; i < elements; i++) set_element(e->dtype, x, i, draw(&random, true));
  posenc_apply(d.plan, &d.slice, x, sums);
  note(e, OF_EXTENSION, by->apply_dropout(d.plan, &d.slice, &how, x, out) == POSENC_OK, first);
  note(e, OF_EXTENSION, by->dropout_mask(&how, &positions, dim, mask) == POSENC_OK, first);
  note(e, OF_MEMORY, arena_spills(a) == 0, first);
  for (size_t i = 0; i < GAP * element; i++) note(e, OF_MEMORY, out[packed + i] == ARENA_POISON, first);
  check_fates(e, &d, sums, out, mask);
  digest(e, out, DROPPED_ROWS * dim);

  memcpy(other, x, bytes);
  by->apply_dropout(d.plan, &d.slice, &how, other, other);
  for (int64_t b = 0; b < SEQUENCES; b++)
    note(e, OF_IN_PLACE,
         memcmp(out + (size_t)(b * d.slice.stride) * element, other + (size_t)(b * d.slice.stride) * element, packed) ==
             0,
         first);
  memcpy(other, x, bytes);
  if (drop_by_threads(e, &d, other))
    for (int64_t b = 0; b < SEQUENCES; b++)
      note(e, OF_THREADS,
           memcmp(out + (size_t)(b * d.slice.stride) * element, other + (size_t)(b * d.slice.stride) * element,
                  packed) == 0,
           first);
  for (int64_t b = 0; b < SEQUENCES; b++)
    for (int64_t r = DROPPED_ROWS - 1; r >= 0; r--) { /* each row of each sequence alone */
      posenc_slice one = posenc_rows(r % 2 ? r : 0, 1);
      posenc_dropout its = how;
      const size_t at = (size_t)(b * d.slice.stride + r * dim) * element;
      if (r % 2 == 0) one.index = &r;
      its.sequence = how.sequence + b;
      by->apply_dropout(d.plan, &one, &its, x + at, other + at);
      note(e, r % 2 ? OF_EXTENSION : OF_INDEX, memcmp(out + at, other + at, row) == 0, first + r);
    }
  posenc_slice beyond = posenc_rows(1, DROPPED_ROWS);
  REFUSED(e, other, packed, by->apply_dropout(d.plan, &beyond, &how, x, other));
  posenc_dropout wrong = how;
  wrong.last = 1.0;
  beyond.row = 0;
  REFUSED(e, other, packed, by->apply_dropout(d.plan, &beyond, &wrong, x, other));
  wrong.last = NAN;
  REFUSED(e, other, packed, by->apply_dropout(d.plan, &beyond, &wrong, x, other));
  wrong = how;
  wrong.sequence = INT64_C(1) << 32;
  REFUSED(e, other, packed, by->apply_dropout(d.plan, &beyond, &wrong, x, other));
  free(mask);
  free(other);
  free(sums);
  free(x);
  arena_destroy(a);
  posenc_plan_destroy(d.plan);
}

/* Random123's kat_vectors, philox4x32 10: of counter and key 0. A probability on either side of a word tells it. */
static void check_known_answers(exam *e) {
  static const uint32_t words[] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8};
  const posenc_slice first = posenc_rows(0, 1);
  unsigned char keep[32];
  for (int w = 0; w < 4; w++)
    for (int above = 0; above < 2; above++) {
      const posenc_dropout how = posenc_dropout_of(((double)words[w] + above) * 0x1p-32, 0);
      note(e, OF_KNOWN_ANSWERS, e->request->by->dropout_mask(&how, &first, 32, keep) == POSENC_OK, 0);
      note(e, OF_KNOWN_ANSWERS, keep[8 * w] == !above, 0);
    }
}

/* The sum of n independent terms of mean 0 and variance v is within 6 sqrt(n v) but once in 5e8. */
static void note_sum(exam *e, double sum, double n, double variance) {
  check_note(&e->checks[OF_STATISTICS], fabs(sum), 6.0 * sqrt(n * variance), 0, -1);
}

/* Mean, and correlation of neighbours in columns, rows and sequences, and of two seeds. */
static void check_statistics(exam *e, double q, uint64_t seed) {
  enum { ROWS = 256, DIM = 512, ONE = ROWS * DIM, ALL = 2 * ONE };
  posenc_dropout how = posenc_dropout_of(q, seed);
  posenc_slice slice = posenc_rows(0, ROWS);
  unsigned char *mask = room(ALL), *other = room(ALL);
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

static void examine_dropout(exam *e) {
  static const posenc_dtype dtypes[] = {POSENC_F32, POSENC_BF16};
  const uint64_t seed = e->request->seed;
  for (int n = 0; n < 2; n++) {
    begin(e, dtypes[n]);
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
    end(e, dtype_name(e->dtype));
  }
}

/* ---- all of them -------------------------------------------------------------------------------- */

/* 5 and 67 columns are no whole vectors, and 67 are more than a position has bits. */
static void examine(exam *e) {
  const encoders *by = e->request->by;
  const char *name = e->encoding->name;
  if (strcmp(name, "integer") == 0)
    examine_table(e, by->integer, encodings_integer, true, 5);
  else if (strcmp(name, "binary") == 0)
    examine_table(e, by->binary, encodings_binary, false, 67);
  else if (strcmp(name, "learned") == 0)
    examine_learned(e);
  else if (strcmp(name, "alibi") == 0)
    examine_alibi(e);
  else if (strcmp(name, "dropout") == 0)
    examine_dropout(e);
}

static void examine_aloud(void *argument) {
  exam *e = argument;
  arena_tell_faults();
  e->records = json_array();
  examine(e);
  char *text = e->records ? json_dumps(e->records, JSON_COMPACT) : NULL;
  if (text) isolate_result(text);
  free(text);
  json_decref(e->records);
}

/* Records of one encoding; of one that did not live to tell, that it died. Null if no process could be made. */
static json_t *examined(exam *e) {
  const posenc_kernel named = {.name = e->encoding->name}, *const at_work = &named;
  const isolated end = isolate(examine_aloud, e, &(isolation){&at_work, 1, e->request->silence, NULL, NULL});
  json_t *records = end.result ? json_loads(end.result, 0, NULL) : NULL;
  free(end.result);
  if (records || end.how == ENDED_UNBORN) return records;
  check broken = {.compared = 1, .broken = 1, .worst = 1.0};
  isolated_words(&end, broken.note, sizeof broken.note);
  return json_pack("[{s:s, s:{s:s}, s:n, s:o, s:[o]}]", "kernel", e->encoding->name, "shape", "name", "all", "refusal",
                   "replay", replay_of(e), "checks", record_check("survival", &broken));
}

json_t *verify_encodings(const encodings_request *request) {
  json_t *records = json_array(), *encodings = json_array();
  json_int_t passed = 0, failed = 0;
  for (size_t i = 0; i < request->count; i++) {
    exam e = {.request = request, .encoding = request->encodings[i]};
    json_array_append_new(encodings, encoding_json(e.encoding));
    if (e.encoding->by_kernels) continue;
    json_t *found = examined(&e), *one, *each;
    size_t n, c;
    if (!found) {
      json_decref(records);
      json_decref(encodings);
      errno = EAGAIN;
      return NULL;
    }
    json_array_foreach(found, n, one) json_array_foreach(json_object_get(one, "checks"), c, each) *
        (json_is_true(json_object_get(each, "ok")) ? &passed : &failed) += 1;
    json_array_extend(records, found);
    json_decref(found);
  }
  return json_pack("{s:s, s:o, s:[], s:o, s:I, s:o, s:I, s:I, s:i}", "schema", "posenc-encodings-1", "environment",
                   environment_json(), "kernels", "encodings", encodings, "seed", (json_int_t)request->seed, "records",
                   records, "passed", passed, "failed", failed, "skipped", 0);
}
