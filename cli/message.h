/* SPDX-License-Identifier: MIT */
/* Messages, exits, and names that were meant. */
#ifndef POSENC_CLI_MESSAGE_H
#define POSENC_CLI_MESSAGE_H

#include <stdio.h>

/* Exit statuses, beside EXIT_SUCCESS. */
enum { STATUS_FAILED_CHECK = 1, STATUS_ERROR = 2 };

/* Names the program in messages from here on. */
void set_program(const char *name);

/* There is code of plugins in the process from here on, which leave() does not let run. */
void set_plugins(void);

/* Tells one line on stderr and exits with STATUS_ERROR. */
__attribute__((noreturn, format(printf, 1, 2))) void die(const char *format, ...);

/* The same for the value of an option, or of an environment variable. */
__attribute__((noreturn)) void die_value(const char *option, const char *value, const char *reason);

/* Exits with the status, or with STATUS_ERROR if standard output could not be written. */
__attribute__((noreturn)) void finish(int status);

/* Exits with the status. What a plugin would do then is left out. */
__attribute__((noreturn)) void leave(int status);

/* Prints "PROGRAM (posenc) VERSION" and the license, as GNU programs do. */
void print_version(const char *program);

/* Prints the word so that a shell reads the same word. */
void print_quoted(FILE *stream, const char *word);

/* Returns the name, a or b, that is fewer edits away from `wanted`; a, which may be null, if b takes edits of more than
 * half of the letters. */
const char *nearer_name(const char *wanted, const char *a, const char *b);

/* The end of a message about an unknown name: "; did you mean 'NEAREST'?", or "; OTHERWISE" if nearest is null, or
 * nothing if `otherwise` is empty, too. */
typedef struct name_hint {
  char text[96];
} name_hint;
name_hint hint_of(const char *nearest, const char *otherwise);

#endif
