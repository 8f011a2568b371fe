/* SPDX-License-Identifier: MIT */
/* Tests and intervals for small samples of timings of unknown distribution, and corrections for many tests. */
#ifndef POSENC_RECORDS_STATISTICS_H
#define POSENC_RECORDS_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts x and returns its median; n >= 1. */
double statistics_median(double *x, size_t n);

/*
 * Mann-Whitney's U test, two-sided: the probability that two samples of one distribution have ranks at least as
 * different as those of a and b. Exact for samples of up to 25 without ties; else by the normal distribution,
 * corrected for continuity and ties. 1 if a sample is empty. Source: Mann and Whitney, 1947.
 */
double statistics_rank_test(const double *a, size_t n, const double *b, size_t m);

/*
 * The ratio of b to a, all positive: the median of all n × m quotients (Hodges and Lehmann's estimate, of
 * logarithms), with the interval between two quotients that contains the true ratio in at least a share `confidence`
 * of cases. The U test gives the number of quotients outside at either end. If the samples are too small, low is 0
 * and high infinite.
 */
typedef struct statistics_ratio {
  double estimate, low, high;
} statistics_ratio;
statistics_ratio statistics_ratio_of(const double *a, size_t n, const double *b, size_t m, double confidence);

/*
 * Wilcoxon's signed-rank test of differences, two-sided: the probability that ranks are at least as one-sided if
 * either sign is equally likely for each difference. Zeros are left out, equal sizes share their mean rank. Exact for
 * up to 50 differences that are not 0, with or without ties; beyond, by the normal distribution, corrected for
 * continuity and ties. 1 if there are no differences. Source: Wilcoxon, 1945; Pratt and Gibbons, 1981.
 */
double statistics_signed_rank(const double *x, size_t n);

/*
 * Finds the ratio from differences of logarithms: the median of the means of all pairs, with each number paired with
 * itself too (Hodges and Lehmann's estimate). The interval between two of the means contains the true ratio in at
 * least a share `confidence` of cases, by the signed-rank test. If there are too few differences, low is 0 and high
 * infinite.
 */
statistics_ratio statistics_paired_ratio_of(const double *logs, size_t n, double confidence);

/* Applies Holm's correction to the p of n tests, in place. The probability that any true null hypothesis then has p <=
   alpha is at most alpha. Source: Holm, 1979. */
void statistics_holm(double *p, size_t n);

/* ---- changes in a series --------------------------------------------------------------------------------- */

/* Finds where the distribution of a series changes, if it does. */

/* Fewest numbers between two changes, or between a change and an end: fewer have no interval of 95 % for a ratio. */
enum { DIVISIVE_LEAST = 4 };

typedef struct divisive_change {
  size_t at; /* index of the first number after the change */
  double p;  /* share of orders of the numbers around it with a division at least as clear; at least 1 / the number of
                orders tried */
} divisive_change;

/*
 * Finds changes of the n numbers, in order, by E-divisive: the division with the largest energy distance between the
 * two sides, which is a change if few random orders of the numbers have one as large; then each side likewise. If
 * nothing has changed, any change is found with a probability of at most `level`. `found` has room for n / 4 changes.
 * Returns their number. Equal seeds find equal changes.
 * Source: Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate data", 2014,
 * with exponent 1. There the clearest division of all sides is tested against orders within all of them; here each side
 * is tested by itself, independently of the others. Here large distances count as one bound, so that a few numbers far
 * from all others are no change and hide none; min(|x - y|, c) remains of negative type, as c less it is a triangle of
 * |x - y|, whose Fourier transform is nowhere negative.
 */
size_t divisive_find(const double *x, size_t n, double level, uint64_t seed, divisive_change *found);

#endif
