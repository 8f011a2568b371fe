/* SPDX-License-Identifier: MIT */
/* The exam of rows of any origin: of tables in files; of lists of positions, axes and odd dims by kernels; and of
   results of add and rope in files. */
#ifndef POSENC_VERIFY_TABLE_EXAM_H
#define POSENC_VERIFY_TABLE_EXAM_H

#include "reference/axes.h"
#include "verify/checks.h"
#include "verify/exam.h"
#include "verify/files.h"

/* ---- one exam -------------------------------------------------------------------------------------------- */

/* Where rows are from, a file or the calls of a kernel: `read` writes rows [row, row + rows), packed. */
typedef void rows_reader(void *from, int64_t row, int64_t rows, void *out);
typedef struct rows_source {
  rows_reader *read;
  void *from;
} rows_source;

void rows_of_file(void *from, int64_t row, int64_t rows, void *out); /* from: a table_file */

/* The exam of rows from a source, with the rows of an x or without, by one judge. */
typedef struct row_exam row_exam;
struct row_exam {
  const char *name; /* of the file, for the progress; null: it is not shown */
  posenc_problem problem;
  column_map columns; /* of the rows; of x, from the first one that is worked on */
  int64_t width;      /* elements of a row as it is read */
  size_t bytes, room; /* of such a row; and of the longest one that the judge makes of it */
  rows_source source, of_x;
  unsigned char *rows, *x; /* a block of each; no x: null */
  /* Compares a block, and adds what it finds. Returns false if there is no answer. */
  bool (*judge)(row_exam *e, window block);
  octaves by_size;
  accuracy found; /* of all octaves, in the end */
  int64_t not_finite;
  check checks[PROPERTIES];
};

/* Finds the columns, and allocates memory for a block, of an exam of `width` columns. */
void row_exam_open(row_exam *e, table_part part);
void row_exam_allocate(row_exam *e, size_t room);
void row_exam_close(row_exam *e);

/* Judges the rows of a window, block by block. Returns false, without those behind, at a block without an answer. */
bool row_exam_look(row_exam *e, window w);

/* Returns the record of what was found, with the checks of `subjects`. `tell` adds the place of a witness. */
typedef void place_teller(row_exam *e, const witness *w, record_witness *made, record_memory *in);
file_result row_exam_record(row_exam *e, const file_exam *of, unsigned subjects, place_teller *tell);

/* Returns the largest errors, in `text`, as the reason why accuracy is not checked without a limit. */
const char *row_exam_figures(const row_exam *e, char *text, size_t size);

/* ---- tables ---------------------------------------------------------------------------------------------- */

/* Whole positions are numbers of the unit 1, fractional ones of the first unit 2^-8, 2^-16, … in which they are whole.
   The unit becomes part of the scale. */
enum { UNIT_BITS = 8, UNITS = (1074 + UNIT_BITS - 1) / UNIT_BITS + 1 };

typedef struct place_in_list {
  int unit;
  int64_t number;
} place_in_list;

/* A digest of a row's bits, and the row's number. */
typedef struct row_digest {
  uint64_t digest;
  int64_t row;
} row_digest;

/* The pairs of one axis of a table, or all pairs of a table without axes; and where their sines and cosines are in a
   row. */
typedef struct table_axis {
  posenc_problem problem; /* a table of these pairs alone, without a list, which has the columns below */
  int64_t frequencies;    /* dim of the problem that has the frequencies */
  axis_pairs pairs;       /* of a table with axes */
  double attention;
  int64_t *picked[2]; /* columns of the sines and then of the cosines, -1 for none; in each copy. Null: the row's own */
  fast_oracle *references[UNITS];
} table_axis;

/* The exam of one table. The positions here are of a list the rows, and with axes the places. */
typedef struct table_exam {
  row_exam of;
  const table_request *request; /* its limit may grow with the position, and have a domain */
  table_axis axis[POSENC_AXES];
  int axes;
  oracle *odd_references[UNITS];
  unsigned char *own, *one, *other; /* a block of an axis's columns, and two single rows */
  fast_pair *by;
  row_digest *digests;
  int64_t digested, equal, equal_first[2];
} table_exam;

/* Creates an exam for rows of `width` columns. */
table_exam *table_exam_create(const table_request *request, rows_source source, int64_t width);
void table_exam_free(table_exam *e);

/* Compares the rows of a window with the exact values, and some with each other. The errors are in `by_size`. */
void table_exam_rows(table_exam *e, window w);

/* ---- results of add and rope (array.c) ------------------------------------------------------------------- */

/* Pairs of a result of add or rope, and how far they may be from the exact ones: for its exam and for its cause. */

/* The limit of results of one problem, of arithmetic as their numbers show it (reference/accuracy.h). */
typedef struct array_limits {
  double *angles;      /* of each frequency index at position 1 */
  double unit;         /* of the arithmetic */
  double value, least; /* least: numbers of the dtype below have fewer digits */
} array_limits;

/* Sets the limits of a problem, of results that are numbers of the dtype `held`. The caller frees l->angles. */
void array_limits_open(array_limits *l, const posenc_problem *problem, posenc_dtype held);

/* Returns the limit of the errors of pair i at a position, or with axes at an index, as a share of its length. */
double array_limit_at(const array_limits *l, const posenc_problem *problem, int64_t i, int64_t at);

/* Returns the larger error of a pair, as a share: for rope of the length of x's pair, but at least `least`; for add
   also of at least 1. */
double array_share(const double x[2], const double got[2], const double right[2], bool is_add, double least);

/* Returns the sine and cosine of frequency i. */
fast_pair array_lane(const fast_lanes *lanes, int64_t i);

#endif
