/* SPDX-License-Identifier: MIT */
/* Work that runs isolated (isolate.h): its options, how it ended, and its own messages. */
#ifndef POSENC_COMMON_WORK_H
#define POSENC_COMMON_WORK_H

#include "posenc.h"

#include <stdbool.h>
#include <stddef.h>

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

/* ---- inside ---------------------------------------------------------------------------------------------- */

/* Messages of work that runs isolated (isolate.h). In other processes these functions do nothing. Not thread-safe. */

/* Reports the current activity and the share that is done. This is a sign of life, unless there was one just before. */
void isolate_say(const char *doing, double share);

/* Gives a sign of life if the last one was more than a second ago. To be called when a kernel has returned from a
   call. */
void isolate_go_on(void);

/* Makes a kernel, one of isolation.kernels, the kernel at work; null for none. Earlier output is attributed to the
   earlier kernel; if that one has left a process behind, the work ends here. */
void isolate_kernel(const posenc_kernel *kernel);

/* Prints a line on the caller's stderr, without the name of a kernel. */
void isolate_tell(const char *line);

/* Sends the result, any text. To be called once, at the end. */
void isolate_result(const char *text);

/* Waits for the next order of isolate_ask, of that size. Returns false if there are no more. */
bool isolate_order(void *order, size_t size);

/* Replies to it, with at most ISOLATE_REPLY bytes. */
enum { ISOLATE_REPLY = 4000 };
void isolate_reply(const void *reply, size_t size);

/* Ends the process because of a fault of the kernel at work. */
void isolate_fail(const char *why);

/* Replaces the reported activity. For signal handlers: async-signal-safe. */
void isolate_last_words(const char *text, size_t length);

/* Whether this process has children, running or dead. In an isolated process, children that these left count too. */
bool isolate_has_children(void);

/* Whether this process is isolated. */
bool isolate_inside(void);

#endif
