/* SPDX-License-Identifier: MIT */
/* The search for how a table was made: which hypotheses are tried, in which order. */
#ifndef POSENC_IDENTIFY_SEARCH_H
#define POSENC_IDENTIFY_SEARCH_H

#include "identify/explain.h"

/* False when memory runs out; search_close is to be called anyway. */
bool search_open(search *s, const identify_request *request);
void search_close(search *s);

/* Looks for the best explanation. Returns how many formulas the frequencies alone have given. */
size_t search_run(search *s);

/* The number of known frequencies. */
int64_t search_count_known(const search *s);

/* ---- parts of the search ------------------------------------------------------------------------- */

/* Tries scalings (search-scaled.c) over the bases of these formulas, and those of models. */
void search_scaled(search *s, const formula *formulas, size_t count);

/* Tries rows at positions in any order (search-list.c). */
void search_list(search *s);

#endif
