/* SPDX-License-Identifier: MIT */
/* What glibc's headers define and those of emscripten 3.1 lack: included before each source by the build for
   WebAssembly. */
#ifndef POSENC_WASM_SYSTEM_H
#define POSENC_WASM_SYSTEM_H

#define _GNU_SOURCE 1

#include <malloc.h>
#include <stdlib.h>

/* emscripten's aligned_alloc refuses sizes that are no multiple of the alignment, which C17 allows. */
#define aligned_alloc memalign

#define W_STOPCODE(number) ((number) << 8 | 0x7f)
#define __rlimit_resource_t int
#define __itimer_which_t int

#endif
