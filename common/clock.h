/* SPDX-License-Identifier: MIT */
/* The clocks for all timings. */
#ifndef POSENC_COMMON_CLOCK_H
#define POSENC_COMMON_CLOCK_H

#include <math.h>
#include <time.h>

/* Returns the seconds of a clock; NaN if it cannot be read, as that of a process that has ended. */
static inline double clock_read(clockid_t clock) {
  struct timespec now;
  if (clock_gettime(clock, &now) != 0) return NAN;
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the seconds of a monotonic clock. */
static inline double clock_seconds(void) {
  return clock_read(CLOCK_MONOTONIC);
}

/* Returns the processor seconds of this thread, which do not depend on other processes, or on threads that wait for the
   next team. */
static inline double clock_thread_seconds(void) {
  return clock_read(CLOCK_THREAD_CPUTIME_ID);
}

#endif
