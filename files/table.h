/* SPDX-License-Identifier: MIT */
/* Tables in files from any source. Nothing in a file is trusted, and only the requested rows are in memory. */
#ifndef POSENC_FILES_TABLE_H
#define POSENC_FILES_TABLE_H

#include "files/stored.h"

#include <jansson.h>

typedef struct table_file table_file;

/* Opens a .npy or a safetensors file; its content decides which. tensor: a name in a safetensors file, or null for
   the only tensor that can be a table; ignored for .npy. Null, and `why`, if it cannot be read. A file that is cut
   while it is open ends the process, with a message and exit status 2. A path that is the name of an array in memory
   (files/memory.h) opens that. */
table_file *table_open(const char *path, const char *tensor, fault *why);

/* The same of one of two tables, where the file is a .npy file that has two (see npy_find), or of any array. */
table_file *table_open_half(const char *path, const char *tensor, table_half half, fault *why);

/* The same of a file's bytes in memory, which must stay. */
table_file *table_open_memory(const void *bytes, size_t size, const char *tensor, table_half half, fault *why);

/* Null is allowed. */
void table_close(table_file *t);

const stored *table_stored(const table_file *t);

/* "npy", "safetensors" or "memory". */
const char *table_format(const table_file *t);

/* The tensor's name; null in a file without names. */
const char *table_tensor(const table_file *t);

/* The metadata and the positions of a safetensors file; null in a .npy file. */
json_t *table_metadata(const table_file *t);
bool table_positions(const table_file *t, double **positions, int64_t *count, fault *why);

/* Copies rows [row, row + rows): packed, row by row, in this machine's byte order. */
void table_rows(table_file *t, int64_t row, int64_t rows, void *out);

#endif
