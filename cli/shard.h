/* SPDX-License-Identifier: MIT */
/* --shard: the part of a run that this process does, as it is told or as its launcher says. */
#ifndef POSENC_CLI_SHARD_H
#define POSENC_CLI_SHARD_H

#include "common/shard.h"

/* Reads "I/N"; or "auto", with ":LAUNCHER" and "/N" as far as they are given: then variables of the environment tell
 * the shard. Exits with a message if they do not, or contradict each other. */
shard shard_read(const char *option, const char *text);

/* The name of a file, with the number of the shard for each %I. It lasts until the program ends. */
const char *shard_output(shard part, const char *name);

/* The words of a command line but for --shard and --output, quoted for a shell. */
const char *shard_command(int argc, char **argv);

#endif
