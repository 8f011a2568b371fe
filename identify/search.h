/* SPDX-License-Identifier: MIT */
/* Searches for how a table was made: the hypotheses, and the order in which they are tried. */
#ifndef POSENC_IDENTIFY_SEARCH_H
#define POSENC_IDENTIFY_SEARCH_H

#include "identify/explain.h"

/* Opens a search. Returns false if memory runs out; search_close must be called in any case. */
bool search_open(search *s, const identify_request *request);
void search_close(search *s);

/* Searches for the best explanation, in s->best. Returns the number of formulas that the frequencies alone have
   given. */
size_t search_run(search *s);

/* Returns the number of known frequencies. */
int64_t search_count_known(const search *s);

/* ---- parts of the search ------------------------------------------------------------------------- */

/* Tries scalings (search-scaled.c) with the bases of these formulas and those of models. */
void search_scaled(search *s, const formula *formulas, size_t count);

/* Tries rows at positions in any order (search-list.c). */
void search_list(search *s);

/* Reads the positions of all rows of the file, of which the best explanation has those of the window. Returns a new
   array; null if memory runs out. */
double *search_list_all(search *s);

#endif
