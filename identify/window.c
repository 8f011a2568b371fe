/* SPDX-License-Identifier: MIT */
#include "identify/window.h"

#include "reference/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The largest numbers of rows and values that are read: 32 MiB of values. */
enum { ROWS_MAX = 4096, VALUES_MAX = 1 << 22 };

/* The number of rows from which frequencies are determined, or of runs if rows are equal. Farther rows may deviate from
   the formula, as positions in bf16 do from 256 on. */
enum { SAMPLED_ROWS = 256, SAMPLED_RUNS = 64 };

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

static bool all_held_by(const window *w, posenc_dtype dtype) {
  const format *f = format_of(dtype);
  for (int64_t at = 0; at < w->count * w->dim; at++) {
    const double x = w->values[at], held = format_nearest(f, x);
    if (held < x || held > x) return false;
  }
  return true;
}

/* Returns the narrowest dtype that has all values, which were converted to a wider one. bf16 is tested before f16,
   because most values of bf16 are also in f16, and few of f16 in bf16. */
static posenc_dtype narrowest(const window *w) {
  static const posenc_dtype narrower[] = {POSENC_BF16, POSENC_F16, POSENC_F32};
  for (size_t n = 0; n < sizeof narrower / sizeof *narrower; n++)
    if (posenc_dtype_bytes(narrower[n]) < posenc_dtype_bytes(w->stored) && all_held_by(w, narrower[n]))
      return narrower[n];
  return w->stored;
}

static void look(window *w) {
  int64_t broken = 0;
  for (int64_t r = 0; r < w->count; r++) {
    bool finite = true;
    double most = 0.0;
    for (int64_t c = 0; c < w->dim; c++) {
      const double x = fabs(window_row(w, r)[c]);
      finite = finite && isfinite(x);
      most = fmax(most, x);
    }
    broken += !finite;
    w->zero[r] = !finite || !(most > 0.0);
    if (finite) w->most = fmax(w->most, most);
  }
  w->finite = broken * 20 <= w->count;
  w->held = w->finite ? narrowest(w) : w->stored;
}

bool window_read(window *w, table_file *table) {
  return window_read_from(w, table, 0);
}

bool window_read_from(window *w, table_file *table, int64_t first) {
  const stored *at = table_stored(table);
  *w = (window){.stored = at->dtype, .rows = at->rows, .dim = at->dim};
  w->count = least(least(at->rows - first, ROWS_MAX), at->dim < VALUES_MAX ? VALUES_MAX / at->dim : 1);
  const int64_t values = w->count * w->dim;
  void *encoded = calloc((size_t)values, posenc_dtype_bytes(at->dtype));
  w->values = calloc((size_t)values, sizeof *w->values);
  w->zero = calloc((size_t)w->count, sizeof *w->zero);
  const bool enough = encoded && w->values && w->zero;
  if (enough) {
    table_rows(table, first, w->count, encoded);
    for (int64_t n = 0; n < values; n++) w->values[n] = format_element(at->dtype, encoded, n);
    look(w);
  } else {
    window_free(w);
  }
  free(encoded);
  return enough;
}

void window_free(window *w) {
  free(w->values);
  free(w->zero);
  w->values = NULL;
  w->zero = NULL;
}

void window_shift(window *w, double offset) {
  w->offset = offset;
  w->most = 0.0;
  for (int64_t r = 0; r < w->count; r++)
    for (int64_t c = 0; c < w->dim && !w->zero[r]; c++) w->most = fmax(w->most, fabs(window_value(w, r, c)));
}

/* Returns the last of the rows from `row` on that are equal to it. */
static int64_t run_end(const window *w, int64_t row) {
  int64_t end = row;
  while (end + 1 < w->count && memcmp(window_row(w, row), window_row(w, end + 1), (size_t)w->dim * sizeof(double)) == 0)
    end++;
  return end;
}

/* Returns the rows from which frequencies are determined. Rounded positions come in runs of equal rows, whose middle is
   at the right position. The first and the last run may be cut off, and are left out. */
sampling window_sampling(const window *w) {
  const int64_t begin = run_end(w, 0) + 1;
  int64_t end = begin, runs = 0;
  for (int64_t next; runs < SAMPLED_RUNS && end < w->count && (next = run_end(w, end) + 1) < w->count; runs++)
    end = next;
  const int64_t step = runs ? (end - begin + runs / 2) / runs : 1;
  if (step <= 1) return (sampling){0, 1, least(w->count, SAMPLED_ROWS)};
  const int64_t first = (begin + run_end(w, begin)) / 2;
  return (sampling){first, step, (end - 1 - first) / step + 1};
}
