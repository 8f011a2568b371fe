/* SPDX-License-Identifier: MIT */
/* Messages, exits, quoting for a shell, and suggestions for unknown names. */
#ifndef POSENC_CLI_MESSAGE_H
#define POSENC_CLI_MESSAGE_H

#include <stdio.h>

/* The value of a macro as text. */
#define TEXT_OF_EXPANDED(x) #x
#define TEXT_OF(x) TEXT_OF_EXPANDED(x)

/* Exit statuses, beside EXIT_SUCCESS. */
enum { STATUS_FAILED_CHECK = 1, STATUS_ERROR = 2 };

/* Must be called when a plugin is loaded: leave() then does not run destructors. */
void set_plugins(void);

/* Prints one line on stderr. */
__attribute__((format(printf, 1, 2))) void note(const char *format, ...);

/* Prints one line on stderr and exits with STATUS_ERROR. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

/* Exits as die, with the value of an option or of an environment variable in the message. */
__attribute__((noreturn)) void die_value(const char *option, const char *value, const char *reason);

/* Exits with the status, or with STATUS_ERROR if standard output could not be written. */
__attribute__((noreturn)) void finish(int status);

/* Exits with the status, without destructors and exit handlers of plugins. */
__attribute__((noreturn)) void leave(int status);

/* Prints "PROGRAM (posenc) VERSION" and the license, as GNU programs do. */
void print_version(const char *program);

/* Prints the word, quoted so that a shell reads it as one word. */
void print_quoted(FILE *stream, const char *word);

/* Returns "FIRST WORD WORD", with the words quoted for a shell, as a new string; an empty FIRST is left out. */
char *quoted_line(const char *first, size_t count, const char *const *words);

/* Returns the name, a or b, at the smaller edit distance from `wanted`. a may be null; b is not considered if more than
   half of its letters differ. */
const char *nearer_name(const char *wanted, const char *a, const char *b);

/* Exits with "WHERE NAME: PROBLEM; did you mean 'NEAREST'?", or with "...; HINT" if nearest is null. A null `where` is
   left out. */
__attribute__((noreturn)) void die_unknown(const char *where, const char *name, const char *problem,
                                           const char *nearest, const char *hint);

#endif
