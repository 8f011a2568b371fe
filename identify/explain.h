/* SPDX-License-Identifier: MIT */
/* Hypotheses, which are proved or rejected by writing the table again. */
#ifndef POSENC_IDENTIFY_EXPLAIN_H
#define POSENC_IDENTIFY_EXPLAIN_H

#include "identify/identity.h"

/* A hypothesis on how the table was made, and the mean square of its differences from the closest maker's values. */
typedef struct explanation {
  bool found;
  making how;
  bool damaged; /* columns in s->bad were left out */
  double distance;
  int64_t original_least, original_most; /* of a scaling: the range of original lengths that explain it equally well */
  int64_t starts;                        /* number of other first positions that explain it equally well */
} explanation;

/* The state of a search, and its memory. */
typedef struct search {
  const identify_request *request;
  window window;
  sampling sampling;
  int64_t run; /* number of equal rows in succession */
  columns columns;
  estimate offset;
  estimate *frequencies, *phases;
  estimate *measured; /* frequencies that were measured with the first position in of_measured */
  making of_measured;
  bool is_measured;
  long double *w;
  double *factors, *positions;
  bool *bad;
  explanation best, also; /* the best explanation, and another formula that is as close */
  int64_t known;          /* number of rows whose positions in a list and factors are known */
  bool coarse;            /* angles may have larger errors than those of f32 */
  bool failed;            /* memory has run out */
} search;

/* Replaces `e` by the hypothesis if that is much closer to the table, with each amplitude that the values may have: 1,
   that of a scaling, a plain number, the estimate, the largest value. all: false tries the first that fits only. */
void explain_amplitudes(search *s, making *how, const estimate *amplitude, bool all, explanation *e);

/* Compares a maker again, with this number of rows, spread over the window. */
void explain_compare(makers *m, maker *by, const window *w, int64_t rows);

/* Sets s->bad for columns that in most rows differ from a maker's values by more than recipes' roundings explain and by
   more than `least` of the amplitude. Returns how many; 0 if they are too many to be damaged. */
int64_t explain_mark_bad(search *s, makers *m, const maker *by, double least);

/* Whether a distance is much smaller than that of the explanation, which is kept otherwise because plainer ones come
   first. */
bool explanation_is_better(const explanation *than, double distance);

/* Whether the residual is a small part of the values. For random values of the same size, it is twice their square. */
bool explanation_is_good(const explanation *e);

/* Whether the residual is 0; also true if the search has failed. */
bool explanation_is_exact(const search *s, const explanation *e);

/* Whether the root mean square of the residual is at most this number of units of the dtype. */
bool explanation_is_within(const search *s, const explanation *e, double units);

static inline bool explanation_is_scaled(const explanation *e) {
  return e->found && e->how.formula.scaling.kind != POSENC_SCALING_NONE;
}

/* Whether roundings of recipes explain the residuals of most values. */
bool explanation_is_rounding(search *s, const explanation *e);

/* Whether the residual is another curve. From row to row, independent errors change by twice their square, and a slow
   curve by less than its square. */
bool explain_leaves_curve(search *s, const making *how);

#endif
