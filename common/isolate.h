/* SPDX-License-Identifier: MIT */
/*
 * Foreign code in a process of its own: whatever it does there, the caller goes on and knows what happened.
 *
 * The new process, the worker, leads a process group; a second one watches it, so that the worker is no child of the
 * caller, and all that the worker started, in its group or not, is found and killed when it ends. stdin is /dev/null;
 * what is printed on stdout and stderr is shown on the caller's stderr, each line with the name of the kernel that was
 * at work; no other descriptor of the caller is open there.
 */
#ifndef POSENC_COMMON_ISOLATE_H
#define POSENC_COMMON_ISOLATE_H

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

/* Runs `work` in a new process. No thread may be running (fork), and no OpenMP region may have been run by this
 * process. */
isolated isolate(void (*work)(void *), void *argument, const isolation *how);

/* How it ended, in words: "killed by signal 11 (Segmentation fault); at that time: making the plan". */
void isolated_words(const isolated *end, char *text, size_t size);

/*
 * Runs the same work until it ends well, each time without the kernel that was at work when it did not: `lost` is told
 * of it, and left_out[its place among how->kernels] is set. The work leaves out those that are. If nobody was at work,
 * that is the end.
 */
typedef void lost_kernel(const posenc_kernel *kernel, const char *words, void *argument);
isolated isolate_team(void (*work)(void *), void *argument, const isolation *how, bool *left_out, lost_kernel *lost);

/* ---- for the work; outside of isolate() nothing happens -------------------------------------------- */

/* Says what it is doing now. */
void isolate_say(const char *doing, double share);

/* Says again what it is doing, if that was more than a second ago: a kernel has returned from a call. One thread alone
 * may say something. */
void isolate_go_on(void);

/* From now on this kernel is at work, which is one of isolation.kernels; null: none is. What it printed is told as its
 * own, and if it left a process behind, the work ends here. */
void isolate_turn(const posenc_kernel *kernel);

/* Prints a line on the caller's stderr, as the caller's own. */
void isolate_tell(const char *line);

/* Once, at its end: its result, any text. */
void isolate_result(const char *text);

/* Ends the process, as the kernel at work does not do what it must: why. */
void isolate_fail(const char *why);

/* For signal handlers: last words that take the place of what it was doing. Async-signal-safe. */
void isolate_last_words(const char *text, size_t length);

/* Whether this is such a process. */
bool isolate_inside(void);

#endif
