/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "inspect/files/vectors.h"

#include "common/memory.h"
#include "common/number.h"
#include "reference/format.h"

#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

const char *axes_usual(posenc_op op, size_t count) {
  static const char *const usual[][5] = {{NULL, NULL, "ld", "bld", "blhd"}, {NULL, NULL, "ld", "lhd", "blhd"}};
  return count < 5 ? usual[op == POSENC_ROPE][count] : NULL;
}

bool axes_fit(const char *letters, const stored *at, fault *why) {
  const size_t length = strlen(letters);
  const char *const positions = strchr(letters, AXIS_POSITIONS), *const heads = strchr(letters, AXIS_HEADS);
  if (length != at->axis_count) return fault_say(why, "%zu letters, and there are %zu axes", length, at->axis_count);
  if (strspn(letters, "blhd") != length) return fault_say(why, "b, l, h and d are axes");
  if (strchr(letters, AXIS_COLUMNS) != letters + length - 1) return fault_say(why, "d, the columns, is the last axis");
  if (!positions || strchr(positions + 1, AXIS_POSITIONS)) return fault_say(why, "l, the positions, is one axis");
  if (heads && strchr(heads + 1, AXIS_HEADS)) return fault_say(why, "h, the heads, is one axis");
  return true;
}

int64_t axes_length(const char *letters, const stored *at) {
  return at->axes[strchr(letters, AXIS_POSITIONS) - letters];
}

int64_t axes_index(const char *letters, const stored *at, int64_t row, int64_t *indices) {
  int64_t found = 0;
  for (size_t axis = at->axis_count - 1; axis-- > 0; row /= at->axes[axis]) {
    const int64_t index = row % at->axes[axis];
    if (indices) indices[axis] = index;
    if (letters[axis] == AXIS_POSITIONS) found = index;
  }
  return found;
}

bool axes_agree(const stored *a, const stored *b) {
  return a->dtype == b->dtype && a->axis_count == b->axis_count &&
         memcmp(a->axes, b->axes, a->axis_count * sizeof *a->axes) == 0;
}

/* ---- vectors ---- */

void vectors_open(vectors *v, const applied_arrays *from) {
  *v = (vectors){.from = from, .at = table_stored(from->x)};
  const size_t dim = (size_t)v->at->dim;
  v->raw = memory_take(dim, posenc_dtype_bytes(v->at->dtype));
  v->x = memory_take(dim, sizeof *v->x);
  v->out = memory_take(dim, sizeof *v->out);
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
  return spread_evenly(n, count, v->at->rows - 1);
}

static bool are_held(vectors *v, const format *f) {
  for (int64_t row = 0; row < v->at->rows; row++) {
    read_one(v, v->from->out, row, v->out);
    if (!format_holds(f, v->out, v->at->dim)) return false;
  }
  return true;
}

posenc_dtype vectors_held(vectors *v) {
  for (int n = 0; n < FORMAT_NARROWER; n++)
    if (posenc_dtype_bytes(format_narrower[n]) < posenc_dtype_bytes(v->at->dtype) &&
        are_held(v, format_of(format_narrower[n])))
      return format_narrower[n];
  return v->at->dtype;
}
