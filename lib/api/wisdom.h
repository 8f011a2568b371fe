/* SPDX-License-Identifier: MIT */
/* Earlier measurements on this machine, for the choice of a kernel. */
#ifndef POSENC_LIB_API_WISDOM_H
#define POSENC_LIB_API_WISDOM_H

#include "posenc.h"

/* Seconds that the kernel took for a problem like this one, of as nearly as many rows as was measured, half or twice
   as many at most; INFINITY if that is not known. */
double wisdom_seconds(const posenc_wisdom *wisdom, const posenc_problem *problem, int threads, const char *kernel);

#endif
