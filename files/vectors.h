/* SPDX-License-Identifier: MIT */
/* An array x, and the result of add or rope: vectors of the last axis, in rows. */
#ifndef POSENC_FILES_VECTORS_H
#define POSENC_FILES_VECTORS_H

#include "files/axes.h"
#include "files/table.h"

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

/* Returns true. */
bool vectors_open(vectors *v, const applied_arrays *from);
void vectors_close(vectors *v);

/* Reads the vectors of a row. */
void vectors_read(vectors *v, int64_t row);

/* Returns the row of the n-th of `count` samples, spread evenly from the first row to the last; count <= rows. */
int64_t vectors_sample(const vectors *v, int64_t n, int64_t count);

#endif
