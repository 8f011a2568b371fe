/* SPDX-License-Identifier: MIT */
/* An array x, and the result of add or rope: the letters of their axes, and their vectors, which are rows of the last
   axis. */
#ifndef POSENC_FILES_VECTORS_H
#define POSENC_FILES_VECTORS_H

#include "inspect/files/stored.h"
#include "inspect/files/table.h"

/* The letters of an array's axes: b for batches, any number of times; l for positions; h for heads; and d, the last,
   for the columns of a vector. */
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

typedef struct applied_arrays {
  table_file *x, *out; /* with the same axes and dtype */
  const char *axes;
} applied_arrays;

/* A vector of x and one of the result, as doubles. */
typedef struct vectors {
  const applied_arrays *from;
  const stored *at; /* the form of both arrays */
  unsigned char *raw;
  double *x, *out;
} vectors;

void vectors_open(vectors *v, const applied_arrays *from);
void vectors_close(vectors *v);

/* Reads the vectors of a row. */
void vectors_read(vectors *v, int64_t row);

/* Returns the narrowest dtype whose numbers all results are: in a wider one, they may have been rounded to it. */
posenc_dtype vectors_held(vectors *v);

/* Returns the row of the n-th of `count` samples, spread evenly from the first row to the last; count <= rows. */
int64_t vectors_sample(const vectors *v, int64_t n, int64_t count);

#endif
