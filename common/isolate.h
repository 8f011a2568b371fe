/* SPDX-License-Identifier: MIT */
/*
 * Runs foreign code in a process of its own, so that the caller survives any fault of it and gets to know how it ended.
 *
 * The new process, the worker, leads a process group. A second process, the watcher, is its parent and a subreaper:
 * when the worker ends, all processes that it started, in its group or not, are found and killed. The worker's stdin is
 * /dev/null. Lines that it prints on stdout and stderr appear on the caller's stderr with the name of the kernel at
 * work. No other descriptor of the caller is open in it.
 */
#ifndef POSENC_COMMON_ISOLATE_H
#define POSENC_COMMON_ISOLATE_H

#include "common/isolation.h"

/* Runs `work` in a new process. No thread may be running (fork), and this process must not have run an OpenMP
   region. */
isolated isolate(void (*work)(void *), void *argument, const isolation *how);

/* Describes how work ended: "killed by signal 11 (Segmentation fault); at that time: making the plan". */
void describe_exit(const isolated *end, char *text, size_t size);

/*
 * Runs work until it ends well. When it does not, calls `lost` for the kernel at work and sets left_out[its index in
 * how->kernels]; the work must skip such kernels. Returns early if no kernel was at work.
 */
typedef void lost_kernel(const posenc_kernel *kernel, const char *words, void *argument);
isolated isolate_team(void (*work)(void *), void *argument, const isolation *how, bool *left_out, lost_kernel *lost);

#endif
