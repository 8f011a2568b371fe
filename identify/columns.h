/* SPDX-License-Identifier: MIT */
/* Which column of a table is what. */
#ifndef POSENC_IDENTIFY_COLUMNS_H
#define POSENC_IDENTIFY_COLUMNS_H

#include "identify/window.h"

/* What a table has of its pairs: both; or, one of the two tables of a rope cache, cosines or sines alone. */
typedef enum columns_part { COLUMNS_BOTH, COLUMNS_COS, COLUMNS_SIN } columns_part;

/* Of one part alone, layouts are those of posenc_rope_tables: duplicated [f, f]; interleaved, each column twice in succession; split, each once. */
typedef struct columns {
  posenc_layout layout;
  columns_part part;
  int64_t dim;   /* columns; behind them there may be one of zeros */
  int64_t pairs; /* frequencies */
} columns;

/* The frequency index that a column belongs to, and whether it is the cosine's. */
int64_t columns_index(const columns *s, int64_t column, bool *cosine);

/* The first column of that value; of one part alone, whatever the second argument. */
int64_t columns_of(const columns *s, int64_t index, bool cosine);

/* "duplicated" */
const char *columns_layout_name(const columns *s);

/* Pairs are those columns whose squares add up to the same number in every row. What has none is a cosine alone until its phases say
   otherwise, and of pairs the sine is the first until they turn. */
columns columns_find(const window *w);

#endif
