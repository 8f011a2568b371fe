/* SPDX-License-Identifier: MIT */
/* A plan of another problem than the subject's, and calls of it that must give the bits of one call for all rows. */
#ifndef POSENC_VERIFY_PROBE_H
#define POSENC_VERIFY_PROBE_H

#include "verify/variants.h"

typedef struct probe {
  stress *t;
  shape of;
  subject s;
  size_t row_bytes;
  unsigned char *x;    /* null: a table */
  size_t mapped;       /* bytes of x that are mapped; 0: they are allocated */
  unsigned char *rows; /* by one call; null: not asked for */
} probe;

/* False if the kernel does not do it, or there is no memory for it. To be closed if true. */
bool probe_open(probe *r, stress *t, const posenc_problem *problem, bool all_rows);
void probe_close(probe *r);

/* One unchecked call of a plan of the probe's problem. */
void probe_call(const probe *r, const posenc_plan *plan, int64_t row, int64_t rows, unsigned char *out);

/* One call of the probe's own plan, whose x is a copy of its rows, in the arena `other` and off alignment. `out` is in
 * the arena `a`: bytes that are written beside it, and elements that are not written, break MEMORY. */
void probe_run(probe *r, int64_t row, int64_t rows, const arena *a, unsigned char *out);

/* The same, and its bits must be those of all rows, or `p` is broken. */
void probe_compare(probe *r, property p, int64_t row, int64_t rows, const arena *a, unsigned char *out);

#endif
