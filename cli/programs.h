/* SPDX-License-Identifier: MIT */
/* Runs other programs and reads their output. */
#ifndef POSENC_CLI_PROGRAMS_H
#define POSENC_CLI_PROGRAMS_H

#include <jansson.h>

/*
 * Returns the JSON that a program prints, a new reference. arguments[0] is its path, or a name that is searched in
 * $PATH; the last one is a null pointer. The program's standard input is /dev/null, and its stderr is dropped unless it
 * fails; no file is left behind. Exits if the program cannot be started, ends with another status than 0 or by a
 * signal, or prints no JSON: the message is one line, which begins with `what`, the program's name in words, and ends
 * with its last line.
 * If this process ends, the program is terminated.
 */
json_t *program_json(const char *what, char *const *arguments);

#endif
