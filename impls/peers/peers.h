/* SPDX-License-Identifier: MIT */
/*
 * Competitors: the formula on the vector sines of other libraries, as kernels like any other. They use the library
 * through posenc.h alone, as a plugin does. libposenc does not contain them.
 */
#ifndef POSENC_IMPLS_PEERS_PEERS_H
#define POSENC_IMPLS_PEERS_PEERS_H

#include "posenc.h"

/* All of them, those that this build lacks too. Static storage. */
const posenc_kernel *const *peers_kernels(size_t *count);

#endif
