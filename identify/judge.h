/* SPDX-License-Identifier: MIT */
/* The best explanation against all of the file: errors, damage, and who made it. */
#ifndef POSENC_IDENTIFY_JUDGE_H
#define POSENC_IDENTIFY_JUDGE_H

#include "identify/search.h"

/* False when memory runs out. */
bool judge(search *s, identity *found);

#endif
