/* SPDX-License-Identifier: MIT */
/* Compares tables in files, and results of add and rope on arrays in files, made by any program, with the exact
   values. */
#ifndef POSENC_VERIFY_FILE_EXAMS_H
#define POSENC_VERIFY_FILE_EXAMS_H

#include "inspect/files/table.h"
#include "inspect/models/model.h"
#include "records/record.h"
#include "reference/axes.h"

/* The most columns: the reference takes 4 KiB per pair of columns. */
enum { TABLE_COLUMNS_MAX = 1 << 17 };

/* The record of posenc check on a file. The caller releases its memory. */
typedef struct file_result {
  record_file of;
  record_memory memory;
} file_result;

/* Returns the record of posenc check, with the totals of the checks, whose environment is in `in`. */
record_file_check file_check_of(const record_file *found, record_memory *in);

/* ---- a table --------------------------------------------------------------------------------------------------- */

typedef struct table_request {
  table_file *table;
  const char *name; /* name of the file */
  /* The table that the file should have. Rows, dim and dtype are the file's; at most TABLE_COLUMNS_MAX columns. */
  posenc_problem problem;
  table_part part;
  const posenc_bound *limit; /* tolerances, without growth; null if there are no checks */
  bool recorded;             /* the problem is from the file's own metadata */
  const char *replay;        /* the command that repeats this */
} table_request;

/* Compares a table. The positions of a list need not be integers.

   Checks: accuracy, bounded, pair-norm, rotation, unique-rows; those about pairs are skipped if there is only one part.
   Without a tolerance all are skipped, but have their worst deviations. */
file_result verify_table(const table_request *request);

/* ---- the result of add or rope on an array x ------------------------------------------------------------------- */

typedef struct array_request {
  applied_arrays arrays; /* x must be finite */
  const char *x_name, *name;
  /* Add or rope of one head: rows are the positions, dim is the number of columns that were processed, from column
     `start` on; the dtype is the files'. Positions of a list are integers. At most TABLE_COLUMNS_MAX columns. */
  posenc_problem problem;
  int64_t start;
  const suspect_list *suspects; /* for array_cause_of: other formulas that are tried, or null */
  double max_ulp, max_abs;      /* tolerances; if both are 0, there are no checks */
  const char *replay;           /* the command that repeats this */
} array_request;

/* Returns the position at an index on the axis of positions. */
static inline int64_t array_position(const array_request *request, int64_t index) {
  const posenc_problem *problem = &request->problem;
  return problem->positions ? (int64_t)problem->positions[index] : problem->first + index;
}

/* The largest errors of right results at positions 0 to `last` (reference/accuracy.h): of an angle, that of frequency
   `index`; of a value of the table; and of a pair that rope turns, as a share of its length. */
typedef struct tolerance {
  double angle, table, pair;
  int64_t index;
} tolerance;

/* Returns the tolerance of results of a problem without axes, whose values are numbers of the dtype `held`. */
tolerance tolerance_of(const posenc_problem *problem, posenc_dtype held, int64_t last);

/* Returns the least tolerance of two digits that errors of `most` pass. */
double tolerance_above(double most);

/* Compares a result. For rope, the ulp of an error is that of the length of the exact pair. The result
   has no `recorded` and `equal_rows`; `beyond` are pairs with a larger error than reference/accuracy.h allows or, if
   there are none, elements of a sample whose bits are those of a mistake; `unchecked` is a mistake that neither tells,
   as "; not checked: whether …".  Checks: accuracy; and untouched: the columns that are not processed have the bits of
   x. Returns false, with nothing found, if a number of x is not finite; *bad_row is then its row, else -1. */
bool verify_array(const array_request *request, file_result *found, int64_t *bad_row);

/*
 * Makes the result itself, of an array x: every element is the exact one, rounded once to the dtype, and columns that
 * are not worked on are those of x. The request's `out`, names and tolerances are not read; it must stay valid.
 * array_make returns false if a number of x is not finite; *bad_row is then its row.
 */
typedef struct array_exam array_exam;
array_exam *array_open(const array_request *request);
bool array_make(array_exam *e, int64_t row, int64_t rows, void *out, int64_t *bad_row);
void array_close(array_exam *e);

/* How add or rope differed from the request. */
typedef struct array_cause {
  char text[160]; /* empty if unknown, or if there is nothing to explain */
  /* If all errors are within the tolerance: a mistake in the positions of an axis that turns too slowly for the
     tolerance to tell it. It is the cause, and `unlike` elements of the sample have other bits than what is asked; or
     else it is `unseen`, if bits do not tell it, either; "" if there is none. */
  int64_t unlike;
  char unseen[160];
} array_cause;

/* Tries known mistakes, one at a time, on a sample of vectors; if those of some heads or batches are right, on the
   first that are not. A mistake is the cause if it explains them within the tolerance of reference/accuracy.h, which
   the request does not, or 16 times as well as that, and better than the other mistakes do. There is no cause if all
   errors are those of values, but for the positions of axes: results of a narrow dtype may have the bits of others. */
array_cause array_cause_of(const array_request *request);

#endif
