/* SPDX-License-Identifier: MIT */
/* Kernels and encodings by the names on the command line. */
#ifndef POSENC_CLI_SELECT_H
#define POSENC_CLI_SELECT_H

#include "cli/options.h"

/* The kernel of exactly this name. Exits if there is none. */
const posenc_kernel *find_kernel(const char *name);

/* Replaces old names of kernels in --kernel by their current ones, with a note on stderr for each. */
void rename_kernels(options *given);

/* The kernels that given->kernel selects, or all that * does, as a new array. Exits if there are none. */
const posenc_kernel **select_kernels(const options *given, size_t *count);

/* Whether --kernel has the kernel by its name, and not by a pattern. */
bool is_named(const options *given, const posenc_kernel *kernel);

/* Exits with a message about a name that no encoding has, or that is an encoding computed by kernels. */
__attribute__((noreturn)) void die_encoding(const char *name);

/* The encodings computed without kernels that globs separated by commas select, as a new array. Exits if one selects
   none. */
const posenc_encoding **select_encodings(const char *globs, size_t *count);

#endif
