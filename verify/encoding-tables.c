/* SPDX-License-Identifier: MIT */
#include "verify/encoding-exam.h"

#include "common/contract.h"
#include "common/random.h"
#include "common/shapes.h"
#include "common/work.h"

#include <stdlib.h>
#include <string.h>

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
                *other = encoding_room(row_bytes * (size_t)rows);
  encoding_note(e, EXTENSION, call(&slice, dim, e->dtype, out) == POSENC_OK, first);
  encoding_check_written(e, a, out, elements);
  for (int64_t r = 0; r < rows; r++)
    for (int64_t j = 0; j < dim; j++) {
      const exact value = value_of(first + r, j, e->dtype);
      encoding_compare(e, &value, out, r * dim + j, first + r, j);
    }
  encoding_digest(e, out, elements);
  /* The rows are also computed in pieces, the last one first, and row by row from a list of single positions. */
  posenc_slice piece = posenc_rows(first + rows / 3, rows - rows / 3);
  call(&piece, dim, e->dtype, other + row_bytes * (size_t)(rows / 3));
  piece = posenc_rows(first, rows / 3);
  call(&piece, dim, e->dtype, other);
  encoding_same(e, EXTENSION, out, other, row_bytes * (size_t)rows, first);
  for (int64_t r = 0; r < rows; r++) backwards[r] = first + rows - 1 - r;
  piece.index = backwards;
  piece.rows = rows;
  call(&piece, dim, e->dtype, other);
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
  unsigned char *out = encoding_room(row_bytes * (size_t)rows), *piece = encoding_room(row_bytes * PIECE);
  posenc_slice slice = posenc_rows(7, rows);
  encoding_note(e, EXTENSION, call(&slice, DIM, e->dtype, out) == POSENC_OK, 7);
  for (int64_t row = 0; row < rows; row += PIECE) {
    slice = posenc_rows(7 + row, least(PIECE, rows - row));
    call(&slice, DIM, e->dtype, piece);
    encoding_same(e, EXTENSION, out + row_bytes * (size_t)row, piece, row_bytes * (size_t)slice.rows, 7 + row);
  }
  free(piece);
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
  uint64_t random = e->request->seed;
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
  examine_rows(e, e->request->by->integer, encodings_integer, true, 5);
}

void encoding_examine_binary(encoding_exam *e) {
  examine_rows(e, e->request->by->binary, encodings_binary, false, 67);
}
