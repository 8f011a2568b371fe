/* SPDX-License-Identifier: MIT */
/* Where and how much two tables in files differ. */
#ifndef POSENC_FILES_DIFFERENCE_H
#define POSENC_FILES_DIFFERENCE_H

#include "files/table.h"

/* An element of both. */
typedef struct difference_at {
  int64_t row, column;
  double a, b;
  double size; /* |a - b|; infinite where just one is not a number, or an infinity */
} difference_at;

typedef struct difference {
  int64_t rows;   /* that both have; all other members are about these */
  int64_t values; /* elements of other value: 0 and -0 have the same, and so have two that are not numbers */
  int64_t bits;   /* elements of other bits; -1 if the dtypes differ */
  difference_at first, largest; /* the first difference of values, or if there are none, of bits */
  /* Column columns[c] of a is column c of b, to the last bit of all values; null if the columns are the same, or no
     such order is known. */
  const int64_t *columns;
  /* The layouts that a and b have then, or else those for which the largest difference of the first rows is least;
     null if there are none. */
  const char *from, *to;
  double least; /* that difference; 0 where there are `columns` */
} difference;

/* Null, or why they cannot be compared: no columns in common, or no memory. */
const char *difference_find(table_file *a, table_file *b, void (*progress)(double done, double total),
                            difference *found);
void difference_free(difference *d);

#endif
