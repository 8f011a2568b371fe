/* SPDX-License-Identifier: MIT */
/* Compares any table with the exact values: tables in files, and lists of positions and odd dims by kernels. */
#ifndef POSENC_VERIFY_TABLE_EXAM_H
#define POSENC_VERIFY_TABLE_EXAM_H

#include "common/number.h"
#include "verify/checks.h"
#include "verify/files.h"
#include "verify/record.h"

/* Writes rows [row, row + rows) of a table, packed. */
typedef void rows_reader(void *from, int64_t row, int64_t rows, void *out);

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

/* The exam of one table. For a list of positions, the positions here are rows. */
typedef struct table_exam {
  const table_request *request; /* its limit may grow with the position, and have a domain */
  rows_reader *read;            /* makes the rows, with the argument `from` */
  void *from;
  int64_t read_dim;              /* columns of these rows */
  posenc_problem plain;          /* without a list of positions, and without the last column of an odd dim */
  const posenc_problem *problem; /* points to `plain` */
  const double *positions;
  int64_t odd_column; /* of the file; -1 if none */
  size_t row_bytes, file_row_bytes;
  fast_oracle *references[UNITS];
  oracle *odd_references[UNITS];           /* for a last sine without a cosine */
  unsigned char *rows, *one, *other, *raw; /* a block, two single rows, and a block as in the file */
  int copy;                                /* which copy is read, if the columns of a part occur twice */
  fast_pair *by;
  row_digest *digests;
  int64_t digested;
  octaves by_size;
  accuracy found;
  double attention;
  int64_t not_finite, equal, equal_first[2];
  check checks[PROPERTIES];
} table_exam;

/* Creates an exam for rows of read_dim columns. */
table_exam *table_exam_create(const table_request *request, rows_reader *read, void *from, int64_t read_dim);
void table_exam_free(table_exam *e);

/* Compares a table without axes with the exact values. */
void table_examine(table_exam *e);

/* The two parts of table_examine, for tables of axes (rows.c): allocates memory for rows; compares all rows, but of a
   table of axes it only looks for equal rows. */
void table_exam_begin(table_exam *e);
void table_exam_end(table_exam *e);

/* Returns how often the file has each column, 1 or 2. */
int table_exam_copies(const table_exam *e);

/* Reads rows of the problem's columns, without the odd one; at most table_exam_block rows at a time. */
void table_exam_read(table_exam *e, int64_t row, int64_t rows, unsigned char *out);
int64_t table_exam_block(const table_exam *e);

number_text table_position_text(const table_exam *e, int64_t position);

/* Compares a table, with axes or without, with the exact values (rows.c). */
void any_table_examine(table_exam *e);

#endif
