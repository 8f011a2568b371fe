/* SPDX-License-Identifier: MIT */
/* The encodings beside the table, on the command line. */
#ifndef POSENC_CLI_ENCODINGS_H
#define POSENC_CLI_ENCODINGS_H

#include "cli/measure.h"

#define ENCODING_OPTIONS                                                                                               \
  { "encoding", required_argument, NULL, OPTION_ENCODING }

/* What is wrong with another one in posenc write. */
#define NOT_WRITTEN "not sinusoidal, integer, binary, learned or alibi, which can be written"

/* The encoding of that name. Exits if there is none. */
const posenc_encoding *find_encoding(const char *name);

/* The encodings beside the table that globs separated by commas select, as a new array. Exits if there are none. */
const posenc_encoding **select_encodings(const char *globs, size_t *count);

/* What is timed of an encoding: what it makes as rows of a table, or adds to x, is a kernel here, and so is the rest of bench the same. The shapes
   are those that the options tell, or some of a usual size. */
selection select_encoded(const options *given, const char *name);

/* posenc write --encoding; `table` is the file of --table, or null, and `tensor` one in it. */
typedef struct encoded_file {
  const char *path;
  bool safetensors;
  const char *table, *tensor;
} encoded_file;
int write_encoding(const options *given, const posenc_encoding *encoding, const encoded_file *file);

#endif
