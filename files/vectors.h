/* SPDX-License-Identifier: MIT */
/* An array x, and what add or rope has made of it: vectors of the last axis, in rows. */
#ifndef POSENC_FILES_VECTORS_H
#define POSENC_FILES_VECTORS_H

#include "files/axes.h"
#include "files/table.h"

typedef struct applied_arrays {
  table_file *x, *out; /* of the same axes and dtype */
  const char *axes;
} applied_arrays;

/* A vector of each, as doubles. */
typedef struct vectors {
  const applied_arrays *from;
  const stored *at; /* of both */
  unsigned char *raw;
  double *x, *out;
} vectors;

/* False if memory runs out; to be closed in any case. */
bool vectors_open(vectors *v, const applied_arrays *from);
void vectors_close(vectors *v);

/* Turns to the vectors of that row. */
void vectors_read(vectors *v, int64_t row);

/* The row of the n-th of `count` samples, which are spread evenly, from the first row to the last; count <= rows. */
int64_t vectors_sample(const vectors *v, int64_t n, int64_t count);

#endif
