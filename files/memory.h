/* SPDX-License-Identifier: MIT */
/* Arrays in the memory of another process, which has named them in the environment of this one and has left it a
   descriptor of its memory, /proc/self/mem opened for reading. So Python's arrays are read without a file or a copy. */
#ifndef POSENC_FILES_MEMORY_H
#define POSENC_FILES_MEMORY_H

#include "files/stored.h"

/* An array for each line: NAME DESCRIPTOR ADDRESS DTYPE LENGTH:STRIDE... The axes' strides are in bytes, may be
   negative or 0, and that of the last axis is one element. */
#define MEMORY_VARIABLE "POSENC_ARRAYS"

typedef struct memory_array {
  int descriptor;
  uint64_t address;  /* of the first element */
  size_t axis_count; /* the last axis is a row */
  int64_t axes[STORED_AXES], strides[STORED_AXES];
} memory_array;

/* The line of that name; null if there is none. */
const char *memory_line(const char *name);

/* What the line says, as a table or an array. */
bool memory_find(const char *line, table_half half, stored *found, memory_array *place, fault *why);

/* Copies rows [row, row + rows), packed. False with errno set. */
bool memory_read(const memory_array *from, const stored *at, int64_t row, int64_t rows, void *out);

#endif
