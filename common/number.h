/* SPDX-License-Identifier: MIT */
/* Formatting, comparing and sorting numbers. */
#ifndef POSENC_COMMON_NUMBER_H
#define POSENC_COMMON_NUMBER_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct number_text {
  char text[32];
} number_text;

static inline number_text number_with(double value, int precision) {
  number_text n;
  do snprintf(n.text, sizeof n.text, "%.*g", precision, value);
  while (strtod(n.text, NULL) != value && ++precision <= 17);
  return n;
}

/* Formats with the fewest digits, six or more, that read back as the same number. */
static inline number_text number_of(double value) {
  return number_with(value, 6);
}

/* Formats a position, usually an integer, with the fewest digits, fifteen or more, that read back as the same
   number. */
static inline number_text number_of_position(double value) {
  return number_with(value, 15);
}

/* Formats an approximate duration: "45 s", "12 min". */
static inline number_text number_of_duration(double seconds) {
  number_text n;
  snprintf(n.text, sizeof n.text, seconds < 120 ? "%.0f s" : "%.0f min", seconds < 120 ? seconds : seconds / 60);
  return n;
}

static inline int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Returns the n-th of `count` indices that are spread evenly from 0 to `last`; a single one is 0. */
static inline int64_t spread_evenly(int64_t n, int64_t count, int64_t last) {
  return count > 1 ? (int64_t)((double)n * (double)last / (double)(count - 1)) : 0;
}

static inline int number_order(const void *one, const void *other) {
  const double a = *(const double *)one, b = *(const double *)other;
  return (a > b) - (a < b);
}

/* Sorts in ascending order; the place of NaN is undefined. */
static inline void numbers_sort(double *x, size_t count) {
  if (count) qsort(x, count, sizeof *x, number_order);
}

/* Returns the median of at least one sorted number. Halves are added, so that the sum cannot overflow. */
static inline double numbers_median(const double *sorted, size_t count) {
  return sorted[(count - 1) / 2] / 2 + sorted[count / 2] / 2;
}

/* ---- random numbers -------------------------------------------------------------------------------------- */

/* Random numbers, by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). The
   first state can be any number. */

/* Mixes the bits of a number: SplitMix64's last step. */
static inline uint64_t random_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* Mixes 32 bits: the last step of MurmurHash3 (Appleby, 2011), in operations that compilers vectorize. */
static inline uint32_t random_mix_32(uint32_t x) {
  x = (x ^ (x >> 16)) * UINT32_C(0x85ebca6b);
  x = (x ^ (x >> 13)) * UINT32_C(0xc2b2ae35);
  return x ^ (x >> 16);
}

/* Returns a uniform number, and advances the state. */
static inline uint64_t random_next(uint64_t *state) {
  return random_mix(*state += UINT64_C(0x9e3779b97f4a7c15));
}

/* Returns a uniform number below `end`, which is not 0. */
static inline uint64_t random_below(uint64_t *state, uint64_t end) {
  const uint64_t biased = UINT64_MAX - UINT64_MAX % end;
  uint64_t drawn;
  do drawn = random_next(state);
  while (drawn >= biased);
  return drawn % end;
}

/* Returns a uniform number from 0 to 1, without 1. */
static inline double random_unit(uint64_t *state) {
  return (double)(random_next(state) >> 11) * 0x1p-53;
}

#endif
