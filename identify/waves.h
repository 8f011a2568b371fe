/* SPDX-License-Identifier: MIT */
/* Frequencies and phases of columns, without knowing their formula. */
#ifndef POSENC_IDENTIFY_WAVES_H
#define POSENC_IDENTIFY_WAVES_H

#include "identify/columns.h"

/* A number and its largest error, which is infinite if the number is unknown. */
typedef struct estimate {
  double value, error;
} estimate;

/* Estimates the offset of all waves. Its error is infinite if the columns do not agree on one. */
estimate waves_offset(const window *w, const sampling *at);

/* Estimates the frequency of each frequency index, in radians per row. A pair that rotates backwards, because its
   cosine comes first, has a negative frequency; a single column never has. Whole turns between two sampled rows are not
   counted. */
void waves_frequencies(const window *w, const columns *s, const sampling *at, estimate *frequencies);

/* Estimates the phases of row 0 for given frequencies; single columns are treated as cosines. amplitude: that of all
   waves, not null. */
void waves_phases(const window *w, const columns *s, const sampling *at, const long double *frequencies,
                  estimate *phases, estimate *amplitude);

/* Returns the same number of rows, spread over the whole window, in which slow waves cover more of a turn. */
sampling waves_spread(const window *w, const sampling *at);

/* Estimates by how much each wave is faster than its given frequency, in radians per row. */
void waves_drifts(const window *w, const columns *s, const sampling *at, const long double *frequencies,
                  estimate *drifts);

/* Estimates the frequencies again from all rows, given the position of row 0, the step from row to row and the
   amplitude. This also determines the frequencies of slow waves. Frequencies of columns that no such wave explains are
   unknown. */
void waves_refit(const window *w, const columns *s, double first, int step, estimate amplitude,
                 const estimate *frequencies, estimate *refitted);

/* Estimates the amplitude again, from waves that turn at least once, because roundings of slow waves have the same
   sign. */
estimate waves_amplitude(const window *w, const columns *s, double first, int step, estimate amplitude,
                         const estimate *frequencies);

#endif
