/* SPDX-License-Identifier: MIT */
/* The other side of isolate(): the process that watches, the worker, and what they tell. */
#ifndef POSENC_COMMON_WORKER_H
#define POSENC_COMMON_WORKER_H

#include "common/channel.h"
#include "common/isolation.h"

#include <stdatomic.h>

/* What the worker's messages are about. */
enum { SAYS_DOING, SAYS_PROGRESS, SAYS_LINE, SAYS_RESULT, SAYS_FAILURE, SAYS_ORPHANS, SAYS_END };

typedef struct doing {
  double share;
  char text[sizeof((isolated){0}.last)];
} doing;

/* Statuses that the worker ends with: by its own code alone, unless foreign code guesses. */
enum { EXIT_ORDERLY = 86, EXIT_MUTE = 87 };

typedef struct verdict {
  int status;   /* of the worker, as waitpid tells it */
  bool orphans; /* something that it started was there when it had ended */
} verdict;

/* Ends of the pipes between the three. */
typedef struct pipes {
  int messages[2], output[2], leash[2], verdicts[2];
} pipes;

/* Seen by both: the number of the kernel at work, from 1 on, or 0. */
typedef struct shared {
  _Atomic size_t at_work;
} shared;

/* The number of a kernel there; 0 for null, or none of these. */
size_t number_of_kernel(const isolation *how, const posenc_kernel *kernel);

/* In the process that a fork has made: makes the worker, watches it, writes the verdict, and ends. */
_Noreturn void worker_watch(void (*work)(void *), void *argument, const isolation *how, const pipes *p,
                            const channel_key *key, shared *with);

#endif
