/* SPDX-License-Identifier: MIT */
/* A rope cache: its two tables are columns of one table, which is held to the reference as any other is. So they are held
 * to that table, bit for bit. */
#ifndef POSENC_VERIFY_CACHE_H
#define POSENC_VERIFY_CACHE_H

#include "verify/checks.h"

typedef struct cache {
  posenc_problem problem;
  posenc_plan *plan;
  arena *tables;       /* cosines, and sines right behind them */
  unsigned char *want; /* what they should be */
} cache;

/* For windows of so many rows at most, of a problem that the subject's kernel does. False when memory runs out; to be
 * closed either way. */
bool cache_open(cache *c, const subject *s, const posenc_problem *problem, int64_t rows);
void cache_close(cache *c);

/* The rows of a window in both tables against those of the subject's, which are computed into `table`; with `again`,
 * also of each table alone. */
void cache_check_window(cache *c, subject *s, window w, arena *table, bool again);

#endif
