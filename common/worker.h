/* SPDX-License-Identifier: MIT */
/* The other processes of isolate(): the watcher, the worker, and their messages. */
#ifndef POSENC_COMMON_WORKER_H
#define POSENC_COMMON_WORKER_H

#include "common/channel.h"
#include "common/isolation.h"

#include <stdatomic.h>

/* Kinds of the worker's messages. SAYS_DOING is a sign of life: what it is doing is in shared memory. */
enum { SAYS_DOING, SAYS_PROGRESS, SAYS_LINE, SAYS_RESULT, SAYS_FAILURE, SAYS_ORPHANS, SAYS_END };

/* Exit statuses of the worker's own code; foreign code could only guess them. */
enum { EXIT_ORDERLY = 86, EXIT_MUTE = 87 };

typedef struct verdict {
  int status;   /* of the worker, from waitpid */
  bool orphans; /* a process that it had started outlived it */
} verdict;

/* The pipes between the three processes; closing `release` makes the watcher kill the worker. */
typedef struct pipes {
  int messages[2], output[2], release[2], verdicts[2];
} pipes;

/* Shared memory: what need not wake the caller. */
typedef struct shared {
  _Atomic size_t at_work;                 /* the number of the kernel at work, from 1 on, or 0 */
  double share;                           /* of the work that is done, */
  char doing[sizeof((isolated){0}.last)]; /* and what it is doing */
} shared;

/* The number of a kernel among how->kernels, from 1 on; 0 if it is null or none of them. */
size_t number_of_kernel(const isolation *how, const posenc_kernel *kernel);

/* In the watcher: forks the worker, waits for it, writes the verdict, and ends. */
_Noreturn void worker_watch(void (*work)(void *), void *argument, const isolation *how, const pipes *p,
                            const channel_key *key, shared *with);

#endif
