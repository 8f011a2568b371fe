/* SPDX-License-Identifier: MIT */
/* The encodings other than the table, on the command line. */
#ifndef POSENC_CLI_ENCODINGS_H
#define POSENC_CLI_ENCODINGS_H

#include "cli/measure.h"

/* An encoding as bench times it: its rows, or what it adds to x, are those of a kernel, on the shapes that the options
   describe, or some of a usual size. Exits if there is no such encoding. */
selection select_encoded(const options *given, const char *name);

/* posenc write --encoding. */
void write_encoding(const options *given);

#endif
