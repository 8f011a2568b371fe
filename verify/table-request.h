/* SPDX-License-Identifier: MIT */
/* A request to check a table in a file. */
#ifndef POSENC_VERIFY_TABLE_REQUEST_H
#define POSENC_VERIFY_TABLE_REQUEST_H

#include "files/table.h"
#include "reference/oracle.h"

/* The most columns: the reference takes 4 KiB per pair of columns. */
enum { TABLE_COLUMNS_MAX = 1 << 17 };

/* Which of sines and cosines a table has. A table with only one of them is from a rope cache, in the problem's layout
   as posenc_rope_tables uses it: duplicated [f, f], interleaved with each column twice, or split with each once; the
   latter has half of the problem's columns. */
typedef enum table_part { TABLE_BOTH, TABLE_SIN, TABLE_COS } table_part;

/* Frequencies of a problem with `dim` columns. */
typedef struct axis_selection {
  int64_t dim;
  selection of;
} axis_selection;

typedef struct table_request {
  table_file *table;
  const char *name; /* name of the file */
  /* The table that the file should have. Rows, dim and dtype are the file's; at most TABLE_COLUMNS_MAX columns. */
  posenc_problem problem;
  const axis_selection *pairs; /* unless null, the frequencies of the pairs */
  table_part part;
  const posenc_bound *limit; /* tolerances, without growth; null if there are no checks */
  bool recorded;             /* the problem is from the file's own metadata */
  const char *replay;        /* the command that repeats this */
} table_request;

#endif
