/* SPDX-License-Identifier: MIT */
/* --resume, and the command in the record of a shard, by which the shard can be repeated. */
#ifndef POSENC_CLI_RESUME_H
#define POSENC_CLI_RESUME_H

#include "cli/options.h"

#include <jansson.h>

/* For a shard, returns the digests of this program and, if it is another file, of libposenc; null if they cannot be
   read. Version and commit do not tell builds of modified sources apart. To be called before a run, during which the
   files may be replaced. */
json_t *resume_build(const options *given);

/* Adds command and build to the "shard" of a record, or of its context, if there is one. Releases `build`. */
void resume_note(const options *given, json_t *build, json_t *holder);

/* For --resume: returns whether the file of --output already is the record of this shard, by the same command, build
   and run, which is accuracy_run_json or time_run_json. Sets *status to its exit status. Exits if the file is anything
   else, but for a shard that lacked memory, which is done again. Releases `run`. */
bool resume_is_done(const options *given, const json_t *build, json_t *run, int *status);

#endif
