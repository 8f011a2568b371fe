/* SPDX-License-Identifier: MIT */
/* Known mistakes that make a table of something else than pairs of waves. */
#ifndef POSENC_IDENTIFY_MISTAKES_H
#define POSENC_IDENTIFY_MISTAKES_H

#include "identify/window.h"

/* Exponents that are taken from the number j of the column, 2j/dim or j/dim, where they should be from that of the
   pair: a sine and the next cosine then have different frequencies. Whether it is so, and the words that say it. */
bool mistake_of_columns(const window *w, char *words, size_t size);

/* A table of which each column is less a constant, such as its mean. Whether it is so, and the words that say it. */
bool mistake_of_means(const window *w, char *words, size_t size);

/* Are the rows waves, as the columns of a table are? */
bool mistake_is_transposed(const window *w);

#endif
