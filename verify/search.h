/* SPDX-License-Identifier: MIT */
/*
 * The directed search for a kernel's worst case among positions that are too many to enumerate. Each round samples
 * elements at log-uniform positions. From the element nearest to a midpoint it moves towards midpoints; from the one
 * with the largest error it moves to larger errors.
 */
#ifndef POSENC_VERIFY_SEARCH_H
#define POSENC_VERIFY_SEARCH_H

#include "verify/checks.h"

/* The farthest position that is searched. */
#define SEARCH_REACH (INT64_C(1) << 40)

typedef struct searched {
  accuracy found;  /* statistics of all evaluated elements */
  int64_t reach;   /* positions 1 .. reach were searched */
  witness nearest; /* the element nearest to a midpoint */
  double from_tie; /* its distance from the midpoint, in ulp */
} searched;

/*
 * Evaluates `evaluations` sine-cosine pairs at positions up to SEARCH_REACH for which the kernel has a bound, with the
 * table's dim, base, shift, layout and dtype, and sets the check SEARCH. The positions depend on `random` only. The
 * arena must have room for a row. Returns false if memory runs out.
 */
bool subject_search(subject *s, int64_t evaluations, arena *a, uint64_t *random, searched *result);

#endif
