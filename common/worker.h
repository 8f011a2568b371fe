/* SPDX-License-Identifier: MIT */
/* The processes that isolate() creates, watcher and worker, and their messages. */
#ifndef POSENC_COMMON_WORKER_H
#define POSENC_COMMON_WORKER_H

#include "common/channel.h"
#include "common/isolation.h"

#include <stdatomic.h>
#include <sys/types.h>

/* Kinds of the worker's messages. SAYS_DOING is a sign of life; the reported activity is in shared memory. */
enum { SAYS_DOING, SAYS_PROGRESS, SAYS_LINE, SAYS_RESULT, SAYS_FAILURE, SAYS_ORPHANS, SAYS_ANSWER, SAYS_END };

/* Exit statuses of the worker's own code, which foreign code could only guess. */
enum { EXIT_ORDERLY = 86, EXIT_MUTE = 87 };

typedef struct verdict {
  int status;    /* the worker's, from waitpid */
  bool orphans;  /* a process that the worker started has outlived it */
  bool littered; /* files were left in its folder */
} verdict;

/* The pipes between the three processes. Closing `release` makes the watcher kill the worker. */
typedef struct pipes {
  int messages[2], output[2], release[2], verdicts[2];
  int orders[2]; /* sockets: the caller's and the worker's */
} pipes;

/* Shared memory for values that need not wake the caller. */
typedef struct shared {
  pid_t worker;                           /* the worker's number, set before foreign code runs */
  _Atomic size_t at_work;                 /* the number of the kernel at work, from 1 on, or 0 */
  double share;                           /* the part of the work that is done */
  char doing[sizeof((isolated){0}.last)]; /* the current activity */
} shared;

/* Returns the number of a kernel in how->kernels, from 1 on; 0 if it is null or not among them. */
size_t number_of_kernel(const isolation *how, const posenc_kernel *kernel);

/* Forks the worker, waits for it, writes the verdict, and ends. Runs in the watcher. */
_Noreturn void worker_watch(void (*work)(void *), void *argument, const isolation *how, const pipes *p,
                            const channel_key *key, shared *with);

#endif
