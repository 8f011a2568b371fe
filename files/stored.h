/* SPDX-License-Identifier: MIT */
/* The place and form of a table in the bytes of a file, and messages about errors in them. */
#ifndef POSENC_FILES_STORED_H
#define POSENC_FILES_STORED_H

#include "posenc.h"

typedef struct stored {
  posenc_dtype dtype;
  int64_t rows, dim; /* both at least 1 */
  bool by_columns;   /* Fortran's order: columns one after another */
  bool swapped;      /* the bytes of an element are not in this machine's order */
  bool halved;       /* the file has two tables, and this is one of them */
  size_t begin;      /* of the first element; the file has them all */
} stored;

/* One table of a file that may have two. */
typedef enum table_half { TABLE_WHOLE = -1, TABLE_FIRST, TABLE_SECOND } table_half;

/* A message on a file, to stand after its name and a colon. */
typedef struct fault {
  char text[600];
} fault;

/* Says what is wrong; always false. */
__attribute__((format(printf, 2, 3))) bool fault_say(fault *why, const char *format, ...);

enum { STORED_AXES = 32 };

/* The axes of an array as a table: the last is its columns, or the last two are pairs of them, another its positions,
   and all others are 1. by_columns is set before. False if they are no table's, or one without elements. */
bool stored_shape(stored *s, const int64_t *axes, size_t count, fault *why);

/* Bytes of the elements. False if so many cannot be. */
bool stored_bytes(const stored *s, size_t *bytes);

/* Is an order of bytes that puts the least ('<') or the most ('>') significant first the other one than this
   machine's? */
static inline bool stored_swapped(char order) {
  return order != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');
}

#endif
