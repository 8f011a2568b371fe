/* SPDX-License-Identifier: MIT */
/* Prints C code that computes a problem with the kernel that choose has found. */
#ifndef POSENC_CLI_CODE_H
#define POSENC_CLI_CODE_H

#include "cli/options.h"

/* Prints the code, with the tolerance if there is one. On other CPUs, the code runs with the kernel that the library
   chooses there. */
void code_print(FILE *out, const options *given, const posenc_kernel *kernel);

#endif
