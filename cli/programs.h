/* SPDX-License-Identifier: MIT */
/* Runs other programs for what they print. */
#ifndef POSENC_CLI_PROGRAMS_H
#define POSENC_CLI_PROGRAMS_H

#include <jansson.h>

/*
 * The JSON that a program prints; arguments[0] is its path, or a name to be searched in $PATH, and the last is a null
 * pointer. It reads /dev/null, and what it prints on stderr is dropped unless it fails; no file is made. Exits if it
 * cannot be started, ends with another status than 0 or by a signal, or prints no JSON: the message is one line, which
 * begins with `what` and ends with the program's last one. If this process ends, so does that.
 */
json_t *program_json(const char *what, char *const *arguments);

#endif
