/* SPDX-License-Identifier: MIT */
/* The position of row 0, from the phases that frequencies have there. */
#ifndef POSENC_IDENTIFY_POSITION_H
#define POSENC_IDENTIFY_POSITION_H

#include "identify/waves.h"

/* Where row 0 may be: at one of the whole positions least .. most, of which `first` is the middle; or at `first`,
   which is within `error`, if least is above most. */
typedef struct start {
  double first, error;
  int64_t least, most;
} start;

static inline bool start_is_one(const start *s) {
  return s->least == s->most;
}

static inline bool start_is_whole(const start *s) {
  return s->least <= s->most;
}

/* The farthest position of the first search. */
static const int64_t POSITION_NEAR = INT64_C(1) << 21;

/* A start at one whole position. */
start start_at(int64_t position);

/* The whole positions within the error, or else the position itself, between two whole ones. */
start start_near(long double position, double error);

/* The phases at row 0. The error that a recipe's angles may have is `relative` to them, in so many rows that the
   phases are from. Phases with an infinite error say nothing. */
typedef struct phase_clock {
  const estimate *phases;
  const long double *w;
  int64_t pairs;
  double relative, rows;
} phase_clock;

/*
 * Starts that explain the phases, at most `farthest` from 0, the nearest first, up to `room`; how many. A few phases
 * may be of damaged columns. Whole positions come first, then one between whole positions, if there is any. Where all
 * frequencies are multiples of one, positions that differ by its period are told apart only by being whole.
 */
size_t starts_find(const phase_clock *c, int64_t farthest, start *found, size_t room);

#endif
