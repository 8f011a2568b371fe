/* SPDX-License-Identifier: MIT */
/* safetensors files: named tensors after a header in JSON. */
#ifndef POSENC_FILES_SAFETENSORS_H
#define POSENC_FILES_SAFETENSORS_H

#include "inspect/files/stored.h"

#include <jansson.h>
#include <stdio.h>

/* The name of a table that posenc writes (the tables of a rope cache are "cos" and "sin"), and that of its list of
   positions, f64, which precedes the table. */
#define SAFETENSORS_NAME "pe"
#define SAFETENSORS_POSITIONS "positions"

/* The longest header that is read, and that should be written. The format allows 100 MB, whose JSON would need twenty
   times as much memory. This is enough for a hundred thousand tensors. */
enum { SAFETENSORS_HEADER_MAX = 16 << 20 };

/* Returns a new string, to be freed: the header of a file with the whole table, or with both tables of a rope cache.
   Its metadata are the problem and the kernel's name. *length is a multiple of 64 bytes. Null if the
   table is too large. */
char *safetensors_header(const posenc_problem *problem, const char *kernel, size_t *length);

/* Returns the header of a file with one tensor, which has an encoding of that name instead of a table of sines. */
char *safetensors_header_of(posenc_dtype dtype, const int64_t *axes, size_t axis_count, const char *encoding,
                            size_t *length);

/* Writes a number of SAFETENSORS_POSITIONS. */
bool safetensors_write_double(double value, FILE *stream);

/* Whether the file may be a safetensors file. */
bool safetensors_is(const unsigned char *bytes, size_t size);

/* Finds a tensor in the bytes of a file. wanted: its name, or null for the only tensor that can be a table (with
   TABLE_ARRAY, that is an array of numbers). *name: its name, a new string to be freed; null on failure. */
bool safetensors_find(const unsigned char *bytes, size_t size, const char *wanted, table_half half, stored *found,
                      char **name, fault *why);

/* safetensors_find for tensors described as in a header of this format, of which `room` bytes are in the file:
   found->begin is that of data_offsets. A tensor of another dtype may have any name for it. */
bool tensors_choose(const json_t *root, const char *wanted, table_half half, uint64_t room, stored *found, char **name,
                    fault *why);

/* Returns the metadata, a new reference; null if there are none. */
json_t *safetensors_metadata(const unsigned char *bytes, size_t size);

/* Reads the positions of a file that posenc wrote and safetensors_find has accepted, as a new array; null if there is
   no tensor of positions. Returns false if the tensor is not a list of f64. */
bool safetensors_positions(const unsigned char *bytes, size_t size, double **positions, int64_t *count, fault *why);

#endif
