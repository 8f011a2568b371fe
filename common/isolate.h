/* SPDX-License-Identifier: MIT */
/*
 * Runs foreign code in a process of its own, so that the caller survives whatever it does, and learns how it ended.
 *
 * The new process, the worker, leads a process group. A second process, the watcher, is its parent and a subreaper:
 * when the worker ends, all processes that it started, in its group or not, are found and killed. stdin is /dev/null;
 * lines printed on stdout and stderr appear on the caller's stderr with the name of the kernel at work; no other
 * descriptor of the caller is open there.
 */
#ifndef POSENC_COMMON_ISOLATE_H
#define POSENC_COMMON_ISOLATE_H

#include "common/isolation.h"

/* Runs `work` in a new process. No thread may be running (fork), and no OpenMP region may have been run by this
 * process. */
isolated isolate(void (*work)(void *), void *argument, const isolation *how);

/* Describes how it ended: "killed by signal 11 (Segmentation fault); at that time: making the plan". */
void describe_exit(const isolated *end, char *text, size_t size);

/*
 * Runs the same work until it ends well. When it does not, `lost` is called for the kernel at work, and left_out[its
 * index in how->kernels] is set; the work has to skip such kernels. Returns if no kernel was at work.
 */
typedef void lost_kernel(const posenc_kernel *kernel, const char *words, void *argument);
isolated isolate_team(void (*work)(void *), void *argument, const isolation *how, bool *left_out, lost_kernel *lost);

#endif
