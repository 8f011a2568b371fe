/* SPDX-License-Identifier: MIT */
/* The table that add or rope has applied to an array, from x and the result alone. */
#ifndef POSENC_IDENTIFY_RECOVER_H
#define POSENC_IDENTIFY_RECOVER_H

#include "files/axes.h"
#include "files/table.h"

typedef struct applied_arrays {
  table_file *x, *out; /* of the same axes and dtype */
  const char *axes;
  posenc_op op; /* add or rope */
} applied_arrays;

typedef struct recovered {
  /* Cosines then sines (POSENC_SPLIT_CS) for rope, the columns for add; a row for each position. f64, or f32, whose
     values are as short as those of the arrays. */
  table_file *table;
  void *bytes; /* in which it lies */
  posenc_layout pairs;
  int64_t start, dim; /* the columns that are turned */
  bool back;          /* they are turned back */
  int64_t bad_row;    /* of x, whose numbers are not all finite; -1: none */
} recovered;

/*
 * Of rope: the columns that differ from x are turned. Pairs are those whose lengths keep one ratio, and whose rotation
 * is the same in all vectors of a position. Where slow columns cannot have changed visibly, those of the whole vector
 * count as turned. The table has the rotations, averaged over batches and heads by the squares of the pairs' lengths;
 * its precision is that of the dtype. Of add: the mean difference. False, and why, if no such table explains the
 * result, or x is not finite.
 */
bool recover(const applied_arrays *from, recovered *found, fault *why);

/* Frees what recover has made. */
void recovered_free(recovered *found);

#endif
