/* SPDX-License-Identifier: MIT */
/* Lists of numbers, such as positions: on a command line, in a text, or in a .npy file. */
#ifndef POSENC_FILES_NUMBERS_H
#define POSENC_FILES_NUMBERS_H

#include "files/stored.h"

/* A finite number in decimal, which is all of the word. A whole one that no double holds is none. */
bool number_parse(const char *word, double *value);

/* The numbers of a text, between separators that are characters of `between` (white space, where it is one of them,
   any number of times, and others once, between two numbers): a new array, and how many. False, and why, if one of
   them is none. */
bool numbers_parse(const char *text, size_t size, const char *between, double **values, int64_t *count, fault *why);

/* The same of a file: .npy (integers, f2, f4 or f8, one axis), or text with white space and commas between them. */
bool numbers_read(const char *path, double **values, int64_t *count, fault *why);

#endif
