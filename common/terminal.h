/* SPDX-License-Identifier: MIT */
/* Output for a terminal: the name with which lines begin, a line of progress, and texts of others without escapes. */
#ifndef POSENC_COMMON_TERMINAL_H
#define POSENC_COMMON_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* ---- progress -------------------------------------------------------------------------------------------- */

/*
 * Shows "stage: what [####------] 1.2/4.9 G elements, 231 M/s, 0:12 left", at most ten times a second. The line is no
 * wider than the terminal; if needed, the bar is left out or the text is shortened. Pace and time left are those of the
 * stage, which begins when its name or total changes; `done` is never shown to decrease in it.
 */
typedef struct progress {
  char stage[32], what[256], unit[32];
  double done, total;
} progress;
void progress_show(const char *stage, const char *what, double done, double total, const char *unit);

/* Makes later progress appear as one line every two seconds, after the first two seconds, if stderr is not a
   terminal. */
void progress_in_lines(void);

/* Passes later progress of this process to `tell`, whether stderr is a terminal or not. */
void progress_divert(void (*tell)(const progress *now));

/* Clears the line. To be called before anything else is printed. */
void progress_clear(void);

/* ---- name ------------------------------------------------------------------------------------------------ */

/* The name with which messages begin: "posenc", or "posenc bench" once the subcommand is known. */

/* Sets the name, which must last. */
void program_set(const char *name);
const char *program_name(void);

/* ---- plain text ------------------------------------------------------------------------------------------ */

/* Text of foreign origin: names from files and records, paths, words of plugins. Everything that prints such text makes
   it plain first: terminals obey control characters, and a line end in a name looks like a line of posenc's own. */

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
