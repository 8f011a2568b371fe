/* SPDX-License-Identifier: MIT */
/* Tests and intervals for small samples of timings, whose distribution is not known, and for many of them at once. */
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

/*
 * Wilcoxon's signed-rank test of differences: how likely, if each were as likely to have the other sign, ranks at
 * least as one-sided as theirs would be; two-sided. Zeros are left out, equal sizes share their mean rank. Exact up
 * to 50 that are not 0, ties or not; beyond, by the normal distribution, corrected for continuity and ties. 1 without
 * any. Source: Wilcoxon, 1945; Pratt and Gibbons, 1981.
 */
double statistics_signed_rank(const double *x, size_t n);

/*
 * The ratio whose logarithm is in the middle of these differences of logarithms: the median of the means of all pairs,
 * each number with itself too (Hodges and Lehmann's estimate), between two of the means that enclose the true one in at
 * least a share `confidence` of cases, as the signed-rank test allows. Where there are too few, low is 0 and high
 * infinite. False when memory runs out.
 */
_Bool statistics_paired_ratio_of(const double *logs, size_t n, double confidence, statistics_ratio *ratio);

/* Holm's correction of the p of n tests, in place: what is then at most alpha is wrong anywhere among them with a
   probability of at most alpha. False when memory runs out. Source: Holm, 1979. */
_Bool statistics_holm(double *p, size_t n);

#endif
