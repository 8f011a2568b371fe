/* SPDX-License-Identifier: MIT */
/* The number of threads that can be started. */
#ifndef POSENC_COMMON_THREADS_H
#define POSENC_COMMON_THREADS_H

#include <stddef.h>
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

/* Limits OpenMP's teams to `most` threads, unless it is 0, and to those that this process can start. Otherwise OpenMP's
   library ends the process if it cannot have all it wants. */
static inline void threads_limit(int most) {
#ifdef _OPENMP
  const int wanted = omp_get_max_threads();
  omp_set_num_threads(threads_available(most && most < wanted ? most : wanted));
#else
  (void)most;
#endif
}

/* Returns how many threads each process can have when so many works run side by side in processes, as many at a time
   as there are processors: all of them together have at most one for each processor. */
static inline int threads_each(size_t works) {
  const size_t all = (size_t)threads_most(), processes = works < all ? works : all;
  return processes ? (int)((all + processes - 1) / processes) : (int)all;
}

#endif
