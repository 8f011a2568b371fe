/* SPDX-License-Identifier: MIT */
/* Compares an identified table with given formulas. */
#ifndef POSENC_IDENTIFY_AGREE_H
#define POSENC_IDENTIFY_AGREE_H

#include "inspect/identify/search.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Compares the window with the formulas of request->expected, and sets found->agreement. The table agrees with the
 * first formula whose roundings explain all elements but one in 20, unless rows or elements are damaged.
 *
 * For check, it is first compared as request->asked, at these positions, then at mistaken ones; then in the columns and
 * at the positions that were found: there it also agrees if roundings do not explain the formula that was found either,
 * and its mean square of differences is at most four times that one's. If the table agrees with none, the cause is the
 * first of request->suspects that it agrees with, or a difference. If it is no IDENTIFY_TABLE, and nothing is asked,
 * positions are assumed to begin at 0. Returns false if memory runs out.
 *
 * A table of several axes (found->how.axes) is compared likewise: its sections first, then places instead of
 * positions.
 */
bool agree(const search *s, identity *found);

/* Returns how the problem's table is made, or that part of it. */
making making_asked(const posenc_problem *asked, columns_part part);

/* Describes what differs from the problem in base, shift, scale, scaling, amplitude or offset; "" if nothing does. */
void tell_difference(const identity *found, const posenc_problem *asked, char *text, size_t size);

/* ---- several axes: sections, places, positions (agree-axes.c) ------------------------------------ */

/* Whether both have the same sections of columns. */
bool axes_have_pairs(const posenc_axes *axes, const posenc_axes *other);

/* Whether these are the sections of the expected problem. One without axes, as that of a config, has frequencies that
   continue, in any sections. */
bool axes_are_sections(const posenc_axes *axes, const posenc_problem *expected);

/* Describes other sections than those of the expected problem. */
void axes_tell_sections(const posenc_axes *axes, const posenc_problem *expected, char *text, size_t size);

/* Prints "16, 24 and 24 pairs", and the order. */
void axes_print_sections(const posenc_axes *axes, FILE *out);

/* Describes other places, columns or positions of these rows than those of check's problem. */
void axes_tell_places(const making *found, const making *asked, int64_t rows, char *text, size_t size);

#endif
