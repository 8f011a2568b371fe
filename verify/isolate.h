/* SPDX-License-Identifier: MIT */
/* Work in a process of its own: whatever it does there, its caller goes on and knows what happened. */
#ifndef POSENC_VERIFY_ISOLATE_H
#define POSENC_VERIFY_ISOLATE_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ending {
  ENDED_WELL,
  ENDED_BY_SIGNAL,
  ENDED_BY_EXIT,    /* before it had said its result */
  ENDED_BY_SILENCE, /* it said nothing for as long as it may; killed */
  ENDED_UNBORN      /* no process could be made */
} ending;

typedef struct isolated {
  ending how;
  int number;     /* of the signal, or the exit status */
  char last[200]; /* what it last said it was doing, or what it said of its own death */
  char *result;   /* what it said at the end, or null; to be freed */
} isolated;

/* Called with what the work says it is doing, and how far it is, from 0 to 1. */
typedef void (*heard)(const char *doing, double share, void *argument);

/*
 * Runs `work` in a new process. No thread may be running (fork), and no OpenMP region may have been run by this process.
 * silence: seconds that may pass without a word.
 */
isolated isolate(void (*work)(void *), void *argument, double silence, heard listener, void *listener_argument);

/* For the work: says what it is doing now. Outside of isolate() nothing happens. */
void isolate_say(const char *doing, double share);

/* For the work, once, at its end: its result, any text without line ends. */
void isolate_result(const char *text);

/* For the work's signal handlers: last words that take the place of what it was doing. Async-signal-safe. */
void isolate_last_words(const char *text, size_t length);

#endif
