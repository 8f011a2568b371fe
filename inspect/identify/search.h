/* SPDX-License-Identifier: MIT */
/* Searches for how a table was made: the hypotheses, and the order in which they are tried. */
#ifndef POSENC_INSPECT_IDENTIFY_SEARCH_H
#define POSENC_INSPECT_IDENTIFY_SEARCH_H

#include "inspect/identify/identity.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

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
  table_window window;
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
  const making *told;     /* of most rows of a list, the positions are those; or null */
  int64_t known;          /* number of rows whose positions in a list and factors are known */
  bool coarse;            /* angles may have larger errors than those of f32 */
} search;

/* Replaces `e` by the hypothesis if that is much closer to the table, with each amplitude that the values may have: 1,
   that of a scaling, a plain number, the estimate, the largest value. all: false tries the first that fits only. */
void explain_amplitudes(search *s, making *how, const estimate *amplitude, bool all, explanation *e);

/* The elements of a window that are farther from a formula's table than roundings of recipes explain. */
typedef struct differences {
  int64_t elements, unexplained, row, column; /* row, column: of the first unexplained element */
  double distance;                            /* of agree.c alone */
} differences;

enum { UNEXPLAINED_ONE_IN = 20 }; /* elements may be unexplained */

static inline bool differences_are_rounding(const differences *d) {
  return d->unexplained * UNEXPLAINED_ONE_IN <= d->elements;
}

/* Compares exact values with this number of rows, spread over the window. Unless `all`, it ends when too many elements
   are unexplained. */
differences explain_differences(makers *m, const table_window *w, int64_t rows, bool all);

/* Compares a maker again, with this number of rows, spread over the window. */
void explain_compare(makers *m, maker *by, const table_window *w, int64_t rows);

/* Sets s->bad for columns that in most rows differ from a maker's values by more than recipes' roundings explain and by
   more than `least` of the amplitude. Returns how many; 0 if they are too many to be damaged. */
int64_t explain_mark_bad(search *s, makers *m, const maker *by, double least);

/* Whether what differs from the table that is made so is single elements or rows: another formula has a column that
   differs in most of the last rows. Columns in how->bad are left out. */
bool explain_is_scattered(search *s, const making *how);

/* Whether the residual is a small part of the values. For random values of the same size, it is twice their square. */
bool explanation_is_good(const explanation *e);

/* Whether the residual is 0. */
bool explanation_is_exact(const explanation *e);

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

/* Finds whole first positions, up to POSITION_NEAR, at which the frequencies in s->w explain all phases, whose angles
   may have errors of f32: at most `most` of them, the nearest first. Sets s->phases. (sequence.c) */
void length_starts(search *s, int64_t *starts, size_t *count, size_t most);

/* ---- the order in which they are tried (search.c) ------------------------------------------------ */

void search_open(search *s, const identify_request *request);
void search_close(search *s);

/* Searches for the best explanation, in s->best. Returns the number of formulas that the frequencies alone have
   given. */
size_t search_run(search *s);

/* Returns the number of known frequencies. */
int64_t search_count_known(const search *s);

/* Finds the columns, and the frequencies of their waves. */
void search_columns(search *s);

/* Tries rows at positions in any order. */
void search_list(search *s);

/* As search_list, for the formula of `how`. */
void search_list_of(search *s, const making *how);

/* Reads the positions of all rows of the file, of which the best explanation has those of the window. Returns a new
   array. */
double *search_list_all(search *s);

/* ---- judging it with the whole file (explain.c) -------------------------------------------------- */

/* Judges the explanation in found->how. */
void judge(search *s, identity *found);

/* ---- agreement with formulas ----------------------------------------------------------------------------- */

/* Compares an identified table with given formulas. */

/*
 * Compares the window with the formulas of request->expected, and sets found->agreement. The table agrees with the
 * first formula whose roundings explain all elements but one in 20, unless rows or elements are damaged.
 *
 * For check, it is first compared as request->asked, at these positions, then at mistaken ones; then in the columns and
 * at the positions that were found: there it also agrees if roundings do not explain the formula that was found either,
 * and its mean square of differences is at most four times that one's. If the table agrees with none, the cause is the
 * first of request->suspects that it agrees with, or a difference. If it is no IDENTIFY_TABLE, and nothing is asked,
 * positions are assumed to begin at 0, or where the table that it is near does.
 *
 * A table of several axes (found->how.axes) is compared likewise: its sections first, then places instead of
 * positions.
 */
void agree(const search *s, identity *found);

/* Returns how the problem's table is made, or that part of it. */
making making_asked(const posenc_problem *asked, table_part part);

/* Finds how a table in the columns and rows of `at` is made that has the problem's formula. Returns false if it has
   another number of pairs, or if there is no such table. */
bool making_with(const making *at, const posenc_problem *of, making *how);

/* Describes what differs from the problem in base, shift, scale, scaling, amplitude or offset; "" if nothing does. */
void tell_difference(const identity *found, const posenc_problem *asked, char *text, size_t size);

/* ---- several axes: sections, places, positions --------------------------------------------------- */

/* Whether both have the same sections of columns. */
bool axes_have_pairs(const posenc_axes *axes, const posenc_axes *other);

/* Prints "16, 24 and 24 pairs", and the order. */
void axes_print_sections(const posenc_axes *axes, FILE *out);

/* ---- several axes ---------------------------------------------------------------------------------------- */

/* A table of several axes: its parts, one for each axis, if its rows are the places of a grid; or its sections. */

/* ---- parts: the columns of each axis are a table ------------------------------------------------- */

/* Rows at equal steps and columns of the table. */
typedef struct view {
  int64_t first, step, rows;
  int64_t *columns, count;
} view;

/* An axis: its rows and columns, and the result for them. */
typedef struct grid_part {
  view of;
  table_file *table; /* with their values */
  identity *found;   /* null for an axis with a list of positions */
} grid_part;

typedef struct grid {
  const identify_request *request;
  unsigned char *bytes; /* the bytes of the table */
  posenc_dtype dtype, held;
  int64_t dim, zeros; /* zeros: number of rows of zeros before the places */
  grid_part parts[POSENC_AXES];
  int count;              /* number of axes; in a grid, the last one changes from row to row */
  int order[POSENC_AXES]; /* the order of their columns */
  columns columns;        /* columns of the whole row */
  /* One table of all axes, if they form one. */
  bool is_one;
  posenc_problem problem;
  posenc_axes axes;
  double *lists[POSENC_AXES];
  maker *makers; /* makers of that table, the closest first, if axes have lists; without plans */
  size_t maker_count;
} grid;

static inline const unsigned char *grid_element(const grid *g, const view *v, int64_t row, int64_t column) {
  return g->bytes + (size_t)((v->first + row * v->step) * g->dim + v->columns[column]) * posenc_dtype_bytes(g->dtype);
}

/* Whether a number that was measured is the plain one. */
static inline bool grid_is_near(double x, double y) {
  return fabs(x - y) <= 1e-5 * fabs(y);
}

static inline double grid_value(const grid *g, const view *v, int64_t row, int64_t column) {
  return format_element(g->dtype, grid_element(g, v, row, column), 0);
}

/* Frees all parts. */
void grid_free_parts(grid *g);

/* Divides the table into the axes of a grid, and identifies each. Returns false if it is no grid. */
bool grid_find_places(grid *g);

/* Finds the problem of all axes of a grid together, if there is one. */
void grid_find_problem(grid *g);

/* Divides the table into axes with a list of positions each. Returns false if it has no such axes. */
bool grid_find_lists(grid *g);

/* Computes the whole table with each kernel of the request that can, and adds these to the makers of the axes, or of
   the table. */
void grid_find_makers(grid *g);

/* ---- sections: positions on several axes in each row, as M-RoPE's tokens have, in any order (grid-sections.c) -- */

typedef struct sections {
  columns columns; /* columns of the whole row */
  formula formula;
  const posenc_problem *expected; /* the expected problem whose formula it is; or null */
  double scale;                   /* of the positions, beside that of the formula */
  double amplitude;               /* of all values */
  posenc_axes axes;               /* axes in the order of their columns, each with a list of positions of the rows */
  int64_t zeros;                  /* number of rows of zeros before the first position */
  double *positions[POSENC_AXES];
} sections;

/*
 * Tries the formulas of expected problems, in their sections and in others; those of suspects in expected sections;
 * then the bases of models and the one that the slowest columns have, without scaling. An amplitude that differs from a
 * formula's is measured. Positions are 0 or more. They are whole, unless sections are expected whose positions no whole
 * ones explain. With continued frequencies, a section is as long as all its pairs have one position in every row; if
 * rounding hides its end, the sections are those that the request expects, or that models have. With restarted or dealt
 * frequencies, axes have equal numbers of pairs.
 *
 * Returns false if no such positions explain all elements of the window within recipes' roundings and the request's
 * error, or if all axes have the same positions. The result must be freed in any case.
 */
bool sections_find(const table_window *w, const identify_request *request, sections *found);
void sections_free(sections *found);

#endif
