/* SPDX-License-Identifier: MIT */
/* Options of isolation, and how isolated work ended (isolate.h). */
#ifndef POSENC_COMMON_ISOLATION_H
#define POSENC_COMMON_ISOLATION_H

#include "posenc.h"

#include <stdbool.h>

/* The default time limit in seconds. */
#define ISOLATE_DEFAULT_SILENCE 60

typedef enum ending {
  ENDED_WELL,
  ENDED_BY_SIGNAL,
  ENDED_BY_EXIT,        /* foreign code ended the process */
  ENDED_BY_FAILURE,     /* the work called isolate_fail() */
  ENDED_WITHOUT_RESULT, /* the work returned without isolate_result() */
  ENDED_BY_SILENCE,     /* no message within the time limit; killed */
  ENDED_BY_STOPPING,    /* the process stopped itself; killed */
  ENDED_BY_FLOOD,       /* it printed more than a kernel may; killed */
  ENDED_BY_FORGERY,     /* its channel had bytes that are not a message; killed */
  ENDED_BY_CLOSING,     /* its channel was closed */
  ENDED_WITH_ORPHANS,   /* it left a process behind, which was killed */
  ENDED_FORK_FAILED     /* no process could be created */
} ending;

typedef struct isolated {
  ending how;
  int number;                   /* of the signal, or an exit status */
  char last[200];               /* the last reported activity, or the reason of a failure; ASCII */
  const posenc_kernel *at_work; /* the kernel at work when it ended, or null */
  char *result;                 /* null unless the work ended well; to be freed */
  bool littered;                /* files were left in isolation.folder */
} isolated;

typedef struct isolation {
  const posenc_kernel *const *kernels; /* all that can be at work; a single one is from the start */
  size_t kernel_count;
  double silence; /* time limit between messages, seconds */
  int threads;    /* of OpenMP's teams in the worker; 0: as here */
  /* Progress callback, or null. doing: the current activity; share: the part of the work that is done, from 0 to 1. */
  void (*on_progress)(const char *doing, double share, void *argument);
  void *argument;
  /* An empty folder for the worker's files, which is its TMPDIR, or null. It is removed with what is in it when the
     worker has ended, also when this process has. */
  const char *folder;
} isolation;

#endif
