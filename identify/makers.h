/* SPDX-License-Identifier: MIT */
/* Candidates for the maker of a table: the values that each recipe, and exact arithmetic, would have written. */
#ifndef POSENC_IDENTIFY_MAKERS_H
#define POSENC_IDENTIFY_MAKERS_H

#include "identify/formula.h"
#include "identify/position.h"
#include "reference/fast.h"

/* How a table was made, except for the maker: amplitude × PE + offset. */
typedef struct making {
  formula formula;
  columns columns;
  posenc_dtype held;
  double amplitude, amplitude_error, offset, offset_error;
  start start;
  int step;                /* from row to row: 1, or -1 of rows that are reversed */
  const double *positions; /* or null: of each row, a list; NaN where a row is of none */
  const bool *bad;         /* or null: damaged columns, which are left out */
} making;

/* NaN where a list has no position for the row. */
double making_position(const making *how, int64_t row);

/* The exact values of a formula. proved: by the reference, at whole positions. Else from angles in long double and
   sines in double: within 2^-52, and 2^-62 of the angle. */
typedef struct exact_values exact_values;
exact_values *exact_values_create(const making *how, bool proved);
void exact_values_destroy(exact_values *t);
bool exact_values_proved(const exact_values *t);
long double exact_values_frequency(const exact_values *t, int64_t index);
/* The pairs of a position, by index. */
void exact_values_at(exact_values *t, double position, fast_pair *pairs);

/* An error above this part of the amplitude is damage: recipes' f32 angles make smaller ones. */
static const double makers_outlier = 0.01;

/* A possible maker. */
typedef struct maker {
  const posenc_kernel *kernel;                   /* null: exact values, rounded once */
  posenc_plan *plan;                             /* null for exact values, and for a kernel that cannot do it */
  int64_t compared, equal;                       /* elements */
  double squares, most;                          /* of differences: their squares' sum, and the largest */
  int64_t outliers, outlier_row, outlier_column; /* differences above makers_outlier, and the first of them */
  double within;                                 /* the largest of the others */
  bool closest;                                  /* of those compared with all rows, none is closer */
} maker;

/* Candidates for the maker of a table, and a row buffer. */
typedef struct makers {
  making how;
  int64_t first, range; /* positions of the kernels' plans; range 0: not all positions are whole */
  exact_values *exact;
  maker *all; /* first the exact one */
  size_t count;
  posenc_stages *stages;
  fast_pair *pairs;
  double *values; /* a row as it would be in the table */
} makers;

/* Opens the exact maker alone, for this number of rows; a list must have all their positions. False when memory runs
   out. */
bool makers_open(makers *m, const making *how, bool proved, int64_t rows);
/* Adds the kernels that can make the formula's table. False when memory runs out. */
bool makers_add(makers *m, const posenc_kernel *const *kernels, size_t count);
void makers_close(makers *m);

/* The row as this one would have written it. */
const double *makers_row(makers *m, const maker *by, int64_t row);

/* The largest error of an element that a recipe in f32 computed: the error of its angle, and roundings. */
double makers_room(const makers *m, int64_t row, int64_t column);

/* Adds a row of the table, how->columns.dim values or more, without the bad columns, to what is known of this one. */
void makers_compare(makers *m, maker *by, int64_t row, const double *there);

/* The same maker, not yet compared. */
static inline maker maker_afresh(const maker *m) {
  return (maker){.kernel = m->kernel, .plan = m->plan};
}

/* Mean square of the differences. */
static inline double maker_distance(const maker *m) {
  return m->compared ? m->squares / (double)m->compared : 0.0;
}

/* Equal bits say more than small differences: a recipe's last bits may be another libm's, its formula is its own. */
bool maker_is_closer(const maker *a, const maker *b);

/* Sorts them, the closest first. Of those that are marked `closest`, which are compared with all rows, leaves the mark
   to those than which none is closer. */
void makers_rank(maker *all, size_t count);

#endif
