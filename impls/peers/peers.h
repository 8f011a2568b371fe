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

/* ---- rows by vector sines -------------------------------------------------------------------------------- */

/* Writers of rows: one per kernel and instruction set. */

/* The number of floats in the widest vector. The frequencies of a plan are padded to a multiple of it, and aligned to
   its size. */
enum { ROWS_PADDING = 16 };

typedef enum rows_kernel {
  ROWS_LIBMVEC_F32,
  ROWS_LIBMVEC_F64,
  ROWS_SLEEF_F32_U10,
  ROWS_SLEEF_F32_U35,
  ROWS_SLEEF_F64_U10,
  ROWS_SLEEF_F64_U35,
  ROWS_KERNELS
} rows_kernel;

/* posenc_kernel's `execute` for f32 tables. The frequencies have the type in the kernel's name. streams: with streaming
   stores, where rows begin with whole vectors. */
typedef void rows_writer(const void *frequencies, const posenc_problem *problem, int64_t row, int64_t rows,
                         bool streams, float *out);

/* Writers, indexed by rows_kernel; null where the library was missing when posenc was built. */
extern rows_writer *const rows_generic[ROWS_KERNELS], *const rows_avx2[ROWS_KERNELS], *const rows_avx512[ROWS_KERNELS];

#endif
