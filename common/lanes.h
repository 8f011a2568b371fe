/* SPDX-License-Identifier: MIT */
/* Pieces of work side by side, in processes that the caller forks: as many as there are CPUs. */
#ifndef POSENC_COMMON_LANES_H
#define POSENC_COMMON_LANES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct lanes {
  const size_t *order; /* numbers of the pieces, those that are begun first in front */
  size_t count;
  /* In a lane: does that piece, and returns what it found, any text; null when memory runs out. */
  char *(*work)(size_t number, void *argument);
  /* In the caller: takes it in. The text is the caller's to keep only until it returns. */
  void (*take)(size_t number, const char *text, void *argument);
  /* In the caller, some times a second: the largest number that lanes_progress was told by each lane for its piece, or
     0, added up. */
  void (*progress)(double at_work, void *argument);
  void *argument;
} lanes;

/* How many lanes would be used, and threads of OpenMP in each: CPUs, as OpenMP counts them, shared out. */
int lanes_count(size_t pieces);
int lanes_threads(size_t pieces);

/* Does all of it. False if a lane could not be made, ran out of memory, or was killed. No thread may be running in the
   caller (fork). */
bool lanes_run(const lanes *l);

/* In a lane: how much of the piece is done, in any unit. */
void lanes_progress(double done);

#endif
