/* SPDX-License-Identifier: MIT */
/* The search for how a table came to be: hypotheses, each proved or dropped by writing the table again. */
#ifndef POSENC_IDENTIFY_SEARCH_H
#define POSENC_IDENTIFY_SEARCH_H

#include "identify/identity.h"

/* How the table may have come to be, and the mean square of what the closest maker's values then are off. */
typedef struct explanation {
  bool found;
  making how;
  bool damaged; /* columns in s->bad were left out */
  double distance;
  int64_t original_least, original_most; /* of a scaling: the lengths that explain it as well */
  int64_t starts;                        /* other first positions that do */
} explanation;

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

/* False when memory runs out; search_close is to be called anyway. */
bool search_open(search *s, const identify_request *request);
void search_close(search *s);

/* Looks for the best explanation. How many formulas the frequencies alone have told. */
size_t search_run(search *s);

/* What is explained leaves a small part of the values; random ones of the same size would leave all of it, twice. */
bool explanation_is_good(const explanation *e);

/* Is what this leaves of the values another curve? From row to row, independent errors change by twice their square, those of
   a slow curve by less than its own. */
bool search_leaves_curve(search *s, const making *how);

/* Columns that in most rows of the window differ from what a maker writes, by more than recipes' roundings explain, and more
   than `least` of the amplitude: as flags in s->bad, if they are so few that they may be damaged; how many, else 0. */
int64_t search_mark_bad(search *s, makers *m, const maker *by, double least);

/* Frequencies that are told, and their number. */
int64_t search_count_known(const search *s);

#endif
