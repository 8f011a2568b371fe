/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files: an array behind a header that is a dict of Python's. */
#ifndef POSENC_FILES_NPY_H
#define POSENC_FILES_NPY_H

#include "files/stored.h"

/* What follows a header of ours is aligned to this in the file. */
enum { NPY_ALIGNMENT = 64, NPY_HEADER_MAX = 192 };

/* Writes the header, of format version 1.0, for the whole table; returns its length, a multiple of NPY_ALIGNMENT. */
size_t npy_header(const posenc_problem *problem, char header[NPY_HEADER_MAX]);

/* Does a file begin like one? */
bool npy_is(const unsigned char *bytes, size_t size);

/* Where the table is, in the bytes of such a file, of format version 1.0, 2.0 or 3.0. */
bool npy_find(const unsigned char *bytes, size_t size, stored *found, fault *why);

#endif
