/* SPDX-License-Identifier: MIT */
/* Compares the best explanation with the whole file: errors, damage, and the maker. */
#ifndef POSENC_IDENTIFY_JUDGE_H
#define POSENC_IDENTIFY_JUDGE_H

#include "identify/search.h"

/* Judges the explanation in found->how. Returns false if memory runs out. */
bool judge(search *s, identity *found);

#endif
