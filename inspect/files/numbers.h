/* SPDX-License-Identifier: MIT */
/* Lists of numbers, such as positions: on a command line, in a text file, or in a .npy file. */
#ifndef POSENC_FILES_NUMBERS_H
#define POSENC_FILES_NUMBERS_H

#include "inspect/files/stored.h"

/* Parses the numbers of a text as a new array of `count` numbers. The characters of `between` separate them: white
   space any number of times, others once between two numbers. Returns false and sets `why` if a word is not a
   number. */
bool numbers_parse(const char *text, size_t size, const char *between, double **values, int64_t *count, fault *why);

/* Reads the numbers of a file: .npy (integers, f2, f4 or f8, one axis), or text with white space and commas between
   them. The result is as for numbers_parse. */
bool numbers_read(const char *path, double **values, int64_t *count, fault *why);

#endif
