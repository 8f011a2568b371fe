/* SPDX-License-Identifier: MIT */
/* Frequencies and phases of columns, without knowing their formula. */
#ifndef POSENC_IDENTIFY_WAVES_H
#define POSENC_IDENTIFY_WAVES_H

#include "identify/columns.h"

/* A number and how far it may be off, which is infinite where nothing is known. */
typedef struct estimate {
  double value, error;
} estimate;

/* Radians per row of every frequency index: of pairs, negative where they turn the other way, which is when the cosine comes first; of single
   columns not. Whole turns between two sampled rows are missing. */
void waves_frequencies(const window *w, const columns *s, const sampling *at, estimate *frequencies);

/* Phases of row 0, where frequencies are known; of single columns as if they were cosines. The amplitude, if not null, is what all of them
   have. */
void waves_phases(const window *w, const columns *s, const sampling *at, const long double *frequencies,
                  estimate *phases, estimate *amplitude);

/* Of pairs, how much faster than that each turns. */
void waves_drifts(const window *w, const columns *s, const sampling *at, const long double *frequencies,
                  estimate *drifts);

#endif
