/* SPDX-License-Identifier: MIT */
/* How foreign code is isolated, and how it ended: see isolate.h. */
#ifndef POSENC_COMMON_ISOLATION_H
#define POSENC_COMMON_ISOLATION_H

#include "posenc.h"

/* Seconds, where nobody says others. */
#define ISOLATE_DEFAULT_SILENCE 60

typedef enum ending {
  ENDED_WELL,
  ENDED_BY_SIGNAL,
  ENDED_BY_EXIT,        /* the process was ended by other code than isolate's */
  ENDED_BY_FAILURE,     /* the work gave up: isolate_fail() */
  ENDED_WITHOUT_RESULT, /* the work returned, but told no result */
  ENDED_BY_SILENCE,     /* it said nothing for as long as it may; killed */
  ENDED_BY_STOPPING,    /* it stopped the process; killed */
  ENDED_BY_FLOOD,       /* it printed more than a kernel may; killed */
  ENDED_BY_FORGERY,     /* there was something else than messages on its channel; killed */
  ENDED_BY_CLOSING,     /* its channel was closed */
  ENDED_WITH_ORPHANS,   /* it left a process behind; killed, too */
  ENDED_UNBORN          /* no process could be made */
} ending;

typedef struct isolated {
  ending how;
  int number;                   /* of the signal, or the exit status */
  char last[200];               /* what it last said it was doing, or what it said of its own death */
  const posenc_kernel *at_work; /* when it ended, or null */
  char *result;                 /* if it ended well, else null; to be freed */
} isolated;

typedef struct isolation {
  const posenc_kernel *const *kernels; /* all that may be at work there; a single one is from the start */
  size_t kernel_count;
  double silence; /* seconds that may pass without a word of the work's */
  /* Called with what the work says it is doing, and how far it is, from 0 to 1; or null. */
  void (*heard)(const char *doing, double share, void *argument);
  void *argument;
} isolation;

#endif
