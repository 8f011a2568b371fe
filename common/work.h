/* SPDX-License-Identifier: MIT */
/* Messages of work that runs isolated, see isolate.h; in other processes these do nothing. For a single thread. */
#ifndef POSENC_COMMON_WORK_H
#define POSENC_COMMON_WORK_H

#include "posenc.h"

/* Tells what it is doing now, and the share that is done: a sign of life, unless there was one just before. */
void isolate_say(const char *doing, double share);

/* A sign of life alone, if the last one was more than a second ago: a kernel has returned from a call. */
void isolate_go_on(void);

/* From now on this kernel, one of isolation.kernels, is at work; null: none. The output before is that of the kernel
   before; if that has left a process behind, the work ends here. */
void isolate_turn(const posenc_kernel *kernel);

/* Prints a line on the caller's stderr, without the kernel's name. */
void isolate_tell(const char *line);

/* Sends the result, any text, once at the end. */
void isolate_result(const char *text);

/* Ends the process because of a fault of the kernel at work. */
void isolate_fail(const char *why);

/* For signal handlers: replaces what it was doing. Async-signal-safe. */
void isolate_last_words(const char *text, size_t length);

/* Whether this process has children, running or dead; in an isolated process also those that its children left. */
bool isolate_has_children(void);

/* Whether this process is isolated. */
bool isolate_inside(void);

#endif
