/* SPDX-License-Identifier: MIT */
/*
 * What is checked of one kernel on add or rope. x is drawn, each element by its row and its place there, so that it can be had again. Its
 * size is about 1, but in every 17th row, which is held to its bound alone: there it is huge, tiny, zero of either sign, or it cancels
 * the table nearly.
 */
#ifndef POSENC_VERIFY_APPLIED_H
#define POSENC_VERIFY_APPLIED_H

#include "reference/applied.h"
#include "verify/checks.h"

/* One subject, and what its exam needs. */
typedef struct applied {
  subject *s;
  fast_oracle *truth;
  bool borrowed;          /* the truth is somebody else's */
  fast_lanes *lanes;      /* of one row for every thread */
  arena *x, *one, *other; /* what is given, and results */
  element_error *sums;    /* of each row of a window, */
  uint64_t *digests;      /* and of its bits */
  uint64_t seed;          /* of x */
  int64_t elements;       /* that were compared */
} applied;

/* For windows of at most so many rows. truth: of the same frequencies, from any position on, or null. False when memory runs out; to be closed
 * either way. */
bool applied_open(applied *a, subject *s, int64_t rows, uint64_t seed, fast_oracle *truth);
void applied_close(applied *a);

/* Accuracy, memory and environment of one window; with `again` in-place, pair norm, determinism and extension too. */
void applied_check_window(applied *a, window w, bool again, uint64_t *random);

/* Rows by more threads than CPUs at once, against those from one. */
void applied_check_threads(applied *a);

/* What is left, at places drawn from `random`. False when memory runs out. */
bool applied_check_relations(applied *a, uint64_t *random);

/* x of the pair of a witness: in add, of its element and its neighbour. */
typedef struct applied_x {
  double first, second;
} applied_x;
applied_x applied_x_of(applied *a, const witness *w);

#endif
