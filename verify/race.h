/* SPDX-License-Identifier: MIT */
/* Threads that call a kernel at once. */
#ifndef POSENC_VERIFY_RACE_H
#define POSENC_VERIFY_RACE_H

#include "verify/subject.h"

#include <stdatomic.h>

/* The work that one thread repeats, and the bits that it must get. */
typedef struct race_job {
  const posenc_plan *plan; /* null: it makes one of the problem for each call */
  const posenc_problem *problem;
  const posenc_options *options;
  posenc_slice slice;
  const unsigned char *x; /* of add and rope, else null */
  unsigned char *out;
  const unsigned char *want; /* null: not known yet, and one call is made */
  size_t bytes;
  const atomic_int *go;           /* 0: wait, 1: run, -1: do not */
  bool wrong, failed;             /* other bits; no plan */
  const char *fault, *difference; /* what the calls changed in the floating-point environment, and in the thread */
} race_job;

/* More than the CPUs that this process may use, 9 to 33. */
int race_threads(void);

/* Each job in a thread of its own, again and again, all of them begun together. What they change in their threads
 * breaks ENVIRONMENT and PROCESS. False if so many threads cannot be had. */
bool race_run(subject *s, race_job *jobs, int count);

#endif
