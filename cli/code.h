/* SPDX-License-Identifier: MIT */
/* The lines of C that compute a problem with the kernel that choose has found. */
#ifndef POSENC_CLI_CODE_H
#define POSENC_CLI_CODE_H

#include "cli/options.h"

/* Prints the lines, with the limit of the error if one was given. They also run on other CPUs, with the kernel that the
   library chooses there. */
void code_print(FILE *out, const options *given, const posenc_kernel *kernel);

#endif
