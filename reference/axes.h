/* SPDX-License-Identifier: MIT */
/* Tables of several axes as the reference sees them: for each axis, its pairs of columns and its positions. */
#ifndef POSENC_REFERENCE_AXES_H
#define POSENC_REFERENCE_AXES_H

#include "reference/fast.h"

typedef struct axis_pairs {
  posenc_problem problem; /* without axes, whose frequencies they have; its first position is 0 */
  selection of;           /* those */
  int64_t *number;        /* their frequency indices in the whole table */
  int64_t *sine, *cosine; /* their columns in it */
} axis_pairs;

/* Of a valid problem. False when memory runs out; to be freed in any case. */
bool axis_pairs_find(axis_pairs *pairs, const posenc_problem *problem, int axis);
void axis_pairs_free(axis_pairs *pairs);

/* The position on an axis at that place, before it is divided. */
double axis_position(const posenc_axes *axes, int axis, int64_t at);

/* The largest distance from 0 of the positions of all axes at that place. */
int64_t axes_farthest(const posenc_axes *axes, int64_t at);

/* The column of the sine or the cosine of that frequency index, of a problem with axes or without. */
int64_t axes_column(const posenc_problem *problem, int64_t number, bool cosine);

/* The exact pairs of a problem with axes or without, position by position: of axes, whose positions are whole, place by
   place. A list of positions is not looked at. Null when memory runs out. */
typedef struct axes_reference axes_reference;
axes_reference *axes_reference_create(const posenc_problem *problem);
void axes_reference_destroy(axes_reference *r);

/* By frequency index, as fast_lanes_of; valid until the next call. */
const fast_lanes *axes_reference_lanes(axes_reference *r, int64_t at);

/* The pairs of the differences between the positions of two places. */
const fast_lanes *axes_reference_apart(axes_reference *r, int64_t at, int64_t from);

#endif
