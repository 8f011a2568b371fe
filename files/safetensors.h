/* SPDX-License-Identifier: MIT */
/* safetensors files: named tensors behind a header in JSON. */
#ifndef POSENC_FILES_SAFETENSORS_H
#define POSENC_FILES_SAFETENSORS_H

#include "files/stored.h"

/* The name that tables of ours have. */
#define SAFETENSORS_NAME "pe"

/* A new string, to be freed: the header of a file of the whole table, with the problem and the kernel's name as its metadata. A multiple of 64
 * bytes. Null when memory runs out. */
char *safetensors_header(const posenc_problem *problem, const char *kernel, size_t *length);

/* May a file be one? */
bool safetensors_is(const unsigned char *bytes, size_t size);

/* Where the tensor of that name is, in the bytes of such a file; name null: the only one that can be a table. Its name is left in `name`,
 * a new string to be freed; null on failure. */
bool safetensors_find(const unsigned char *bytes, size_t size, const char *wanted, stored *found, char **name,
                      fault *why);

#endif
