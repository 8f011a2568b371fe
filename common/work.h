/* SPDX-License-Identifier: MIT */
/* Messages of work that runs isolated, see isolate.h; in other processes these do nothing. For a single thread. */
#ifndef POSENC_COMMON_WORK_H
#define POSENC_COMMON_WORK_H

#include "posenc.h"

/* Says what it is doing now. */
void isolate_say(const char *doing, double share);

/* Says again what it is doing, if that was more than a second ago: a kernel has returned from a call. */
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

/* Whether this process has children, running or dead; in an isolated process also those that its children left. */
bool isolate_has_children(void);

/* Whether this is such a process. */
bool isolate_inside(void);

#endif
