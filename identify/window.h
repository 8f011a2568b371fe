/* SPDX-License-Identifier: MIT */
/* The first rows of a table in a file, as numbers. */
#ifndef POSENC_IDENTIFY_WINDOW_H
#define POSENC_IDENTIFY_WINDOW_H

#include "files/table.h"

typedef struct window {
  posenc_dtype stored, held; /* of the file; and the narrowest that has all these values */
  int64_t rows, dim;         /* in the file */
  int64_t count;             /* rows here */
  double *values;            /* count × dim */
  bool *zero;                /* rows that are all zeros, or not numbers; they are ignored */
  bool finite;               /* but for a few rows */
  double offset;             /* what is added to waves: not part of them */
  double most;               /* largest |value|, without the offset */
} window;

/* False when memory runs out. */
bool window_read(window *w, table_file *table);
void window_free(window *w);

static inline const double *window_row(const window *w, int64_t row) {
  return w->values + row * w->dim;
}

static inline double window_value(const window *w, int64_t row, int64_t column) {
  return w->values[row * w->dim + column] - w->offset;
}

/* Rows that are enough to compare makers by. */
enum { WINDOW_SOME_ROWS = 33 };

/* The n-th of `rows` rows, or of all if there are fewer, spread over the window; -1 if it is zeros, or there is
   none. */
static inline int64_t window_sample(const window *w, int64_t rows, int64_t n) {
  rows = rows < w->count ? rows : w->count;
  const int64_t row = n >= rows ? -1 : rows > 1 ? n * (w->count - 1) / (rows - 1) : 0;
  return row < 0 || w->zero[row] ? -1 : row;
}

/* Subtracts an offset from all values. */
void window_shift(window *w, double offset);

/* Rows at equal steps, which frequencies are told from: a part of the window, as in a table of rounded positions
   only some of many equal rows are at the position that they should be at. */
typedef struct sampling {
  int64_t first, step, count;
} sampling;

sampling window_sampling(const window *w);

#endif
