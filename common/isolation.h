/* SPDX-License-Identifier: MIT */
/* How foreign code is isolated, and how it ended: see isolate.h. */
#ifndef POSENC_COMMON_ISOLATION_H
#define POSENC_COMMON_ISOLATION_H

#include "posenc.h"

/* Default time limit, seconds. */
#define ISOLATE_DEFAULT_SILENCE 60

typedef enum ending {
  ENDED_WELL,
  ENDED_BY_SIGNAL,
  ENDED_BY_EXIT,        /* the process was ended by other code than isolate's */
  ENDED_BY_FAILURE,     /* the work called isolate_fail() */
  ENDED_WITHOUT_RESULT, /* the work returned without isolate_result() */
  ENDED_BY_SILENCE,     /* no message within the time limit; killed */
  ENDED_BY_STOPPING,    /* the process stopped itself; killed */
  ENDED_BY_FLOOD,       /* it printed more than a kernel may; killed */
  ENDED_BY_FORGERY,     /* its channel had bytes that are no message; killed */
  ENDED_BY_CLOSING,     /* its channel was closed */
  ENDED_WITH_ORPHANS,   /* it left a process behind, which was killed */
  ENDED_FORK_FAILED     /* no process could be created */
} ending;

typedef struct isolated {
  ending how;
  int number;                   /* of the signal, or the exit status */
  char last[200];               /* what it was doing last, or why it failed; in ASCII */
  const posenc_kernel *at_work; /* the kernel at work when it ended, or null */
  char *result;                 /* of work that ended well, else null; to be freed */
} isolated;

typedef struct isolation {
  const posenc_kernel *const *kernels; /* all that may be at work; a single one is at work from the start */
  size_t kernel_count;
  double silence; /* seconds that may pass without a message */
  /* Progress callback, or null: what the work is doing, and its share that is done, from 0 to 1. */
  void (*on_progress)(const char *doing, double share, void *argument);
  void *argument;
} isolation;

#endif
