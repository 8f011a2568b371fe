/* SPDX-License-Identifier: MIT */
/* The differences of two tables or arrays: how many, where, and in which order of columns there are fewest. */
#include "inspect/files/table.h"

#include "common/memory.h"
#include "common/number.h"
#include "common/shapes.h"
#include "reference/format.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The size of the blocks of rows of each table, and of the longest row that is read. */
enum { BLOCK_BYTES = 4 << 20, ROW_BYTES_MAX = 1 << 28 };

/* The rows of both tables that are in memory, `rows` at a time. */
typedef struct block {
  table_file *a, *b;
  posenc_dtype dtype_a, dtype_b;
  int64_t dim, rows;
  void *rows_a, *rows_b;
} block;

static void block_open(block *k, table_file *a, table_file *b) {
  const stored *of_a = table_stored(a), *of_b = table_stored(b);
  const size_t bytes_a = posenc_dtype_bytes(of_a->dtype), bytes_b = posenc_dtype_bytes(of_b->dtype);
  const int64_t row_bytes = of_a->dim * (int64_t)(bytes_a > bytes_b ? bytes_a : bytes_b);
  *k = (block){.a = a, .b = b, .dtype_a = of_a->dtype, .dtype_b = of_b->dtype, .dim = of_a->dim};
  k->rows = least(row_bytes < BLOCK_BYTES ? BLOCK_BYTES / row_bytes : 1, least(of_a->rows, of_b->rows));
  k->rows_a = memory_take((size_t)(k->rows * k->dim), bytes_a);
  k->rows_b = memory_take((size_t)(k->rows * k->dim), bytes_b);
}

static void block_close(block *k) {
  free(k->rows_a);
  free(k->rows_b);
}

static void block_read(const block *k, int64_t row, int64_t rows) {
  table_rows(k->a, row, rows, k->rows_a);
  table_rows(k->b, row, rows, k->rows_b);
}

/* ---- elements ---------------------------------------------------------------------------------- */

static bool same_value(double a, double b) {
  return a == b || (isnan(a) && isnan(b));
}

static double size_of(double a, double b) {
  const double size = fabs(a - b);
  if (same_value(a, b)) return 0.0;
  return isfinite(size) ? size : INFINITY;
}

static double ulps_of(const block *k, double a, double b, double size) {
  const format *of_a = format_of(k->dtype_a), *of_b = format_of(k->dtype_b);
  const format *f = of_a->precision < of_b->precision ? of_a : of_b;
  const double larger = fmax(fabs(a), fabs(b)), least = ldexp(1.0, f->least + f->precision - 1);
  if (!(size > 0.0) || !isfinite(size)) return size;
  return size / ldexp(1.0, ilogb(fmax(larger, least)) + 1 - f->precision);
}

static bool same_bits(const block *k, int64_t at) {
  const size_t element = posenc_dtype_bytes(k->dtype_a);
  return memcmp((const char *)k->rows_a + (size_t)at * element, (const char *)k->rows_b + (size_t)at * element,
                element) == 0;
}

static void compare_rows(const block *k, int64_t row, int64_t rows, difference *d, difference_at *first_bits) {
  const bool comparable = k->dtype_a == k->dtype_b;
  const size_t bytes = (size_t)(rows * k->dim) * posenc_dtype_bytes(k->dtype_a);
  if (comparable && memcmp(k->rows_a, k->rows_b, bytes) == 0) return;
  for (int64_t at = 0; at < rows * k->dim; at++) {
    const double a = format_element(k->dtype_a, k->rows_a, at), b = format_element(k->dtype_b, k->rows_b, at);
    const double size = size_of(a, b);
    const difference_at here = {row + at / k->dim, at % k->dim, a, b, size, ulps_of(k, a, b, size)};
    if (comparable && !same_bits(k, at) && !d->bits++) *first_bits = here;
    if (same_value(a, b)) continue;
    if (!d->values++) d->first = d->largest = d->most_ulp = here;
    if (here.size > d->largest.size) d->largest = here;
    if (here.ulp > d->most_ulp.ulp) d->most_ulp = here;
  }
}

/* ---- columns ----------------------------------------------------------------------------------- */

/* A column's number, and a digest of its values. */
typedef struct column {
  uint64_t digest;
  int64_t number;
} column;

static void digest_rows(column *columns, int64_t dim, posenc_dtype dtype, const void *rows, int64_t count) {
  for (int64_t r = 0; r < count; r++)
    for (int64_t c = 0; c < dim; c++) {
      const double x = format_element(dtype, rows, r * dim + c), value = isnan(x) ? (double)NAN : x + 0.0; /* -0: 0 */
      uint64_t bits;
      memcpy(&bits, &value, sizeof bits);
      columns[c].digest = random_mix(columns[c].digest ^ bits) + UINT64_C(0x9e3779b97f4a7c15);
    }
}

static int compare_columns(const void *one, const void *other) {
  const column *a = one, *b = other;
  if (a->digest != b->digest) return a->digest < b->digest ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

/* Returns the column of a table in the layout `from` that has the values of column `c` of the same table in the layout
   `to`. */
static int64_t converted(int64_t c, int64_t dim, posenc_layout from, posenc_layout to) {
  const posenc_columns of_a = posenc_layout_columns(from, dim), of_b = posenc_layout_columns(to, dim);
  const int64_t half = dim / 2;
  for (int which = 0; which < 2; which++) {
    const int64_t behind = c - (which ? of_b.cos : of_b.sin);
    if (behind >= 0 && behind % of_b.step == 0 && behind / of_b.step < half)
      return (which ? of_a.cos : of_a.sin) + behind / of_b.step * of_a.step;
  }
  return c;
}

static bool is_conversion(const int64_t *map, int64_t dim, posenc_layout from, posenc_layout to) {
  for (int64_t c = 0; c < dim; c++)
    if (map[c] != converted(c, dim, from, to)) return false;
  return true;
}

enum { LAYOUTS = POSENC_SPLIT_CS + 1 };

static void name_conversion(difference *d, const int64_t *map, int64_t dim) {
  for (int from = 0; dim % 2 == 0 && from < LAYOUTS; from++)
    for (int to = 0; to < LAYOUTS; to++) {
      if (from == to || !is_conversion(map, dim, (posenc_layout)from, (posenc_layout)to)) continue;
      d->from = layout_name((posenc_layout)from);
      d->to = layout_name((posenc_layout)to);
      return;
    }
}

/* Whether column map[c] of a is column c of b, by comparing rows. Equal digests are not enough. */
static bool is_map(const block *k, int64_t rows, const int64_t *map) {
  for (int64_t row = 0, count; row < rows; row += count) {
    count = least(k->rows, rows - row);
    block_read(k, row, count);
    for (int64_t r = 0; r < count; r++)
      for (int64_t c = 0; c < k->dim; c++)
        if (!same_value(format_element(k->dtype_a, k->rows_a, r * k->dim + map[c]),
                        format_element(k->dtype_b, k->rows_b, r * k->dim + c)))
          return false;
  }
  return true;
}

/* Finds which columns have equal values, paired in their order. */
static void find_columns(const block *k, column *of_a, column *of_b, difference *d) {
  qsort(of_a, (size_t)k->dim, sizeof *of_a, compare_columns);
  qsort(of_b, (size_t)k->dim, sizeof *of_b, compare_columns);
  for (int64_t c = 0; c < k->dim; c++)
    if (of_a[c].digest != of_b[c].digest) return;
  int64_t *map = memory_take((size_t)k->dim, sizeof *map);
  for (int64_t c = 0; c < k->dim; c++) map[of_b[c].number] = of_a[c].number;
  if (!is_map(k, d->rows, map)) {
    free(map);
    return;
  }
  d->columns = map;
  name_conversion(d, map, k->dim);
}

/* Finds the layouts in which the first rows differ least. Tables of two makers differ in their last bits, so no columns
   are equal. */
static void find_nearest(const block *k, difference *d) {
  const int64_t rows = least(k->rows, d->rows);
  double best = 0.0;
  if (k->dim % 2) return;
  block_read(k, 0, rows);
  for (int from = 0; from < LAYOUTS; from++)
    for (int to = 0; to < LAYOUTS; to++) {
      if (from == to && from) continue;
      double worst = 0.0;
      for (int64_t c = 0; c < k->dim; c++) {
        const int64_t other = converted(c, k->dim, (posenc_layout)from, (posenc_layout)to);
        for (int64_t r = 0; r < rows; r++)
          worst = fmax(worst, size_of(format_element(k->dtype_a, k->rows_a, r * k->dim + other),
                                      format_element(k->dtype_b, k->rows_b, r * k->dim + c)));
      }
      if (from == to) { /* unchanged order; others must be clearly better */
        best = worst / 16.0;
      } else if (worst < best) {
        best = worst;
        d->from = layout_name((posenc_layout)from);
        d->to = layout_name((posenc_layout)to);
        d->least = worst;
      }
    }
}

/* ---- the comparison ---------------------------------------------------------------------------- */

static column *new_columns(int64_t dim) {
  column *columns = memory_take((size_t)dim, sizeof *columns);
  for (int64_t c = 0; c < dim; c++) columns[c].number = c;
  return columns;
}

const char *difference_find(table_file *a, table_file *b, void (*progress)(double done, double total),
                            difference *found) {
  const stored *of_a = table_stored(a), *of_b = table_stored(b);
  *found = (difference){.rows = least(of_a->rows, of_b->rows), .bits = of_a->dtype == of_b->dtype ? 0 : -1};
  if (of_a->dim != of_b->dim) return "they have no columns to compare";
  if (of_a->dim > ROW_BYTES_MAX / (int64_t)sizeof(double)) return "their rows are too long to be compared";
  block k;
  difference_at first_bits = {0};
  column *columns_a = new_columns(of_a->dim), *columns_b = new_columns(of_a->dim);
  block_open(&k, a, b);
  for (int64_t row = 0, rows; row < found->rows; row += rows) {
    rows = least(k.rows, found->rows - row);
    block_read(&k, row, rows);
    compare_rows(&k, row, rows, found, &first_bits);
    digest_rows(columns_a, k.dim, k.dtype_a, k.rows_a, rows);
    digest_rows(columns_b, k.dim, k.dtype_b, k.rows_b, rows);
    progress((double)(row + rows) * (double)k.dim, (double)found->rows * (double)k.dim);
  }
  if (found->values) {
    find_columns(&k, columns_a, columns_b, found);
    if (!found->columns) find_nearest(&k, found);
  } else if (found->bits > 0) {
    found->first = found->largest = found->most_ulp = first_bits;
  }
  block_close(&k);
  free(columns_a);
  free(columns_b);
  return NULL;
}

void difference_free(difference *d) {
  free((int64_t *)d->columns);
  d->columns = NULL;
}
