/* SPDX-License-Identifier: MIT */
#include "files/vectors.h"

#include "common/memory.h"
#include "reference/format.h"

#include <stdlib.h>

bool vectors_open(vectors *v, const applied_arrays *from) {
  *v = (vectors){.from = from, .at = table_stored(from->x)};
  const size_t dim = (size_t)v->at->dim;
  v->raw = memory_take(dim, posenc_dtype_bytes(v->at->dtype));
  v->x = memory_take(dim, sizeof *v->x);
  v->out = memory_take(dim, sizeof *v->out);
  return true;
}

void vectors_close(vectors *v) {
  free(v->raw);
  free(v->x);
  free(v->out);
}

static void read_one(const vectors *v, table_file *file, int64_t row, double *values) {
  table_rows(file, row, 1, v->raw);
  for (int64_t c = 0; c < v->at->dim; c++) values[c] = format_element(v->at->dtype, v->raw, c);
}

void vectors_read(vectors *v, int64_t row) {
  read_one(v, v->from->x, row, v->x);
  read_one(v, v->from->out, row, v->out);
}

int64_t vectors_sample(const vectors *v, int64_t n, int64_t count) {
  return count > 1 ? (int64_t)((double)n * (double)(v->at->rows - 1) / (double)(count - 1)) : 0;
}
