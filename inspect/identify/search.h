/* SPDX-License-Identifier: MIT */
/* Searches for how a table was made: the hypotheses, and the order in which they are tried. */
#ifndef POSENC_IDENTIFY_SEARCH_H
#define POSENC_IDENTIFY_SEARCH_H

#include "inspect/identify/identity.h"

/* ---- hypotheses, which are proved or rejected by writing the table again (explain.c) ------------- */

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
  sampled_rows sampling;
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

/* ---- trying a formula, with first positions from phases (explain.c) ------------------------------ */

making trial_making(const search *s, const columns *at, const formula *f);

/* Takes the explanation as the best if it is much closer. If it is as close, notes how it differs. */
void trial_weigh(search *s, const explanation *e);

/* Tries formulas, with first positions from phases. The best is the plainest of the closest ones. */
void trial_formulas(search *s, const columns *at, const formula *formulas, size_t count);

/* Tries one formula, as trial_formulas does, at positions from POSITION_NEAR to 2^41. */
void trial_far(search *s, const columns *at, const formula *f);

/* Adds quarters of a turn to all phases, which converts phases of cosines to those of sines. */
void trial_shift_phases(search *s, int64_t pairs, int quarters);

/* ---- the order in which they are tried (search.c) ------------------------------------------------ */

/* Opens a search. Returns false if memory runs out; search_close must be called in any case. */
bool search_open(search *s, const identify_request *request);
void search_close(search *s);

/* Searches for the best explanation, in s->best. Returns the number of formulas that the frequencies alone have
   given. */
size_t search_run(search *s);

/* Returns the number of known frequencies. */
int64_t search_count_known(const search *s);

/* Tries rows at positions in any order. */
void search_list(search *s);

/* Reads the positions of all rows of the file, of which the best explanation has those of the window. Returns a new
   array; null if memory runs out. */
double *search_list_all(search *s);

/* ---- judging it with the whole file (judge.c) ---------------------------------------------------- */

/* Judges the explanation in found->how. Returns false if memory runs out. */
bool judge(search *s, identity *found);

#endif
