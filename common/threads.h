/* SPDX-License-Identifier: MIT */
/* Teams of OpenMP that can be had. */
#ifndef POSENC_COMMON_THREADS_H
#define POSENC_COMMON_THREADS_H

#include "posenc.h"

#ifdef _OPENMP
#include <omp.h>
#endif

/* From now on a team has no more threads than this process can start: OpenMP's library ends a process that cannot have
   those it wants. */
static inline void threads_hold(void) {
#ifdef _OPENMP
  omp_set_num_threads(posenc_threads(omp_get_max_threads()));
#endif
}

#endif
