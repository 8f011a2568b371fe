/* SPDX-License-Identifier: MIT */
/* Compares an identified table with given formulas. */
#ifndef POSENC_IDENTIFY_AGREE_H
#define POSENC_IDENTIFY_AGREE_H

#include "identify/explain.h"

/*
 * Compares the window with the formulas of request->expected, at the positions and in the columns that were found, and
 * sets found->agreement. The table agrees with the first formula whose roundings explain all elements but one in 20;
 * or, if roundings do not explain the formula that was found either, whose mean square of differences is at most four
 * times that of the formula found. It disagrees if rows or elements are damaged, and for check also if positions,
 * layout or part are not those of request->asked.
 *
 * If the table agrees with none of them, the cause is the first of request->suspects that it agrees with, or a
 * difference. If it is no IDENTIFY_TABLE, suspects are tried as request->asked, or else in its columns from position 0
 * on. Returns false if memory runs out.
 */
bool agree(const search *s, identity *found);

#endif
