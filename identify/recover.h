/* SPDX-License-Identifier: MIT */
/* The table that add or rope has applied to an array, from x and the result alone. */
#ifndef POSENC_IDENTIFY_RECOVER_H
#define POSENC_IDENTIFY_RECOVER_H

#include "files/vectors.h"

typedef struct recovered {
  /* Cosines then sines (POSENC_SPLIT_CS) for rope, the columns for add; a row for each position. f64, or f32, whose
     values are as short as those of the arrays. */
  table_file *table;
  void *bytes; /* in which it lies */
  posenc_layout pairs;
  int64_t start, dim; /* the columns that are turned */
  bool back;          /* they are turned back */
  double error;       /* that values of the table may have */
  int64_t bad_row;    /* of x, whose numbers are not all finite; -1: none */
} recovered;

/*
 * For add, the table is the difference of the result and x, averaged over batches. For rope, it has sine and cosine of
 * the angles by which pairs are turned, averaged over batches and heads, by the squares of the pairs' lengths. It is as
 * precise as the dtype is.
 *
 * Rope turns columns in which the result differs from x. A pair is two columns whose length is multiplied by the same
 * number in all pairs and vectors. If the slowest pair turns too little to be visible, all columns behind it count as
 * turned, too.
 *
 * False, and the reason, if no table explains the result, or x is not finite.
 */
bool recover(const applied_arrays *from, posenc_op op, recovered *found, fault *why);

/* Frees what recover has made. */
void recovered_free(recovered *found);

#endif
