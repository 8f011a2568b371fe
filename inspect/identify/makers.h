/* SPDX-License-Identifier: MIT */
/* Candidates for the maker of a table: the values that each recipe, and exact arithmetic, would have written. */
#ifndef POSENC_IDENTIFY_MAKERS_H
#define POSENC_IDENTIFY_MAKERS_H

#include "inspect/identify/formula.h"
#include "inspect/identify/position.h"
#include "reference/fast.h"

/* How a table was made, except for the maker: amplitude × PE + offset. */
typedef struct making {
  formula formula;
  columns columns;
  posenc_dtype held;
  double amplitude, amplitude_error, offset, offset_error;
  start start;
  int step;                /* from row to row: 1, or -1 if rows are reversed */
  const double *positions; /* the position of each row in a list, NaN if a row has none; or null */
  const bool *bad;         /* damaged columns, which are left out; or null */
  const posenc_axes *axes; /* of a table of several axes, whose rows are the places from `start` on; or null */
} making;

/* Returns the position, or the place, of a row; NaN if a list has none for it. */
double making_position(const making *how, int64_t row);

/* The exact values of a formula. proved: they come from the reference, at whole positions. Otherwise they are computed
   from angles in long double and sines in double, with errors of at most 2^-52 and 2^-62 of the angle. */
typedef struct exact_values exact_values;
bool exact_values_proved(const exact_values *t);

/* The least error of damage, as a share of the amplitude. At near positions the f32 angles of recipes make smaller
   errors, and at far ones less than makers_room. */
static const double makers_outlier = 0.01;

/* A possible maker. */
typedef struct maker {
  const posenc_kernel *kernel;                   /* null: exact values, rounded once */
  posenc_plan *plan;                             /* null for exact values, and for a kernel that refuses the problem */
  int64_t compared, equal;                       /* numbers of elements */
  double squares, most;                          /* differences: the sum of their squares, and the largest one */
  int64_t outliers, outlier_row, outlier_column; /* number of differences that are damage, and the first of them */
  double within;                                 /* the largest other difference */
  bool closest;                                  /* it is the closest of the makers that were compared with all rows */
} maker;

/* The angle of a column. */
typedef struct column_angle {
  int64_t index; /* of the frequency */
  int axis;      /* whose position is its; 0 without axes */
  bool cosine;   /* the column has its cosine, otherwise its sine */
  double growth; /* the largest error that a recipe in f32 adds to it from each position to the next */
} column_angle;

/* Candidates for the maker of a table, and a row buffer. */
typedef struct makers {
  making how;
  column_angle *angles; /* of each column */
  int64_t first, range; /* positions of the kernels' plans; range 0: some position is not whole */
  exact_values *exact;
  maker *all; /* the first one is exact */
  size_t count;
  posenc_stages *stages;
  fast_pair *pairs;
  double *values; /* a row as the table would have it */
} makers;

/* Opens the exact maker alone, for this number of rows; a list must have positions of all. Returns false if memory runs
   out. */
bool makers_open(makers *m, const making *how, bool proved, int64_t rows);
/* Adds the kernels that can compute the formula's table. Returns false if memory runs out. */
bool makers_add(makers *m, const posenc_kernel *const *kernels, size_t count);
void makers_close(makers *m);

/* Returns the row as this maker would have written it; valid until the next call. */
const double *makers_row(makers *m, const maker *by, int64_t row);

/* Returns the exact value in a column of the row that the exact maker made last. */
static inline const fast_value *makers_exact(const makers *m, int64_t column) {
  const column_angle *of = &m->angles[column];
  return of->cosine ? &m->pairs[of->index].cosine : &m->pairs[of->index].sine;
}

/* Returns the largest error of an element that a recipe in f32 computes (reference/accuracy.h). */
double makers_room(const makers *m, int64_t row, int64_t column);

/* Compares a maker with a row of the table, which has at least how->columns.dim values, without the bad columns. */
void makers_compare(makers *m, maker *by, int64_t row, const double *there);

/* Returns the maker without the results of comparisons. */
static inline maker maker_afresh(const maker *m) {
  return (maker){.kernel = m->kernel, .plan = m->plan};
}

/* Returns the mean square of the differences. */
static inline double maker_distance(const maker *m) {
  return m->compared ? m->squares / (double)m->compared : 0.0;
}

/* Whether maker a is closer than b. Equal bits count more than small differences: the last bits of a recipe depend on
   the libm, its formula does not. */
bool maker_is_closer(const maker *a, const maker *b);

/* Sorts makers, the closest first. Removes the mark `closest`, which those have that were compared with all rows,
   unless no maker is closer. */
void makers_rank(maker *all, size_t count);

#endif
