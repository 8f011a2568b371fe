/* SPDX-License-Identifier: MIT */
/* The C lines that compute a problem as a kernel does that choose has found. */
#ifndef POSENC_CLI_CODE_H
#define POSENC_CLI_CODE_H

#include "cli/options.h"

/* Prints them, with a limit of the error that was given. They run on other CPUs, too, with the kernel that the library
   chooses there. */
void code_print(FILE *out, const options *given, const posenc_kernel *kernel);

#endif
