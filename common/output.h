/* SPDX-License-Identifier: MIT */
/* Files that appear whole or not at all: written beside their place, then renamed. A process that ends before that, by
   exit or an interrupt, removes what is pending. */
#ifndef POSENC_COMMON_OUTPUT_H
#define POSENC_COMMON_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

typedef struct output output;

/* "-" is standard output. Null on failure, with errno set. A path that is no regular file (/dev/full, a pipe), or
   one without a name (of memfd_create), is written in place, and links are followed, even one whose end is not there yet. */
output *output_open(const char *path);

/* Whether writing to `path` would replace that file. */
bool output_is(const char *path, const char *file);

FILE *output_stream(output *out);

/* Flushes, checks for errors of any earlier write, and renames into place. False with errno set on failure;
   nothing is left behind then. Frees `out` either way. */
bool output_commit(output *out);

/* Removes what was written and frees `out`, which may be null. */
void output_abandon(output *out);

/* Makes the folder unless it is there; a process that ends removes again what it made if nothing is in it. One folder
   per process; `path` must stay. False with errno set on failure. */
bool output_make_folder(const char *path);

/* Removes unfinished files, for a process that ends by _exit. */
void output_end(void);

/* A file to write and read that has no name, in the folder $TMPDIR, or /tmp. Null with errno set on failure. */
FILE *output_temporary(void);

/* Writes one whole file from memory; false with errno set. */
bool output_write_file(const char *path, const char *text, size_t length);

#endif
