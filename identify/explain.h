/* SPDX-License-Identifier: MIT */
/* Hypotheses, proved or dropped by writing the table again. */
#ifndef POSENC_IDENTIFY_EXPLAIN_H
#define POSENC_IDENTIFY_EXPLAIN_H

#include "identify/identity.h"

/* A hypothesis on how the table was made, and the mean square of the differences from the closest maker's values. */
typedef struct explanation {
  bool found;
  making how;
  bool damaged; /* columns in s->bad were left out */
  double distance;
  int64_t original_least, original_most; /* of a scaling: the lengths that explain it as well */
  int64_t starts;                        /* other first positions that do */
} explanation;

/* The state of a search, and memory for it. */
typedef struct search {
  const identify_request *request;
  window window;
  sampling sampling;
  int64_t run; /* equal rows */
  columns columns;
  estimate offset;
  estimate *frequencies, *phases;
  estimate *measured; /* frequencies once the first position is known, by of_measured */
  making of_measured;
  bool is_measured;
  long double *w;
  double *factors, *positions;
  bool *bad;
  explanation best, also; /* also: another formula that is as good */
  bool coarse;            /* angles may be off by more than f32 makes them */
  bool failed;            /* memory ran out */
} search;

/* Keeps the hypothesis in `e` if it is much closer to the table than what is there, with each amplitude that the
   values may have: 1, that of a scaling, a plain number, the estimate, the largest value. all: else the first alone. */
void explain_amplitudes(search *s, making *how, const estimate *amplitude, bool all, explanation *e);

/* Compares a maker again, with this number of rows, spread over the window. */
void explain_compare(makers *m, maker *by, const window *w, int64_t rows);

/* Flags in s->bad the columns that in most rows differ from what a maker writes by more than recipes' roundings explain
   and by more than `least` of the amplitude; how many, 0 if they are too many to be damage. */
int64_t explain_mark_bad(search *s, makers *m, const maker *by, double least);

/* Is a distance much less than that of the explanation? What is plainer comes first. */
bool explanation_is_better(const explanation *than, double distance);

/* Is what is left a small part of the values? Random values of the same size would leave all of it, twice. */
bool explanation_is_good(const explanation *e);

/* Is nothing left? Also if the search has failed. */
bool explanation_is_exact(const search *s, const explanation *e);

/* Is the root mean square of the residual at most this number of units of the dtype? */
bool explanation_is_within(const search *s, const explanation *e, double units);

static inline bool explanation_is_scaled(const explanation *e) {
  return e->found && e->how.formula.scaling.kind != POSENC_SCALING_NONE;
}

/* Do roundings of recipes explain what is left of most values? */
bool explanation_is_rounding(search *s, const explanation *e);

/* Is what is left another curve? From row to row, independent errors change by twice their square, a slow curve by less
   than its own. */
bool explain_leaves_curve(search *s, const making *how);

#endif
