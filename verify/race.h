/* SPDX-License-Identifier: MIT */
/* Threads that call a kernel at the same time. */
#ifndef POSENC_VERIFY_RACE_H
#define POSENC_VERIFY_RACE_H

#include "verify/subject.h"

#include <stdatomic.h>

/* The work that one thread repeats, and the bits that it must give. */
typedef struct race_job {
  const posenc_plan *plan; /* null if the thread makes a plan for each call */
  const posenc_problem *problem;
  const posenc_options *options;
  posenc_slice slice;
  const unsigned char *x; /* null for a table */
  unsigned char *out;
  const unsigned char *want; /* null if not known yet: one call is made */
  size_t bytes;
  double seconds;                 /* see race_run, which sets this and the next */
  const atomic_int *go;           /* 0: wait, 1: run, -1: end without running */
  bool wrong, failed;             /* the bits differed; no plan could be made */
  const char *fault, *difference; /* changes of the floating-point environment, and of the thread */
} race_job;

/* Returns a number of threads above that of the CPUs that this process may use, from 9 to 33. */
int race_threads(void);

/* Runs each job repeatedly, for at least `seconds`, in a thread of its own, all started together. Changes in their
   threads break ENVIRONMENT and PROCESS. Returns false if there cannot be so many threads. */
bool race_run(subject *s, race_job *jobs, int count, double seconds);

/* This is long enough for two threads to run at the same time, unless the system delays one, and for rounds in which
   all do. Where threads outnumber the CPUs, they run one after another, and the race lasts as long for each of them. */
#define RACE_SECONDS 3e-3

#endif
