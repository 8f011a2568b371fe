/* SPDX-License-Identifier: MIT */
/* Maps of a table's columns: which sine or cosine is in which column; and the pairs and positions of each axis of a
   table of several axes. */
#ifndef POSENC_REFERENCE_AXES_H
#define POSENC_REFERENCE_AXES_H

#include "reference/fast.h"

/* ---- columns ----------------------------------------------------------------------------------------------- */

/* The columns of a pair: those of the sine and the cosine of a table, of rope those of its two elements. */
typedef struct pair_columns {
  int64_t first, second;
} pair_columns;
pair_columns axes_pair(const posenc_problem *problem, int64_t number);

/* Which of sines and cosines a table has. A table with only one of them is from a rope cache, in the problem's layout
   as posenc_rope_tables uses it: duplicated [f, f], interleaved with each column twice, or split with each once; the
   latter has half of the problem's columns. */
typedef enum table_part { TABLE_BOTH, TABLE_COS, TABLE_SIN } table_part;

/* The value in a column: the sine or the cosine of a frequency index. */
typedef struct column_value {
  int64_t index;
  bool cosine;
} column_value;

/* The columns of a table of any layout, odd dim, part and axes: from a value to its columns, and back. */
typedef struct column_map {
  int64_t pairs, columns;
  int copies;           /* columns that each value has: 1, or in some caches 2 */
  int64_t odd;          /* the column of an odd dim that has a sine without a cosine, or zeros; -1 if none */
  int64_t *at[2][2];    /* at[copy][cosine]: the columns by frequency index, -1 for none; `odd` is index `pairs` */
  column_value *values; /* by column */
} column_map;

/* Returns false if memory runs out; must be freed in any case. */
bool column_map_find(column_map *map, const posenc_problem *problem, table_part part);
void column_map_free(column_map *map);

/* Returns for each column of `to` the first one of `from` with the same value, a new array; null if memory runs
   out. */
int64_t *column_map_between(const column_map *to, const column_map *from);

/* ---- axes -------------------------------------------------------------------------------------------------- */

typedef struct axis_pairs {
  posenc_problem problem; /* without axes, with the same frequencies; its first position is 0 */
  selection of;           /* the axis's frequencies in that problem */
  int64_t *number;        /* their indices in the whole table */
} axis_pairs;

/* Returns the axis of a frequency index of the whole table. */
int axes_axis(const posenc_axes *axes, int64_t number);

/* Returns the index, among the frequencies of the axis's own problem, of the n-th pair of an axis, counted from 0;
   `number` is its frequency index in the whole table. */
int64_t axes_frequency(const posenc_axes *axes, int axis, int64_t n, int64_t number);

/* Finds the pairs of an axis of a valid problem. Returns false if memory runs out; must be freed in any case. */
bool axis_pairs_find(axis_pairs *pairs, const posenc_problem *problem, int axis);
void axis_pairs_free(axis_pairs *pairs);

/* Returns the position on an axis at a place, before the division. */
double axis_position(const posenc_axes *axes, int axis, int64_t at);

/* Returns the largest distance from 0 of the positions of all axes at a place. */
int64_t axes_farthest(const posenc_axes *axes, int64_t at);

/* Returns the tolerance of the angle of each frequency index at position 1, on its axis, for arithmetic of that unit,
   as reference/accuracy.h says: a new array; null if memory runs out. */
double *axes_tolerances(const posenc_problem *problem, double unit);

/* The exact pairs of a problem, position by position, or with axes, whose positions must be whole, place by place. A
   list of positions is ignored. Null if memory runs out. */
typedef struct axes_reference axes_reference;
axes_reference *axes_reference_create(const posenc_problem *problem);
void axes_reference_destroy(axes_reference *r);

/* Returns the pairs at a position or place, by frequency index, as fast_lanes_of does; valid until the next call. */
const fast_lanes *axes_reference_lanes(axes_reference *r, int64_t at);

/* Returns the pairs of the differences between the positions of two places. */
const fast_lanes *axes_reference_apart(axes_reference *r, int64_t at, int64_t from);

#endif
