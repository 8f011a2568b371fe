/* SPDX-License-Identifier: MIT */
/* Statistics of error over the elements of a table. */
#ifndef POSENC_REFERENCE_ACCURACY_H
#define POSENC_REFERENCE_ACCURACY_H

#include "posenc.h"
#include "reference/format.h"

/* Histogram of errors in ulp: bin b counts errors below 2^(b - 4), the first from 0, the last everything above. */
enum { ACCURACY_BINS = 32, ACCURACY_FIRST_EXPONENT = -4 };

/* An element of a table: its position, the index of its pair, and whether it is the cosine. */
typedef struct element_place {
  int64_t position, index;
  bool cosine;
} element_place;

typedef struct witness {
  double ulp, abs;
  int64_t position, index;
  bool cosine;
  double exact_high, exact_low, got;
} witness;

typedef struct accuracy {
  int64_t elements, misrounded;
  int64_t held;             /* elements that a bound was given for */
  int64_t beyond;           /* of these, those whose error exceeds it; NaN and infinities among them */
  witness max_ulp, max_abs; /* not a number counts as an infinite error; of equal ones the first in the table */
  double worst_share;       /* the largest error as a share of what the bound allows there, */
  witness worst;            /* and where that is */
  double sum_ulp, sum_abs;
  int64_t bins[ACCURACY_BINS];
} accuracy;

/* Adds one element. bound null: nothing is claimed here. */
void accuracy_add(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                  element_place at);

/* The same but for the sums; gives what belongs in them. */
typedef struct element_error {
  double ulp, abs;
} element_error;
element_error accuracy_count(accuracy *a, const format *f, const posenc_bound *bound, const exact *value, double got,
                             element_place at);

/* Adds an element whose error is known, but for the sums; and, apart from that, holds one to a limit: a negative one
   is broken by all. */
void accuracy_note(accuracy *a, const witness *here, bool misrounded);
void accuracy_hold(accuracy *a, const witness *here, double limit);

/* Adds what another has found. Nothing but the rounding of the sums depends on the order. */
void accuracy_merge(accuracy *into, const accuracy *from);

/* The bin of errors from 2^(exponent-1) to 2^exponent ulp. */
int accuracy_bin(int exponent);

/* The upper end of a bin, in ulp; infinite for the last. */
double accuracy_bin_end(int bin);

#endif
