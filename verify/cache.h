/* SPDX-License-Identifier: MIT */
/* A rope cache: its two tables are columns of one table. That table is compared with the exact values, as any other
 * is; the two are compared with it, bit for bit. */
#ifndef POSENC_VERIFY_CACHE_H
#define POSENC_VERIFY_CACHE_H

#include "verify/checks.h"

typedef struct cache {
  posenc_problem problem;
  posenc_plan *plan;
  arena *tables;       /* cosines, and sines right behind them */
  unsigned char *want; /* what they should be */
} cache;

/* rows: of the largest window. The subject's kernel must do the problem. False when memory runs out; to be closed in
 * any case. */
bool cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows);
void cache_close(cache *c);

/* The rows of a window in both tables against those of the subject's, which are computed into `table`; with `again`,
 * also of each table alone. */
void cache_check_window(cache *c, subject *s, window w, arena *table, bool again);

#endif
