/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files: an array behind a header that is a dict of Python's. */
#ifndef POSENC_FILES_NPY_H
#define POSENC_FILES_NPY_H

#include "files/stored.h"

/* The data after a header of ours is aligned to this in the file. */
enum { NPY_ALIGNMENT = 64, NPY_HEADER_MAX = 192 };

/* Writes the header, of format version 1.0, for an array of two or three axes; returns its length, a multiple of
   NPY_ALIGNMENT. */
size_t npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, char header[NPY_HEADER_MAX]);

/* Does a file begin like one? */
bool npy_is(const unsigned char *bytes, size_t size);

/* Where the table is, in the bytes of such a file, of format version 1.0, 2.0 or 3.0. half: of an array (2,
   positions, columns), which is a rope cache, the first or the second table; with TABLE_WHOLE such an array is none.
   Of other arrays it says nothing. TABLE_ARRAY: any array of real numbers. */
bool npy_find(const unsigned char *bytes, size_t size, table_half half, stored *found, fault *why);

/* The numbers of such a file, integers, f2, f4 or f8, in one axis, others being 1: a new array. False if there is
   one that no double holds. */
bool npy_numbers(const unsigned char *bytes, size_t size, double **values, int64_t *count, fault *why);

#endif
