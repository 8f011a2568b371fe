/* SPDX-License-Identifier: MIT */
/* Finds which column of a table has which sine or cosine. */
#ifndef POSENC_IDENTIFY_COLUMNS_H
#define POSENC_IDENTIFY_COLUMNS_H

#include "identify/window.h"

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

#endif
