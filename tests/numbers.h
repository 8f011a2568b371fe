/* SPDX-License-Identifier: MIT */
/* Draws random numbers, the same in every run, and compares doubles bit for bit. */
#ifndef POSENC_TESTS_NUMBERS_H
#define POSENC_TESTS_NUMBERS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* splitmix64 (Steele, Lea and Flood, 2014) */
static uint64_t random_state = 1;

static inline uint64_t random_bits(void) {
  uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Returns a number in [0, 1). */
static inline double random_fraction(void) {
  return (double)(random_bits() >> 11) * 0x1p-53;
}

/* Whether the bits are equal, so that 0 and -0 differ. Any NaN equals any other. */
static inline bool same_double(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

#endif
