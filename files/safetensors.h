/* SPDX-License-Identifier: MIT */
/* safetensors files: named tensors behind a header in JSON. */
#ifndef POSENC_FILES_SAFETENSORS_H
#define POSENC_FILES_SAFETENSORS_H

#include "files/stored.h"

#include <jansson.h>
#include <stdio.h>

/* The names that tables of ours have, those of a rope cache apart, which are "cos" and "sin"; and a list of
   positions, f64, which then lies before the table. */
#define SAFETENSORS_NAME "pe"
#define SAFETENSORS_POSITIONS "positions"

/* The longest header that is read, and should be written. The format allows 100 MB; memory for their JSON would be
   twenty times that. This is a hundred thousand tensors. */
enum { SAFETENSORS_HEADER_MAX = 16 << 20 };

/* A new string, to be freed: the header of a file of the whole table, or of the two of a rope cache, with the
   problem and the kernel's name as its metadata. A multiple of 64 bytes. Null when memory runs out. */
char *safetensors_header(const posenc_problem *problem, const char *kernel, size_t *length);

/* The same of a tensor that is no table of sines: an encoding of that name. */
char *safetensors_header_of(posenc_dtype dtype, const int64_t *axes, size_t axis_count, const char *encoding,
                            size_t *length);

/* Writes one of the numbers of SAFETENSORS_POSITIONS. */
bool safetensors_write_double(double value, FILE *stream);

/* May a file be one? */
bool safetensors_is(const unsigned char *bytes, size_t size);

/* Where the tensor of that name is, in the bytes of such a file; name null: the only one that can be a table, or with
   TABLE_ARRAY an array of numbers. Its name is left in `name`, a new string to be freed; null on failure. */
bool safetensors_find(const unsigned char *bytes, size_t size, const char *wanted, table_half half, stored *found,
                      char **name, fault *why);

/* Its metadata, a new reference; null if it has none. */
json_t *safetensors_metadata(const unsigned char *bytes, size_t size);

/* The positions that such a file of ours has, whose tensors safetensors_find has seen: a new array, and how many;
   null if it has no tensor of that name. False if it has one that is no list of f64. */
bool safetensors_positions(const unsigned char *bytes, size_t size, double **positions, int64_t *count, fault *why);

#endif
