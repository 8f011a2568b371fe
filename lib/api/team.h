/* SPDX-License-Identifier: MIT */
/*
 * The helper threads of a plan. The calling thread does parts of the work too, and waits only for helpers that are
 * working on a part, so a helper that gets no core does not make a call slower than one thread alone. OpenMP's teams
 * wait for every thread: while other work used all cores, a call of 0.4 ms took 7 ms with OpenMP (doc/notebook.md).
 */
#ifndef POSENC_LIB_API_TEAM_H
#define POSENC_LIB_API_TEAM_H

#include <stdint.h>

/* Does one part of the work; parts are numbered from 0. */
typedef void team_work(void *argument, int64_t part);

typedef struct team team;

/* Returns the number of processors that this process may use, at least 1. */
int team_processors(void);

/* Creates a team of `threads` threads, including the caller, without starting any. Null if memory runs out. */
team *team_create(int threads);

/* Makes the helpers end, without waiting for them. No call may be running. `t` may be null. */
void team_destroy(team *t);

/*
 * Does each part once, in any order, and returns when all are done. `alone` is the estimated time of all parts on one
 * thread, in seconds. If that time is worth it, or if another call has just ended, sleeping helpers are woken and
 * missing ones are started, as many as the system gives; otherwise the caller does all parts. Any number of threads may
 * call at the same time: one of them gets the helpers, the others work alone, and so does a forked child. Helpers block
 * all signals, have the floating-point environment of the first caller, sleep after 50 µs without work, and avoid the
 * caller's processor.
 */
void team_run(team *t, int64_t parts, team_work *work, void *argument, double alone);

#endif
