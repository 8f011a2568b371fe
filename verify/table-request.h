/* SPDX-License-Identifier: MIT */
/* A table in a file, and what it should be. */
#ifndef POSENC_VERIFY_TABLE_REQUEST_H
#define POSENC_VERIFY_TABLE_REQUEST_H

#include "files/table.h"
#include "reference/oracle.h"

/* The oracle has 4 KiB for each pair of columns. */
enum { TABLE_COLUMNS_MAX = 1 << 17 };

/* Which of sines and cosines a table has. One alone is a table of a rope cache, with the problem's layout as
 * posenc_rope_tables has it: duplicated [f, f], interleaved with each column twice, or split with each once; then half
 * of the problem's columns are in the file. */
typedef enum table_part { TABLE_BOTH, TABLE_SIN, TABLE_COS } table_part;

/* Frequencies of a problem of so many columns. */
typedef struct axis_selection {
  int64_t dim;
  selection of;
} axis_selection;

typedef struct table_request {
  table_file *table;
  const char *name; /* of the file */
  posenc_problem
      problem; /* what it should be, a table; rows, dim and dtype are the file's. At most TABLE_COLUMNS_MAX columns */
  const axis_selection *pairs; /* unless null, the pairs have these frequencies, not those of the problem's dim */
  table_part part;
  const posenc_bound *limit; /* the errors that are allowed, without a growth; null: nothing is judged */
  bool recorded;             /* the problem is what the file says of itself */
  const char *replay;        /* the command that does this again */
} table_request;

#endif
