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

#include "common/work.h"

#include <sys/types.h>

/* Runs `work` in a new process. No thread may be running (fork), and this process must not have run an OpenMP
   region. */
isolated isolate(void (*work)(void *), void *argument, const isolation *how);

/*
 * Runs work in several workers at a time. It may obey orders (isolate_order in common/work.h).
 *
 * isolate_start returns null if no process could be created. isolate_ask sends an order of at most ISOLATE_ORDER bytes,
 * and waits for its reply; it returns false if the worker has ended instead, which isolate_end then explains.
 * isolate_process returns the number of the worker's process, 0 before its first reply. isolate_end tells the worker
 * that there are no more orders, and waits until it has ended. Orders and replies have the sizes that both sides agree
 * on.
 *
 * isolate_any listens to `count` workers, at least one and at most ISOLATE_MOST, until one of them has ended, and
 * returns its place in the list. No worker is listened to between two calls, so the time between them must be shorter
 * than the shortest time limit.
 */
enum { ISOLATE_ORDER = 256, ISOLATE_MOST = 64 };
typedef struct lodger lodger;
lodger *isolate_start(void (*work)(void *), void *argument, const isolation *how);
bool isolate_ask(lodger *l, const void *order, size_t size, void *reply, size_t reply_size);
size_t isolate_any(lodger *const *all, size_t count);
pid_t isolate_process(const lodger *l);
isolated isolate_end(lodger *l);

/* Kills the worker, and all processes that it started. */
void isolate_stop(lodger *l);

/* Describes how work ended: "killed by signal 11 (Segmentation fault); at that time: making the plan". */
void describe_exit(const isolated *end, char *text, size_t size);

/*
 * Runs work until it ends well. When it does not, calls `lost` for the kernel at work and sets left_out[its index in
 * how->kernels]; the work must skip such kernels. Returns early if no kernel was at work.
 */
typedef void lost_kernel(const posenc_kernel *kernel, const char *words, void *argument);
isolated isolate_team(void (*work)(void *), void *argument, const isolation *how, bool *left_out, lost_kernel *lost);

#endif
