/* SPDX-License-Identifier: MIT */
/* Identifies the positional encoding in a file from its numbers alone, and recovers tables from what they were applied
   to. */
#ifndef POSENC_IDENTIFY_IDENTIFY_H
#define POSENC_IDENTIFY_IDENTIFY_H

#include "inspect/files/table.h"
#include "inspect/identify/identity.h"

#include <jansson.h>

/* Returns the result, which identity_free frees; null if memory runs out. */
identity *identify(const identify_request *request);
void identity_free(identity *found);

/*
 * Compares a table of several axes with what is expected: as request->asked, or if it is not that, as the problem of
 * its axes that was found, which may be null. `at`: the columns of that problem. Returns the result, of which the
 * agreement is set, and which identity_free frees; null if memory runs out.
 */
identity *identify_places(const identify_request *request, const posenc_problem *problem, const columns *at);

/* ---- tables of several axes (grid.c) ------------------------------------------------------------- */

/* Returns the record of a grid, as doc/python.md describes it, a new reference; null if the table is no grid, or if
   memory runs out, in which case *failed is set. */
json_t *identify_grid(const identify_request *request, bool *failed);

/* As identify_grid, for a table whose rows have positions of their own on each axis, in any order. */
json_t *identify_lists(const identify_request *request, bool *failed);

/* ---- the table that add or rope has applied to an array, from x and the result alone (recover.c) ---------------- */

typedef struct recovered {
  /* Cosines then sines (POSENC_SPLIT_CS) for rope, the columns for add; one row for each position. Values are f64; or
     f32 with the precision of the arrays' dtype. */
  table_file *table;
  void *bytes;                  /* the memory of the table's file */
  posenc_layout pairs, written; /* the columns of a pair in x, and in the result */
  int64_t start, dim;           /* the first rotated column, and the number of rotated columns */
  bool back;                    /* the pairs are rotated backwards */
  double error;                 /* the largest error of the table's values */
  int64_t bad_row;              /* a row of x whose numbers are not all finite; -1: none */
} recovered;

/*
 * Recovers a table. For add, it is the difference of the result and x, averaged over batches. For rope, it has sine and
 * cosine of the angles by which pairs are rotated, averaged over batches and heads, weighted by the squares of the
 * pairs' lengths. The table has the precision of the dtype whose numbers all results are.
 *
 * Rope rotates columns in which the result differs from x. A pair is two columns whose length is multiplied by the same
 * number in all pairs and vectors. If the slowest pair rotates too little to be visible, all columns behind it count as
 * rotated, too.
 *
 * Returns false, and the reason, if no table explains the result or x is not finite.
 */
bool recover(const applied_arrays *from, posenc_op op, recovered *found, fault *why);

/* Whether a file has angles instead of their cosines and sines: frequencies, in a vector or in one row that falls from
   1; or rows that are multiples of one another, and grow beyond what cosines reach; or, of several axes of positions,
   some values beyond that. */
bool angles_are(table_file *file, bool has_axes);

/* Recovers the table of those angles, cosines then sines; of frequencies, at `rows` positions from `first` on. If each
   angle is there twice, as halves or as neighbours, one has the cosine and the other the sine. Values are f64 for f64,
   else f32. */
bool recover_angles(table_file *file, int64_t first, int64_t rows, recovered *found, fault *why);

/* Frees the memory of recover's result. */
void recovered_free(recovered *found);

#endif
