/* SPDX-License-Identifier: MIT */
/* Checks of one kernel on add or rope. Rows of x that are not plain are only checked against their bound; they do not
   count in the figures of errors. */
#ifndef POSENC_VERIFY_APPLIED_H
#define POSENC_VERIFY_APPLIED_H

#include "reference/applied.h"
#include "verify/operand.h"
#include "verify/subject.h"

typedef struct applied {
  subject *s;
  operand operand;
  arena *x, *one, *other; /* x, and results */
  unsigned char *drawn;   /* a copy of x that no call gets */
  element_error *sums;    /* of each row of a window, */
  uint64_t *digests;      /* and of its bits */
  int64_t elements;       /* that were compared */
  /* applied_pair_bound at a position, the last that was asked about: its value at length 0, and its slope. */
  struct {
    int64_t position;
    bool known;
    double at_0, per_length;
  } allowed;
} applied;

/* Elements that relations need beside rows, for gaps between sequences. */
enum { APPLIED_SPARE = 39 };

/* Memory for windows of so many rows and bytes. False when there is none; to be closed in any case. */
bool applied_open(applied *a, int64_t rows, size_t bytes);
void applied_close(applied *a);

/* Turns to a subject whose windows fit; one at a time. The other arguments are those of operand_open. False when memory
 * runs out; to be ended in any case. */
bool applied_begin(applied *a, subject *s, uint64_t seed, fast_oracle *reference);
void applied_end(applied *a);

/* Accuracy, memory and environment of one window; with `again` in-place, pair norm, determinism and extension too. */
void applied_check_window(applied *a, window w, bool again, uint64_t *random);

void applied_check_threads(applied *a);

/* x of the pair of a witness: in add, of its element and its neighbour. */
typedef struct applied_x {
  double first, second;
} applied_x;
applied_x applied_x_of(applied *a, const witness *w);

/* The position that the bound is taken at: this one, or of a place the farthest of its axes. */
int64_t applied_bounded(const applied *a, int64_t position);

/* The contract, or null where it says nothing about this position. */
const posenc_bound *applied_claim(const applied *a, int64_t position);

/* A pair in a row of x, or of results. */
typedef struct pair {
  double first, second;
} pair;
pair pair_at(const posenc_problem *problem, const unsigned char *row, int64_t head, int64_t i);
double pair_length(pair p);

/* The error that the contract allows the result of a given pair of that length: each of its elements, and so √2 of it
 * the pair. */
double applied_pair_bound(const applied *a, int64_t position, double length);

/* Calls `visit` for every pair of these rows of x, and of results, that a bound is claimed for. */
typedef void visit_pair(applied *a, int64_t position, int64_t index, pair given, pair got);
void applied_each_pair(applied *a, window w, const unsigned char *x, const unsigned char *out, visit_pair *visit);

#endif
