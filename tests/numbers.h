/* SPDX-License-Identifier: MIT */
/* Draws random numbers, the same in every run, and compares doubles bit for bit. */
#ifndef POSENC_TESTS_NUMBERS_H
#define POSENC_TESTS_NUMBERS_H

#include "common/number.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static uint64_t random_state = 1;

static inline uint64_t random_bits(void) {
  return random_next(&random_state);
}

/* Returns a number in [0, 1). */
static inline double random_fraction(void) {
  return random_unit(&random_state);
}

/* Whether the bits are equal, so that 0 and -0 differ. Any NaN equals any other. */
static inline bool same_double(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

#endif
