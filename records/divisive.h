/* SPDX-License-Identifier: MIT */
/* Finds where the distribution of a series changes, if it does. */
#ifndef POSENC_RECORDS_DIVISIVE_H
#define POSENC_RECORDS_DIVISIVE_H

#include <stddef.h>
#include <stdint.h>

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
 * is tested by itself, independently of the others.
 */
size_t divisive_find(const double *x, size_t n, double level, uint64_t seed, divisive_change *found);

#endif
