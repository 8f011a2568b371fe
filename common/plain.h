/* SPDX-License-Identifier: MIT */
/* Text of foreign origin: names from files and records, paths, words of plugins. Everything that prints such text makes
   it plain first: terminals obey control characters, and a line end in a name looks like a line of posenc's own. */
#ifndef POSENC_COMMON_PLAIN_H
#define POSENC_COMMON_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Returns the bytes of the character at `text`, which is not empty, if it must not be printed, else 0: control
   characters, those of U+0080 to U+009F in UTF-8 as well as the bytes alone; the separators U+2028 and U+2029, and the
   characters that reverse the order of others (Unicode Standard Annex #9). */
size_t plain_forbidden(const char *text);

/* Replaces what must not be printed by "?", in place. */
void plain_make(char *text);

/* Whether nothing in the text must be replaced. */
bool plain_is(const char *text);

/* Prints plain text as Markdown, so that no character of it has a meaning there. Line ends become spaces. */
void plain_markdown(FILE *stream, const char *text);

#endif
