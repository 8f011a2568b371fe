/* SPDX-License-Identifier: MIT */
/* The number of OpenMP threads that can be started. */
#ifndef POSENC_COMMON_THREADS_H
#define POSENC_COMMON_THREADS_H

#include "posenc.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* Limits teams to the threads that this process can start: OpenMP's library ends a process that cannot have all it
   wants. */
static inline void threads_limit(void) {
#ifdef _OPENMP
  omp_set_num_threads(posenc_threads(omp_get_max_threads()));
#endif
}

#endif
