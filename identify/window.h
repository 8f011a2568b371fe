/* SPDX-License-Identifier: MIT */
/* The first rows of a table in a file, as doubles. */
#ifndef POSENC_IDENTIFY_WINDOW_H
#define POSENC_IDENTIFY_WINDOW_H

#include "files/table.h"

typedef struct window {
  posenc_dtype stored, held; /* the file's dtype, and the narrowest dtype that has all these values */
  int64_t rows, dim;         /* rows and columns of the file */
  int64_t count;             /* rows of the window */
  double *values;            /* count × dim */
  bool *zero;                /* rows that are all zeros or not finite; they are ignored */
  bool finite;               /* all but a few rows are finite */
  double offset;             /* an addend of all waves */
  double most;               /* the largest |value| after subtracting the offset */
} window;

/* Reads the first rows, or those from another one on. Returns false if memory runs out. */
bool window_read(window *w, table_file *table);
bool window_read_from(window *w, table_file *table, int64_t first);
void window_free(window *w);

static inline const double *window_row(const window *w, int64_t row) {
  return w->values + row * w->dim;
}

static inline double window_value(const window *w, int64_t row, int64_t column) {
  return w->values[row * w->dim + column] - w->offset;
}

/* The number of rows that is enough for comparing makers. */
enum { WINDOW_SOME_ROWS = 33 };

/* Returns row n of `rows` rows, or of all if there are fewer, spread over the window; -1 if it is ignored or does not
   exist. */
static inline int64_t window_sample(const window *w, int64_t rows, int64_t n) {
  rows = rows < w->count ? rows : w->count;
  const int64_t row = n >= rows ? -1 : rows > 1 ? n * (w->count - 1) / (rows - 1) : 0;
  return row < 0 || w->zero[row] ? -1 : row;
}

/* Sets the offset, which window_value subtracts. */
void window_shift(window *w, double offset);

/* Rows with equal steps, from which frequencies are determined. In a table of rounded positions, only some of many
   equal rows are at the right position. */
typedef struct sampling {
  int64_t first, step, count;
} sampling;

sampling window_sampling(const window *w);

#endif
