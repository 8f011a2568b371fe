/* SPDX-License-Identifier: MIT */
/* Arrays in the memory of another process. That process describes them in an environment variable of this one, and
   leaves it a descriptor of its memory, /proc/self/mem opened for reading. Arrays of Python are read in this way,
   without a file or a copy. */
#ifndef POSENC_FILES_MEMORY_H
#define POSENC_FILES_MEMORY_H

#include "files/stored.h"

/* The environment variable. Each line is an array: NAME DESCRIPTOR ADDRESS DTYPE LENGTH:STRIDE... Strides are in bytes
   and may be negative or 0; that of the last axis is one element. */
#define MEMORY_VARIABLE "POSENC_ARRAYS"

typedef struct memory_array {
  int descriptor;
  uint64_t address;  /* address of the first element */
  size_t axis_count; /* the last axis has the elements of a row */
  int64_t axes[STORED_AXES], strides[STORED_AXES];
} memory_array;

/* Returns the line of that name; null if there is none. */
const char *memory_line(const char *name);

/* Reads a line as a table or an array. Returns false and sets `why` if it is malformed. */
bool memory_find(const char *line, table_half half, stored *found, memory_array *place, fault *why);

/* Copies rows [row, row + rows), packed. Returns false with errno set if the memory cannot be read. */
bool memory_read(const memory_array *from, const stored *at, int64_t row, int64_t rows, void *out);

#endif
