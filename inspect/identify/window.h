/* SPDX-License-Identifier: MIT */
/* The first rows of a table in a file as doubles, their columns and their waves. */
#ifndef POSENC_IDENTIFY_WINDOW_H
#define POSENC_IDENTIFY_WINDOW_H

#include "inspect/files/table.h"

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
typedef struct sampled_rows {
  int64_t first, step, count;
} sampled_rows;

sampled_rows window_sampling(const window *w);

/* ---- which column has which sine or cosine ------------------------------------------------------- */

/* The part of each pair that a table has: both, or cosines or sines alone, as the tables of a rope cache. */
typedef enum columns_part { COLUMNS_BOTH, COLUMNS_COS, COLUMNS_SIN } columns_part;

/* The columns of a table. Layouts of one part alone are those of posenc_rope_tables: duplicated is [f, f]; interleaved
   has each column twice in succession; split has each column once. */
typedef struct columns {
  posenc_layout layout;
  columns_part part;
  int64_t dim;   /* number of columns; one column of zeros may follow */
  int64_t pairs; /* number of frequencies; the last one of an odd dim (posenc.h: ceil) has a sine alone */
} columns;

/* Returns the frequency index of a column. *cosine: the column has cosines. */
int64_t columns_index(const columns *s, int64_t column, bool *cosine);

/* Returns the first column of that value, or -1 for the last cosine of an odd dim. For one part alone, `cosine` is
   ignored. */
int64_t columns_of(const columns *s, int64_t index, bool cosine);

/* Whether the index has a column of sines and one of cosines, or the table has one part only. */
static inline bool columns_complete(const columns *s, int64_t index) {
  return s->part != COLUMNS_BOTH || columns_of(s, index, true) >= 0;
}

/* Returns how many of `count` columns or pairs may be damaged in a table. */
static inline int64_t columns_spare(int64_t count) {
  return count < 4 ? 0 : count / 4;
}

/* Returns the name of the layout, or "duplicated". */
const char *columns_layout_name(const columns *s);

/* Finds the columns of a table. A pair is two columns whose squares have the same sum in every row and every pair. A
   table without pairs is assumed to have cosines alone until phases show otherwise. In pairs, the sine is assumed to
   come first until their rotation shows otherwise. */
columns columns_find(const window *w);

/* Returns the columns of the same table with the sine and the cosine of each pair exchanged. */
columns columns_exchanged(const columns *s);

/* ---- frequencies and phases of columns, without their formula (waves.c) -------------------------- */

/* A number and its largest error, which is infinite if the number is unknown. */
typedef struct estimate {
  double value, error;
} estimate;

/* Estimates the offset of all waves. Its error is infinite if the columns do not agree on one. */
estimate waves_offset(const window *w, const sampled_rows *at);

/* Estimates the frequency of each frequency index, in radians per row. A pair that rotates backwards, because its
   cosine comes first, has a negative frequency; a single column never has. Whole turns between two sampled rows are not
   counted. */
void waves_frequencies(const window *w, const columns *s, const sampled_rows *at, estimate *frequencies);

/* Estimates the phases of row 0 for given frequencies; single columns are treated as cosines. amplitude: that of all
   waves, not null. */
void waves_phases(const window *w, const columns *s, const sampled_rows *at, const long double *frequencies,
                  estimate *phases, estimate *amplitude);

/* Returns the same number of rows, spread over the whole window, in which slow waves cover more of a turn. */
sampled_rows waves_spread(const window *w, const sampled_rows *at);

/* Estimates by how much each wave is faster than its given frequency, in radians per row. */
void waves_drifts(const window *w, const columns *s, const sampled_rows *at, const long double *frequencies,
                  estimate *drifts);

/* Estimates the frequencies again from all rows, given the position of row 0, the step from row to row and the
   amplitude. This also determines the frequencies of slow waves. Frequencies of columns that no such wave explains are
   unknown. */
void waves_refit(const window *w, const columns *s, double first, int step, estimate amplitude,
                 const estimate *frequencies, estimate *refitted);

/* Estimates the amplitude again, from waves that turn at least once, because roundings of slow waves have the same
   sign. */
estimate waves_amplitude(const window *w, const columns *s, double first, int step, estimate amplitude,
                         const estimate *frequencies);

#endif
