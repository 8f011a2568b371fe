/* SPDX-License-Identifier: MIT */
/* Parses the values of options. Each function exits with a message if the value is invalid. */
#ifndef POSENC_CLI_VALUES_H
#define POSENC_CLI_VALUES_H

#include "common/run.h"
#include "posenc.h"

int64_t parse_integer(const char *option, const char *text, int64_t least, int64_t most);

/* Reads a finite number. */
double parse_real(const char *option, const char *text);
double parse_positive(const char *option, const char *text);
unsigned parse_isa(const char *option, const char *text);

/* Reads numbers, "5,10,-0.5", into *values, which is kept until the program ends. Returns how many. If files are
   allowed, the text may also be the name of a file, with or without a @ before it. */
int64_t parse_numbers(const char *option, const char *text, const char *between, bool files, const double **values);

/* Reads "KIND,key=value,...", see common/shapes.h. Returns the number of longrope's factors. */
int64_t parse_scaling(const char *option, const char *text, bool files, posenc_scaling *scaling);

/* Returns new axes, which stay until the program ends; axes without `pairs` have 0 pairs. *rows is the number of places
   of the grid, or the length of its lists. files: lists may be read. Exits if the text is invalid. */
posenc_axes *parse_grid(const char *option, const char *text, bool files, int64_t *rows);

/* Reads "I/N", or "auto" with an optional ":LAUNCHER" and "/N". With "auto", variables of the environment determine the
   shard. Exits with a message if they do not, or if they contradict each other. */
shard shard_read(const char *option, const char *text);

/* Returns the name of a file, with the number of the shard for each %I. It is valid until the program ends. */
const char *shard_output(shard part, const char *name);

/* Returns the words of a command line, without --shard, --output and --resume, quoted for a shell, as a new string. */
const char *shard_command(int argc, char **argv);

#endif
