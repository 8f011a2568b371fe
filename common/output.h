/* SPDX-License-Identifier: MIT */
/* Output files that appear completely or not at all: written beside their place, then renamed. If the process ends
   early, by exit or an interrupt, it removes unfinished files. Not thread-safe. */
#ifndef POSENC_COMMON_OUTPUT_H
#define POSENC_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output output;

/* Opens a file for output; "-" is standard output. Returns null with errno set on failure. A path that is not a regular
   file (/dev/full, a pipe), or that has no name (memfd_create), is written in place. Links are followed, even to a file
   that does not exist yet. */
output *output_open(const char *path);

/* Whether writing to `path` would replace the file `file`. */
bool output_is(const char *path, const char *file);

FILE *output_stream(output *out);

/* Flushes, checks for errors of any earlier write, and renames into place. Returns false with errno set on failure, and
   then leaves nothing behind. Frees `out` in either case. */
bool output_commit(output *out);

/* Removes what was written, and frees `out`, which may be null. */
void output_abandon(output *out);

/* Creates a folder unless it exists. If it is still empty when the process ends, it is removed again. One folder per
   process; `path` must stay valid. Returns false with errno set on failure. */
bool output_make_folder(const char *path);

/* Removes unfinished files. For a process that ends by _exit. */
void output_end(void);

/* Creates a file for writing and reading without a name, in the folder $TMPDIR, or /tmp. Returns null with errno set on
   failure. */
FILE *output_temporary(void);

/* Writes a whole file from memory. Returns false with errno set on failure. */
bool output_write_file(const char *path, const char *text, size_t length);

#endif
