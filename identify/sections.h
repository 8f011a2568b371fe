/* SPDX-License-Identifier: MIT */
/* Rows with a position on each of several axes, as the tokens of M-RoPE: text, pictures and videos in any order. */
#ifndef POSENC_IDENTIFY_SECTIONS_H
#define POSENC_IDENTIFY_SECTIONS_H

#include "identify/identity.h"
#include "identify/window.h"

typedef struct sections {
  columns columns; /* of the whole row */
  formula formula;
  posenc_axes axes; /* in the order of their columns; a list of positions of each row */
  int64_t zeros;    /* rows of zeros before the first position */
  double *positions[POSENC_AXES];
} sections;

/*
 * Tries the bases of models and one that the slowest columns show, without scaling and with amplitude 1, at whole
 * positions from 0 on. Sections of continued frequencies are those in which every row is at one position, as long as
 * they can be; where rounding hides the end of one, those that the request expects, or that models have. Frequencies
 * that are restarted or dealt have axes of equal numbers of pairs.
 *
 * False if no such positions explain each element of the window, as near as recipes' roundings and the request's error
 * are, or if all axes have the same ones; *failed: memory ran out. To be freed in any case.
 */
bool sections_find(const window *w, const identify_request *request, sections *found, bool *failed);
void sections_free(sections *found);

/* The axis of a pair of the row. */
int sections_axis(const posenc_axes *axes, int64_t pair);

#endif
