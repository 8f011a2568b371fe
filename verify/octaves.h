/* SPDX-License-Identifier: MIT */
/* Errors by the size of positions: 0, 1, 2 to 3, 4 to 7, … 2^63, counted separately for negative positions. */
#ifndef POSENC_VERIFY_OCTAVES_H
#define POSENC_VERIFY_OCTAVES_H

#include "reference/accuracy.h"

#include <jansson.h>

enum { OCTAVES = 65 };

typedef struct octave {
  accuracy found;
  int64_t first, rows; /* the first position that was compared, of a list the row it is in; rows that were */
} octave;

/* Negative positions, then the others. */
typedef struct octaves {
  octave of[2 * OCTAVES];
} octaves;

octave *octaves_at(octaves *all, int64_t position);

/* Adds the errors of all octaves to `found`. */
void octaves_sum(const octaves *all, accuracy *found);

/* From the farthest negative ones on: [ {"position", "rows", "max_ulp", "max_abs", "mean_abs", "misrounded"} … ].
   positions: of the rows of a list, or null. */
json_t *octaves_json(const octaves *all, const double *positions);

#endif
