/* SPDX-License-Identifier: MIT */
/* The axes of an array: a letter for each, b of batches, any number of times, l of positions, h of heads, and d, the
   last, of the columns of a vector. */
#ifndef POSENC_FILES_AXES_H
#define POSENC_FILES_AXES_H

#include "files/stored.h"

enum { AXIS_POSITIONS = 'l', AXIS_COLUMNS = 'd', AXIS_HEADS = 'h' };

/* The usual letters of that many axes; null if none are usual. */
const char *axes_usual(posenc_op op, size_t count);

/* Whether the letters are axes of this array. */
bool axes_fit(const char *letters, const stored *at, fault *why);

/* The length of the axis of positions. */
int64_t axes_length(const char *letters, const stored *at);

/* The index of a row on the axis of positions; and that on each axis but the last, unless null. */
int64_t axes_index(const char *letters, const stored *at, int64_t row, int64_t *indices);

/* Whether two arrays have the same axes and dtype. */
bool axes_agree(const stored *a, const stored *b);

#endif
