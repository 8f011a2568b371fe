/* SPDX-License-Identifier: MIT */
/* Runs pieces of work in parallel, in forked processes (lanes), as many as there are CPUs. */
#ifndef POSENC_COMMON_LANES_H
#define POSENC_COMMON_LANES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lanes {
  const size_t *order; /* numbers of the pieces, in the order in which they are started */
  size_t count;
  /* In a lane: does the piece and returns its result, any text; null if memory runs out. */
  char *(*work)(size_t number, void *argument);
  /* In the caller: receives the result, which is valid until it returns. */
  void (*take)(size_t number, const char *text, void *argument);
  /* In the caller, several times a second: the sum of what lanes_progress got last in each lane. */
  void (*progress)(double at_work, void *argument);
  void *argument;
} lanes;

/* The number of lanes, and of OpenMP threads in each: together as many as OpenMP counts CPUs. */
int lanes_count(size_t pieces);
int lanes_threads(size_t pieces);

/* Does all pieces. False if a lane could not be made, ran out of memory, or was killed. No thread may be running in the
   caller (fork). */
bool lanes_run(const lanes *l);

/* In a lane: sets how much of the piece is done, in any unit. */
void lanes_progress(double done);

#endif
