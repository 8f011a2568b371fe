/* SPDX-License-Identifier: MIT */
/* Finds known mistakes, which make something else than pairs of waves. */
#ifndef POSENC_IDENTIFY_MISTAKES_H
#define POSENC_IDENTIFY_MISTAKES_H

#include "identify/window.h"

/* Whether exponents are computed from the number j of the column, as 2j/dim or j/dim, instead of the index of the pair,
   so that a sine and the next cosine have different frequencies. Writes a description. */
bool mistake_of_columns(const window *w, char *words, size_t size);

/* Whether each column of a table is less a constant, such as its mean. Writes a description. */
bool mistake_of_means(const window *w, char *words, size_t size);

/* Whether the rows are waves, as the columns of a table are. */
bool mistake_is_transposed(const window *w);

#endif
