/* SPDX-License-Identifier: MIT */
/* Runs pieces of work in parallel, in forked processes (lanes), as many as there are CPUs. */
#ifndef POSENC_COMMON_LANES_H
#define POSENC_COMMON_LANES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lanes {
  const size_t *order; /* the pieces' numbers, in the order in which they are started */
  size_t count;
  /* Does a piece, in a lane, and returns its result, any text; null if memory runs out. */
  char *(*work)(size_t number, void *argument);
  /* Receives a result, in the caller. The text is valid until this returns. */
  void (*take)(size_t number, const char *text, void *argument);
  /* Called in the caller several times a second with the sum of each lane's last lanes_progress. */
  void (*progress)(double at_work, void *argument);
  void *argument;
} lanes;

/* Returns the number of OpenMP threads in each lane. Lanes times threads are at most the CPUs that OpenMP counts. */
int lanes_threads(size_t pieces);

/* Does all pieces. Returns false if a lane could not be created, ran out of memory, or was killed. No thread may be
   running in the caller (fork). */
bool lanes_run(const lanes *l);

/* Sets how much of the piece is done, in any unit, in a lane. */
void lanes_progress(double done);

#endif
