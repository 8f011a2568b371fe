/* SPDX-License-Identifier: MIT */
/* Encodings other than the sinusoidal table and RoPE, on the command line. */
#ifndef POSENC_CLI_ENCODINGS_H
#define POSENC_CLI_ENCODINGS_H

#include "cli/measure.h"

/* Returns an encoding as bench times it: a kernel makes its rows, or what it adds to x. The shapes are those of the
   options, or some of usual sizes. Exits if there is no such encoding. */
run_request select_encoded(const options *given, const char *name);

/* Runs posenc write --encoding. */
void write_encoding(const options *given);

#endif
