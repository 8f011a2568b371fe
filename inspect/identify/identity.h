/* SPDX-License-Identifier: MIT */
/* The request and the result of an identification. */
#ifndef POSENC_IDENTIFY_IDENTITY_H
#define POSENC_IDENTIFY_IDENTITY_H

#include "inspect/files/table.h"
#include "inspect/identify/makers.h"
#include "inspect/models/model.h"

#include <jansson.h>
#include <stdio.h>

enum { IDENTIFY_COLUMNS_MAX = 1 << 17 };

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
  columns_part part;
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
  int64_t beyond;               /* elements farther from 0 than the exact value, by more than the error of f32 */
  double error;                 /* the request's */
  double max_abs, max_if_exact; /* largest error, that of the amplitude included; and if values are rounded once */
  double worst_position;
  int64_t worst_column;
  identify_agreement agreement; /* agreement with the expected problems */
  char agreed[200];             /* the name of the problem that agrees; or the cause, "" if it is unknown */
  bool within;                  /* of `asked`: it is that, and no element has a larger error than code in f32 makes */
  char errors[120];             /* if it agrees: what its errors are, as "those of angles in f32"; "" if unknown */
  bool proved; /* exact values are those of the reference; otherwise they have the accuracy of doubles */
} identity;

/* Whether the outliers are few enough to be damage. More of them than may be unexplained in a table are another
   arithmetic. */
static inline bool identify_has_outliers(const maker *match) {
  return match->outliers > 0 && match->outliers * 20 <= match->compared;
}

/* Returns the base that has these frequencies without the minus sign of the exponent -2i/dim, if people write it; else
   0. */
double identity_inverse_base(const identity *found);

/* Whether it is an IDENTIFY_TABLE of finite numbers, with the exponents' sign right, and its rows in order: also in the
   descending one of a sampler's timesteps, if their steps are not those of a table. */
bool identity_is_table(const identity *found);

/* Returns the order of the rows of an IDENTIFY_TABLE. *period: of IDENTITY_REPEATED, the number of rows before the
   first one is repeated. */
identity_order identity_order_of(const identity *found, int64_t *period);

/* Returns the largest error but for outliers. */
double identity_max_of_most(const identity *found);

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

/* Returns the result as one sentence, a new string; null if memory runs out. */
char *identity_sentence(const identity *found);

/* Prints the beginning of the sentence: the closest makers. They are in the order of makers_rank. how: how values are
   made by code that is not known, such as "computed in f64 ", or "". */
void makers_print(const maker *ranked, size_t count, const char *how, FILE *out);

/* Return arrays for the record, new references: {"name", "elements" ...} of each maker, and the names of the
   closest. */
json_t *makers_json(const maker *ranked, size_t count);
json_t *closest_json(const maker *ranked, size_t count);

/* Returns whether the table agrees with what is expected, with the cause if not: JSON's null if nothing is. */
json_t *identity_agreement_json(const identity *found);

/* Returns the result as JSON, as doc/python.md describes it; null if memory runs out. */
json_t *identity_json(const identity *found, const identify_request *request);

#endif
