/* SPDX-License-Identifier: MIT */
/* NumPy's .npy files: an array after a header that is a dict in Python. */
#ifndef POSENC_FILES_NPY_H
#define POSENC_FILES_NPY_H

#include "inspect/files/stored.h"

/* The alignment in the file of the data after a header that posenc writes, and the length of the longest header. */
enum { NPY_ALIGNMENT = 64, NPY_HEADER_MAX = 1024 };

/* Writes the header, of format version 1.0, for an array of at most STORED_AXES axes. Returns its length, a multiple of
   NPY_ALIGNMENT. */
size_t npy_header(posenc_dtype dtype, const int64_t *axes, size_t axis_count, char header[NPY_HEADER_MAX]);

/* Whether a file begins like a .npy file. */
bool npy_is(const unsigned char *bytes, size_t size);

/* Finds the table in the bytes of a .npy file, of format version 1.0, 2.0 or 3.0. half: which table of an array is
   meant; see stored_fit. Returns false and sets `why` on failure. */
bool npy_find(const unsigned char *bytes, size_t size, table_half half, stored *found, fault *why);

/* Reads the numbers of a .npy file with one axis (others may be of length 1) of integers, f2, f4 or f8, as a new array.
   Returns false if a number is not equal to any double. */
bool npy_numbers(const unsigned char *bytes, size_t size, double **values, int64_t *count, fault *why);

#endif
