/* SPDX-License-Identifier: MIT */
/*
 * The directed search for a kernel's worst case among positions that nobody can enumerate. Rounds of: sample elements
 * at positions that are log-uniform; from the one nearest to a tie, the middle between two numbers of the dtype, creep
 * towards ties; from the one with the largest error climb to larger ones.
 */
#ifndef POSENC_VERIFY_SEARCH_H
#define POSENC_VERIFY_SEARCH_H

#include "verify/checks.h"

/* Farthest position that is searched. */
#define SEARCH_REACH (INT64_C(1) << 40)

typedef struct searched {
  accuracy found;  /* of all elements that were looked at */
  int64_t reach;   /* positions 1 .. reach were searched */
  witness nearest; /* the element nearest to a tie, */
  double from_tie; /* and how near it is, in ulp */
} searched;

/*
 * Spends so many evaluations, a sine-cosine pair each, on positions up to SEARCH_REACH for which the kernel's bound
 * means anything, of the table's dim, base, shift, layout and dtype, and fills in the check SEARCH. Everything follows
 * from `random`. The arena is to hold a row. False when memory runs out.
 */
bool subject_search(subject *s, int64_t evaluations, arena *a, uint64_t *random, searched *result);

#endif
