/* SPDX-License-Identifier: MIT */
/* Which column of a table holds which sine or cosine. */
#ifndef POSENC_IDENTIFY_COLUMNS_H
#define POSENC_IDENTIFY_COLUMNS_H

#include "identify/window.h"

/* Which part of each pair a table has: both, or cosines or sines alone, as the tables of a rope cache. */
typedef enum columns_part { COLUMNS_BOTH, COLUMNS_COS, COLUMNS_SIN } columns_part;

/* Layouts of one part alone are those of posenc_rope_tables: duplicated [f, f]; interleaved, each column twice in
   succession; split, each once. */
typedef struct columns {
  posenc_layout layout;
  columns_part part;
  int64_t dim;   /* columns; behind them there may be one of zeros */
  int64_t pairs; /* frequencies; of an odd dim (posenc.h: ceil) the last one has a sine alone */
} columns;

/* The frequency index of a column, and whether it is the cosine's. */
int64_t columns_index(const columns *s, int64_t column, bool *cosine);

/* The first column of that value; of one part alone, whatever the second argument. -1: the last cosine of an odd
   dim. */
int64_t columns_of(const columns *s, int64_t index, bool cosine);

/* Is there one of that index for sine and one for cosine, or is one part all that there is? */
static inline bool columns_complete(const columns *s, int64_t index) {
  return s->part != COLUMNS_BOTH || columns_of(s, index, true) >= 0;
}

/* Columns, or pairs of so many, that may be damaged before a table is taken for another one. */
static inline int64_t columns_spare(int64_t count) {
  return count < 4 ? 0 : count / 4;
}

/* "duplicated" */
const char *columns_layout_name(const columns *s);

/* A pair is two columns whose squares add up to the same number in every row and in every pair. What has none is
   taken for cosines alone until phases say otherwise, and of pairs the sine is taken to be the first until they
   turn. */
columns columns_find(const window *w);

/* The same table with the sine and the cosine of each pair exchanged. */
columns columns_exchanged(const columns *s);

#endif
