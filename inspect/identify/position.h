/* SPDX-License-Identifier: MIT */
/* Finds the position of row 0 from phases at it. */
#ifndef POSENC_IDENTIFY_POSITION_H
#define POSENC_IDENTIFY_POSITION_H

#include "inspect/identify/formula.h"
#include "inspect/identify/window.h"

/* The position of row 0: one of the whole positions least .. most, with `first` in the middle; or, if least is above
   most, `first` within `error`. */
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

/* The largest distance from 0 in the first search. */
static const int64_t POSITION_NEAR = INT64_C(1) << 21;

/* Returns a start at one whole position. */
start start_at(int64_t position);

/* Returns the whole positions within the error; or the position itself, if it is between two whole positions, or
   if the error reaches 2^62. */
start start_near(long double position, double error);

/* The phases at row 0. They come from `rows` rows, in which angles have an error of at most `relative` times the angle.
   Phases with an infinite error are not used. */
typedef struct phase_clock {
  const estimate *phases;
  const long double *w;
  int64_t pairs;
  double relative, rows;
} phase_clock;

/*
 * Finds starts that explain the phases, at most `farthest` from 0, the nearest first. Returns how many, at most `room`.
 * A few phases may be of damaged columns. Whole positions come first, then at most one between whole positions. If all
 * frequencies are multiples of one, positions that differ by its period can be distinguished only by being whole.
 */
size_t starts_find(const phase_clock *c, int64_t farthest, start *found, size_t room);

/* ---- rows at positions in any order, each from the values of its row ----------------------------- */

/* Finds the formulas of the slowest columns, whose phases cover less than half a turn, and those of models. Returns how
   many. */
size_t list_formulas(const window *w, const columns *s, formula formulas[FORMULAS_MAX]);

/* Determines the position of each row of the window, NaN if there is none. Returns the number of known positions, or -1
   if memory runs out. relative: the relative error of angles. Positions from cosines alone are assumed to be
   positive. */
int64_t list_read(const window *w, const columns *s, const long double *frequencies, double amplitude, double relative,
                  double *positions);

#endif
