/* SPDX-License-Identifier: MIT */
/* Selects kernels and encodings by their names on the command line. */
#ifndef POSENC_CLI_SELECT_H
#define POSENC_CLI_SELECT_H

#include "cli/options.h"

/* Returns the kernel of exactly this name. Exits if there is none. */
const posenc_kernel *find_kernel(const char *name);

/* Replaces old names of kernels in --kernel by their current names, and prints a note on stderr for each. */
void rename_kernels(options *given);

/* Returns the kernels that given->kernel selects, or if it is null, all but those on devices and those with a slash in
   their name, as a new array. Exits if there are none. */
const posenc_kernel **select_kernels(const options *given, size_t *count);

/* Whether select_kernels selects kernels of that name; it need not exist. */
bool selects_kernel(const options *given, const char *name);

/* Whether --kernel contains the kernel's name itself, and not only a pattern. */
bool is_named(const options *given, const posenc_kernel *kernel);

/* Exits with a message about a name that is no encoding's, or that of an encoding which kernels compute. */
__attribute__((noreturn)) void die_encoding(const char *name);

/* Returns the encodings computed without kernels that the globs, separated by commas, select, as a new array. Exits if
   a glob selects none. */
const posenc_encoding **select_encodings(const char *globs, size_t *count);

#endif
