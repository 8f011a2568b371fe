/* SPDX-License-Identifier: MIT */
/* The letters of an array's axes: b for batches, any number of times; l for positions; h for heads; and d, the last,
   for the columns of a vector. */
#ifndef POSENC_FILES_AXES_H
#define POSENC_FILES_AXES_H

#include "files/stored.h"

enum { AXIS_POSITIONS = 'l', AXIS_COLUMNS = 'd', AXIS_HEADS = 'h' };

/* Returns the usual letters for this number of axes; null if there are none. */
const char *axes_usual(posenc_op op, size_t count);

/* Whether the letters can be the axes of this array. */
bool axes_fit(const char *letters, const stored *at, fault *why);

/* Returns the length of the axis of positions. */
int64_t axes_length(const char *letters, const stored *at);

/* Returns a row's index on the axis of positions. Unless null, `indices` gets its index on each axis but the last. */
int64_t axes_index(const char *letters, const stored *at, int64_t row, int64_t *indices);

/* Whether two arrays have the same axes and dtype. */
bool axes_agree(const stored *a, const stored *b);

#endif
