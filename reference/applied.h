/* SPDX-License-Identifier: MIT */
/* Exact results of add and rope for a given x, and the errors of results. */
#ifndef POSENC_REFERENCE_APPLIED_H
#define POSENC_REFERENCE_APPLIED_H

#include "posenc.h"
#include "reference/accuracy.h"
#include "reference/fast.h"

/* A row of x: what belongs to one position, heads × dim elements. All of them are numbers. */
typedef struct applied_row {
  const posenc_problem *problem; /* add or rope */
  const posenc_bound *bound;     /* of the kernel's table; null: nothing is claimed here */
  int64_t position;              /* or place */
  int64_t bounded;               /* the position that the bound is taken at: of a place, the farthest of its axes */
  const fast_lanes *exact_pairs; /* fast_lanes_of this position */
  const void *x, *got;
  double attention; /* attention_of the problem */
  bool plain;       /* it counts in all figures; else it is held to its bound, and that is all */
} applied_row;

/*
 * Adds a row's elements to `a`, but for the sums, which are what is returned. The ulp of an error is the spacing of the
 * dtype in the binade, of add, of the exact result, and of rope, of the length of the exact pair, attention factor
 * included. Misrounded are the elements that are not the nearest to their own exact value. The `index` of witnesses is
 * head × dim/2 + frequency index; of rope, `cosine` is the second of the pair. Nothing is open: the exact values are
 * within 2^-96 of the length of a pair, in add within 2^-97 of the larger of 1 and the result.
 *
 * known: the errors found so far. An error that is not worse needs no second look.
 */
element_error applied_check(const applied_row *row, const accuracy *known, accuracy *a);

#endif
