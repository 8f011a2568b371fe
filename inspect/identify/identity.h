/* SPDX-License-Identifier: MIT */
/* The request and the result of an identification. */
#ifndef POSENC_INSPECT_IDENTIFY_IDENTITY_H
#define POSENC_INSPECT_IDENTIFY_IDENTITY_H

#include "inspect/files/table.h"
#include "inspect/identify/formula.h"
#include "inspect/models/model.h"
#include "records/record.h"
#include "reference/fast.h"

#include <stdio.h>

/* ---- makers ---------------------------------------------------------------------------------------------- */

/* Candidates for the maker of a table: the values that each recipe, and exact arithmetic, would have written. */

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
  const format *angles;    /* what angles are rounded to before their sines and cosines; null: they are not */
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
  size_t number;                                 /* in the list, before it is ranked */
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

/* Opens the exact maker alone, for this number of rows; a list must have positions of all. */
void makers_open(makers *m, const making *how, bool proved, int64_t rows);
/* Adds the kernels that can compute the formula's table. */
void makers_add(makers *m, const posenc_kernel *const *kernels, size_t count);
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

/* Whether it writes all elements. */
static inline bool maker_is_equal(const maker *m) {
  return m->compared > 0 && m->equal == m->compared;
}

/* Whether it is that recipe, except for the effects of another libm or compiler: 95 % of the elements are equal. */
static inline bool maker_is_near(const maker *m) {
  return m->compared > 0 && m->equal * 20 >= m->compared * 19;
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

enum { IDENTIFY_COLUMNS_MAX = 1 << 17, IDENTIFY_EVIDENT = 4 };

typedef struct identify_request {
  table_file *table;                   /* at most IDENTIFY_COLUMNS_MAX columns */
  const char *name;                    /* name of the file */
  const posenc_kernel *const *kernels; /* candidates for the maker: kernels that report their stages */
  size_t kernel_count;
  /* The expected problems, each with a name or "", and problems that may have been computed instead; or null. Axes of
     expected problems are sections, whose positions are not compared. */
  const suspect_list *expected, *suspects;
  /* The problem that posenc check compares the file with, which also has positions, a layout and a padding row; null in
     posenc identify. part: of that problem's table. */
  const posenc_problem *asked;
  table_part part;
  bool as_asked; /* the table is judged as that problem first, and identified only if that does not explain it all */
  double error;  /* largest error of values that are recovered from an array; else 0 */
} identify_request;

/* Whether check's problem has several axes. */
static inline bool request_has_axes(const identify_request *request) {
  return request->asked && request->asked->axes;
}

typedef enum identify_agreement { NOT_COMPARED, AGREES, DISAGREES } identify_agreement;

typedef enum identify_verdict {
  IDENTIFY_TABLE,    /* a positional encoding of the family; perhaps only its maker is unknown */
  IDENTIFY_BENT,     /* sines and cosines, but of unknown frequencies or positions */
  IDENTIFY_FEW,      /* too few rows to decide */
  IDENTIFY_NO_TABLE, /* not a sinusoidal table */
} identify_verdict;

/* The order of the rows. A model does not have a table in another order than the first. */
typedef enum identity_order {
  IDENTITY_ORDERED,  /* at successive positions, or at those of a list */
  IDENTITY_REVERSED, /* at descending positions */
  IDENTITY_NEGATED,  /* at ascending positions with negated sines, which are descending positions from 0 or below */
  IDENTITY_REPEATED, /* the same positions repeatedly */
} identity_order;

/* The kind of a column that differs from the formula. */
typedef enum identify_sin {
  IDENTIFY_CONSTANT, /* the same value in all rows */
  IDENTIFY_MOVED,    /* another column's values */
  IDENTIFY_FOREIGN,
} identify_sin;

typedef struct identify_damage {
  int64_t column;
  identify_sin sin;
  double value; /* value of a constant column */
  int64_t like; /* the column whose values it has */
} identify_damage;

typedef struct identity {
  identify_verdict verdict;
  char reason[300]; /* the reason for verdicts other than IDENTIFY_TABLE */
  char negated[32]; /* the part of an IDENTIFY_BENT that is negated, as "the cosines are negated"; or "" */
  posenc_dtype stored, held;
  int64_t rows, dim;
  /* These members are set for IDENTIFY_TABLE; how.columns also for IDENTIFY_BENT. */
  making how;
  double *factors, *positions; /* arrays of `how`, or null; positions of `judged` rows */
  double *factor_errors;       /* relative errors of factors */
  bool *bad;                   /* array of `how`, or null */
  posenc_scaling scaling;      /* scaling of the formula with its attention factor; 0 if that is the formula's */
  int64_t original_least, original_most; /* range of lengths that explain the scaling equally well */
  int64_t starts;                        /* number of other first positions that explain it equally well */
  int64_t runs, listed; /* of a list: the number of runs of successive positions, and of rows with a position */
  /* The numbers of rows without a position, of a list: those that are not all zeros, and those that are. */
  int64_t lost, first_lost, blank, first_blank;
  bool also_known; /* another formula explains it equally well */
  formula also;
  int64_t padding, paddings; /* the position of the first unexpected row of zeros, and the number of such rows */
  identify_damage *damage;
  size_t damage_count;
  maker *matches; /* the closest maker first; without plans */
  size_t match_count;
  /* Counts and errors of the first `judged` rows, without padding rows and damaged columns. Tables with measured
     factors are judged in the window, others in all rows. */
  int64_t judged, elements;
  int64_t not_finite, not_finite_row, not_finite_column; /* number of elements in all columns; the first one */
  /* The number of elements with larger errors than recipes' roundings, and the first one. */
  int64_t unexplained, unexplained_row, unexplained_column;
  int64_t evident;              /* of these, elements with IDENTIFY_EVIDENT times as large errors */
  int64_t beyond;               /* elements farther from 0 than the exact value, by more than the error of f32 */
  double error;                 /* the request's */
  double max_abs, max_if_exact; /* largest error, that of the amplitude included; and if values are rounded once */
  double worst_position;
  int64_t worst_column;
  identify_agreement agreement; /* agreement with the expected problems */
  char agreed[200];             /* the name of the problem that agrees; or the cause, "" if it is unknown */
  bool has_formula;             /* an expected formula explains it, if not its positions or single elements */
  bool within;                  /* of `asked`: it is that, and no element has a larger error than code in f32 makes */
  char errors[120];             /* if it agrees: what its errors are, as "those of angles in f32"; "" if unknown */
  bool proved; /* exact values are those of the reference; otherwise they have the accuracy of doubles */
} identity;

/* Whether the outliers are few enough to be damage. More of them than may be unexplained in a table are another
   arithmetic. */
static inline bool identify_has_outliers(const maker *match) {
  return match->outliers > 0 && match->outliers * 20 <= match->compared;
}

/* Whether it is an IDENTIFY_TABLE of finite numbers, with the exponents' sign right, and its rows in order: also in the
   descending one of a sampler's timesteps, if their steps are not those of a table. */
bool identity_is_table(const identity *found);

/* Returns the order of the rows of an IDENTIFY_TABLE. *period: of IDENTITY_REPEATED, the number of rows before the
   first one is repeated. */
identity_order identity_order_of(const identity *found, int64_t *period);

/* Whether the values are truncated to f16 or bf16. Rounding moves half of the elements away from 0, truncation none. In
   longer dtypes it has the size of errors of f32. */
bool identity_is_truncated(const identity *found);

/* Returns the arithmetic that the errors are of: f64 if they are no more than roundings of doubles add to one rounding
   to the dtype of the values, else f32. */
posenc_dtype identity_arithmetic(const identity *found);

/* Returns "pad" or "ceil", or null if the number of columns is even. */
const char *identity_odd(const identity *found);

/* Returns the shift of a formula for the columns of the file, which may be half a column. */
double identity_shift(const identity *found, const formula *f);

/* ---- what is said of it -------------------------------------------------------------------------- */

/* Returns the result as one sentence, a new string. */
char *identity_sentence(const identity *found);

/* Prints the beginning of the sentence: the closest makers. They are in the order of makers_rank. how: how values are
   made by code that is not known, such as "computed in f64 ", or "". */
void makers_print(const maker *ranked, size_t count, const char *how, FILE *out);

/* Names of the parts of a table, as --part has them: "both", "cos", "sin". */
extern const char *const identity_parts[];

/* Returns what the record has of the file alone. Texts and lists of records are in `in`, here and below. */
record_identified file_record(const identify_request *request, record_memory *in);

/* Returns the record of a table of one axis. */
record_identified identity_record(const identity *found, const identify_request *request, record_memory *in);

/* Adds the makers, the closest first. */
void makers_record(const maker *ranked, size_t count, record_identified *made, record_memory *in);

/* Returns whether the table agrees with what is expected, with the cause if not. It is not `there` if nothing is. */
record_agreement agreement_record(const identity *found, record_memory *in);

/* Returns why no config makes a table of an amplitude other than 1 without a scaling. */
const char *identity_amplitude_refusal(double amplitude, record_memory *in);

/* Returns the part of config.json that makes the table, or the fact "refusal": why there is none, `refusal` if it is
   not null. */
record_facts config_record(const posenc_problem *problem, const char *refusal, record_memory *in);

/* ---- identification -------------------------------------------------------------------------------------- */

/* Identifies the positional encoding in a file from its numbers alone, and recovers tables from what they were applied
   to. */

/* Returns the result, which identity_free frees. */
identity *identify(const identify_request *request);
void identity_free(identity *found);

/*
 * Compares a table of several axes with what is expected: as request->asked, or if it is not that, as the problem of
 * its axes that was found, which may be null. `at`: the columns of that problem. Returns the result, of which the
 * agreement is set, and which identity_free frees.
 */
identity *identify_places(const identify_request *request, const posenc_problem *problem, const columns *at);

/* ---- the length of a sequence, which a config does not say (sequence.c) -------------------------- */

typedef enum length_verdict {
  LENGTH_OPEN,  /* the values do not tell it */
  LENGTH_ASKED, /* the asked one fits */
  LENGTH_SHOWN, /* others fit */
  LENGTH_BASE,  /* others fit, or a base that is written plainly does without a scaling */
  LENGTH_EARLY, /* those of sequences that end before the last row do */
  LENGTH_NONE,  /* none does that a model has */
} length_verdict;

typedef struct table_length {
  length_verdict verdict;
  int64_t least, most; /* the range of whole lengths that fit */
  double length;       /* one of them, or that of a cache, which may be no whole number */
  double base;         /* that of LENGTH_BASE */
  bool is_sure;        /* the range is so narrow that a wrong base would seldom have a whole length in it */
} table_length;

/* Finds the lengths for which the dynamic scaling of a problem, with a length of any size, makes a table: from the
   frequencies that were measured, then from phases at whole positions of up to POSITION_NEAR. is_told: the asked
   length, that of the scaling, is not assumed, so it is taken wherever it fits. */
table_length length_find(const identify_request *request, const posenc_problem *of, bool is_told);

/* Whether measured frequencies are those of the problem. */
bool length_fits(const identify_request *request, const posenc_problem *of);

/* ---- tables of several axes (grid.c) ------------------------------------------------------------- */

/* Whether a table is a grid. Makes the record of that. */
bool identify_grid(const identify_request *request, record_identified *made, record_memory *in);

/* As identify_grid, for a table whose rows have positions of their own on each axis, in any order. */
bool identify_lists(const identify_request *request, record_identified *made, record_memory *in);

/* ---- the table that add or rope has applied to an array, from x and the result alone (recover.c) ---------------- */

typedef struct recovered {
  /* Cosines then sines (POSENC_SPLIT_CS) for rope, the columns for add; one row for each position. Values are f64; or
     f32 with the precision of the arrays' dtype. */
  table_file *table;            /* null: none is recovered */
  posenc_layout pairs, written; /* the columns of a pair in x, and in the result */
  int64_t start, dim;           /* the first rotated column, and the number of rotated columns */
  bool back;                    /* the pairs are rotated backwards */
  double error;                 /* the largest error of the table's values */
  int64_t bad_row;              /* a row of x whose numbers are not all finite; -1: none */
  bool is_still;                /* the result has one position, and is x, as rope leaves it at position 0 */
} recovered;

/*
 * Recovers a table. For add, it is the difference of the result and x, averaged over batches. For rope, it has sine and
 * cosine of the angles by which pairs are rotated, averaged over batches and heads, weighted by the squares of the
 * pairs' lengths. The table has the precision of the dtype whose numbers all results are.
 *
 * Rope rotates columns in which the result differs from x. A pair is two columns whose length is multiplied by the same
 * number in all pairs and vectors. If the slowest pair rotates too little to be visible, all columns behind it count as
 * rotated, too.
 *
 * Returns false, and the reason, if no table explains the result or x is not finite.
 */
bool recover(const applied_arrays *from, posenc_op op, recovered *found, fault *why);

/* Whether a file has angles instead of their cosines and sines: frequencies, in a vector or in one row that falls from
   1; or rows that are multiples of one another, and grow beyond what cosines reach; or, of several axes of positions,
   some values beyond that. */
bool angles_are(table_file *file, bool has_axes);

/* Whether each angle is there twice, as halves or as neighbours. */
bool angles_are_twice(table_file *file);

/* Returns the table of those angles, cosines then sines; of frequencies, at `rows` positions from `first` on. If each
   angle is there twice, as halves or as neighbours, one has the cosine and the other the sine. Values are f64 for f64,
   else f32. */
table_file *recover_angles(table_file *file, int64_t first, int64_t rows);

/* Finds the layout that the values of a table show, of an even dim of its columns: pairs have the length of sine and
   cosine, and the order that is nearer to the problem's table: at wrong positions, too, that of its slow columns is.
   Returns false if the values show none. */
bool layout_shown(table_file *file, const posenc_problem *problem, posenc_layout *layout);

#endif
