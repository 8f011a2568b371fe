/* SPDX-License-Identifier: MIT */
/* Frequencies and phases of columns, without knowing their formula. */
#ifndef POSENC_IDENTIFY_WAVES_H
#define POSENC_IDENTIFY_WAVES_H

#include "identify/columns.h"

/* A number and how far it may be off, which is infinite where nothing is known. */
typedef struct estimate {
  double value, error;
} estimate;

/* The offset of all waves; its error is infinite where columns do not agree on it. */
estimate waves_offset(const window *w, const sampling *at);

/* Radians per row of every frequency index: of pairs, negative where they turn the other way, which is when the
   cosine comes first; of single columns not. Whole turns between two sampled rows are missing. */
void waves_frequencies(const window *w, const columns *s, const sampling *at, estimate *frequencies);

/* Phases of row 0, where frequencies are known; of single columns as if they were cosines. The amplitude, if not
   null, is what all of them have. */
void waves_phases(const window *w, const columns *s, const sampling *at, const long double *frequencies,
                  estimate *phases, estimate *amplitude);

/* The same number of rows spread over the whole window, in which slow waves turn. */
sampling waves_spread(const window *w, const sampling *at);

/* The factor by which each turns faster than that. */
void waves_drifts(const window *w, const columns *s, const sampling *at, const long double *frequencies,
                  estimate *drifts);

/* Determines the frequencies again from all rows, given the position of row 0, the step from row to row and the
   amplitude, which gives those of slow waves, too. Frequencies of columns that no such wave explains are unknown. */
void waves_refit(const window *w, const columns *s, double first, int step, estimate amplitude,
                 const estimate *frequencies, estimate *refitted);

/* The amplitude once more, of waves that turn at least once: slow ones have roundings that go all one way. */
estimate waves_amplitude(const window *w, const columns *s, double first, int step, estimate amplitude,
                         const estimate *frequencies);

#endif
