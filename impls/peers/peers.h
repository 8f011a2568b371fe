/* SPDX-License-Identifier: MIT */
/*
 * Competitors: the formula on the vector sines of other libraries, and OpenMP's threads, as kernels like any other.
 * They use the library through posenc.h alone, as a plugin does. libposenc does not contain them.
 */
#ifndef POSENC_IMPLS_PEERS_PEERS_H
#define POSENC_IMPLS_PEERS_PEERS_H

#include "posenc.h"

/* The usual way to use threads: blocks of rows of the best rotation kernel, by OpenMP's parallel for. */
extern const posenc_kernel rotation_openmp;

/* All of them, those that this build lacks too. Static storage. */
const posenc_kernel *const *peers_kernels(size_t *count);

#endif
