/* SPDX-License-Identifier: MIT */
/* The clock for all timings. */
#ifndef POSENC_COMMON_CLOCK_H
#define POSENC_COMMON_CLOCK_H

#include <time.h>

/* Returns the seconds of a monotonic clock. */
static inline double clock_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
