/* SPDX-License-Identifier: MIT */
/* The header of NumPy's .npy files, format version 1.0. */
#ifndef POSENC_CLI_NPY_H
#define POSENC_CLI_NPY_H

#include "posenc.h"

/* What follows the header is aligned to this in the file. */
enum { NPY_ALIGNMENT = 64, NPY_HEADER_MAX = 192 };

/* Writes the header for the whole table; returns its length, a multiple of NPY_ALIGNMENT. */
size_t npy_header(const posenc_problem *problem, char header[NPY_HEADER_MAX]);

#endif
