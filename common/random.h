/* SPDX-License-Identifier: MIT */
/* Random numbers, by SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). The
   first state can be any number. */
#ifndef POSENC_COMMON_RANDOM_H
#define POSENC_COMMON_RANDOM_H

#include <stdint.h>

/* Mixes the bits of a number: SplitMix64's last step. */
static inline uint64_t random_mix(uint64_t z) {
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
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
