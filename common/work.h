/* SPDX-License-Identifier: MIT */
/* Messages of work that runs isolated (isolate.h). In other processes these functions do nothing. Not thread-safe. */
#ifndef POSENC_COMMON_WORK_H
#define POSENC_COMMON_WORK_H

#include "posenc.h"

#include <stddef.h>

/* Reports the current activity and the share that is done. This is a sign of life, unless there was one just before. */
void isolate_say(const char *doing, double share);

/* Gives a sign of life if the last one was more than a second ago. To be called when a kernel has returned from a
   call. */
void isolate_go_on(void);

/* Makes a kernel, one of isolation.kernels, the kernel at work; null for none. Earlier output is attributed to the
   earlier kernel; if that one has left a process behind, the work ends here. */
void isolate_turn(const posenc_kernel *kernel);

/* Prints a line on the caller's stderr, without the name of a kernel. */
void isolate_tell(const char *line);

/* Sends the result, any text. To be called once, at the end. */
void isolate_result(const char *text);

/* Waits for the next order of isolate_ask, of that size. Returns false if there are no more. */
bool isolate_order(void *order, size_t size);

/* Answers it, with at most ISOLATE_ANSWER bytes. */
enum { ISOLATE_ANSWER = 4000 };
void isolate_answer(const void *answer, size_t size);

/* Ends the process because of a fault of the kernel at work. */
void isolate_fail(const char *why);

/* Replaces the reported activity. For signal handlers: async-signal-safe. */
void isolate_last_words(const char *text, size_t length);

/* Whether this process has children, running or dead. In an isolated process, children that these left count too. */
bool isolate_has_children(void);

/* Whether this process is isolated. */
bool isolate_inside(void);

#endif
