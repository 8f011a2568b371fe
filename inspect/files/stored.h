/* SPDX-License-Identifier: MIT */
/* The place and form of a table in the bytes of a file, and messages about faults of the file. */
#ifndef POSENC_INSPECT_FILES_STORED_H
#define POSENC_INSPECT_FILES_STORED_H

#include "posenc.h"

#include <stdio.h>

enum { STORED_AXES = 32 };

typedef struct stored {
  posenc_dtype dtype;
  int64_t rows, dim; /* both at least 1 */
  int64_t stride;    /* elements from one row to the next, unless by_columns */
  bool by_columns;   /* Fortran's order: one column after the other */
  bool swapped;      /* the bytes of an element are not in this machine's order */
  bool halved;       /* this is one of two tables in the file */
  bool joined;       /* each row is that of one table in the file and then that of the other; `dim` counts both */
  size_t half_axis;  /* of two tables: the axis that tells them apart */
  bool beside, last; /* an axis of 2 tells what columns are: two tables side by side, or the two of each pair */
  bool vector;       /* one axis alone is longer than 1: there is none for positions, and `rows` is 1 */
  size_t axis_count; /* of an array: `dim` is its last axis, `rows` the product of the others */
  int64_t axes[STORED_AXES];
  size_t begin; /* offset of the first element; all are within the file */
} stored;

/* How table_open_half reads a file: as an array of any axes, row by row; as one table; as the first or the second of
   two tables; or as one table, in which two that are stacked are side by side. */
typedef enum table_half { TABLE_ARRAY = -2, TABLE_WHOLE, TABLE_FIRST, TABLE_SECOND, TABLE_JOINED } table_half;

/* A message about a file, to follow its name and a colon. */
typedef struct fault {
  char text[600];
} fault;

/* Writes the message; returns false. */
__attribute__((format(printf, 2, 3))) bool fault_say(fault *why, const char *format, ...);

/*
 * Reads the axes as `half` says, and sets begin, in bytes from the first element. by_columns and dtype must be set.
 * Axes of length 1 may be anywhere in a table, and are left out here:
 *
 *   (positions, columns); (columns) alone is a vector
 *   (positions, pairs, 2), (positions, 2, columns), (positions, pairs, 2, 2): each position has a row of all that
 *   (2, positions, columns): two stacked tables; (positions, 2, columns): two as well, if one of them is wanted
 *
 * Returns false if these are not such axes, or there are no elements.
 */
bool stored_fit(stored *s, const int64_t *axes, size_t count, table_half half, fault *why);

/* Computes the size in bytes of all elements in the file. Returns false if it is too large. */
bool stored_bytes(const stored *s, size_t *bytes);

/* Whether a byte order, least ('<') or most ('>') significant first, differs from this machine's. */
static inline bool stored_swapped(char order) {
  return order != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');
}

/* Turns the bytes of each element round. */
void stored_swap(void *elements, size_t count, size_t element);

/* Turns numbers between this machine's order of bytes and that of the files that posenc writes, least significant byte
   first. */
static inline void stored_order(void *elements, size_t count, size_t element) {
  if (stored_swapped('<')) stored_swap(elements, count, element);
}

/* ---- mapped files ---------------------------------------------------------------------------------------- */

/* Mapped files: only the pages that are used are read. Of a file that cannot be mapped, as none can in WebAssembly, the
   beginning is read, with the header of any file, and the caller reads the rest. */

enum { MAPPING_HEAD = 1 << 26 };

typedef struct mapping {
  const unsigned char *bytes; /* null for an empty file */
  size_t size, held;          /* of the file; and of its bytes that are there, from the first on */
  bool is_read;               /* it could not be mapped */
  int descriptor;             /* of a file that is not all there */
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
