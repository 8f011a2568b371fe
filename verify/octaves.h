/* SPDX-License-Identifier: MIT */
/* Errors by the size of positions: 0, 1, 2 to 3, 4 to 7, … 2^63, counted separately for negative positions. */
#ifndef POSENC_VERIFY_OCTAVES_H
#define POSENC_VERIFY_OCTAVES_H

#include "reference/accuracy.h"

#include <jansson.h>

enum { OCTAVES = 65 };

typedef struct octave {
  accuracy found;
  int64_t first, rows; /* the first compared position (of a list, its row), and number of rows */
} octave;

/* The octaves of negative positions, then the others. */
typedef struct octaves {
  octave of[2 * OCTAVES];
} octaves;

octave *octaves_at(octaves *all, int64_t position);

/* Adds the errors of all octaves to `found`. */
void octaves_sum(const octaves *all, accuracy *found);

/* Returns [ {"position", "rows", "max_ulp", "max_abs", "mean_abs", "misrounded"} … ], from the most negative positions
   on. positions: those of a list's rows, or null. */
json_t *octaves_json(const octaves *all, const double *positions);

#endif
