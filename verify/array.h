/* SPDX-License-Identifier: MIT */
/* Pairs of a result of add or rope, and how far they may be from the exact ones: for its exam and for its cause. */
#ifndef POSENC_VERIFY_ARRAY_H
#define POSENC_VERIFY_ARRAY_H

#include "reference/axes.h"
#include "verify/files.h"

/* The limit of results of one problem, of arithmetic as their numbers show it (reference/accuracy.h). */
typedef struct array_limits {
  double *angles;      /* of each frequency index at position 1 */
  double unit;         /* of the arithmetic */
  double value, least; /* least: numbers of the dtype below have fewer digits */
} array_limits;

/* Sets the limits of a problem, of results that are numbers of the dtype `held`. The caller frees l->angles. */
void array_limits_open(array_limits *l, const posenc_problem *problem, posenc_dtype held);

/* Returns the limit of the errors of pair i at a position, or with axes at an index, as a share of its length. */
double array_limit_at(const array_limits *l, const posenc_problem *problem, int64_t i, int64_t at);

/* Returns the larger error of a pair, as a share: for rope of the length of x's pair, but at least `least`; for add
   also of at least 1. */
double array_share(const double x[2], const double got[2], const double right[2], bool is_add, double least);

/* Returns the sine and cosine of frequency i. */
fast_pair array_lane(const fast_lanes *lanes, int64_t i);

#endif
