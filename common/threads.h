/* SPDX-License-Identifier: MIT */
/* The number of threads that can be started. */
#ifndef POSENC_COMMON_THREADS_H
#define POSENC_COMMON_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

/* The largest number of threads of OpenMP's next team; and this thread's number in its team, from 0 on. */
static inline int threads_most(void) {
#ifdef _OPENMP
  return omp_get_max_threads();
#else
  return 1;
#endif
}

static inline int threads_this(void) {
#ifdef _OPENMP
  return omp_get_thread_num();
#else
  return 0;
#endif
}

/* Returns how many threads, including the caller, this process can have at once: at least 1 and at most `wanted`. It
   starts the other threads, which then end. Other processes may take threads between this call and the start of a
   team. */
int threads_available(int wanted);

/* Limits OpenMP's teams to the threads that this process can start. Otherwise OpenMP's library ends the process if it
   cannot have all it wants. */
static inline void threads_limit(void) {
#ifdef _OPENMP
  omp_set_num_threads(threads_available(omp_get_max_threads()));
#endif
}

#endif
