/* SPDX-License-Identifier: MIT */
/* Whether a table that was identified is that of a given formula, too. */
#ifndef POSENC_IDENTIFY_AGREE_H
#define POSENC_IDENTIFY_AGREE_H

#include "identify/explain.h"

/*
 * Compares the window with the formulas of request->expected, at the positions and in the columns that were found, and
 * sets found->agreement: the table is that of the first whose elements are near enough, all but one in 20, as recipes'
 * roundings explain; or, if those do not explain the formula that was found either, whose mean square of differences is
 * at most four times that of the formula found. If it is none of them, the cause is the first of request->suspects that
 * it is, or what differs. Of no IDENTIFY_TABLE, nothing. False when memory runs out.
 */
bool agree(const search *s, identity *found);

#endif
