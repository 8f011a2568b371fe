/* SPDX-License-Identifier: MIT */
/* --shard: the part of a run that this process computes, given by the option or by its launcher. */
#ifndef POSENC_CLI_SHARD_H
#define POSENC_CLI_SHARD_H

#include "common/shard.h"

/* Reads "I/N", or "auto" with an optional ":LAUNCHER" and "/N". With "auto", variables of the environment determine the
   shard. Exits with a message if they do not, or if they contradict each other. */
shard shard_read(const char *option, const char *text);

/* Returns the name of a file, with the number of the shard for each %I. It is valid until the program ends. */
const char *shard_output(shard part, const char *name);

/* Returns the words of a command line, without --shard, --output and --resume, quoted for a shell, as a new string. */
const char *shard_command(int argc, char **argv);

#endif
