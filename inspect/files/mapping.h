/* SPDX-License-Identifier: MIT */
/* Mapped files: only the pages that are used are read. */
#ifndef POSENC_FILES_MAPPING_H
#define POSENC_FILES_MAPPING_H

#include "inspect/files/stored.h"

#include <stdio.h>

typedef struct mapping {
  const unsigned char *bytes; /* null for an empty file */
  size_t size;
  char *path;
  struct mapping *next;
} mapping;

/* Maps a regular file. `m` must not move until it is closed, also after a failure. Returns false and sets `why` on
   failure. If the file is cut while it is mapped, the process ends with a message and exit status 2. Not thread-safe:
   only one thread may be running. */
bool mapping_open(mapping *m, const char *path, fault *why);

/* Opens a regular file for reading; null, with `why` set, on failure. It never waits, as opening a pipe with a name
   would. */
FILE *regular_open(const char *path, fault *why);

/* Unmaps the file. A mapping that is all zeros is ignored. */
void mapping_close(mapping *m);

#endif
