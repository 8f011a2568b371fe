/* SPDX-License-Identifier: MIT */
/* Earlier measurements on this machine, for the choice of a kernel. */
#ifndef POSENC_LIB_API_WISDOM_H
#define POSENC_LIB_API_WISDOM_H

#include "posenc.h"

/* Returns the seconds that the kernel took for the measured problem whose number of rows is nearest, within a factor of
   two, and which is otherwise like this one; INFINITY if there is none. */
double wisdom_seconds(const posenc_wisdom *wisdom, const posenc_problem *problem, int threads, const char *kernel);

#endif
