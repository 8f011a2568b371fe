/* SPDX-License-Identifier: MIT */
/* Exact results of add and rope for a given x, and the errors of computed results. */
#ifndef POSENC_REFERENCE_APPLIED_H
#define POSENC_REFERENCE_APPLIED_H

#include "posenc.h"
#include "reference/accuracy.h"
#include "reference/fast.h"

/* The heads × dim elements of x at one position. All of them must be numbers. */
typedef struct applied_row {
  const posenc_problem *problem; /* add or rope */
  const posenc_bound *bound;     /* of the kernel's table; null if none */
  int64_t position;              /* or the place, with axes */
  int64_t bounded;               /* the position for the bound: with axes, the farthest from 0 of the place */
  const fast_lanes *exact_pairs; /* fast_lanes_of this position */
  const void *x, *got;
  double attention; /* attention_of the problem */
  bool plain;       /* counts in all figures; otherwise only compared with its bound */
} applied_row;

/*
 * Adds a row's elements to `a`, except for the sums, which are returned. The ulp of an error is the distance of the
 * dtype's numbers in the binade of the exact result for add, and in that of the exact pair's length, including the
 * attention factor, for rope. An element is misrounded if it is not the number nearest to its own exact value. The
 * `index` of witnesses is head × dim/2 + frequency index; for rope, `cosine` stands for the second element of the pair.
 * No element is left uncertain: the exact values are within 2^-96 of the length of a pair, for add within 2^-97 of the
 * larger of 1 and the result.
 *
 * known: the errors found so far. An error that is not larger is not examined further.
 */
element_error applied_check(const applied_row *row, const accuracy *known, accuracy *a);

/* Writes the exact results of a row, each rounded once to the problem's dtype; `got`, the bound and `plain` are not
   read. A value within 2^-96 of a midpoint, but not on it, may be rounded to its other side. */
void applied_make(const applied_row *row, void *out);

#endif
