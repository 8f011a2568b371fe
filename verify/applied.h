/* SPDX-License-Identifier: MIT */
/* Checks of one kernel in add or rope. Rows of x that are not plain are compared with their bounds only, and do not
   count in the figures of errors. */
#ifndef POSENC_VERIFY_APPLIED_H
#define POSENC_VERIFY_APPLIED_H

#include "reference/applied.h"
#include "reference/axes.h"
#include "verify/subject.h"

typedef struct operand {
  const posenc_problem *problem;
  fast_oracle *reference;
  bool borrowed;           /* the caller owns the reference */
  fast_lanes *lanes;       /* one row per thread */
  axes_reference **places; /* with axes, used instead: one per thread */
  int threads;             /* the threads that lanes or places are for */
  uint64_t seed;
} operand;

/* reference: one with the same frequencies for all positions, or null, as it must be with axes. */
void operand_open(operand *o, const posenc_problem *problem, uint64_t seed, fast_oracle *reference);

/* Draws successive rows. Sequences of a batch have different x. */
void operand_draw(operand *o, int64_t row, int64_t rows, int64_t sequence, unsigned char *x);

/* Goes to a position or place. Returns for how many from there on any thread may call operand_pairs. */
int64_t operand_move(operand *o, int64_t position);

/* Returns the exact pairs of one of these positions or places; valid until the same thread's next call. */
const fast_lanes *operand_pairs(const operand *o, int64_t position);

/* Returns the exact pairs of the difference of two positions, or of two places on each axis. Moves elsewhere. */
const fast_lanes *operand_apart(operand *o, int64_t position, int64_t from);

/* Sets an element, truncated for bf16. */
void operand_store(posenc_dtype dtype, void *x, int64_t at, float value);

typedef struct applied {
  subject *s;
  operand operand;
  arena *x, *one, *other; /* x, and two results */
  arena *lists;           /* of rows */
  unsigned char *drawn;   /* a copy of x that is not passed to any call */
  element_error *sums;    /* sums of each row of a window */
  uint64_t *digests;      /* digests of each row of a window */
  int64_t elements;       /* number of compared elements */
  /* applied_pair_bound at the position of the last request: its value at length 0, and its slope. */
  struct {
    int64_t position;
    bool known;
    double at_0, per_length;
  } allowed;
} applied;

/* The number of elements that relations need in addition to rows, for gaps between sequences. */
enum { APPLIED_SPARE = 39 };

/* The most rows of a list. */
enum { APPLIED_LIST = (1 << 16) + 100 };

/* Allocates memory for windows of `rows` rows and `bytes` bytes. */
void applied_open(applied *a, int64_t rows, size_t bytes);
void applied_close(applied *a);

/* Starts with a subject whose windows fit, one at a time. The other arguments are those of operand_open. */
void applied_begin(applied *a, subject *s, uint64_t seed, fast_oracle *reference);
void applied_end(applied *a);

/* Checks accuracy, memory and environment of a window; with `again`, also in-place, pair norm, determinism and
   extension. */
void applied_check_window(applied *a, window w, bool again, uint64_t *random);

/* See subject_check_threads. */
void applied_check_threads(applied *a, bool again);

/* The elements of x of a witness's pair; in add, of its element and the neighbour. */
typedef struct applied_x {
  double first, second;
} applied_x;
applied_x applied_x_of(applied *a, const witness *w);

/* Returns the position for the bound: this one, or with axes the farthest from 0 of the place. */
int64_t applied_bounded(const applied *a, int64_t position);

/* Returns the bound, or null if there is none for this position. */
const posenc_bound *applied_bound(const applied *a, int64_t position);

/* A pair in a row of x, or of results. */
typedef struct applied_pair {
  double first, second;
} applied_pair;
applied_pair pair_at(const posenc_problem *problem, const unsigned char *row, int64_t head, int64_t i);
double pair_length(applied_pair p);

/* Returns the allowed error of the result for a pair of that length: √2 times the bound of each of its elements. */
double applied_pair_bound(const applied *a, int64_t position, double length);

/* Calls `visit` for every pair of these rows of x, and of results, at positions with a bound. */
typedef void visit_pair(applied *a, int64_t position, int64_t index, applied_pair given, applied_pair got);
void applied_each_pair(applied *a, window w, const unsigned char *x, const unsigned char *out, visit_pair *visit);

/* Checks all relations at places drawn from `random`. */
void applied_check_relations(applied *a, uint64_t *random);

#endif
