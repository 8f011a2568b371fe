/* SPDX-License-Identifier: MIT */
/* Finds positions on several axes in each row, as those of M-RoPE's tokens: text, pictures and videos in any order. */
#ifndef POSENC_IDENTIFY_SECTIONS_H
#define POSENC_IDENTIFY_SECTIONS_H

#include "identify/identity.h"
#include "identify/window.h"

typedef struct sections {
  columns columns; /* columns of the whole row */
  formula formula;
  posenc_axes axes; /* axes in the order of their columns, each with a list of positions of the rows */
  int64_t zeros;    /* number of rows of zeros before the first position */
  double *positions[POSENC_AXES];
} sections;

/*
 * Tries the bases of models and the one that the slowest columns have, without scaling and with amplitude 1, at whole
 * positions from 0 on. With continued frequencies, a section is as long as all its pairs have one position in every
 * row; if rounding hides its end, the sections are those that the request expects, or that models have. With restarted
 * or dealt frequencies, axes have equal numbers of pairs.
 *
 * Returns false if no such positions explain all elements of the window within recipes' roundings and the request's
 * error, or if all axes have the same positions; *failed: memory ran out. The result must be freed in any case.
 */
bool sections_find(const window *w, const identify_request *request, sections *found, bool *failed);
void sections_free(sections *found);

#endif
