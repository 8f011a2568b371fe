/* SPDX-License-Identifier: MIT */
/* What tables of several axes have beside a formula, compared with what is expected: sections, places, positions. */
#ifndef POSENC_IDENTIFY_AGREE_AXES_H
#define POSENC_IDENTIFY_AGREE_AXES_H

#include "identify/makers.h"

#include <stddef.h>
#include <stdio.h>

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

/* Finds axis `a` with positions of the n-th mistake; a < 0: all axes. The lists of `wrong` are new ones, which the
   caller frees. Returns the words for the mistake, "" if it changes no position; null if there is no such mistake, or
   if memory runs out, which sets *failed. */
const char *axes_mistaken(const posenc_axes *axes, int a, size_t n, posenc_axes *wrong, bool *failed);
void axes_free_mistaken(const posenc_axes *axes, posenc_axes *wrong);

#endif
