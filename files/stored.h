/* SPDX-License-Identifier: MIT */
/* The place and form of a table in the bytes of a file, and messages about errors in them. */
#ifndef POSENC_FILES_STORED_H
#define POSENC_FILES_STORED_H

#include "posenc.h"

enum { STORED_AXES = 32 };

typedef struct stored {
  posenc_dtype dtype;
  int64_t rows, dim; /* both at least 1 */
  bool by_columns;   /* Fortran's order: columns one after another */
  bool swapped;      /* the bytes of an element are not in this machine's order */
  bool halved;       /* the file has two tables, and this is one of them */
  size_t axis_count; /* of an array: its axes, of which `dim` is the last, and `rows` the product of the others */
  int64_t axes[STORED_AXES];
  size_t begin; /* of the first element; the file has them all */
} stored;

/* What a file is taken for: a table; one table of a file that may have two; or an array of any axes, row by row. */
typedef enum table_half { TABLE_ARRAY = -2, TABLE_WHOLE, TABLE_FIRST, TABLE_SECOND } table_half;

/* A message on a file, to stand after its name and a colon. */
typedef struct fault {
  char text[600];
} fault;

/* Says what is wrong; always false. */
__attribute__((format(printf, 2, 3))) bool fault_say(fault *why, const char *format, ...);

/* The axes of an array as a table: the last is its columns, or the last two are pairs of them, another its positions,
   and all others are 1. by_columns is set before. False if they are no table's, or one without elements. */
bool stored_shape(stored *s, const int64_t *axes, size_t count, fault *why);

/* The axes of any array in C's order. False if it has none, or no elements. */
bool stored_array(stored *s, const int64_t *axes, size_t count, fault *why);

/* What `half` takes the axes for: with TABLE_FIRST and TABLE_SECOND (2, positions, columns) are a rope cache, and the
   result is one half of it. */
bool stored_fit(stored *s, const int64_t *axes, size_t count, table_half half, fault *why);

/* Bytes of the elements. False if so many cannot be. */
bool stored_bytes(const stored *s, size_t *bytes);

/* Is an order of bytes that puts the least ('<') or the most ('>') significant first the other one than this
   machine's? */
static inline bool stored_swapped(char order) {
  return order != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>');
}

#endif
