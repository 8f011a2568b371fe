/* SPDX-License-Identifier: MIT */
/* --resume, and the command in the record of a shard, by which the shard can be repeated. */
#ifndef POSENC_CLI_RESUME_H
#define POSENC_CLI_RESUME_H

#include "cli/options.h"

#include <jansson.h>

/* Adds the command to the "shard" of a record, or of its context; does nothing if there is none. */
void resume_note(const options *given, json_t *holder);

/* For --resume: returns whether the file of --output already is the record of this shard, by the same command, build
   and run, which is accuracy_run_json or time_run_json. Sets *status to its exit status. Exits if the file is anything
   else. Releases `run`. */
bool resume_is_done(const options *given, json_t *run, int *status);

#endif
