/* SPDX-License-Identifier: MIT */
/* The command in the record of a shard, by which it is done again, and --resume, by which it is not. */
#ifndef POSENC_CLI_RESUME_H
#define POSENC_CLI_RESUME_H

#include "cli/options.h"

#include <jansson.h>

/* Adds the command to the "shard" that a record or its context has; nothing to one that has none. */
void resume_note(const options *given, json_t *holder);

/* With --resume: whether the file of --output is the record of this shard already, by the same command and build; its
 * exit status then. Exits if that file is anything else. */
bool resume_is_done(const options *given, int *status);

#endif
