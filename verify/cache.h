/* SPDX-License-Identifier: MIT */
/* Checks of a rope cache. Its two tables are columns of one table, which is compared with the exact values like any
   other; the two tables are compared with its bits. */
#ifndef POSENC_VERIFY_CACHE_H
#define POSENC_VERIFY_CACHE_H

#include "verify/checks.h"

typedef struct cache {
  posenc_problem problem;
  posenc_plan *plan;
  arena *tables;       /* cosines, directly followed by sines */
  unsigned char *want; /* the expected tables */
} cache;

/* rows: of the largest window. The subject's kernel must be able to make the problem. Returns false if memory runs out;
   must be closed in any case. */
bool cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows);
void cache_close(cache *c);

/* Compares the rows of a window in both tables with the subject's rows, which are computed into `table`; with `again`,
   also each table made alone. */
void cache_check_window(cache *c, subject *s, window w, arena *table, bool again);

#endif
