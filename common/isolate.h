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

#include "common/isolation.h"

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

#endif
