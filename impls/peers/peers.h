/* SPDX-License-Identifier: MIT */
/*
 * Competitors as kernels: the formula with the vector sines of other libraries, and the threads of OpenMP. They use the
 * library through posenc.h only, as a plugin does. libposenc does not contain them.
 */
#ifndef POSENC_IMPLS_PEERS_PEERS_H
#define POSENC_IMPLS_PEERS_PEERS_H

#include "posenc.h"

/* The usual way to use threads: blocks of rows of the best rotation kernel, in OpenMP's parallel for. */
extern const posenc_kernel rotation_openmp;

/* Returns all competitors, including those that this build lacks. Static storage. */
const posenc_kernel *const *peers_kernels(size_t *count);

#endif
