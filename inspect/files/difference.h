/* SPDX-License-Identifier: MIT */
/* The differences of two tables or arrays in files. */
#ifndef POSENC_FILES_DIFFERENCE_H
#define POSENC_FILES_DIFFERENCE_H

#include "inspect/files/table.h"

/* An element of both tables. */
typedef struct difference_at {
  int64_t row, column;
  double a, b;
  double size; /* |a - b|; infinity if only one is NaN or infinite */
  double ulp;  /* the size in units of the dtype with fewer bits, at the larger of the two */
} difference_at;

typedef struct difference {
  int64_t rows;   /* rows that both have; all other members are about these */
  int64_t values; /* elements that differ in value; 0 equals -0, and NaN equals NaN */
  int64_t bits;   /* elements that differ in bits; -1 if the dtypes differ */
  /* The first difference of values, otherwise of bits; the largest, and the largest in ulp. */
  difference_at first, largest, most_ulp;
  /* Column columns[c] of a is column c of b in all values, to the last bit. Null if the order is the same, or none is
     known. */
  const int64_t *columns;
  /* The layouts of a and b in that case; otherwise those for which the largest difference of the first rows is least.
     Null if there are none. */
  const char *from, *to;
  double least; /* that difference; 0 if there are `columns` */
} difference;

/* Returns null, or the reason why the tables cannot be compared: different or too many columns. */
const char *difference_find(table_file *a, table_file *b, void (*progress)(double done, double total),
                            difference *found);
void difference_free(difference *d);

#endif
