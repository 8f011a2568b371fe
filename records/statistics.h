/* SPDX-License-Identifier: MIT */
/* Tests and intervals for small samples of timings, whose distribution is not known. */
#ifndef POSENC_RECORDS_STATISTICS_H
#define POSENC_RECORDS_STATISTICS_H

#include <stddef.h>

/* Sorts x; n >= 1. */
double statistics_median(double *x, size_t n);

/*
 * Mann-Whitney's U test: how likely, if a and b were drawn alike, ranks at least as unlike as theirs would be;
 * two-sided. Exact for samples of up to 25 without ties; else by the normal distribution, corrected for continuity and
 * ties. 1 where a sample is empty. Source: Mann and Whitney, 1947.
 */
double statistics_rank_test(const double *a, size_t n, const double *b, size_t m);

/*
 * The ratio of b to a: the median of all n × m quotients (Hodges and Lehmann's estimate, of logarithms),
 * between two of them that enclose the true one in at least a share `confidence` of cases: as many from either end as U
 * allows. All positive. Where the samples are too small for that, low is 0 and high infinite. False when memory runs
 * out.
 */
typedef struct statistics_ratio {
  double estimate, low, high;
} statistics_ratio;
_Bool statistics_ratio_of(const double *a, size_t n, const double *b, size_t m, double confidence,
                          statistics_ratio *ratio);

#endif
