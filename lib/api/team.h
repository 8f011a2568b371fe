/* SPDX-License-Identifier: MIT */
/*
 * Threads of a plan that help the calling one. The caller takes parts of the work too, and waits only for helpers that
 * are at work on a part: one that gets no core makes no call slower than one thread is. OpenMP's teams wait for every
 * thread: beside other work on all cores, a call of 0.4 ms took 7 ms by them (doc/performance.md).
 */
#ifndef POSENC_LIB_API_TEAM_H
#define POSENC_LIB_API_TEAM_H

#include <stdint.h>

/* A part of the work, 0 and up. */
typedef void team_work(void *argument, int64_t part);

typedef struct team team;

/* The processors that this process may use, at least 1. */
int team_processors(void);

/* A team of so many threads, the caller included. It starts none. Null when memory runs out. */
team *team_create(int threads);

/* Has the threads end, soon. No call may be running. Null is allowed. */
void team_destroy(team *t);

/*
 * Does each of the parts once, in any order, and returns when all are done. `alone` is about how many seconds that
 * takes one thread. Helpers that sleep are woken, and those that are not there are started, as many as the system
 * gives, if that is worth the time, or if another call has just ended. Without them, the caller does all parts. Any
 * number of threads may call: while one has the helpers, the others do without, as a child does that was forked.
 * Helpers block all signals, have the first caller's floating-point environment, sleep when they found nothing to do
 * for 50 µs, and keep off the caller's processor.
 */
void team_run(team *t, int64_t parts, team_work *work, void *argument, double alone);

#endif
