/* SPDX-License-Identifier: MIT */
/* A file's bytes, mapped: only the pages that are touched are read. */
#ifndef POSENC_FILES_MAPPING_H
#define POSENC_FILES_MAPPING_H

#include "files/stored.h"

typedef struct mapping {
  const unsigned char *bytes; /* null in an empty file */
  size_t size;
  char *path;
  struct mapping *next;
} mapping;

/* Maps a regular file. A file that is cut while it is mapped ends the process, with a message and exit status 2. Until
   it is closed, `m` must stay where it is. Opened and closed while one thread runs. False, and `why`, on failure; then
   too it is to be closed. */
bool mapping_open(mapping *m, const char *path, fault *why);

/* Of one that is all zeros, nothing. */
void mapping_close(mapping *m);

#endif
