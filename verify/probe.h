/* SPDX-License-Identifier: MIT */
/* A plan of another problem than the subject's, whose calls must give the bits of one call for all rows. */
#ifndef POSENC_VERIFY_PROBE_H
#define POSENC_VERIFY_PROBE_H

#include "verify/variants.h"

typedef struct probe {
  stress *t;
  shape of;
  subject s;
  size_t row_bytes;
  int64_t from;        /* the first row of x and of `rows` */
  unsigned char *x;    /* null for a table */
  size_t mapped;       /* mapped bytes of x; 0 if x is allocated */
  unsigned char *rows; /* made by one call; null if not requested */
} probe;

/* Returns false if the kernel cannot make the problem, or there is no memory for it. Must be closed if true. */
bool probe_open(probe *r, stress *t, const posenc_problem *problem, bool all_rows);

/* probe_open for calls of a window only, of a problem that may have any number of rows. */
bool probe_open_window(probe *r, stress *t, const posenc_problem *problem, window w, bool all_rows);
void probe_close(probe *r);

/* Makes an unchecked call of a plan of the probe's problem. */
void probe_call(const probe *r, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out);

/* Makes a call of the probe's own plan, with a copy of its rows of x in the arena `other`, off alignment. `out` is in
   the arena `a`: bytes written beside it and elements that are not written break MEMORY. */
void probe_run(probe *r, int64_t row, int64_t rows, const arena *a, unsigned char *out);

/* probe_run, after which the bits must be those of all rows, or `p` is broken. */
void probe_compare(probe *r, property p, int64_t row, int64_t rows, const arena *a, unsigned char *out);

#endif
