/* SPDX-License-Identifier: MIT */
/* The number of threads that can be started. */
#ifndef POSENC_COMMON_THREADS_H
#define POSENC_COMMON_THREADS_H

#ifdef _OPENMP
#include <omp.h>
#endif

/* How many threads, the caller included, this process can have at once: at least 1 and at most `wanted`. It is found by
   starting the others, which then end. Other processes may take threads between this call and the start of a team. */
int threads_available(int wanted);

/* Limits OpenMP's teams to the threads that this process can start: OpenMP's library ends a process that cannot have
   all it wants. */
static inline void threads_limit(void) {
#ifdef _OPENMP
  omp_set_num_threads(threads_available(omp_get_max_threads()));
#endif
}

#endif
